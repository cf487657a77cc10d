"""Identifiers that compare where people's saccades lie in a whitened space of Fisher scores.

The score of a window of saccades, per saccade, is tempered by a signed square root (no feature
may shout), centred and whitened: the window's embedding. A person's embedding is the mean of
their windows', and two are alike by the cosine of the angle between them. A viewer's machine is
the direction of their mean embedding, so a new viewer needs nothing but their own windows.

The posterior is ln p = τ·cosine + ln prior, normalised: the cosine itself grows with the number
of saccades as fast as what it means (on real data across sessions, exponents of −0.07 to 0.1 fitted
best for a further factor in their number). One τ serves galleries of any size that were enrolled
with as much; with little enrolment it is smaller (`gazelive_samples.default_temperature`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.features.identity_kernels import Movement
from gazelive.features.scanpath import MOVEMENT_AT, Column, Rows, Scanpath
from gazelive.identification import embedding_kernels as kernels
from gazelive.identification.contract import Estimate
from gazelive.identification.counting import Counts
from gazelive.identification.evidence_kernels import log_posterior, write_leading
from gazelive.identification.linear import checked_log_prior
from gazelive.identification.open_set import MatchThreshold
from gazelive.identification.representation import Block

Floats = npt.NDArray[np.float64]
SingleFloats = npt.NDArray[np.float32]

_MOVED = MOVEMENT_AT + Movement.AMPLITUDE
"""A column that is masked where a saccade has no dynamics."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """From saccades to a vector."""

    block: Block
    mean: Floats
    """(dimensions,): of tempered window scores."""
    projection: SingleFloats
    """(dimensions, embedded): centres nothing, whitens."""
    step: int
    """Saccades from one window to the next; a window has twice as many."""
    least_amplitude_deg: float
    """Smaller saccades are left out, and those beside a loss."""

    @property
    def n_embedded(self) -> int:
        """Length of an embedding."""
        return int(self.projection.shape[1])

    def takes(self, row: Rows) -> bool:
        """Say whether a saccade counts: large enough, and no loss beside it."""
        return bool(
            row[Column.AMPLITUDE_DEG] >= self.least_amplitude_deg and not math.isnan(row[_MOVED])
        )


def counted_rows(rows: Rows, least_amplitude_deg: float) -> Rows:
    """Return the rows of the saccades that count (`Embedding.takes`)."""
    large = rows[:, Column.AMPLITUDE_DEG] >= least_amplitude_deg
    counted: Rows = rows[large & np.isfinite(rows[:, _MOVED])]
    return counted


class OpenWindow:
    """The summed score of a growing window."""

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        block = embedding.block
        n_types, n_features, _ = block.cells.shape
        n_values = n_types * n_features * block.entries
        self.score = np.zeros(block.n_dimensions)
        self._of_values = self.score[:n_values].reshape(n_types, n_features, block.entries)
        self._of_types = self.score[n_values:]
        self._values = np.empty(n_features)
        self._tempered = np.empty(block.n_dimensions, np.float32)
        self.n = 0

    def clear(self) -> None:
        """Begin again."""
        self.score[:] = 0
        self.n = 0

    def add(self, row: Rows) -> None:
        """Take a saccade."""
        block = self._embedding.block
        kernels.add_row_score(
            row,
            block.features.compiled_types,
            block.features.compiled,
            block.cells,
            block.shares,
            block.share_weights,
            block.limit,
            self._values,
            self._of_values,
            self._of_types,
        )
        self.n += 1

    def tempered(self) -> SingleFloats:
        """Return the score per saccade, its signed square root, centred."""
        kernels.tempered(self.score, self.n, self._embedding.mean, self._tempered)
        return self._tempered

    def embedding(self) -> SingleFloats:
        """Return where the saccades so far lie."""
        embedded: SingleFloats = self.tempered() @ self._embedding.projection
        return embedded


class OpenInterval:
    """The windows (`unit_windows`) of an interval as its saccades come.

    Windows overlap by half: the sums of the last three half windows are kept.
    """

    def __init__(self, embedding: Embedding) -> None:
        self._embedding = embedding
        self._halves = [OpenWindow(embedding) for _ in range(3)]
        self._whole = OpenWindow(embedding)
        self.clear()

    def clear(self) -> None:
        """Begin a new interval."""
        for half in self._halves:
            half.clear()
        self._closed = np.zeros(self._embedding.n_embedded)
        self._n_closed = 0
        self.n_saccades = 0

    def add(self, row: Rows) -> None:
        """Take a saccade; those that are too small are passed over."""
        if not self._embedding.takes(row):
            return
        first, second, third = self._halves
        step = self._embedding.step
        if third.n == step:
            self._closed += 2 * step * self._window((first, second)).astype(np.float64)
            self._n_closed += 2 * step
            first.clear()
            self._halves = [second, third, first]
        half = next(h for h in self._halves if h.n < step)
        half.add(row)
        self.n_saccades += 1

    def weighted(self) -> Floats:
        """Return the mean embedding of the windows times the number of saccades."""
        if not self.n_saccades:
            return np.zeros(self._embedding.n_embedded)
        n_open = sum(half.n for half in self._halves)
        total = self._closed + n_open * self._window(self._halves).astype(np.float64)
        return np.asarray(total * (self.n_saccades / (self._n_closed + n_open)), np.float64)

    def _window(self, halves: list[OpenWindow] | tuple[OpenWindow, ...]) -> SingleFloats:
        self._whole.clear()
        for half in halves:
            self._whole.score += half.score
            self._whole.n += half.n
        return self._whole.embedding()


@dataclass(frozen=True, eq=False)
class EmbeddingIdentifier:
    """See the module."""

    method: str
    viewer_ids: tuple[str, ...]
    embedding: Embedding
    directions: SingleFloats
    """(viewers, embedded): unit vectors."""
    temperature: float
    """τ"""
    threshold: MatchThreshold

    def probe(self, log_prior: Floats | None = None) -> EmbeddingProbe:
        """Begin to identify a person."""
        return EmbeddingProbe(self, log_prior)

    def cosines(self, weighted: Floats) -> Floats:
        """Return how alike an embedding is to each viewer's, −1 to 1."""
        length = float(np.linalg.norm(weighted))
        if not length > 0:
            return np.zeros(len(self.viewer_ids))
        return np.asarray(self.directions @ (weighted / length).astype(np.float32), np.float64)


