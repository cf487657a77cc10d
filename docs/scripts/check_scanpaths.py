"""Are simulated viewers like real ones, and as hard to tell apart? OSIE beside simulated OSIE.

    python docs/scripts/check_scanpaths.py DATA/identity [--populations 10]

Simulates populations of 15 viewers who look at the 500 OSIE images (that is, at the densities of
the real fixations) for 3 s each, and prints per-viewer statistics and the accuracy of the paper's
generative Markov model for both. `--generated` looks at generated maps instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import osie

from gazelive.gaze.arrays import Floats
from gazelive.models.gamma import fit_gamma, gamma_log_density
from gazelive.simulation.people import random_stream, session_traits
from gazelive.simulation.scanpath.scanpaths import Exploration, LookingHabits
from gazelive.simulation.scanpath.traits import DIRECTIONS, TURNS
from gazelive.stimuli.saliency import generated_saliency

Bools = npt.NDArray[np.bool_]

SEEN_S = 2.36
"""The table's fixations and the saccades between them fill this much of the 3 s; the rest is the
fixation that is left out, blinks and what the tracker lost."""
N_VIEWERS = 15
N_IMAGES = 500
SHAPE = (128, 128)
N_TEST_IMAGES = (1, 5, 10, 20)
N_SPLITS = 3
N_PROBES = 100
"""Random sets of test images per viewer, split and number."""


def simulate(seed: int, density_of: Callable[[int], Floats]) -> osie.Fixations:
    """Return what 15 simulated viewers make of the images."""
    habits = [
        session_traits(f"v{v:03}", seed=seed, session=1).habits for v in range(1, N_VIEWERS + 1)
    ]
    rows: list[tuple[float, ...]] = []
    for image in range(N_IMAGES):
        density = density_of(image)
        for viewer, habit in enumerate(habits):
            rng = random_stream(seed, viewer, image)
            rows += [(viewer, image, *each) for each in _scanpath(habit, density, rng)]
    table = np.array(rows)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    return osie.Fixations(
        viewer=table[:, 0].astype(np.int64),
        image=table[:, 1].astype(np.int64),
        x_deg=table[:, 2],
        y_deg=table[:, 3],
        duration_s=table[:, 4],
    )


def _scanpath(
    habits: LookingHabits, density: Floats, rng: np.random.Generator
) -> list[tuple[float, float, float]]:
    """Return x, y and duration of the fixations that begin after the image's onset."""
    exploration = Exploration(habits, density, osie.grid(SHAPE), rng)
    x_deg, y_deg = 0.0, 0.0
    duration_s = habits.draw_reaction_s(rng)
    time_s = 0.0
    fixations: list[tuple[float, float, float]] = []
    while True:
        following = exploration.next_fixation(x_deg, y_deg, duration_s)
        amplitude_deg = np.hypot(following.x_deg - x_deg, following.y_deg - y_deg)
        time_s += 0.021 + 0.0022 * amplitude_deg  # Carpenter's line for a saccade's duration
        x_deg, y_deg = following.x_deg, following.y_deg
        duration_s = min(following.duration_s, SEEN_S - time_s)
        if duration_s < 0.02:
            return fixations
        fixations.append((x_deg, y_deg, duration_s))
        time_s += duration_s


def statistics(fixations: osie.Fixations) -> dict[str, Floats]:
    """Return named statistics, one value per viewer."""
    amplitude, turn = fixations.saccades
    dx, dy = np.diff(fixations.x_deg, prepend=np.nan), np.diff(fixations.y_deg, prepend=np.nan)
    sideways = np.abs(dx) >= np.abs(dy)
    direction = np.where(sideways, np.where(dx >= 0, 0, 2), np.where(dy < 0, 1, 3))
    found: dict[str, list[float]] = {}
    for viewer in range(fixations.n_viewers):
        mine = fixations.viewer == viewer
        typed = mine & (turn >= 0) & np.isfinite(amplitude)
        moved = mine & np.isfinite(amplitude)
        for kind in TURNS:
            name = kind.name.lower()
            rows = typed & (turn == kind)
            found.setdefault(f"share of turns {name}", []).append(rows.sum() / typed.sum())
            whole = rows & ~fixations.is_last
            for what, values in (
                ("amplitude °", amplitude[rows]),
                ("duration s", fixations.duration_s[whole]),
            ):
                shape, scale = fit_gamma(values.mean(), np.log(values).mean())
                found.setdefault(f"{what} {name}", []).append(float(shape * scale))
                found.setdefault(f"shape of {what[:-2]} {name}", []).append(float(shape))
        for k, name in enumerate(DIRECTIONS):
            found.setdefault(f"share of saccades {name}", []).append((direction[moved] == k).mean())
        found.setdefault("fixations per image", []).append(mine.sum() / N_IMAGES)
    return {name: np.array(values) for name, values in found.items()}


