"""Tasks of a study: pure functions of a data file and a description, so that they can be cached.

A task fits one method on the training part of one split and probes it with the other part. The
same task gives the same numbers to the bit in any process: linear algebra runs on one thread, and
every random choice has its seed. Labels of the test part are looked at only after all posteriors
are known.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from gazelive.errors import ModelError
from gazelive.evaluation.measures import verification_error_rate
from gazelive.evaluation.probing import (
    ONCE,
    Amounts,
    IdentifierOf,
    Probes,
    follow_courses,
    follow_decisions,
    numbers_of_images,
    probe_pieces,
    probe_walks,
)
from gazelive.evaluation.reading import StudyData, read_data
from gazelive.evaluation.splits import Protocol, Split, gallery_halves, splits_of
from gazelive.features import Scanpath
from gazelive.gaze import Integers
from gazelive.identification import (
    Fitted,
    Identifier,
    Options,
    SceneWalkIdentifier,
    Terms,
    TrainingSet,
    fit_method,
)
from gazelive.system import limit_to_one_thread

N_GALLERIES = 5
"""Random halves of the viewers per split of the open-set protocol."""
GALLERY_SIZES = (10, 32, 100, 300, 1000, 3000, 10_000)
LONGEST_IDENTIFICATION_S = 2.0
"""Larger galleries are not timed once an identification takes longer."""
N_TIMED = 7
MIXED: Terms = Terms(stranger_prior=0.5, repeated=False)
"""Half of the viewers are strangers."""


Kind = Literal["accuracy", "strangers", "timing"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What to compute."""

    kind: Kind
    method: str
    protocol: Protocol
    split: str
    """Name of the split."""
    without: tuple[str, ...] = ()
    """Groups of features left out."""
    search: bool = True
    """True if hyper-parameters are searched in the training part."""
    false_acceptance_rate: float = 0.01
    stimuli: str | None = None
    """Folder of the images."""
    saliency: Literal["train-only", "others"] = "train-only"
    """`Options.saliency`"""

    @property
    def label(self) -> str:
        """The method's name in results, with what it does without."""
        return self.method + "".join(f" without {group}" for group in sorted(self.without))

    @property
    def options(self) -> Options:
        """Options of the fit."""
        return Options(
            false_acceptance_rate=self.false_acceptance_rate,
            stimuli=None if self.stimuli is None else Path(self.stimuli),
            same_session=self.protocol.kind == "images",
            search=self.search,
            saliency=self.saliency,
            without=frozenset(self.without),
            shipped="shipped" not in self.without,
        )


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a task: numbers and columns of equal length."""

    facts: dict[str, Any]
    columns: dict[str, list[Any]]


def run_task(task: Task, data_path: str) -> Outcome:
    """Compute a task."""
    limit_to_one_thread()
    data = _data(data_path)
    split = next(
        split for split in splits_of(data.whole, task.protocol) if split.name == task.split
    )
    try:
        return _RUN[task.kind](task, data, split)
    except ModelError as error:
        raise ModelError(f"{task.label}, {split.name} ({task.kind}): {error}") from error


@lru_cache(maxsize=1)
def _data(path: str) -> StudyData:
    return read_data(Path(path))


def fit_split(task: Task, data: TrainingSet, split: Split, enrolled: Integers) -> Fitted:
    """Fit a task's method on the training part of some viewers."""
    return fit_method(task.method, data.subset(split.training).select(enrolled), task.options)


def _common_viewers(data: TrainingSet, split: Split) -> Integers:
    """Return the viewers who are in both parts."""
    return np.intersect1d(data.viewers[split.training], data.viewers[split.test])


def _probe(
    identifier: Identifier,
    task: Task,
    data: StudyData,
    split: Split,
    viewers: Integers,
    terms: Terms = ONCE,
) -> tuple[Probes, Amounts]:
    """Probe with the test part of some viewers."""
    test = data.whole.subset(split.test).select(viewers)
    amounts = Amounts(
        images_to_test(data.whole, task.protocol), tuple(sorted(task.protocol.seconds))
    )
    identifier_of = _identifier_of(identifier, task, test)
    if not data.pieces:
        return probe_walks(identifier_of, test, amounts, terms), amounts
    probes = probe_walks(identifier_of, test, Amounts(amounts.n_images, ()), terms)
    sessions = {data.whole.sessions[i] for i in np.flatnonzero(split.test)}
    for number, seconds in enumerate(amounts.seconds, start=len(amounts.n_images)):
        pieces = data.pieces[seconds]
        tested = np.array([session in sessions for session in pieces.sessions], bool)
        probe_pieces(identifier, pieces.subset(tested).select(viewers), number, probes, terms)
    return probes, amounts


def images_to_test(data: TrainingSet, protocol: Protocol) -> tuple[int, ...]:
    """Return 1, 2, 3, 5 … images, up to what every viewer has in the test part of every split."""
    counts = []
    for split in splits_of(data, protocol):
        viewers = _common_viewers(data, split)
        counts.append(np.bincount(data.viewers[split.test], minlength=data.n_viewers)[viewers])
    return numbers_of_images(int(min(count.min() for count in counts)))


def _identifier_of(identifier: Identifier, task: Task, test: TrainingSet) -> IdentifierOf:
    """Return the identifier for each viewer's probes.

    With saliency from others, the fixations of the viewer who is probed are left out.
    """
    if task.saliency != "others" or not isinstance(identifier, SceneWalkIdentifier):
        return lambda _viewer: identifier
    looks = [
        (test.viewer_ids[viewer], session, path)
        for viewer, session, path in zip(test.viewers, test.sessions, test.scanpaths, strict=True)
    ]
    return lambda viewer: identifier.with_saliency_of(looks, probed=test.viewer_ids[viewer])


