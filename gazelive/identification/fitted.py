"""Input and output of training: options, the fitted identifier, its cross-validated accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.contract import Identifier
from gazelive.identification.hyperparameters import Hyperparameters

SCANPATHS_HELD_OUT = "single scanpaths held out, within sessions"
PARTS_HELD_OUT = "parts of each session held out; across sessions it will be lower"
TEXTURE_GROUP = "texture"
NORMAL_95 = 1.96
"""Half of the 95 % interval, in standard errors."""
NUMBERS_OF_IMAGES: dict[str, int | None] = {"1": 1, "10": 10, "all": None}
"""Of which the accuracy is reported; all are those of a fold."""


@dataclass(frozen=True)
class Options:
    """Choices of the user."""

    false_acceptance_rate: float = 0.01
    """Share of strangers that are accepted."""
    texture: bool = True
    """True if `gazelive` looks at the fixation before a saccade, whose noise may be the recording's
    rather than the person's."""
    shipped: bool = True
    """False if nothing that was learned from other people's recordings is used (`gazelive`)."""
    stimuli: Path | None = None
    """Folder of the images, for their saliency."""
    saliency: Literal["train-only", "others"] = "train-only"
    """SceneWalk's saliency of an image, for the study: without anybody's fixations on it, or from
    those of the other viewers, as in the paper (`SceneWalkIdentifier.with_saliency_of`)."""
    same_session: bool = False
    """True if probes will come from the sessions of training, as in the paper's protocol."""
    search: bool = False
    """True if hyper-parameters are searched on the method's grid; else its defaults are used."""
    without: frozenset[str] = frozenset()
    """Groups of features to leave out, for ablations; a method ignores groups it does not have."""
    report: Callable[[float], None] = lambda _fraction: None
    """Called with the progress of training, 0 to 1."""

    @property
    def groups_left_out(self) -> frozenset[str]:
        """`without`, and the texture where it is not wanted."""
        return self.without if self.texture else self.without | {TEXTURE_GROUP}


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """A cross-validated estimate of accuracy."""

    estimate: float
    standard_error: float
    """Over viewers."""
    n: int
    protocol: str

    @property
    def lower_bound(self) -> float:
        """Lower bound of the 95 % interval: over viewers, or Wilson's if all viewers are alike."""
        if self.standard_error > 0:
            return self.estimate - NORMAL_95 * self.standard_error
        share, n, squared = self.estimate, self.n, NORMAL_95**2
        half = NORMAL_95 * math.sqrt(share * (1 - share) / n + squared / (4 * n**2))
        return (share + squared / (2 * n) - half) / (1 + squared / n)

    def __str__(self) -> str:
        return (
            f"{self.estimate:.3f} ± {self.standard_error:.3f} (SE over viewers, n = {self.n}; "
            f"{self.protocol})"
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of training."""

    identifier: Identifier
    calibration: str
    """Description of the probability calibration."""
    accuracy: Accuracy | None
    vigor_rate_deg: float | None = None
    """b* of the recordings; None of fixation tables."""
    hyperparameters: Hyperparameters = field(default_factory=dict)
    """Values used, by name."""
    accuracy_by_images: dict[str, Accuracy] = field(default_factory=dict)
    """For 1, 10 and all images (`NUMBERS_OF_IMAGES`), where scanpaths are of images."""


def accuracy_of(
    evidence: Floats, labels: Integers, protocol: str, n_viewers: int
) -> Accuracy | None:
    """Return how often the right viewer has most evidence; None with fewer than two viewers."""
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
    """Return how often the right viewer has most evidence in units that were held out together.

    They are a whole scanpath, or the part of a long one that is in one fold. `evidence` (units,
    viewers) must come from machines that did not see the units, and without a calibration that was
    fitted to them.
    """
    where = np.stack((scanpaths, folds), axis=1)[held_out]
    parts, first, part = np.unique(where, axis=0, return_index=True, return_inverse=True)
    summed = np.zeros((len(parts), evidence.shape[1]))
    np.add.at(summed, part.reshape(-1), evidence[held_out])
    is_cut = len(np.unique(parts[:, 0])) < len(parts)
    protocol = PARTS_HELD_OUT if is_cut else SCANPATHS_HELD_OUT
    return accuracy_of(summed, viewers[held_out][first], protocol, evidence.shape[1])


def accuracy_by_images(
    evidence: Floats, viewers: Integers, scanpaths: Integers, folds: Integers, held_out: Flags
) -> dict[str, Accuracy]:
    """Return the accuracy (`accuracy_of_units`) for 1, 10 and all images of a fold together.

    `evidence` is such that it adds up. There is none where scanpaths were cut into folds.
    """
    found = {}
    for name, n_images in NUMBERS_OF_IMAGES.items():
        group = image_groups(viewers, scanpaths, folds, n_images)
        judged = held_out & (group >= 0)
        numbers, first, part = np.unique(group[judged], return_index=True, return_inverse=True)
        summed = np.zeros((len(numbers), evidence.shape[1]))
        np.add.at(summed, part, evidence[judged])
        accuracy = accuracy_of(
            summed, viewers[judged][first], images_held_out(n_images), evidence.shape[1]
        )
        if accuracy is not None:
            found[name] = accuracy
    return found


def images_held_out(n_images: int | None) -> str:
    """Return the protocol of `accuracy_by_images` in words."""
    if n_images == 1:
        return SCANPATHS_HELD_OUT
    many = "all scanpaths of a fold" if n_images is None else f"{n_images} scanpaths"
    return f"{many} held out together, within sessions"


def image_groups(
    viewers: Integers, scanpaths: Integers, folds: Integers, n_images: int | None
) -> Integers:
    """Return a number for units of `n_images` scanpaths of one viewer in one fold (None: all).

    It is −1 for those left over, and for all where a scanpath lies in two folds.
    """
    of_paths, first, path = np.unique(scanpaths, return_index=True, return_inverse=True)
    if (folds != folds[first][path]).any():
        return np.full(len(scanpaths), -1)
    of_path = np.full(len(of_paths), -1)
    n_groups = 0
    labels = set(zip(viewers[first].tolist(), folds[first].tolist(), strict=True))
    for viewer, fold in sorted(labels):
        own = np.flatnonzero((viewers[first] == viewer) & (folds[first] == fold))
        size = n_images or len(own)
        whole = own[: len(own) // size * size]
        of_path[whole] = n_groups + np.arange(len(whole)) // size
        n_groups += len(own) // size
    return of_path[path]
