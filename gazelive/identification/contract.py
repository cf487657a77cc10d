"""Contract of all identification methods: `Identifier` and `Probe`.

An `Identifier` is the result of training; it does not change. A `Probe` is one person being
identified: it takes saccades and fixations as they come, and whole intervals once they have
settled. A `State` is an identifier as JSON and arrays: model files, enrolment, forgetting and
merging work on it, for all methods alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelFormatError
from gazelive.features import Rows, Scanpath
from gazelive.gaze import Floats, Integers
from gazelive.models import LARGEST, StoredArrays, stored_number
from gazelive.verdict import STRANGER_PRIOR

Arrays = dict[str, npt.NDArray[Any]]
Contributions = list[tuple[str, Floats]]
"""Named parts of the log evidence, (viewers,) each; a name may occur several times."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Posterior over the enrolled viewers. Natural logarithms, finite."""

    log_probabilities: Floats
    """(viewers,): given that it is one of the enrolled; their exponentials sum to 1."""
    log_unknown: float | None
    """Probability of a stranger, with the prior of the `Terms`; None if strangers cannot be
    detected (too few viewers)."""
    accepted: bool | None
    """Whether the best match is good enough for the false-acceptance rate; None as above."""
    more_s: float | None
    """Seconds of viewing until it will probably be accepted; None if it is, or if that cannot be
    expected with this enrolment."""
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool
    """False while an interval is still open."""

    @property
    def best(self) -> int:
        """Position of the most probable viewer."""
        return int(np.argmax(self.log_probabilities))


@dataclass(frozen=True)
class Terms:
    """On what terms a probe is judged."""

    stranger_prior: float = STRANGER_PRIOR
    """Probability of a stranger before any evidence."""
    false_acceptance_rate: float | None = None
    """Share of strangers that are accepted; None: as asked for in training."""
    repeated: bool = True
    """True if a probe is judged again and again, as live: a stranger then has many chances to look
    like somebody, and the threshold is higher. False if it is judged once, at its end."""


@dataclass(frozen=True)
class Match:
    """How well the best viewer matches."""

    value: float
    amount: float
    """Evidence, in the method's unit (saccades, or units)."""


@dataclass(frozen=True, eq=False)
class State:
    """An identifier as JSON and named arrays."""

    content: dict[str, Any]
    """Numbers and texts that JSON can hold."""
    arrays: Arrays
    """Names under `machine/` serve only to enrol more viewers: they are not part of the base."""
    viewer_axis: Mapping[str, int] = field(default_factory=dict)
    """Arrays with one entry per viewer, and the axis of the viewers."""
    unit_arrays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Arrays with several rows per viewer, by the array of positions of each row's viewer."""

    def check_kind(self, kind: str) -> None:
        """Raise `ModelFormatError` for the state of another class."""
        found = self.content.get("kind")
        if found != kind:
            raise ModelFormatError(f"an identifier of kind {found} is not {kind}")

    def stored(self, viewer_ids: tuple[str, ...]) -> StoredArrays:
        """Return the arrays for reading, with the number of `viewers` known."""
        return StoredArrays(self.arrays, viewers=len(viewer_ids))

    def number(self, name: str, least: float = -LARGEST, most: float = LARGEST) -> float:
        """Return a number of the content, or raise `ModelFormatError` unless it is in a range."""
        return stored_number(self.content, name, least, most)

    def base(self) -> Arrays:
        """Return the arrays that all viewers share."""
        own = self.viewers()
        return {
            name: array
            for name, array in self.arrays.items()
            if name not in own and not name.startswith("machine/")
        }

    def viewers(self) -> Arrays:
        """Return the arrays that belong to single viewers."""
        names = [*self.viewer_axis]
        for positions, rows in self.unit_arrays.items():
            names += [positions, *rows]
        return {name: self.arrays[name] for name in names}

    def select(self, kept: Integers) -> State:
        """Return the state of some of the viewers, in the order of their positions `kept`."""
        arrays = dict(self.arrays)
        for name, axis in self.viewer_axis.items():
            arrays[name] = np.take(arrays[name], kept, axis)
        number = {int(old): new for new, old in enumerate(kept)}
        for positions, rows in self.unit_arrays.items():
            stays = np.isin(arrays[positions], kept)
            numbers = [number[int(old)] for old in arrays[positions][stays]]
            arrays |= {name: arrays[name][stays] for name in rows}
            arrays[positions] = np.array(numbers, np.int64)
        return replace(self, arrays=arrays)

    def append(self, n_viewers: int, added: Arrays) -> State:
        """Return the state with the arrays of more viewers after those of `n_viewers`."""
        arrays = dict(self.arrays)
        for name, axis in self.viewer_axis.items():
            arrays[name] = np.concatenate((arrays[name], added[name]), axis)
        for positions, rows in self.unit_arrays.items():
            moved = added[positions] + n_viewers
            arrays |= {name: np.concatenate((arrays[name], added[name])) for name in rows}
            arrays[positions] = np.concatenate((arrays[positions], moved))
        return replace(self, arrays=arrays)

    def replace_viewer(self, position: int, n_viewers: int, arrays: Arrays) -> State:
        """Return the state of `n_viewers` with other arrays of the one at a position."""
        order = np.arange(n_viewers)
        order[position] = n_viewers
        return self.append(n_viewers, arrays).select(order)


