"""Measure the verdict on people who did not teach `gazelive`, for the tables in `docs/study.md`.

    python docs/scripts/verdict_figures.py CORPORA [--cache FOLDER] [--seed 1] [--enrolled 5,15,all]
        [--methods gazelive,cem-b]

The galleries are those of `ship_strangers.py`, drawn anew: half of BioEye's people teach how
profiles vary, a quarter is enrolled in one session and a quarter are strangers; of SAVAM half are
enrolled. `--enrolled` takes only some of the enrolled (the strangers stay), or `both`: the
strangers are enrolled too, and only the posterior is measured. `shipped/strangers.json` is used as
it is: it was learned from other draws of the same people.

For each length of probe and for all lengths together: rank-1 accuracy, enrolled people missed
(FNIR) where 1 % of strangers are accepted, strangers accepted and enrolled people not accepted at
`--far 0.01`, and the ECE of posterior and stranger (with the true share of strangers as prior),
with 95 % intervals by bootstrap over people. Then the same decision after every saccade of the
longest probes: how many strangers were ever accepted, and when enrolled people were.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from ship_profiles import TASKS, learned, read
from ship_strangers import Trial, fewer_enrolled, trials_of

from gazelive.evaluation.measures import (
    calibration_error,
    calibration_interval,
    detection_errors,
    missed_at,
)
from gazelive.evaluation.reading import StudyData
from gazelive.features.scanpath import LATE_COLUMN, Column, Scanpath
from gazelive.gaze.arrays import Flags, Floats, Integers
from gazelive.identification import Identifier, Options, Terms, fit_method
from gazelive.identification.methods import gazelive_samples

RATE = 0.01
LONGEST = {"ran": "0 s", "tex": "0 s", "savam": "5"}


@dataclass(frozen=True)
class Judged:
    """One probe."""

    data: str
    length: str
    viewer: str
    gallery: int
    known: bool
    right: bool
    accepted: bool
    confidence: float
    log_unknown: float


@dataclass(frozen=True)
class Course:
    """One probe, judged after every saccade."""

    data: str
    known: bool
    accepted_s: float
    """When it was accepted as anybody; infinity: never."""
    right: bool


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--enrolled", default="all")
    parser.add_argument("--methods", default="gazelive")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        data = {name: read(arguments.corpora, name, cache) for name in (*TASKS, "savam")}
    cells = product(arguments.methods.split(","), arguments.enrolled.split(","))
    for method, enrolled in cells:
        judged: list[Judged] = []
        courses: list[Course] = []
        for number, trial in enumerate(trials_of(data, "samples", arguments.seed)):
            identifier, probes = gallery(trial, data, method, enrolled, arguments.seed)
            judged += judge(trial.name, number, identifier, probes)
            if enrolled == "all" and method == "gazelive":
                courses += follow(trial.name, identifier, probes)
        print(f"{method}, enrolled: {enrolled}")
        for name in LONGEST:
            own = [one for one in judged if one.data == name]
            for length in dict.fromkeys(one.length for one in own):
                describe(f"{name} {length}", [one for one in own if one.length == length])
            describe(f"{name}, all lengths", own)
            describe_courses(name, [one for one in courses if one.data == name])


Probes = list[tuple[str, str, list[Scanpath]]]


def gallery(
    trial: Trial, data: dict[str, StudyData], method: str, enrolled: str, seed: int
) -> tuple[Identifier, Probes]:
    """Fit a method to some of a trial's people; `gazelive`'s prior is from people outside it."""
    _, variation = learned([data[task].whole for task in TASKS], trial.others)
    setattr(gazelive_samples, "shipped_variation", lambda _: variation)  # noqa: B010
    if enrolled == "both":
        trial = replace(trial, training=trial.everybody)
    elif enrolled != "all":
        trial = fewer_enrolled(trial, int(enrolled), seed)
    return fit_method(method, trial.training, Options()).identifier, trial.probes


def judge(name: str, number: int, identifier: Identifier, probes: Probes) -> Iterator[Judged]:
    """Judge every probe once."""
    names = identifier.viewer_ids
    strange = float(np.mean([viewer not in names for _, viewer, _ in probes]))
    terms = Terms(stranger_prior=strange or 0.1, false_acceptance_rate=RATE, repeated=False)
    for length, viewer, paths in probes:
        probe = identifier.probe(terms=terms)
        for path in paths:
            probe.begin(path.image)
            probe.settle(path)
        estimate = probe.estimate()
        assert estimate.log_unknown is not None
        yield Judged(
            name,
            length,
            viewer,
            number,
            viewer in names,
            names[estimate.best] == viewer,
            bool(estimate.accepted),
            float(np.exp(estimate.log_probabilities.max())),
            estimate.log_unknown,
        )


def follow(name: str, identifier: Identifier, probes: Probes) -> Iterator[Course]:
    """Judge the longest probes after every saccade, until they are accepted."""
    names = identifier.viewer_ids
    for length, viewer, paths in probes:
        if length == LONGEST[name]:
            best, seconds = first_accepted(identifier, paths)
            yield Course(name, viewer in names, seconds, best == viewer)


def first_accepted(identifier: Identifier, paths: list[Scanpath]) -> tuple[str | None, float]:
    """Return as whom and after how many seconds a probe is first accepted."""
    probe = identifier.probe(terms=Terms(false_acceptance_rate=RATE, repeated=True))
    before_s = 0.0
    for path in paths:
        probe.begin(path.image)
        for row, fixation in zip(path.saccades, path.fixations, strict=False):
            probe.add_fixation(*fixation.tolist())
            known = row.copy()
            known[LATE_COLUMN] = np.nan
            probe.add_saccade(known)
            estimate = probe.estimate()
            if estimate.accepted:
                return identifier.viewer_ids[estimate.best], before_s + row[Column.ONSET_S]
        probe.settle(path)
        estimate = probe.estimate()
        before_s = estimate.seconds
        if estimate.accepted:
            return identifier.viewer_ids[estimate.best], before_s
    return None, np.inf


def describe(cell: str, judged: list[Judged]) -> None:
    """Print the figures of one cell."""
    known, right, accepted = (
        np.array([getattr(one, name) for one in judged]) for name in ("known", "right", "accepted")
    )
    claimed, unknown = (
        np.array([getattr(one, name) for one in judged]) for name in ("confidence", "log_unknown")
    )
    number = np.array([one.gallery for one in judged])
    people = np.unique([one.viewer for one in judged], return_inverse=True)[1].astype(np.int64)
    said = [f"rank-1 {right[known].mean():.3f}"]
    if not known.all():
        missed = []
        for one in np.unique(number):
            mated, strange = known & (number == one), ~known & (number == one)
            _, fpir, fnir = detection_errors(-unknown[mated], right[mated], -unknown[strange])
            missed.append(missed_at(fpir, fnir, RATE))
        said += [
            f"FNIR at 1 % {np.mean(missed):.3f}",
            f"strangers accepted {accepted[~known].mean():.3f}",
            f"enrolled not accepted {1 - (accepted & right)[known].mean():.3f}",
        ]
    said.append("ECE posterior " + error(claimed[known], right[known], people[known]))
    if not known.all():
        said.append("stranger " + error(np.exp(unknown), ~known, people))
    print(f"{cell}: {', '.join(said)} (n = {known.sum()} + {(~known).sum()})", flush=True)


def error(claimed: Floats, true: Flags, people: Integers) -> str:
    """Return an ECE with its interval."""
    low, high = calibration_interval(claimed, true, people)
    return f"{calibration_error(claimed, true):.3f} ({low:.3f}–{high:.3f})"


def describe_courses(name: str, courses: list[Course]) -> None:
    """Print what looking again after every saccade does."""
    if not courses:
        return
    strange = [one for one in courses if not one.known]
    known = [one for one in courses if one.known]
    when = [one.accepted_s for one in known if one.right and np.isfinite(one.accepted_s)]
    wrong = sum(np.isfinite(one.accepted_s) and not one.right for one in known)
    print(
        f"{name}, after every saccade: {sum(np.isfinite(one.accepted_s) for one in strange)} of "
        f"{len(strange)} strangers ever accepted; of {len(known)} enrolled {len(when)} accepted as "
        f"themselves, after {np.median(when):.0f} s (median), {wrong} as somebody else",
        flush=True,
    )


if __name__ == "__main__":
    main()
