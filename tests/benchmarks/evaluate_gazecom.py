"""How well the detectors agree with the experts of GazeCom: natural movies, 250 Hz, pursuit.

    python tests/benchmarks/evaluate_gazecom.py [--json OUT] [--data FOLDER] [--people tuned|others]
        [--every N] [--quick]

Needs `labelled/gazecom/*.npz` below the data folder and, for the comparison, remodnav. Parameters
were chosen on every other person (`tuned`); figures of the `others` count. Samples that the experts
call noise are left out, and so are events that lie in them for the most part. The experts hardly
labelled saccades below 0.5°, so agreement is given with such events left out on both sides, and
with all events. `--every N` takes every N-th recording, `--quick` leaves out the peer.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.detection import Detection, detect_online, detect_settled
from gazelive.detection.agreement import SampleCounts, count_samples, mask_of, match_events
from gazelive.detection.events import Runs, runs_of
from gazelive.gaze.screen import ScreenGeometry

DATA = Path(os.environ.get("GAZELIVE_DATA", Path(__file__).parents[3] / "shared" / "data"))
FIXATION, SACCADE, PURSUIT, NOISE = 1, 2, 3, 4
LOST = -32768
RATE_HZ = 250.0
SMALLEST_DEG = 0.5
SAVGOL_S = 0.02
"""REMoDNaV's filter has four samples at 250 Hz by default, which it refuses; this is five."""


@dataclass(frozen=True)
class Clip:
    """One person watching one clip: gaze in degrees, and labels of two experts and the final."""

    person: str
    x_deg: np.ndarray
    y_deg: np.ndarray
    labels: np.ndarray

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        times_us = np.arange(len(self.x_deg)) * round(1e6 / RATE_HZ)
        return times_us, self.x_deg, self.y_deg, RATE_HZ


@dataclass(frozen=True)
class Found:
    saccades: Runs
    pursuits: Runs


Find = Callable[[Clip], Found]


def load(folder: Path, people: str = "all") -> list[Clip]:
    """Read the clips of all people, of those that parameters were chosen on, or of the others."""
    paths = sorted(folder.glob("*.npz"))
    chosen = {"all": paths, "tuned": paths[::2], "others": paths[1::2]}[people]
    return [clip for path in chosen for clip in _clips(path)]


def _clips(path: Path) -> list[Clip]:
    with np.load(path) as data:
        screen = ScreenGeometry(
            width_px=int(data["width_px"]),
            height_px=int(data["height_px"]),
            width_mm=float(data["width_mm"]),
            height_mm=float(data["height_mm"]),
            eye_distance_mm=float(data["distance_mm"]),
        )
        clips = []
        for name in sorted({key.rsplit(".", 1)[0] for key in data.files if "." in key}):
            tenths_px = np.cumsum(data[f"{name}.xy"], axis=1, dtype=np.int16)
            lost = (tenths_px == LOST).any(axis=0)
            x, y = screen.px_to_deg(*(tenths_px / 10.0))
            x, y = (np.where(lost, np.nan, a) for a in (x, y))
            clips.append(Clip(path.stem, x, y, data[f"{name}.labels"]))
    return clips


def ours(detect: Callable[..., Detection], *settings: Any) -> Find:
    def find(clip: Clip) -> Found:
        times_us = clip.arguments[0]
        found = detect(*clip.arguments, *settings)
        ends_us = [(event.onset_us, event.offset_us) for event in found.pursuits]
        pursuits = np.searchsorted(times_us, np.array(ends_us, np.int64).reshape(-1, 2))
        return Found(found.saccade_samples, pursuits)

    return find


def remodnav_events(clip: Clip) -> Found:
    """Run the peer; it stops on lost samples at the edges, so those are cut off first."""
    import remodnav

    logging.getLogger("remodnav").setLevel(logging.CRITICAL)

    margin = int(0.02 * RATE_HZ) + 2
    seen = np.isfinite(clip.x_deg).astype(float)
    whole = np.flatnonzero(np.convolve(seen, np.ones(margin), "valid") == margin)
    first, last = whole[0], whole[-1] + margin
    data = np.zeros(last - first, [("x", "f8"), ("y", "f8")])
    data["x"], data["y"] = clip.x_deg[first:last], clip.y_deg[first:last]
    classifier = remodnav.EyegazeClassifier(px2deg=1.0, sampling_rate=RATE_HZ)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        events = classifier(classifier.preproc(data, savgol_length=SAVGOL_S))

    def runs(*labels: str) -> Runs:
        ends = [
            (first + round(e["start_time"] * RATE_HZ), first + round(e["end_time"] * RATE_HZ) - 1)
            for e in events
            if e["label"] in labels
        ]
        return np.array(sorted(ends), np.int64).reshape(-1, 2)

    return Found(runs("SACC", "ISAC"), runs("PURS"))