DEFAULT_TERMS: Terms = Terms()


@runtime_checkable
class Probe(Protocol):
    """One person being identified."""

    def begin(self, image: str | None) -> None:
        """Open a viewing interval; the evidence of an open one that never settled stays."""
        ...

    def add_saccade(self, row: Rows) -> None:
        """Take the row of a saccade of the open interval, as far as it is known."""
        ...

    def complete_saccade(self, row: Rows) -> None:
        """Take the row of the last saccade again, now with its late column."""
        ...

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Take a fixation of the open interval that has ended."""
        ...

    def settle(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval by that of its settled scanpath; close it."""
        ...

    def abandon(self) -> None:
        """Drop the evidence of the open interval, if one is open: it was not an interval."""
        ...

    def estimate(self, seconds: float | None = None) -> Estimate:
        """Return the posterior of all evidence; `seconds` is the length of the open interval."""
        ...


@runtime_checkable
class Identifier(Protocol):
    """The enrolled viewers, and how a method recognises them."""

    @property
    def method(self) -> str:
        """The method's name in the registry."""
        ...

    @property
    def viewer_ids(self) -> tuple[str, ...]:
        """The enrolled, in the order of every posterior."""
        ...

    def probe(self, log_prior: Floats | None = None, terms: Terms = DEFAULT_TERMS) -> Probe:
        """Begin to identify a person; the prior over the enrolled is even by default."""
        ...

    def state(self) -> State:
        """Return everything that `from_state` needs; the result scores the same to the bit."""
        ...

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        ...

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Return the arrays of one more viewer, of so many sessions, named as in `State.viewers()`.

        The viewers' axis has length 1, positions of unit arrays are 0. Raise `ModelError` where
        the scanpaths are not enough.
        """
        ...

    def contributions(self, scanpaths: Sequence[Scanpath]) -> Contributions | None:
        """Return the parts of the log evidence of whole intervals; None if it has no parts."""
        ...


@runtime_checkable
class LooksAtImages(Protocol):
    """Identifiers that can use the image files besides."""

    @property
    def stimuli(self) -> tuple[Path, ...] | None:
        """Folders of the images, of which a model keeps nothing; None if they are not used."""
        ...

    def with_stimuli(self, folders: Iterable[Path] | None) -> Self:
        """Return the identifier with the image files at hand."""
        ...

    def image_problem(self, image: str | None) -> str | None:
        """Return why an image's file is not used as in training; None if it is."""
        ...
