"""Tables of a study, from the outcomes of its tasks.

Rows are dictionaries in the order of the columns; `write_csv` writes them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.evaluation.measures import (
    calibration_bins,
    calibration_error,
    calibration_interval,
    detection_errors,
    equal_error_rate,
    holm,
    mean_interval,
    missed_at,
    paired_p_value,
)
from gazelive.evaluation.tasks import Outcome, Task
from gazelive.gaze import Flags, Floats, Integers
from gazelive.recordings import guarded
from gazelive.system import write_bytes

Row = dict[str, Any]
Rows = list[Row]
Outcomes = Sequence[tuple[Task, Outcome]]
FISHER_PAIRS = (
    ("fisher-markov", "markov"),
    ("fisher-markov-dynamics", "markov-dynamics"),
    ("fisher-scenewalk", "scenewalk"),
    ("fisher-abdelwahab", "abdelwahab"),
    ("fisher-abdelwahab-dynamics", "abdelwahab-dynamics"),
)
FPIR = 0.01
"""False-positive identification rate at which FNIR is reported."""
N_CURVE = 60
"""Points of a DET curve."""


@dataclass(frozen=True)
class Study:
    """All tables of a study."""

    results: Rows = field(default_factory=list)
    summary: Rows = field(default_factory=list)
    tests: Rows = field(default_factory=list)
    calibration: Rows = field(default_factory=list)
    reliability: Rows = field(default_factory=list)
    time_to_identify: Rows = field(default_factory=list)
    open_set: Rows = field(default_factory=list)
    decisions: Rows = field(default_factory=list)
    det: Rows = field(default_factory=list)
    timing: Rows = field(default_factory=list)
    hyperparameters: Rows = field(default_factory=list)
    manifest: Row = field(default_factory=dict)

    def __repr__(self) -> str:
        methods = dict.fromkeys(str(row["method"]) for row in self.summary)
        filled = [name for name, rows in self.tables().items() if rows]
        return f"<Study of {', '.join(methods) or 'no method'}: tables {', '.join(filled)}>"

    def tables(self) -> dict[str, Rows]:
        """Return the tables by the names of their files."""
        names = [name for name in vars(self) if name != "manifest"]
        return {name: getattr(self, name) for name in names}


def tables_of(outcomes: Outcomes) -> Study:
    """Return every table, without the manifest."""
    of_kind = {
        kind: [(t, o) for t, o in outcomes if t.kind == kind]
        for kind in ("accuracy", "strangers", "timing")
    }
    accuracy = [_Scored(task, outcome) for task, outcome in of_kind["accuracy"]]
    strangers = _by_label(of_kind["strangers"])
    return Study(
        results=[row for scored in accuracy for row in scored.results()],
        summary=list(_summary(accuracy)),
        tests=_fisher_tests(accuracy),
        calibration=list(_calibration(accuracy)),
        reliability=list(_reliability(accuracy)),
        time_to_identify=list(_times(accuracy)),
        open_set=[row for label, own in strangers.items() for row in _open_set(label, own)],
        decisions=[_decisions(label, own) for label, own in strangers.items()],
        det=[row for label, own in strangers.items() for row in _det(label, own)],
        timing=[
            {"method": task.label, "n_viewers": int(n), "seconds": s}
            for task, outcome in of_kind["timing"]
            for n, s in zip(outcome.columns["n_viewers"], outcome.columns["seconds"], strict=True)
        ],
        hyperparameters=[
            {"method": scored.task.label, "split": scored.task.split, "name": name, "value": value}
            for scored in accuracy
            for name, value in scored.outcome.facts["hyperparameters"].items()
        ],
    )


Amount = tuple[int | None, float | None]


class _Scored:
    """The closed-set outcome of one method on one split, as arrays."""

    def __init__(self, task: Task, outcome: Outcome) -> None:
        self.task, self.outcome = task, outcome
        columns = outcome.columns
        self.amount: Integers = np.array(columns["amount"], np.int64)
        self.viewer: Integers = np.array(columns["viewer"], np.int64)
        self.right: Flags = np.array(columns["best"], np.int64) == self.viewer
        self.confidence: Floats = np.array(columns["confidence"])
        self.seconds: Floats = np.array(columns["seconds"])
        self.names: list[str] = outcome.facts["viewers"]
        self.labels: list[Amount] = [tuple(label) for label in outcome.facts["amounts"]]

    def at(self, amount: Amount) -> Flags | None:
        """Return which probes have an amount of evidence; None if the split has none such."""
        if amount not in self.labels:
            return None
        found = self.amount == self.labels.index(amount)
        return found if found.any() else None

    def results(self) -> Iterator[Row]:
        for amount in self.labels:
            chosen = self.at(amount)
            if chosen is not None:
                yield {
                    "method": self.task.label,
                    "n_images": amount[0],
                    "seconds": round(float(self.seconds[chosen].mean()), 3)
                    if amount[1] is None
                    else amount[1],
                    "split": self.task.split,
                    "accuracy": self.accuracy(chosen),
                    "n_viewers": len(self.names),
                    "n_probes": int(chosen.sum()),
                }

    def accuracy(self, chosen: Flags) -> float:
        """Return the mean over viewers: each counts the same, however many probes there are."""
        return float(np.mean(list(self.by_viewer(chosen).values())))

    def by_viewer(self, chosen: Flags) -> dict[str, float]:
        return {
            self.names[v]: float(self.right[chosen & (self.viewer == v)].mean())
            for v in np.unique(self.viewer[chosen])
        }


def _by_label(outcomes: Iterable[tuple[Task, Outcome]]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for task, outcome in outcomes:
        found.setdefault(task.label, []).append(outcome)
    return found


def _groups(accuracy: list[_Scored]) -> Iterator[tuple[str, Amount, list[tuple[_Scored, Flags]]]]:
    """Yield each method and amount with the splits that have it."""
    for label in dict.fromkeys(scored.task.label for scored in accuracy):
        own = [scored for scored in accuracy if scored.task.label == label]
        for amount in dict.fromkeys(a for scored in own for a in scored.labels):
            chosen = [(scored, scored.at(amount)) for scored in own]
            present = [(scored, flags) for scored, flags in chosen if flags is not None]
            if present:
                yield label, amount, present


def _viewer_means(own: list[tuple[_Scored, Flags]]) -> dict[str, float]:
    """Return each viewer's accuracy, the mean over splits."""
    values: dict[str, list[float]] = {}
    for scored, chosen in own:
        for name, value in scored.by_viewer(chosen).items():
            values.setdefault(name, []).append(value)
    return {name: float(np.mean(found)) for name, found in values.items()}


