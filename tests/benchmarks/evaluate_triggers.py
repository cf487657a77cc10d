"""How good the triggers of saccades are on hand-labelled gaze: delay, misses, false triggers.

    python tests/benchmarks/evaluate_triggers.py [--json OUT] [--data FOLDER] [--grid]

The measure is that of Schweitzer & Rolfs (2020, doi:10.3758/s13428-019-01304-3): the delay from the
labelled onset (coder RA) to the sample that fired, saccades without a trigger, and false triggers.
A trigger belongs to a labelled saccade from 20 ms before its onset to 20 ms after its offset; any
other is false. False triggers are counted per minute of gaze and per labelled fixation.

With a direction, a watch waits for saccades within 45° of right, up, left or down, as a script
does; the figures are means over the four. Only saccades within 35° of it can be missed. A trigger
at a saccade that is more than 55° off is `wrong`; between 35° and 55° either is right.

The parameters are the best of `GRID` on all recordings: the fewest false triggers with a direction
at a mean delay of at most 5 ms and at most 5 % missed. `--grid` repeats the choice without one
person after the other, and reports what it does on that person. What triggers find does not depend
on the chunks.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from evaluate_detection import DATA, Labelled, load

from gazelive.clock import MonotonicClock
from gazelive.detection import DetectorParameters, Runs, runs_of
from gazelive.gaze import Chunk, Coordinates, StreamDescription, empty_samples
from gazelive.triggers import Trigger, TriggerParameters, Triggers, Watch

SLACK_MS = 20.0
DIRECTIONS_DEG = {"right": 0.0, "up": 90.0, "left": 180.0, "down": -90.0}
WITHIN_DEG, MARGIN_DEG = 45.0, 10.0
CHUNK_MS = 100.0
FIXATION = 1
LARGEST_MEAN_MS, MOST_MISSED = 5.0, 0.05
Setting = tuple[float, float, float]
GRID: tuple[Setting, ...] = tuple(itertools.product((7.0, 8.0, 9.0), (0.0, 1.0), (4.0, 8.0, 16.0)))
"""Threshold in σ, hold and patience in ms."""


@dataclass
class Tally:
    """Counts over recordings and directions."""

    delays_ms: list[float] = field(default_factory=list)
    n_saccades: int = 0
    n_false: int = 0
    n_wrong: int = 0
    minutes: float = 0.0
    n_fixations: int = 0
    n_spoiled: int = 0
    """Fixations with a false trigger."""

    @classmethod
    def sum(cls, tallies: Iterable[Tally]) -> Tally:
        total = cls()
        for tally in tallies:
            for name in cls.__dataclass_fields__:
                setattr(total, name, getattr(total, name) + getattr(tally, name))
        return total

    def figures(self) -> dict[str, float]:
        delays = self.delays_ms or [float("nan")]
        return {
            "mean_ms": float(np.mean(delays)),
            "p50_ms": float(np.percentile(delays, 50)),
            "p95_ms": float(np.percentile(delays, 95)),
            "p99_ms": float(np.percentile(delays, 99)),
            "missed": 1.0 - len(self.delays_ms) / max(self.n_saccades, 1),
            "false_per_minute": self.n_false / self.minutes,
            "false_or_wrong_per_minute": (self.n_false + self.n_wrong) / self.minutes,
            "false_per_fixation": self.n_spoiled / max(self.n_fixations, 1),
            "n_saccades": self.n_saccades,
            "minutes": self.minutes,
        }


def triggers_of(
    recording: Labelled, parameters: TriggerParameters, makes: Sequence[Callable[[Triggers], Watch]]
) -> list[list[Trigger]]:
    """Return what watches find in a recording."""
    triggers = Triggers(None, MonotonicClock(), parameters)
    stream = StreamDescription(
        device="labels",
        sampling_rate_hz=recording.rate_hz,
        eyes="R",
        coordinates=Coordinates.DEGREES,
    )
    found: list[list[Trigger]] = [[] for _ in makes]
    for make, kept in zip(makes, found, strict=True):
        make(triggers).callback = kept.append
    samples = empty_samples(len(recording.times_us))
    samples["tracker_time_us"] = recording.times_us
    samples["right_x"], samples["right_y"] = recording.x_deg, recording.y_deg
    n = max(1, round(CHUNK_MS * recording.rate_hz / 1000))
    for number, start in enumerate(range(0, len(samples), n)):
        triggers.take(Chunk(number, 0, samples[start : start + n]), stream)
    triggers.check()
    return found


def directions_of(recording: Labelled, saccades: Runs) -> np.ndarray:
    """Return the direction of each labelled saccade (0 right, 90 up); NaN where an end is lost."""
    first, last = saccades[:, 0], saccades[:, 1]
    dx = recording.x_deg[last] - recording.x_deg[first]
    dy = recording.y_deg[last] - recording.y_deg[first]
    return np.degrees(np.arctan2(-dy, dx))


def count(
    tally: Tally,
    recording: Labelled,
    fixations: Runs,
    found: Sequence[Trigger],
    wanted_deg: float | None,
) -> None:
    """Compare the triggers of one watch with the labels of one recording."""
    saccades = recording.coders["RA"]
    fired = np.searchsorted(recording.times_us, [t.tracker_time_us for t in found])
    slack = int(SLACK_MS * recording.rate_hz / 1000)
    belongs = np.zeros(len(fired), bool)
    off_deg = np.zeros(len(saccades))
    if wanted_deg is not None:
        off_deg = np.abs((directions_of(recording, saccades) - wanted_deg + 180) % 360 - 180)
    for (onset, offset), off in zip(saccades.tolist(), off_deg.tolist(), strict=True):
        near = np.flatnonzero((fired >= onset - slack) & (fired <= offset + slack))
        new = near[~belongs[near]]
        belongs[near] = True
        if off > WITHIN_DEG + MARGIN_DEG:
            tally.n_wrong += len(new)
        elif off <= WITHIN_DEG - MARGIN_DEG:
            tally.n_saccades += 1
            if len(near):
                tally.delays_ms.append((fired[near[0]] - onset) * 1000 / recording.rate_hz)
    false = fired[~belongs]
    tally.n_false += len(false)
    tally.minutes += recording.seconds_seen / 60
    tally.n_fixations += len(fixations)
    tally.n_spoiled += int(
        sum(np.any((false >= first) & (false <= last)) for first, last in fixations.tolist())
    )


def fixations_of(folder: Path, recording: Labelled) -> Runs:
    """Return the labelled fixations of a recording."""
    with np.load(folder / f"{recording.name}.npz") as data:
        labels = data["label"] if "label" in data else data["label_RA"]
    return runs_of(labels == FIXATION)


def tallies_of(
    recording: Labelled, fixations: Runs, parameters: TriggerParameters
) -> dict[str, Tally]:
    """Count without a condition, with a direction (also of each), and with 0.5°."""
    names = ("any", "any, 0.5°", "direction", "direction, 0.5°", *DIRECTIONS_DEG)
    tallies = {name: Tally() for name in names}
    makes: list[tuple[str, float | None, Callable[[Triggers], Watch]]] = [
        ("any", None, lambda t: t.saccade_onset()),
        ("any, 0.5°", None, lambda t: t.saccade_onset(min_amplitude_deg=0.5)),
    ]
    for wanted in DIRECTIONS_DEG.values():
        for name, least in (("direction", 0.0), ("direction, 0.5°", 0.5)):
            makes.append(
                (
                    name,
                    wanted,
                    lambda t, w=wanted, a=least: t.saccade_onset(
                        direction_deg=w, within_deg=WITHIN_DEG, min_amplitude_deg=a
                    ),
                )
            )
    found = triggers_of(recording, parameters, [make for *_, make in makes])
    for (name, wanted, _), some in zip(makes, found, strict=True):
        count(tallies[name], recording, fixations, some, wanted)
        if name == "direction":
            towards = next(key for key, deg in DIRECTIONS_DEG.items() if deg == wanted)
            count(tallies[towards], recording, fixations, some, wanted)
    return tallies


def figures_of(tallies: Iterable[dict[str, Tally]]) -> dict[str, dict[str, float]]:
    """Return the figures of several recordings."""
    parts = list(tallies)
    return {name: Tally.sum(part[name] for part in parts).figures() for name in parts[0]}


def best_of(tallies: dict[Setting, list[dict[str, Tally]]], which: Sequence[int]) -> Setting:
    """Return the setting that is best on some of the recordings."""

    def goodness(setting: Setting) -> tuple[float, float]:
        f = Tally.sum(tallies[setting][i]["direction"] for i in which).figures()
        excess = max(0.0, f["mean_ms"] - LARGEST_MEAN_MS) + max(0.0, f["missed"] - MOST_MISSED)
        return excess, f["false_per_minute"]

    return min(tallies, key=goodness)


def choose(recordings: Sequence[tuple[Labelled, Runs]]) -> dict[str, Any]:
    """Choose on all people but one, and use it on that one, for each in turn."""
    tallies: dict[Setting, list[dict[str, Tally]]] = {}
    for noise, hold_ms, patience_ms in GRID:
        changed = TriggerParameters(
            detector=msgspec.structs.replace(DetectorParameters(), trigger_noise=noise),
            direction_hold_ms=hold_ms,
            direction_patience_ms=patience_ms,
        )
        tallies[noise, hold_ms, patience_ms] = [
            tallies_of(recording, fixations, changed) for recording, fixations in recordings
        ]
    results: dict[str, Any] = {}
    for setting, parts in tallies.items():
        name = "{:g} σ, {:g}, {:g} ms".format(*setting)
        results[name] = figures_of(parts)
        show(name, {"direction": results[name]["direction"]})
    people = [person_of(recording) for recording, _ in recordings]
    results["best of all"] = best_of(tallies, range(len(people)))
    left_out, chosen = [], {}
    for person in sorted(set(people)):
        setting = best_of(tallies, [i for i, other in enumerate(people) if other != person])
        chosen[person] = setting
        left_out += [tallies[setting][i] for i, other in enumerate(people) if other == person]
    results["chosen without"] = chosen
    results["people left out"] = figures_of(left_out)
    print("best of all:", results["best of all"], " chosen without a person:", chosen)
    show("people left out", results["people left out"])
    return results


def show(title: str, figures: dict[str, dict[str, float]]) -> None:
    for name, f in figures.items():
        if name in DIRECTIONS_DEG and title != "all":
            continue
        print(
            f"{title:22s} {name:16s} {f['mean_ms']:5.2f} ms (p50 {f['p50_ms']:.0f}, p95 "
            f"{f['p95_ms']:.0f}, p99 {f['p99_ms']:.0f})  missed {f['missed']:6.1%}  false "
            f"{f['false_per_minute']:5.2f}/min, with wrong ones "
            f"{f['false_or_wrong_per_minute']:5.2f}/min, in {f['false_per_fixation']:.2%} of "
            "fixations",
            flush=True,
        )


def person_of(recording: Labelled) -> str:
    return recording.name.split("_")[1 if recording.group == "zemblys" else 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("bench-results/triggers_accuracy.json"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--grid", action="store_true", help="repeat the choice of parameters")
    options = parser.parse_args()
    folder = options.data / "labelled"
    recordings = [(r, fixations_of(folder, r)) for r in load(folder)]
    results: dict[str, Any] = {}
    default = TriggerParameters()
    groups = {"all": recordings}
    for recording, fixations in recordings:
        groups.setdefault(recording.group, []).append((recording, fixations))
    for name, some in groups.items():
        results[name] = figures_of(tallies_of(*pair, default) for pair in some)
        show(name, results[name])
    if options.grid:
        results["grid"] = choose(recordings)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))
    print(f"\nwritten to {options.json}")


if __name__ == "__main__":
    main()