def _accuracy(task: Task, data: StudyData, split: Split) -> Outcome:
    """Closed set: everybody who is probed is enrolled."""
    viewers = _common_viewers(data.whole, split)
    started_s = time.process_time()
    fitted = fit_split(task, data.whole, split, viewers)
    fit_s = time.process_time() - started_s
    probes, amounts = _probe(fitted.identifier, task, data, split, viewers)
    test = data.whole.subset(split.test).select(viewers)
    courses = follow_courses(_identifier_of(fitted.identifier, task, test), test)
    logs, truth = np.array(probes.log_posterior), np.array(probes.viewer)
    amount = np.array(probes.amount)
    return Outcome(
        facts={
            "viewers": [data.whole.viewer_ids[i] for i in viewers],
            "amounts": amounts.labels,
            "eer": [
                verification_error_rate(logs[amount == a], truth[amount == a])
                for a in range(len(amounts.labels))
            ],
            "hyperparameters": fitted.hyperparameters,
            "fit_cpu_s": fit_s,
            "courses": msgspec.to_builtins(courses),
        },
        columns={
            "amount": probes.amount,
            "viewer": probes.viewer,
            "seconds": probes.seconds,
            "n_saccades": probes.n_saccades,
            "best": logs.argmax(axis=1).tolist(),
            "confidence": np.exp(logs.max(axis=1)).tolist(),
            "log_own": logs[np.arange(len(truth)), truth].tolist(),
        },
    )


def _strangers(task: Task, data: StudyData, split: Split) -> Outcome:
    """Open set: half of the viewers are enrolled, the others are strangers."""
    viewers = _common_viewers(data.whole, split)
    names = ("gallery", "amount", "viewer", "mated", "right", "unknown", "accepted")
    columns: dict[str, list[float]] = {name: [] for name in names}
    decisions: dict[str, list[float]] = {"mated": [], "right": [], "seconds": []}
    test = data.whole.subset(split.test).select(viewers)
    labels: list[tuple[int | None, float | None]] = []
    for gallery, half in enumerate(gallery_halves(len(viewers), N_GALLERIES)):
        fitted = fit_split(task, data.whole, split, viewers[half])
        probes, amounts = _probe(fitted.identifier, task, data, split, viewers, MIXED)
        labels = amounts.labels
        enrolled = fitted.identifier.viewer_ids
        positions = {data.whole.viewer_ids.index(name): i for i, name in enumerate(enrolled)}
        truth = np.array([positions.get(int(viewers[v]), -1) for v in probes.viewer])
        best = np.array(probes.log_posterior).argmax(axis=1)
        columns["gallery"] += [gallery] * len(truth)
        columns["amount"] += probes.amount
        columns["viewer"] += probes.viewer
        columns["mated"] += (truth >= 0).tolist()
        columns["right"] += (best == truth).tolist()
        columns["unknown"] += probes.log_unknown
        columns["accepted"] += probes.accepted
        if gallery == 0:
            found = follow_decisions(_identifier_of(fitted.identifier, task, test), test)
            truth = np.array([positions.get(int(viewers[v]), -2) for v in found.viewer])
            decisions["mated"] += (truth >= 0).tolist()
            decisions["right"] += (truth == found.best).tolist()
            decisions["seconds"] += found.seconds
    return Outcome(facts={"amounts": labels, "decisions": decisions}, columns=columns)


def _timing(task: Task, data: StudyData, split: Split) -> Outcome:
    """Time of one identification (a test scanpath, settled) by the size of the gallery."""
    identifier = fit_split(task, data.whole, split, _common_viewers(data.whole, split)).identifier
    lengths = np.array([path.n_saccades for path in data.whole.scanpaths])
    tested = np.flatnonzero(split.test)
    usual = tested[np.argmin(np.abs(lengths[tested] - np.median(lengths[tested])))]
    path = data.whole.scanpaths[usual]
    columns: dict[str, list[float]] = {"n_viewers": [], "seconds": []}
    for size in GALLERY_SIZES:
        seconds = identification_s(of_size(identifier, size), path)
        columns["n_viewers"].append(size)
        columns["seconds"].append(seconds)
        if seconds > LONGEST_IDENTIFICATION_S:
            break
    return Outcome(facts={"n_saccades": int(lengths[usual])}, columns=columns)


def of_size(identifier: Identifier, n_viewers: int) -> Identifier:
    """Return the identifier with its viewers repeated until there are `n_viewers`, or the first.

    What serves only to enrol more viewers is not repeated.
    """
    n_known = min(len(identifier.viewer_ids), n_viewers)
    state = identifier.state().select(np.arange(n_known))
    chosen = np.resize(np.arange(n_known), n_viewers)
    arrays = dict(state.arrays)
    for name, axis in state.viewer_axis.items():
        arrays[name] = np.take(arrays[name], chosen, axis)
    names = tuple(f"viewer {i}" for i in range(n_viewers))
    return type(identifier).from_state(identifier.method, names, replace(state, arrays=arrays))


def identification_s(identifier: Identifier, path: Scanpath) -> float:
    """Return the median time from a settled scanpath to its posterior."""
    times = []
    for _ in range(N_TIMED + 1):  # the first compiles
        probe = identifier.probe()
        probe.begin(path.image)
        started_s = time.perf_counter()
        probe.settle(path)
        probe.estimate()
        times.append(time.perf_counter() - started_s)
        if times[-1] > LONGEST_IDENTIFICATION_S:
            break
    return float(np.median(times[1:] or times))


_RUN = {"accuracy": _accuracy, "strangers": _strangers, "timing": _timing}