def _labelled(label: str, amount: Amount, own: list[tuple[_Scored, Flags]]) -> Row:
    seconds = amount[1]
    if seconds is None:
        seconds = round(float(np.mean([s.seconds[chosen].mean() for s, chosen in own])), 3)
    return {"method": label, "n_images": amount[0], "seconds": seconds}


def _summary(accuracy: list[_Scored]) -> Iterator[Row]:
    for label, amount, own in _groups(accuracy):
        per_split = np.array([scored.accuracy(chosen) for scored, chosen in own])
        low, high = mean_interval(np.array(list(_viewer_means(own).values())))
        several = len(per_split) > 1
        yield _labelled(label, amount, own) | {
            "accuracy": float(per_split.mean()),
            "standard_error": float(per_split.std(ddof=1) / np.sqrt(len(own))) if several else None,
            "ci_low": low,
            "ci_high": high,
            "eer": float(np.mean([s.outcome.facts["eer"][s.labels.index(amount)] for s, _ in own])),
            "n_splits": len(own),
            "n_viewers": len(own[0][0].names),
            "n_probes": int(sum(chosen.sum() for _, chosen in own)),
        }


def _fisher_tests(accuracy: list[_Scored]) -> Rows:
    """Compare each Fisher SVM with its generative model: paired over viewers, Holm-corrected."""
    groups = {(label, amount): own for label, amount, own in _groups(accuracy)}
    rows: Rows = []
    for fisher, generative in FISHER_PAIRS:
        for (label, amount), own in groups.items():
            if label != fisher or (generative, amount) not in groups:
                continue
            ours, theirs = _viewer_means(own), _viewer_means(groups[generative, amount])
            differences = np.array([ours[name] - theirs[name] for name in ours])
            low, high = mean_interval(differences)
            rows.append(
                _labelled(fisher, amount, own)
                | {
                    "against": generative,
                    "difference": float(differences.mean()),
                    "ci_low": low,
                    "ci_high": high,
                    "p": paired_p_value(differences),
                    "n_viewers": len(differences),
                }
            )
    for row, corrected in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = corrected
    return rows


