"""How well the detectors agree with human coders: every accuracy figure of docs/results.md.

    python tests/benchmarks/evaluate_detection.py [--json OUT] [--data FOLDER] [--quick]

Needs the hand-labelled recordings (`labelled/*.npz` below the data folder) and, for the
comparison, remodnav. κ is over samples, F1 over events paired one to one by largest overlap.
`--quick` leaves out the peer and the leave-one-recording-out search.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from sklearn.linear_model import LogisticRegression

from gazelive.detection import (
    Detection,
    DetectorParameters,
    OnlineDetector,
    detect_engbert_kliegl,
    detect_online,
    detect_settled,
)
from gazelive.detection.agreement import Agreement, SampleCounts, compare_events, match_events
from gazelive.detection.events import Runs, runs_of
from gazelive.detection.parameters import PRESETS
from gazelive.gaze.documents import SaccadeOnset
from gazelive.gaze.screen import ScreenGeometry

DATA = Path(os.environ.get("GAZELIVE_DATA", Path(__file__).parents[3] / "shared" / "data"))
GROUPS = ("images", "dots", "video", "zemblys")
SACCADE = 2
TRIGGER_SLACK_MS = 20.0
"""A trigger counts for a saccade from so long before its labelled onset to so long after it."""
SEARCH = {
    "threshold_noise": (8.0, 9.0, 10.0),
    "confirm_ms": (6.0, 8.0, 10.0),
    "offset_noise": (3.0, 4.0, 5.0),
    "offset_peak_fraction": (0.05, 0.08, 0.12),
    "oscillation_peak_fraction": (0.4, 0.5, 0.6),
}
"""What the leave-one-recording-out search may choose from."""
DEGRADATIONS = ("noise 0.02°", "noise 0.05°", "3 spikes a second", "1 dropout a second")
Find = Callable[["Labelled"], Runs]


@dataclass(frozen=True)
class Labelled:
    """One recording in degrees with the saccades of its coders."""

    name: str
    group: str
    rate_hz: float
    times_us: np.ndarray
    x_deg: np.ndarray
    y_deg: np.ndarray
    comparable: np.ndarray
    coders: dict[str, Runs]

    @property
    def seconds_seen(self) -> float:
        return float(np.isfinite(self.x_deg).sum()) / self.rate_hz

    @property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        return self.times_us, self.x_deg, self.y_deg, self.rate_hz


def load(folder: Path, *, exact_geometry: bool = True) -> list[Labelled]:
    """Read all labelled recordings; `exact_geometry` off takes a constant degree per pixel."""
    return [
        _zemblys(path) if path.name.startswith("zemblys") else _lund(path, exact_geometry)
        for path in sorted(folder.glob("*.npz"))
    ]


def _recording(
    path: Path,
    group: str,
    rate_hz: float,
    x: np.ndarray,
    y: np.ndarray,
    lost: np.ndarray,
    comparable: np.ndarray,
    labels: dict[str, np.ndarray],
) -> Labelled:
    return Labelled(
        name=path.stem,
        group=group,
        rate_hz=rate_hz,
        times_us=np.round(np.arange(len(x)) * 1e6 / rate_hz).astype(np.int64),
        x_deg=np.where(lost, np.nan, x),
        y_deg=np.where(lost, np.nan, y),
        comparable=comparable,
        coders={coder: runs_of(label == SACCADE) for coder, label in labels.items()},
    )


def _zemblys(path: Path) -> Labelled:
    with np.load(path) as data:
        x, y = data["x_deg"].astype(float), data["y_deg"].astype(float)
        lost = ~data["valid"] | ~np.isfinite(x) | ~np.isfinite(y)
        label = data["label"]
        rate_hz = float(data["rate_hz"])
    return _recording(path, "zemblys", rate_hz, x, y, lost, ~lost & (label != 0), {"RA": label})


def _lund(path: Path, exact_geometry: bool) -> Labelled:
    with np.load(path) as data:
        x_px, y_px = data["x_px"], data["y_px"]
        labels = {"RA": data["label_RA"], "MN": data["label_MN"]}
        rate_hz = float(data["rate_hz"])
        (width_mm, height_mm), (width_px, height_px) = data["screen_m"] * 1000, data["screen_px"]
        distance_mm = float(data["distance_m"]) * 1000
    lost = ((x_px == 0) & (y_px == 0)) | ~np.isfinite(x_px) | ~np.isfinite(y_px)
    if exact_geometry:
        screen = ScreenGeometry(
            width_px=int(width_px),
            height_px=int(height_px),
            width_mm=width_mm,
            height_mm=height_mm,
            eye_distance_mm=distance_mm,
        )
        x, y = screen.px_to_deg(x_px, y_px)
    else:
        deg_per_px = np.degrees(np.arctan2(width_mm / 2, distance_mm)) / (width_px / 2)
        x, y = x_px * deg_per_px, y_px * deg_per_px
    group = {"img": "images"}.get(path.name.split("_")[1], path.name.split("_")[1])
    return _recording(path, group, rate_hz, x, y, lost, ~lost, labels)


def agreements(
    recordings: Iterable[Labelled], find: Find, coder: str
) -> list[tuple[Labelled, Agreement]]:
    """Compare what `find` finds in each recording with a coder (RA where there is no other)."""
    return [
        (r, compare_events(find(r), r.coders.get(coder, r.coders["RA"]), r.comparable, r.rate_hz))
        for r in recordings
    ]


def pooled(compared: list[tuple[Labelled, Agreement]]) -> dict[str, dict[str, float]]:
    """Return κ, F1 and boundary errors of each group, all its recordings taken together."""
    result = {}
    for group in GROUPS:
        inside = [a for r, a in compared if r.group == group]
        counts = sum((a.counts for a in inside), SampleCounts(0, 0, 0, 0))
        matched = sum(a.n_matched for a in inside)
        events = sum(a.n_found + a.n_reference for a in inside)
        onset = np.concatenate([a.onset_errors_ms for a in inside])
        offset = np.concatenate([a.offset_errors_ms for a in inside])
        result[group] = {
            "kappa": counts.kappa or 0.0,
            "f1": 2 * matched / events if events else 0.0,
            "onset_median_ms": float(np.median(onset)),
            "onset_sd_ms": float(np.std(onset)),
            "offset_median_ms": float(np.median(offset)),
            "offset_sd_ms": float(np.std(offset)),
        }
    return result


def degraded(recording: Labelled, how: str) -> Labelled:
    """Return a recording as a worse tracker would have made it; its labels stay."""
    r = recording
    random = np.random.default_rng(len(r.x_deg))
    n = len(r.x_deg)
    position = np.vstack((r.x_deg, r.y_deg))
    if how.startswith("noise"):
        position += random.normal(0, float(how.split()[1].rstrip("°")), (2, n))
    elif how == "3 spikes a second":
        hit = random.random((2, n)) < 3 / r.rate_hz
        position[hit] += random.normal(0, 1.5, int(hit.sum()))
    elif how == "1 dropout a second":
        for start in np.flatnonzero(random.random(n) < 1 / r.rate_hz):
            length_ms = random.integers(1, 8)
            position[:, start : start + max(1, int(length_ms * r.rate_hz / 1000))] = np.nan
    seen = np.isfinite(position[0])
    return replace(r, x_deg=position[0], y_deg=position[1], comparable=r.comparable & seen)


def samples_of(detect: Callable[..., Detection], *settings: Any) -> Find:
    return lambda r: detect(*r.arguments, *settings).saccade_samples


def remodnav_saccades(recording: Labelled) -> Runs:
    """Run the peer; it stops on lost samples at the edges, so those are cut off first."""
    import remodnav

    margin = int(0.02 * recording.rate_hz) + 2
    seen = np.isfinite(recording.x_deg).astype(float)
    whole = np.flatnonzero(np.convolve(seen, np.ones(margin), "valid") == margin)
    first, last = whole[0], whole[-1] + margin
    data = np.zeros(last - first, [("x", "f8"), ("y", "f8")])
    data["x"], data["y"] = recording.x_deg[first:last], recording.y_deg[first:last]
    classifier = remodnav.EyegazeClassifier(px2deg=1.0, sampling_rate=recording.rate_hz)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        events = classifier(classifier.preproc(data))
    rate = recording.rate_hz
    found = [
        (first + round(e["start_time"] * rate), first + round(e["end_time"] * rate) - 1)
        for e in events
        if e["label"] in ("SACC", "ISAC")
    ]
    return np.array(sorted(found), np.int64).reshape(-1, 2)


def triggers(recordings: list[Labelled]) -> dict[str, dict[str, float]]:
    """Return delay, false triggers per minute and misses of the fast trigger, by group."""
    result = {}
    for group in ("all", *GROUPS):
        delays: list[float] = []
        false = n_saccades = 0
        minutes = 0.0
        for r in recordings:
            if group not in ("all", r.group):
                continue
            issued = trigger_samples(r)
            slack = int(TRIGGER_SLACK_MS * r.rate_hz / 1000)
            used = np.zeros(len(issued), bool)
            for onset, offset in r.coders["RA"]:
                near = np.flatnonzero((issued >= onset - slack) & (issued <= offset + slack))
                n_saccades += 1
                if len(near):
                    delays.append((issued[near[0]] - onset) * 1000 / r.rate_hz)
                    used[near] = True
            false += int((~used).sum())
            minutes += r.seconds_seen / 60
        result[group] = {
            "mean_ms": float(np.mean(delays)),
            "p95_ms": float(np.percentile(delays, 95)),
            "false_per_minute": false / minutes,
            "missed": 1 - len(delays) / n_saccades,
        }
    return result


def trigger_samples(recording: Labelled) -> np.ndarray:
    """Return the index of the newest sample at each trigger."""
    detector = OnlineDetector(sampling_rate_hz=recording.rate_hz)
    issued_us = [
        output.onset_us + round(1000 * output.detection_delay_ms)
        for output in detector.push(recording.times_us, recording.x_deg, recording.y_deg)
        if isinstance(output, SaccadeOnset)
    ]
    return np.searchsorted(recording.times_us, issued_us)


def leave_one_out(recordings: list[Labelled]) -> dict[str, Any]:
    """Choose parameters on all recordings but one, use them on that one, for each in turn.

    Returns the pooled agreement of the left-out recordings, the same with the parameters that
    are best on all, and how often each value was chosen.
    """
    grid = [
        dict(zip(SEARCH, values, strict=True)) for values in itertools.product(*SEARCH.values())
    ]
    table = []
    for change in grid:
        find = samples_of(detect_settled, msgspec.structs.replace(DetectorParameters(), **change))
        table.append(agreements(recordings, find, "RA"))

    def goodness(compared: list[tuple[Labelled, Agreement]]) -> float:
        groups = {r.group for r, _ in compared}
        score = 0.0
        for group in groups:
            inside = [a for r, a in compared if r.group == group]
            counts = sum((a.counts for a in inside), SampleCounts(0, 0, 0, 0))
            matched = sum(a.n_matched for a in inside)
            events = sum(a.n_found + a.n_reference for a in inside)
            score += ((counts.kappa or 0.0) + matched / events) / len(groups)
        return score

    best_of_all = max(range(len(grid)), key=lambda k: goodness(table[k]))
    left_out, chosen = [], []
    for i in range(len(recordings)):
        others = [goodness(row[:i] + row[i + 1 :]) for row in table]
        k = int(np.argmax(others))
        chosen.append(grid[k])
        left_out.append(table[k][i])
    return {
        "left_out": pooled(left_out),
        "best_of_all": pooled(table[best_of_all]),
        "best_parameters": grid[best_of_all],
        "chosen": {
            name: {str(v): sum(c[name] == v for c in chosen) for v in values}
            for name, values in SEARCH.items()
        },
    }


def calibration(recordings: list[Labelled]) -> dict[str, Any]:
    """Compare the confidence of saccades with how often coders agree, and fit it anew."""
    confidences, agreed = [], []
    for r in recordings:
        detection = detect_online(*r.arguments)
        shares = np.zeros(len(detection.saccades))
        for reference in r.coders.values():
            for _, j in match_events(reference, detection.saccade_samples):
                shares[j] += 1 / len(r.coders)
        confidences += [s.confidence for s in detection.saccades]
        agreed += shares.tolist()
    p, y = np.array(confidences), np.array(agreed)
    log_odds = np.log(p / (1 - p)).reshape(-1, 1)
    model = LogisticRegression(C=1e3).fit(
        np.vstack((log_odds, log_odds)),
        np.repeat([1, 0], len(y)),
        sample_weight=np.concatenate((y, 1 - y)),
    )
    bins = np.array_split(np.argsort(p), 5)
    return {
        "claimed": [round(float(p[b].mean()), 3) for b in bins],
        "agreed": [round(float(y[b].mean()), 3) for b in bins],
        "refit_offset_and_slope": [float(model.intercept_[0]), float(model.coef_[0, 0])],
    }


def show(title: str, groups: dict[str, dict[str, float]]) -> None:
    cells = [
        f"{g['kappa']:.3f}/{g['f1']:.3f} {g['onset_median_ms']:+.0f}±{g['onset_sd_ms']:.1f}"
        for g in groups.values()
    ]
    print(f"{title:34s}" + "".join(f"{cell:>22s}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("bench-results/detection_accuracy.json"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    recordings = load(options.data / "labelled")
    results: dict[str, Any] = {}

    print("κ / F1, onset error median ± SD in ms, against coder RA")
    print(f"{'':34s}" + "".join(f"{group:>22s}" for group in GROUPS))
    methods: dict[str, Find] = {
        "second human": lambda r: r.coders.get("MN", r.coders["RA"]),
        "engbert-kliegl": samples_of(detect_engbert_kliegl),
        "online": samples_of(detect_online),
        "settled": samples_of(detect_settled),
    }
    if not options.quick:
        methods["REMoDNaV"] = remodnav_saccades
    for name, find in methods.items():
        for coder in ("RA", "MN"):
            compared = agreements(recordings, find, coder)
            results[f"{name}, {coder}"] = pooled(compared)
            if coder == "RA":
                show(name, pooled(compared))
                results[f"{name}, by recording"] = {
                    r.name: {"kappa": a.kappa, "f1": a.f1} for r, a in compared
                }
    for name in ("online", "settled"):
        show(f"{name}, against coder MN", results[f"{name}, MN"])
    approximate = load(options.data / "labelled", exact_geometry=False)
    compared = agreements(approximate, methods["settled"], "RA")
    results["settled, constant px/deg"] = pooled(compared)
    show("settled, constant px/deg", pooled(compared))

    results["trigger"] = triggers(recordings)
    print("\nfast trigger: mean / p95 ms after the labelled onset, false per minute, missed")
    for group, t in results["trigger"].items():
        print(
            f"  {group:10s} {t['mean_ms']:.2f} / {t['p95_ms']:.0f} ms"
            f"  {t['false_per_minute']:5.1f}/min  {t['missed']:.1%}"
        )
    results["confidence"] = calibration(recordings)
    print("\nconfidence of saccades, in fifths:", results["confidence"])
    if not options.quick:
        print("\nthe same recordings made worse: κ / F1 against coder RA, settled")
        for how in DEGRADATIONS:
            worse = [degraded(r, how) for r in recordings]
            for name in ("scene-viewing", "noisy"):
                find = samples_of(detect_settled, PRESETS[name])
                results[f"{how}, {name}"] = pooled(agreements(worse, find, "RA"))
                show(f"{how}, {name}", results[f"{how}, {name}"])
        results["leave_one_recording_out"] = leave_one_out(recordings)
        print()
        show("left out, parameters from others", results["leave_one_recording_out"]["left_out"])
        show("parameters from all", results["leave_one_recording_out"]["best_of_all"])
        print("chosen:", results["leave_one_recording_out"]["chosen"])
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))
    print(f"\nwritten to {options.json}")


if __name__ == "__main__":
    main()
