"""What every identification method offers, and what it says of a person.

An `Identifier` is what was learned; it does not change. A `Probe` is one person being identified:
it takes their saccades and fixations as they come, and whole intervals once they have settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gazelive.features.scanpath import Rows, Scanpath

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Who it may be, after so much evidence. Natural logarithms, finite."""

    log_probabilities: Floats
    """(viewers,): given that it is one of the enrolled; their exponentials sum to 1."""
    log_unknown: float
    """That it is none of them."""
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool
    """False while an interval is still open."""

    @property
    def best(self) -> int:
        """Position of the most probable viewer."""
        return int(np.argmax(self.log_probabilities))


@runtime_checkable
class Probe(Protocol):
    """One person being identified."""

    def begin(self, image: str | None) -> None:
        """Open a viewing interval (one that is open and was never settled stays as it is)."""
        ...

    def add_saccade(self, row: Rows) -> None:
        """Take the row of a saccade of the open interval, as far as it is known."""
        ...

    def complete_saccade(self, row: Rows) -> None:
        """Take the row of the saccade added last again, now that its late column is known."""
        ...

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Take a fixation of the open interval that has ended."""
        ...

    def settle(self, scanpath: Scanpath) -> None:
        """Replace what the open interval said by what its settled scanpath says, and close it."""
        ...

    def estimate(self, seconds: float | None = None) -> Estimate:
        """Return what all evidence so far says; `seconds` is how long the open interval is."""
        ...


@runtime_checkable
class Identifier(Protocol):
    """What was learned of the enrolled viewers."""

    @property
    def method(self) -> str:
        """The method's name."""
        ...

    @property
    def viewer_ids(self) -> tuple[str, ...]:
        """The enrolled, in the order of every posterior."""
        ...

    def probe(self, log_prior: Floats | None = None) -> Probe:
        """Begin to identify a person; the prior over the enrolled is even unless given."""
        ...


@runtime_checkable
class LooksAtImages(Protocol):
    """What an identifier can do besides that goes by what there is to see in the images."""

    def image_problem(self, image: str | None) -> str | None:
        """Say why an image's file does not count as it did in training; None where it does."""
        ...
