"""Samples that arrive in batches of unknown number, in one array that grows in place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.gaze.samples import SAMPLE_DTYPE, Samples
from gazelive.recordings.asc_columns import WORDS_PER_SAMPLE

_MARGIN = 1.02
_LARGEST_GROWTH = 4.0


class SampleStore:
    """All samples of a file, and their extras as one flat array.

    Growing reallocates in place (by remapping pages, for large arrays on Linux), so a second
    copy never exists; how much to grow is told by the part of the file that has been read.
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
        _make_room(self._samples, self.n_samples, fraction_read)
        words = self._samples.view(np.uint32).reshape(-1, WORDS_PER_SAMPLE)
        words[first : self.n_samples] = rows[:, :WORDS_PER_SAMPLE]
        if n_words > WORDS_PER_SAMPLE:
            _make_room(self._extras, self.n_extras, fraction_read)
            extras = self._extras[first_extra : self.n_extras].view(np.uint32).reshape(n, -1)
            extras[:] = rows[:, WORDS_PER_SAMPLE:]

    def finish(self) -> tuple[Samples, npt.NDArray[np.float32]]:
        """Give back the room that was not needed and return the samples and flat extras."""
        self._samples.resize(self.n_samples, refcheck=False)
        self._extras.resize(self.n_extras, refcheck=False)
        return self._samples, self._extras


def _make_room(array: npt.NDArray[np.generic], n: int, fraction_read: float) -> None:
    """Grow `array` in place to hold `n`, and what the rest of the file will bring."""
    if n > array.size:
        expected = n / max(fraction_read, 1e-9) * _MARGIN
        array.resize(int(min(expected, n * _LARGEST_GROWTH)) + 1, refcheck=False)
