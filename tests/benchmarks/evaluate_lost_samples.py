"""How much single lost samples cost identification, on SAVAM (25 people, 41 clips of 18 s).

    python tests/benchmarks/evaluate_lost_samples.py [--data DIR] [--json OUT] [--loss 0.0075]
        [--run 1] [--eye R] [--draws 3]

`gazelive` is trained on every other clip as recorded and probed with single clips of the rest: as
recorded, and with samples lost at random (`--run`: so many in a row). `--loss` is the share of
samples that are lost. Every loss is drawn `--draws` times. Geometry is nominal.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from gazelive.analysis import Gaze, analyse_gaze
from gazelive.features import Scanpath, scanpath_of
from gazelive.gaze import ScreenGeometry
from gazelive.identification import fit_method, training_set

LOST, RATE_HZ = -32768, 500
ROWS = {"L": (0, 1), "R": (2, 3)}
SCREEN = ScreenGeometry(
    width_px=1920, height_px=1080, width_mm=531, height_mm=299, eye_distance_mm=600
)
Clip = tuple[str, str, np.ndarray, np.ndarray]
"""Viewer, name of the clip, x and y in degrees."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    default = Path(__file__).parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GAZELIVE_DATA", default)))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--loss", type=float, default=0.0075)
    parser.add_argument("--run", type=int, default=1)
    parser.add_argument("--eye", choices=("L", "R"), default="R")
    parser.add_argument("--draws", type=int, default=3)
    arguments = parser.parse_args()
    clips = read_clips(arguments.data / "identity" / "savam", arguments.eye)
    names = sorted({name for _, name, _, _ in clips})
    enrolled = set(names[::2])
    training = training_set(
        "samples", [(v, "1", scanpath(x, y)) for v, name, x, y in clips if name in enrolled]
    )
    identifier = fit_method("gazelive", training).identifier
    probes = [clip for clip in clips if clip[1] not in enrolled]

    def right(draw: int | None) -> np.ndarray:
        rng = np.random.default_rng(draw)
        found = []
        for viewer, _, x, y in probes:
            lost = np.zeros(len(x), bool)
            if draw is not None:
                starts = np.flatnonzero(rng.random(len(x)) < arguments.loss / arguments.run)
                for k in range(arguments.run):
                    lost[np.minimum(starts + k, len(x) - 1)] = True
            path = scanpath(np.where(lost, np.nan, x), np.where(lost, np.nan, y))
            person = identifier.probe()
            person.begin(None)
            person.settle(path)
            best = int(np.argmax(person.estimate().log_probabilities))
            found.append(training.viewer_ids[best] == viewer)
        return np.array(found, float)

    clean = right(None)
    degraded = np.mean([right(draw) for draw in range(arguments.draws)], axis=0)
    results = {
        "n": len(probes),
        "viewers": training.n_viewers,
        "loss": arguments.loss,
        "run": arguments.run,
        "clean": summary(clean),
        "degraded": summary(degraded),
        "lost": summary(clean - degraded),
    }
    for key, value in results.items():
        print(f"{key:9s} {value}", flush=True)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(results, indent=2))


def read_clips(folder: Path, eye: str) -> list[Clip]:
    """Return the first pass of every viewer."""
    clips = []
    for path in sorted(folder.glob("*.npz")):
        arrays = np.load(path)
        first = min(key.rsplit("_", 1)[1] for key in arrays.files)
        for key in sorted(key for key in arrays.files if key.endswith(f"_{first}")):
            name = key.rsplit("_", 1)[0]
            gaze = np.cumsum(arrays[key], axis=1, dtype=np.int16)[list(ROWS[eye])]
            x, y = np.where((gaze == LOST).any(axis=0), np.nan, gaze / 10)
            clips.append((path.stem, name, *SCREEN.px_to_deg(x, y)))
    return clips


def scanpath(x: np.ndarray, y: np.ndarray) -> Scanpath:
    times_us = np.arange(len(x), dtype=np.int64) * (1_000_000 // RATE_HZ)
    return scanpath_of(analyse_gaze(Gaze(times_us, {"R": (x, y)}, RATE_HZ)))


def summary(values: np.ndarray) -> dict[str, float]:
    return {
        "mean": round(float(values.mean()), 4),
        "SE": round(float(values.std(ddof=1) / np.sqrt(len(values))), 4),
    }


if __name__ == "__main__":
    main()