def attraction(
    fixations: osie.Fixations, density_of: Callable[[int, int], Floats]
) -> dict[str, Floats]:
    """Return per viewer how high the map is where they look, in standard deviations (NSS).

    On a tenth of the images, since each viewer has a map without the own fixations.
    """
    rows, columns = osie.grid(SHAPE).cells(fixations.x_deg, fixations.y_deg)
    scores = np.full(len(rows), np.nan)
    for path in fixations.scanpaths:
        if fixations.image[path.start] % 10:
            continue
        density = density_of(int(fixations.image[path.start]), int(fixations.viewer[path.start]))
        scores[path] = (density[rows[path], columns[path]] - density.mean()) / density.std()
    per_viewer = [
        np.nanmean(scores[fixations.viewer == viewer]) for viewer in range(fixations.n_viewers)
    ]
    return {"NSS on the others' fixations": np.array(per_viewer)}


def accuracy(fixations: osie.Fixations, seed: int = 0) -> Floats:
    """Return the share of right identifications for each of `N_TEST_IMAGES`.

    The generative Markov model (turn, amplitude and duration), one per viewer, fitted on half of
    the images and tested on random sets of the others.
    """
    rng = np.random.default_rng(seed)
    amplitude, turn = fixations.saccades
    n_viewers, n_images = fixations.n_viewers, fixations.n_images
    hits = np.zeros(len(N_TEST_IMAGES))
    for _ in range(N_SPLITS):
        order = rng.permutation(n_images)
        train, test = order[: n_images // 2], order[n_images // 2 :]
        is_train = np.isin(fixations.image, train)
        log_likelihood = np.zeros((n_viewers, n_images, n_viewers))
        for viewer in range(n_viewers):
            mine = is_train & (fixations.viewer == viewer) & (turn >= 0)
            per_row = _log_likelihood(fixations, amplitude, turn, mine)
            np.add.at(log_likelihood[:, :, viewer], (fixations.viewer, fixations.image), per_row)
        for k, n_test in enumerate(N_TEST_IMAGES):
            for viewer in range(n_viewers):
                for _ in range(N_PROBES):
                    probe = rng.choice(test, n_test, replace=False)
                    hits[k] += log_likelihood[viewer, probe].sum(axis=0).argmax() == viewer
    return hits / (N_SPLITS * n_viewers * N_PROBES)


def _log_likelihood(
    fixations: osie.Fixations, amplitude: Floats, turn: npt.NDArray[np.int8], fit_on: Bools
) -> Floats:
    """Return each row's log likelihood under the model fitted on some rows."""
    result = np.zeros(len(turn))
    for kind in TURNS:
        rows = (turn == kind) & np.isfinite(amplitude)
        mine = rows & fit_on
        result[rows] += np.log(mine.sum() / fit_on.sum())
        for values, use in (
            (amplitude, rows),
            (fixations.duration_s, rows & ~fixations.is_last),
        ):
            fitted = values[use & fit_on]
            shape, scale = fit_gamma(fitted.mean(), np.log(fitted).mean())
            result[use] += gamma_log_density(values[use], shape, scale)
    return result


def main() -> None:
    """Print both side by side."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--populations", type=int, default=10)
    parser.add_argument("--generated", action="store_true")
    arguments = parser.parse_args()
    real = osie.read_osie(arguments.data / "osie_fixations.csv.gz")
    if arguments.generated:
        densities = [generated_saliency(f"generated_{i:04}", 0).density for i in range(N_IMAGES)]
    else:
        densities = [osie.density_without(real, image, None, SHAPE) for image in range(N_IMAGES)]
    populations = [simulate(s, densities.__getitem__) for s in range(arguments.populations)]
    ours = [
        statistics(each) | attraction(each, lambda image, _: densities[image])
        for each in populations
    ]
    theirs = statistics(real) | attraction(
        real, lambda image, viewer: osie.density_without(real, image, viewer, SHAPE)
    )
    print(f"{'per viewer':32}{'real mean':>10}{'sim mean':>10}{'real SD':>9}{'sim SD':>8}")
    for name, values in theirs.items():
        means = np.mean([each[name].mean() for each in ours])
        spread = np.sqrt(np.mean([each[name].var(ddof=1) for each in ours]))
        print(f"{name:32}{values.mean():10.3f}{means:10.3f}{values.std(ddof=1):9.3f}{spread:8.3f}")
    accuracies = np.array([accuracy(each) for each in populations])
    print(f"{'images':>24}", *(f"{n:8}" for n in N_TEST_IMAGES))
    print(f"{'accuracy, real':>24}", *(f"{a:8.3f}" for a in accuracy(real)))
    print(f"{'simulated, mean':>24}", *(f"{a:8.3f}" for a in accuracies.mean(axis=0)))
    print(f"{'SD over populations':>24}", *(f"{a:8.3f}" for a in accuracies.std(axis=0)))


if __name__ == "__main__":
    main()
