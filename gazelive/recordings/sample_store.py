"""Samples that arrive in batches of unknown number, in one array that grows in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.gaze.samples import SAMPLE_DTYPE, Samples
from gazelive.recordings.asc_columns import WORDS_PER_SAMPLE

_MARGIN = 1.05
_LARGEST_GROWTH = 256
"""Bounds what a file can ask for whose start promises more than it holds."""
_COPY_FROM_GROWTH = 4


class SampleStore:
    """All samples of a file, and their extras as one flat array.

    How much room to make is told by the part of the file that has been read, so that it is made
    a few times at most.
    """

    def __init__(self) -> None:
        self._samples: Samples = np.empty(0, SAMPLE_DTYPE)
        self._extras = np.empty(0, np.float32)
        self.n_samples = 0
        self.n_extras = 0

    def append(self, rows: npt.NDArray[np.uint32], fraction_read: float) -> None:
        """Take rows of (sample words, extras), shape (n, 9 + k)."""
        n, n_words = rows.shape
        if n == 0:
            return
        first, first_extra = self.n_samples, self.n_extras
        self.n_samples += n
        self.n_extras += n * (n_words - WORDS_PER_SAMPLE)
        self._samples = _with_room(self._samples, first, self.n_samples, fraction_read)
        words = self._samples.view(np.uint32).reshape(-1, WORDS_PER_SAMPLE)
        words[first : self.n_samples] = rows[:, :WORDS_PER_SAMPLE]
        if n_words > WORDS_PER_SAMPLE:
            self._extras = _with_room(self._extras, first_extra, self.n_extras, fraction_read)
            extras = self._extras[first_extra : self.n_extras].view(np.uint32).reshape(n, -1)
            extras[:] = rows[:, WORDS_PER_SAMPLE:]

    def finish(self) -> tuple[Samples, npt.NDArray[np.float32]]:
        """Give back the room that was not needed and return the samples and flat extras."""
        self._samples.resize(self.n_samples, refcheck=False)
        self._extras.resize(self.n_extras, refcheck=False)
        return self._samples, self._extras


def _with_room(
    array: npt.NDArray[Any], n_used: int, n_needed: int, fraction_read: float
) -> npt.NDArray[Any]:
    """Return `array` with room for `n_needed`, and for what the rest of the file will bring."""
    if n_needed <= array.size:
        return array
    expected = n_needed / max(fraction_read, 1e-9) * _MARGIN
    capacity = int(min(expected, n_needed * _LARGEST_GROWTH)) + 1
    if capacity >= _COPY_FROM_GROWTH * n_used:
        # pages of a new array cost nothing until they are used; the old one is small
        larger = np.empty(capacity, array.dtype)
        larger[:n_used] = array[:n_used]
        return larger
    # in place (large arrays are remapped on Linux), so that a second copy never exists
    array.resize(capacity, refcheck=False)
    return array