def _calibration(accuracy: list[_Scored]) -> Iterator[Row]:
    for label, amount, own in _groups(accuracy):
        confidence, right, viewers = _pooled(own)

        low, high = calibration_interval(confidence, right, viewers)
        yield _labelled(label, amount, own) | {
            "ece": calibration_error(confidence, right),
            "ci_low": low,
            "ci_high": high,
            "mean_confidence": float(confidence.mean()),
            "accuracy": float(right.mean()),
            "n_probes": len(right),
        }


def _reliability(accuracy: list[_Scored]) -> Iterator[Row]:
    for label, amount, own in _groups(accuracy):
        confidence, right, _ = _pooled(own)
        for claimed, true, n in calibration_bins(confidence, right):
            yield _labelled(label, amount, own) | {
                "confidence": claimed,
                "accuracy": true,
                "n_probes": n,
            }


def _pooled(own: list[tuple[_Scored, Flags]]) -> tuple[Floats, Flags, Integers]:
    """Return confidence, correctness and viewers of all splits."""
    names = sorted({name for scored, _ in own for name in scored.names})
    return (
        np.concatenate([scored.confidence[chosen] for scored, chosen in own]),
        np.concatenate([scored.right[chosen] for scored, chosen in own]),
        np.concatenate(
            [
                np.array([names.index(name) for name in scored.names])[scored.viewer[chosen]]
                for scored, chosen in own
            ]
        ),
    )


def _times(accuracy: list[_Scored]) -> Iterator[Row]:
    for label in dict.fromkeys(scored.task.label for scored in accuracy):
        own = [s.outcome.facts["courses"] for s in accuracy if s.task.label == label]
        columns = {
            name: np.concatenate([np.array(courses[name], np.float64) for courses in own])
            for name in ("level", "seconds", "n_saccades", "right")
        }
        for level in np.unique(columns["level"]):
            at = columns["level"] == level
            reached = at & np.isfinite(columns["seconds"])
            some = reached.any()
            yield {
                "method": label,
                "posterior": float(level),
                "reached": float(reached.sum() / at.sum()),
                "median_seconds": float(np.median(columns["seconds"][reached])) if some else None,
                "median_saccades": float(np.median(columns["n_saccades"][reached]))
                if some
                else None,
                "wrong": float(1 - columns["right"][reached].mean()) if some else None,
                "n_courses": int(at.sum()),
            }


@dataclass(frozen=True)
class _Acceptance:
    """Scores of mated and non-mated probes of one amount."""

    amount: Amount
    mated: Floats
    right: Flags
    non_mated: Floats
    mated_accepted: Flags
    non_mated_accepted: Flags

    @property
    def curve(self) -> tuple[Floats, Floats]:
        """FPIR and FNIR at every threshold."""
        _, fpir, fnir = detection_errors(self.mated, self.right, self.non_mated)
        return fpir, fnir