def amplitudes(clip: Clip, events: Runs) -> np.ndarray:
    index = np.arange(len(clip.x_deg))
    seen = np.isfinite(clip.x_deg)
    if not len(events) or not seen.any():
        return np.zeros(len(events))
    x, y = (np.interp(index, index[seen], a[seen]) for a in (clip.x_deg, clip.y_deg))
    return np.hypot(x[events[:, 1]] - x[events[:, 0]], y[events[:, 1]] - y[events[:, 0]])


def agreement(clips: list[Clip], found: list[Runs], smallest_deg: float) -> dict[str, float]:
    """Return κ over samples and F1 over events of all clips together."""
    counts, matched, missed, extra = SampleCounts(0, 0, 0, 0), 0, 0, 0
    for clip, found_events in zip(clips, found, strict=True):
        labels = clip.labels[2]
        noise = labels == NOISE
        comparable = ~noise & np.isfinite(clip.x_deg)
        reference = runs_of(labels == SACCADE)
        in_noise = [noise[first : last + 1].mean() > 0.5 for first, last in found_events]
        events = found_events[~np.array(in_noise, bool)]
        small = amplitudes(clip, events) < smallest_deg, amplitudes(clip, reference) < smallest_deg
        for first, last in (*events[small[0]], *reference[small[1]]):
            comparable[first : last + 1] = False
        events, reference = events[~small[0]], reference[~small[1]]
        pairs = match_events(reference, events)
        matched += len(pairs)
        missed += len(reference) - len(pairs)
        extra += len(events) - len(pairs)
        counts = counts + count_samples(events, reference, comparable)
    f1 = 2 * matched / (2 * matched + missed + extra)
    return {"kappa": counts.kappa or 0.0, "f1": f1, "missed": missed, "extra": extra}


def pursuit_f1(clips: list[Clip], found: list[Runs]) -> dict[str, float]:
    """Return F1, precision and recall over samples."""
    both = only_found = only_labelled = 0
    for clip, events in zip(clips, found, strict=True):
        labels = clip.labels[2]
        comparable = (labels != NOISE) & np.isfinite(clip.x_deg)
        is_found, is_labelled = mask_of(events, len(labels)), labels == PURSUIT
        both += int((is_found & is_labelled & comparable).sum())
        only_found += int((is_found & ~is_labelled & comparable).sum())
        only_labelled += int((~is_found & is_labelled & comparable).sum())
    return {
        "f1": 2 * both / max(1, 2 * both + only_found + only_labelled),
        "precision": both / max(1, both + only_found),
        "recall": both / max(1, both + only_labelled),
    }


def expert(row: int) -> Find:
    return lambda clip: Found(
        runs_of(clip.labels[row] == SACCADE), runs_of(clip.labels[row] == PURSUIT)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, default=Path("bench-results/gazecom.json"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--people", choices=("all", "tuned", "others"), default="others")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    clips = load(options.data / "labelled" / "gazecom", options.people)[:: options.every]
    methods = {
        "settled": ours(detect_settled),
        "online": ours(detect_online),
        "expert 1": expert(0),
        "expert 2": expert(1),
    }
    if not options.quick:
        methods["REMoDNaV"] = remodnav_events
    n_people = len({clip.person for clip in clips})
    print(f"{len(clips)} recordings of {n_people} people, against the final labels")
    print(f"{'':10s}  from 0.5°: κ / F1 missed extra   all: κ / F1 extra   pursuit: F1 (p, r)")
    results: dict[str, Any] = {"people": options.people, "n": len(clips)}
    for name, find in methods.items():
        found = [find(clip) for clip in clips]
        saccades = [f.saccades for f in found]
        large, every = agreement(clips, saccades, SMALLEST_DEG), agreement(clips, saccades, 0.0)
        pursuit = pursuit_f1(clips, [f.pursuits for f in found])
        results[name] = {"from 0.5°": large, "all": every, "pursuit": pursuit}
        print(
            f"{name:10s}  {large['kappa']:.3f} / {large['f1']:.3f} {large['missed']:5d} "
            f"{large['extra']:5d}   {every['kappa']:.3f} / {every['f1']:.3f} {every['extra']:5d}   "
            f"{pursuit['f1']:.3f} ({pursuit['precision']:.2f}, {pursuit['recall']:.2f})",
            flush=True,
        )
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json}")


if __name__ == "__main__":
    main()
