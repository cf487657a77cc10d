"""Store of a file's samples, whose number is unknown beforehand: one array that grows in place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gazelive.gaze import SAMPLE_DTYPE, Samples, SingleFloats
from gazelive.recordings.asc.columns import WORDS_PER_SAMPLE

_MARGIN = 1.05
"""Reserve for a rest of the file that is denser than the part read so far."""
_LARGEST_GROWTH = 256
"""Bounds the memory for a file whose start is misleading."""
_COPY_FROM_GROWTH = 4


class Place(NamedTuple):
    """Place of rows."""

    first_sample: int
    first_extra: int


class AscStore:
    """All samples of a file, and their extras as one flat array.

    Rows first get their places, in file order; then room is made for them; then they are written,
    by any thread and in any order, but not while room is being made. The room is estimated from
    the part of the file read so far, so it is made a few times at most.
    """

    def __init__(self) -> None:
        self._samples: Samples = np.empty(0, SAMPLE_DTYPE)
        self._extras = np.empty(0, np.float32)
        self.n_samples = 0
        self.n_extras = 0

    def place(self, n_rows: int, n_words: int) -> Place:
        """Return the place of the next `n_rows` rows of `n_words`: 9 of the sample, then extras."""
        place = Place(self.n_samples, self.n_extras)
        self.n_samples += n_rows
        self.n_extras += n_rows * (n_words - WORDS_PER_SAMPLE)
        return place

    @property
    def has_room(self) -> bool:
        """True if there is room for all rows that have places."""
        return self.n_samples <= self._samples.size and self.n_extras <= self._extras.size

    def make_room(self, fraction_read: float) -> None:
        """Make room for the rows that have places, and for the estimated rest of the file."""
        self._samples = _with_room(self._samples, self.n_samples, fraction_read)
        self._extras = _with_room(self._extras, self.n_extras, fraction_read)

    def spare_rows(self, n_rows: int) -> npt.NDArray[np.uint32] | None:
        """Return the room after the rows that have places, shape (n, 9), if it holds `n_rows`.

        Rows without extras that are written there only need places.
        """
        if self._samples.size - self.n_samples < n_rows:
            return None
        words = self._samples[self.n_samples :].view(np.uint32)
        return words.reshape(-1, WORDS_PER_SAMPLE)

    def write(self, rows: npt.NDArray[np.uint32], place: Place) -> None:
        """Write rows of (sample words, extras), shape (n, 9 + k), to their place."""
        n, n_words = rows.shape
        words = self._samples[place.first_sample :][:n].view(np.uint32)
        words.reshape(n, WORDS_PER_SAMPLE)[:] = rows[:, :WORDS_PER_SAMPLE]
        n_extras = n_words - WORDS_PER_SAMPLE
        if n_extras:
            words = self._extras[place.first_extra :][: n * n_extras].view(np.uint32)
            words.reshape(n, n_extras)[:] = rows[:, WORDS_PER_SAMPLE:]

    def finish(self) -> tuple[Samples, SingleFloats]:
        """Free unused room and return the samples and flat extras."""
        samples = _without_room(self._samples, self.n_samples)
        extras = _without_room(self._extras, self.n_extras)
        return samples, extras


def _with_room(array: npt.NDArray[Any], n_needed: int, fraction_read: float) -> npt.NDArray[Any]:
    if n_needed <= array.size:
        return array
    expected = n_needed / max(fraction_read, 1e-9) * _MARGIN
    capacity = int(min(expected, n_needed * _LARGEST_GROWTH)) + 1
    if capacity >= _COPY_FROM_GROWTH * array.size:
        # pages of a new array cost nothing until they are used; the old one is small
        larger = np.empty(capacity, array.dtype)
        larger[: array.size] = array
        return larger
    # in place (large arrays are remapped on Linux): there is never a second copy
    array.resize(capacity, refcheck=False)
    return array


def _without_room(array: npt.NDArray[Any], n_used: int) -> npt.NDArray[Any]:
    """Return the used part of `array`, which shrinks if that is worthwhile.

    Its unused part was never touched and takes no memory, and an array freed with its original
    size is reused for the next file without new pages.
    """
    if array.size > n_used * _MARGIN + 1:
        array.resize(n_used, refcheck=False)
    return array[:n_used]
