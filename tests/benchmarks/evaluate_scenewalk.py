"""Accuracy of SceneWalk: prediction of fixations on new images, and identification.

    python tests/benchmarks/evaluate_scenewalk.py OSIE_FIXATIONS.csv.gz [--cells 64] [--splits 2]

Half of the images train, the others test. A saliency is made of other viewers' fixations on the
image (`others`), or treats every image as one that nobody has viewed (`centre`). Bits are per
fixation after the first, above the learned centre bias. Accuracy is that of the generative model:
the viewer whose own parameters give n test images together the largest likelihood.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.gaze.screen import ScreenGeometry
from gazelive.models.scenewalk.equations import ImageGrid
from gazelive.models.scenewalk.model import SceneWalkModel
from gazelive.models.scenewalk.saliency_choice import ImageFixations, SaliencyBank
from gazelive.models.scenewalk.viewing import Viewing

WIDTH_PX, HEIGHT_PX = 800, 600
SIZE_DEG = (33.7, 25.3)
N_IMAGES = (1, 5, 10, 20, 50)

Key = tuple[str, str]


def screen() -> ScreenGeometry:
    """Return the screen part that the images of OSIE covered, as far as it is known."""
    distance_mm = 800.0
    width_mm, height_mm = (
        2 * distance_mm * np.tan(np.radians(size_deg / 2)) for size_deg in SIZE_DEG
    )
    return ScreenGeometry(
        width_px=WIDTH_PX,
        height_px=HEIGHT_PX,
        width_mm=float(width_mm),
        height_mm=float(height_mm),
        eye_distance_mm=distance_mm,
    )


def read(path: Path) -> dict[Key, np.ndarray]:
    """Return x_deg, y_deg, duration_s of each fixation by viewer and image."""
    rows: dict[Key, list[tuple[float, float, float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = float(row["x_px"]), float(row["y_px"]), float(row["duration_ms"]) / 1000
            rows.setdefault((row["viewer"], row["image"]), []).append(place)
    geometry = screen()
    table = {}
    for key, places in rows.items():
        x_px, y_px, duration_s = np.array(places).T
        table[key] = np.column_stack((*geometry.px_to_deg(x_px, y_px), duration_s))
    return table


class Split:
    """One division of the images, and the viewings made of it."""

    def __init__(self, table: dict[Key, np.ndarray], cells: int, seed: int, bandwidth: Any) -> None:
        images = np.random.default_rng(seed).permutation(sorted({key[1] for key in table}))
        training = set(images[: len(images) // 2].tolist())
        self.viewers = sorted({key[0] for key in table})
        self.grid = ImageGrid.on_screen(
            screen(),
            left_px=0,
            top_px=0,
            width_px=WIDTH_PX,
            height_px=HEIGHT_PX,
            shape=(cells,) * 2,
        )
        self.table = table
        self.training = [key for key in table if key[1] in training]
        self.testing = [key for key in table if key[1] not in training]
        self.bank = self._bank(self.training, bandwidth)
        self.test_bank = self._bank(self.testing, bandwidth)

    def _bank(self, keys: Sequence[Key], bandwidth: float | None) -> SaliencyBank:
        seen = (ImageFixations(*key, *self.table[key].T[:2], self.grid) for key in keys)
        return SaliencyBank.of(seen, bandwidth=bandwidth)

    def viewings(self, keys: Sequence[Key], policy: str, *, test: bool) -> dict[Key, Viewing]:
        """Return the viewings with their saliency, made without the viewer's own fixations."""
        made = {}
        for viewer, image in keys:
            if policy == "others":
                bank, left_out = (self.test_bank if test else self.bank), (viewer,)
            else:
                bank, left_out = self.bank, tuple(self.viewers)
            made[viewer, image] = bank.viewing(
                image, *self.table[viewer, image].T, self.grid, without=left_out
            )
        return made


def bits_above(viewings: Sequence[Viewing], log_p: float, baseline: np.ndarray | None) -> float:
    """Return bits per fixation above a map (above each viewing's own saliency without one)."""
    below, n = 0.0, 0
    for viewing in viewings:
        map_ = viewing.saliency if baseline is None else baseline
        rows, columns = viewing.cells
        below += float(np.log(map_[rows[1:], columns[1:]] / map_.sum()).sum())
        n += viewing.n_scored
    return (log_p - below) / n / float(np.log(2))


def accuracy(log_likelihoods: np.ndarray, truth: np.ndarray, n: int, seed: int) -> float:
    """Return how often n viewings (viewings, viewers) of one viewer point at that viewer."""
    rng = np.random.default_rng(seed)
    hits = []
    for viewer in np.unique(truth):
        own = np.flatnonzero(truth == viewer)
        for _ in range(200):
            drawn = rng.choice(own, n, replace=False)
            hits.append(int(np.argmax(log_likelihoods[drawn].sum(axis=0))) == viewer)
    return float(np.mean(hits))


def evaluate(
    split: Split, policy: str, shrinkages: Sequence[float], pool: ThreadPoolExecutor, seed: int
) -> dict[str, Any]:
    """Return what one split and policy give."""
    training = split.viewings(split.training, policy, test=False)
    testing = split.viewings(split.testing, policy, test=True)
    begun = time.perf_counter()
    pooled = SceneWalkModel.fit(list(training.values()), n_threads=2, seed=seed)
    fit_s = time.perf_counter() - begun
    tested = list(testing.values())
    bias = split.bank.learned_bias(shape=split.grid.shape).density
    log_p = sum(pool.map(pooled.log_likelihood, tested))
    result: dict[str, Any] = {
        "parameters": pooled.natural.to_array().round(4).tolist(),
        "fitted_to": pooled.fitted_to,
        "fit_s": fit_s,
        "bits_over_centre": bits_above(tested, log_p, bias),
        "bits_over_saliency": bits_above(tested, log_p, None),
    }
    truth = np.array([split.viewers.index(viewer) for viewer, _ in testing])
    for sd in shrinkages:
        begun = time.perf_counter()

        def own_fit(viewer: str, sd: float = sd) -> SceneWalkModel:
            own = [viewing for key, viewing in training.items() if key[0] == viewer]
            return pooled.fit_viewer(own, sd=sd)

        models = list(pool.map(own_fit, split.viewers))
        viewers_s = time.perf_counter() - begun
        table = np.array([list(pool.map(model.log_likelihood, tested)) for model in models]).T
        own = float(table[np.arange(len(truth)), truth].sum())
        result[f"sd {sd:g}"] = {
            "fit_s": viewers_s,
            "bits_over_pooled": (own - log_p) / sum(v.n_scored for v in tested) / np.log(2),
            "accuracy": {n: accuracy(table, truth, n, seed) for n in N_IMAGES},
        }
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fixations", type=Path)
    parser.add_argument("--cells", type=int, default=64)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--bandwidth", type=float, default=None)
    parser.add_argument("--shrinkages", type=float, nargs="+", default=[0.3])
    parser.add_argument("--policies", nargs="+", default=["others", "centre"])
    parser.add_argument("--json", type=Path, default=Path("bench-results/scenewalk-osie.json"))
    arguments = parser.parse_args()
    table = read(arguments.fixations)
    results = {}
    with ThreadPoolExecutor(2) as pool:
        for seed in range(arguments.splits):
            split = Split(table, arguments.cells, seed, arguments.bandwidth)
            for policy in arguments.policies:
                results[f"{policy} {seed}"] = evaluate(
                    split, policy, arguments.shrinkages, pool, seed
                )
                print(policy, seed, json.dumps(results[f"{policy} {seed}"], indent=1))
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
