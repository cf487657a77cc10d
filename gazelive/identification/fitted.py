"""What training gives: an identifier, how good it seems, and what enrolling others needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.identification.contract import Identifier
from gazelive.identification.machines import Linear

Floats = npt.NDArray[np.float64]
SingleFloats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

Flags = npt.NDArray[np.bool_]

SCANPATHS_HELD_OUT = "single scanpaths held out, within sessions"
PARTS_HELD_OUT = "parts of each session held out; across sessions it will be lower"

MachineKind = Literal["likelihood", "svm", "logistic"]


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """A cross-validated estimate of accuracy."""

    estimate: float
    standard_error: float
    """Over viewers."""
    n: int
    protocol: str

    def __str__(self) -> str:
        return (
            f"{self.estimate:.3f} ± {self.standard_error:.3f} (SE over viewers, n = {self.n}; "
            f"{self.protocol})"
        )


@dataclass(frozen=True, eq=False)
class Machine:
    """What a new viewer's machine is fitted with and against: whitened scores of all units."""

    kind: MachineKind
    factor: float
    """Of a likelihood ratio or of an SVM's decision, to be log evidence."""
    whitening: Linear
    scores: SingleFloats
    """(units, whitened)"""
    viewers: Integers
    logits: Linear
    """From whitened scores to every viewer's log evidence."""

    def without(self, kept: Integers) -> Machine:
        """Return the machine for the kept viewers only."""
        number = {int(viewer): i for i, viewer in enumerate(kept)}
        stays = np.isin(self.viewers, kept)
        return replace(
            self,
            scores=self.scores[stays],
            viewers=np.array([number[int(v)] for v in self.viewers[stays]], np.int64),
            logits=Linear(self.logits.weights[:, kept], self.logits.bias[kept]),
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of training."""

    identifier: Identifier
    calibration: str
    accuracy: Accuracy | None
    machine: Machine | None = None
    vigor_rate_deg: float | None = None


def accuracy_of(
    evidence: Floats, labels: Integers, protocol: str, n_viewers: int
) -> Accuracy | None:
    """Return how often the right viewer has most evidence.

    None where nothing was held out, or where it was of one viewer only.
    """
    known = np.abs(evidence).sum(axis=1) > 0
    if n_viewers < 2 or len(np.unique(labels[known])) < 2:
        return None
    right = evidence[known].argmax(axis=1) == labels[known]
    per_viewer = np.array([right[labels[known] == v].mean() for v in np.unique(labels[known])])
    spread = per_viewer.std(ddof=1) / np.sqrt(len(per_viewer))
    return Accuracy(
        estimate=float(right.mean()),
        standard_error=float(spread),
        n=len(right),
        protocol=protocol,
    )


def accuracy_of_units(
    evidence: Floats, viewers: Integers, scanpaths: Integers, folds: Integers, held_out: Flags
) -> Accuracy | None:
    """Return how often the right viewer has most evidence in what was held out together.

    That is a whole scanpath; of one that is so long that its units (evidence: units, viewers) are
    in several folds, what is in one of them. The evidence must be what a machine says of units
    that it did not see: a calibration that was fitted to it would make it look too good.
    """
    where = np.stack((scanpaths, folds), axis=1)[held_out]
    parts, first, part = np.unique(where, axis=0, return_index=True, return_inverse=True)
    summed = np.zeros((len(parts), evidence.shape[1]))
    np.add.at(summed, part.reshape(-1), evidence[held_out])
    is_cut = len(np.unique(parts[:, 0])) < len(parts)
    protocol = PARTS_HELD_OUT if is_cut else SCANPATHS_HELD_OUT
    return accuracy_of(summed, viewers[held_out][first], protocol, evidence.shape[1])