def _acceptances(outcomes: list[Outcome]) -> Iterator[_Acceptance]:
    labels: list[Amount] = [tuple(label) for label in outcomes[0].facts["amounts"]]
    columns: Mapping[str, Floats] = {
        name: np.concatenate([np.array(o.columns[name], np.float64) for o in outcomes])
        for name in ("amount", "mated", "right", "unknown", "accepted")
    }
    accepted = columns["accepted"] > 0
    known = -columns["unknown"]
    for number, amount in enumerate(labels):
        at = columns["amount"] == number
        mated = at & (columns["mated"] > 0)
        non_mated = at & (columns["mated"] == 0)
        if mated.any() and non_mated.any():
            yield _Acceptance(
                amount,
                known[mated],
                columns["right"][mated] > 0,
                known[non_mated],
                accepted[mated],
                accepted[non_mated],
            )


def _open_set(label: str, outcomes: list[Outcome]) -> Iterator[Row]:
    for found in _acceptances(outcomes):
        fpir, fnir = found.curve
        yield {
            "method": label,
            "n_images": found.amount[0],
            "seconds": found.amount[1],
            "eer": equal_error_rate(found.mated, found.non_mated),
            "fnir_at_1_percent_fpir": missed_at(fpir, fnir, FPIR),
            "nominal_far": FPIR,
            "realised_far": float(np.mean(found.non_mated_accepted)),
            "refused": float(1 - np.mean(found.mated_accepted & found.right)),
            "unknown_ece": _stranger_error(
                -np.concatenate((found.mated, found.non_mated)),
                np.repeat([False, True], [len(found.mated), len(found.non_mated)]),
            ),
            "n_mated": len(found.mated),
            "n_non_mated": len(found.non_mated),
        }


def _stranger_error(log_unknown: Floats, strange: Flags) -> float:
    """Return the ECE of the probability of a stranger, where there is one."""
    known = np.isfinite(log_unknown)
    return calibration_error(np.exp(log_unknown[known]), strange[known])


def _decisions(label: str, outcomes: list[Outcome]) -> Row:
    """Return what happens when a probe is judged after every saccade, and the ECE of strangers.

    The ECE is that of the probability of a stranger, over all lengths.
    """
    columns = {
        name: np.concatenate([np.array(o.columns[name], np.float64) for o in outcomes])
        for name in ("mated", "unknown")
    }
    mated, right, seconds = (
        np.concatenate([np.array(o.facts["decisions"][name], np.float64) for o in outcomes])
        for name in ("mated", "right", "seconds")
    )
    accepted = np.isfinite(seconds)
    known, strange = mated > 0, mated == 0
    correct = known & accepted & (right > 0)
    return {
        "method": label,
        "unknown_ece": _stranger_error(columns["unknown"], columns["mated"] == 0),
        "strangers_ever_accepted": float(accepted[strange].mean()),
        "enrolled_accepted": float(correct.sum() / known.sum()),
        "enrolled_mistaken": float((known & accepted & (right == 0)).sum() / known.sum()),
        "median_seconds": float(np.median(seconds[correct])) if correct.any() else None,
        "n_enrolled": int(known.sum()),
        "n_strangers": int(strange.sum()),
    }


def _det(label: str, outcomes: list[Outcome]) -> Iterator[Row]:
    for found in _acceptances(outcomes):
        fpir, fnir = found.curve
        for rate in np.geomspace(1e-3, 1.0, N_CURVE):
            yield {
                "method": label,
                "n_images": found.amount[0],
                "seconds": found.amount[1],
                "fpir": float(rate),
                "fnir": missed_at(fpir, fnir, float(rate)),
            }


def write_csv(rows: Rows, columns: Sequence[str], path: Path) -> None:
    """Write a table; an unknown value is an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: _short(value) for name, value in row.items() if name in columns} for row in rows
    )
    write_bytes(path, text.getvalue().encode())


def _short(value: object) -> object:
    if isinstance(value, str):
        return guarded(value)
    return f"{value:.6g}" if isinstance(value, float) else value