def best_match(cosines: Floats) -> float:
    """Return how well the best viewer fits, less half of what the second does."""
    if len(cosines) < 2:
        return float(cosines.sum())
    places = np.empty(2, np.int64)
    write_leading(cosines, places)
    first, second = cosines[places]
    return float(first - second / 2)


class EmbeddingProbe:
    """One person being identified by an `EmbeddingIdentifier`."""

    def __init__(self, identifier: EmbeddingIdentifier, log_prior: Floats | None = None) -> None:
        self._identifier = identifier
        n_viewers = len(identifier.viewer_ids)
        self._log_prior = checked_log_prior(log_prior, n_viewers)
        self._settled = np.zeros(identifier.embedding.n_embedded)
        self._interval = OpenInterval(identifier.embedding)
        self._n_counted = 0
        self._counts = Counts()

    def begin(self, image: str | None) -> None:
        """Open an interval; what an unsettled one said before stays."""
        del image
        if self._counts.is_open:
            self._close(self._counts.n_open, 0.0)
        self._counts.is_open = True

    def add_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        self._interval.add(row)
        self._counts.n_open += 1

    def complete_saccade(self, row: Rows) -> None:
        """Nothing here waits for the next saccade."""

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Fixations say nothing here that saccades do not."""

    def settle(self, scanpath: Scanpath) -> None:
        """Replace the open interval's evidence."""
        self._interval.clear()
        for row in scanpath.saccades:
            self._interval.add(row)
        self._close(scanpath.n_saccades, scanpath.seconds)

    def estimate(self, seconds: float | None = None) -> Estimate:
        """Return the posterior of all evidence so far."""
        identifier = self._identifier
        cosines = identifier.cosines(self._settled + self._interval.weighted())
        n_counted = self._n_counted + self._interval.n_saccades
        log_probabilities = np.empty(len(cosines))
        log_posterior(
            cosines,
            np.zeros(len(cosines)),
            identifier.temperature,
            self._log_prior,
            log_probabilities,
        )
        log_unknown = identifier.threshold.log_unknown(best_match(cosines), n_counted)
        return self._counts.estimate(log_probabilities, log_unknown, seconds)

    def _close(self, n_saccades: int, seconds: float) -> None:
        self._settled += self._interval.weighted()
        self._n_counted += self._interval.n_saccades
        self._counts.close(n_saccades, seconds)
        self._interval.clear()
