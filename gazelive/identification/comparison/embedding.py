"""Identifiers that compare embeddings of saccades by their angle.

The Fisher score of a window of saccades, per saccade, is tempered by a signed square root (no
single feature dominates), centred and whitened: the window's embedding. A person's embedding is
the mean over their windows; the similarity of two is the cosine of the angle between them. An
enrolled viewer is the direction of their mean embedding, so enrolling needs only their windows.

The posterior is ln p = τ·cosine + ln prior, normalised. It needs no factor in the number of
saccades, because the cosine grows with them (on real data across sessions the best exponents of
such a factor were −0.07 to 0.1). τ does not depend on the size of the gallery, but on the amount of
enrolment (`gazelive_samples.default_temperature`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import msgspec
import numpy as np

from gazelive.errors import ModelError
from gazelive.features import FeatureSet, Rows, Scanpath
from gazelive.gaze import Flags, Floats, Integers, SingleFloats
from gazelive.identification.comparison import embedding_kernels as kernels
from gazelive.identification.comparison.counted_saccades import counted_rows, counts, plain_name
from gazelive.identification.contract import (
    DEFAULT_TERMS,
    Arrays,
    Contributions,
    Match,
    State,
    Terms,
)
from gazelive.identification.open_set import Genuine, Strangers
from gazelive.identification.posterior_kernels import log_posterior, write_leading
from gazelive.identification.probe import CountingProbe
from gazelive.identification.scores import Block
from gazelive.identification.units import unit_windows

GENUINE = Genuine(
    distance=2.0,
    per_log=0.6,
    amount=10.0,
    weight=1.0,
    changed=0.02,
    alike=0.005,
    once=1.2,
    repeated=1.5,
)
"""How enrolled people stand out (`open_set`), roughly: 0.1 did not say."""


@dataclass(frozen=True, eq=False)
class Windows:
    """The tempered (not yet centred) scores of all windows of some scanpaths, in order."""

    scores: SingleFloats
    """(windows, dimensions)"""
    scanpath: Integers
    weight: Floats
    """Saccades that each window stands for; windows overlap."""

    def of(self, scanpaths: Flags) -> Windows:
        """Return the windows of the chosen scanpaths."""
        chosen = scanpaths[self.scanpath]
        return Windows(self.scores[chosen], self.scanpath[chosen], self.weight[chosen])


@dataclass(frozen=True, eq=False)
class Embedding:
    """Map from saccades to a vector."""

    block: Block
    mean: Floats
    """(dimensions,): of tempered window scores."""
    projection: SingleFloats
    """(dimensions, embedded): whitens centred scores."""
    step: int
    """Saccades from one window to the next; a window has twice as many."""
    least_amplitude_deg: float
    """Smaller saccades are ignored, and those beside a loss."""

    @property
    def n_embedded(self) -> int:
        """Length of an embedding."""
        return int(self.projection.shape[1])

    def windows(self, scanpaths: Sequence[Scanpath]) -> Windows:
        """Return the tempered score of every window of every scanpath."""
        return tempered_windows(scanpaths, self.block, self.step, self.least_amplitude_deg)

    def embed(self, windows: Windows) -> SingleFloats:
        """Return the embeddings (windows, embedded)."""
        centred = windows.scores - self.mean.astype(np.float32)
        return np.asarray(centred @ self.projection, np.float32)

    def takes(self, row: Rows) -> bool:
        """Return whether a saccade counts: large enough, and no loss beside it."""
        return counts(row, self.least_amplitude_deg)


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
        """Reset."""
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
        """Return the embedding of the saccades so far."""
        embedded: SingleFloats = self.tempered() @ self._embedding.projection
        return embedded


class OpenInterval:
    """The windows (`unit_windows`) of an open interval.

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
        """Take a saccade; those that do not count are ignored."""
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


def tempered_windows(
    scanpaths: Sequence[Scanpath], block: Block, step: int, least_amplitude_deg: float
) -> Windows:
    """Return the tempered score of every window of every scanpath."""
    nothing = np.zeros((block.n_dimensions, 1), np.float32)
    uncentred = Embedding(block, np.zeros(block.n_dimensions), nothing, step, least_amplitude_deg)
    window = OpenWindow(uncentred)
    scores, of_scanpath, weights = [], [], []
    for number, path in enumerate(scanpaths):
        rows = counted_rows(path.saccades, least_amplitude_deg)
        pieces = unit_windows(len(rows), step)
        shared = sum(stop - first for first, stop in pieces)
        for first, stop in pieces:
            window.clear()
            for row in rows[first:stop]:
                window.add(row)
            scores.append(window.tempered().copy())
            of_scanpath.append(number)
            weights.append(len(rows) * (stop - first) / shared)
    return Windows(
        np.array(scores, np.float32).reshape(-1, block.n_dimensions),
        np.array(of_scanpath, np.int64),
        np.array(weights),
    )


def directions_of(vectors: SingleFloats, weights: Floats, labels: Integers, n: int) -> SingleFloats:
    """Return the unit vectors of the weighted sums of windows by label."""
    summed = np.zeros((n, vectors.shape[1]))
    np.add.at(summed, labels, vectors * weights[:, None])
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.asarray(summed / np.maximum(lengths, 1e-12), np.float32)


@dataclass(frozen=True, eq=False)
class EmbeddingIdentifier:
    """Identifies by cosines of embeddings; see the module."""

    method: str
    viewer_ids: tuple[str, ...]
    embedding: Embedding
    directions: SingleFloats
    """(viewers, embedded): unit vectors."""
    temperature: float
    """τ"""
    strangers: Strangers

    def probe(
        self, log_prior: Floats | None = None, terms: Terms = DEFAULT_TERMS
    ) -> EmbeddingProbe:
        """Begin to identify a person."""
        return EmbeddingProbe(self, log_prior, terms)

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        embedding = self.embedding
        return State(
            {
                "kind": "embedding",
                "features": embedding.block.features.to_json(),
                "step": embedding.step,
                "least_amplitude_deg": embedding.least_amplitude_deg,
                "temperature": self.temperature,
                "strangers": msgspec.to_builtins(self.strangers),
            },
            {
                **embedding.block.to_arrays(),
                "mean": embedding.mean,
                "projection": embedding.projection,
                "directions": self.directions,
            },
            {"directions": 0},
        )

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        state.check_kind("embedding")
        content, arrays = state.content, state.stored(viewer_ids)
        block = Block.from_arrays(FeatureSet.from_json(content["features"]), arrays)
        embedding = Embedding(
            block,
            arrays.take("mean", block.n_dimensions),
            arrays.take("projection", block.n_dimensions, "embedded"),
            int(state.number("step", least=1, most=1e6)),
            state.number("least_amplitude_deg", least=0),
        )
        return cls(
            method,
            viewer_ids,
            embedding,
            arrays.take("directions", "viewers", "embedded"),
            state.number("temperature", least=0),
            Strangers.from_content(content, GENUINE),
        )

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Return the direction of one more viewer's mean embedding."""
        del n_sessions
        windows = self.embedding.windows(scanpaths)
        if not len(windows.scores):
            least_deg = self.embedding.least_amplitude_deg
            raise ModelError(f"there is no saccade of {least_deg}° or more")
        vectors = self.embedding.embed(windows)
        one = np.zeros(len(vectors), np.int64)
        return {"directions": directions_of(vectors, windows.weight, one, 1)}

    def contributions(self, scanpaths: Sequence[Scanpath]) -> Contributions:
        """Return what each entry of the mean score adds to τ·cosine."""
        embedding = self.embedding
        windows = embedding.windows(scanpaths)
        mean_score = windows.weight @ (windows.scores.astype(np.float64) - embedding.mean)
        projection = embedding.projection.astype(np.float64)
        length = float(np.linalg.norm(mean_score @ projection))
        if not length > 0:
            return []
        machines = projection @ self.directions.T.astype(np.float64)
        parts = self.temperature * (mean_score / length)[:, None] * machines
        names = map(plain_name, embedding.block.dimension_names())
        return list(zip(names, parts, strict=True))

    def cosines(self, weighted: Floats) -> Floats:
        """Return the cosines (viewers,) between an embedding and each viewer's."""
        length = float(np.linalg.norm(weighted))
        if not length > 0:
            return np.zeros(len(self.viewer_ids))
        return np.asarray(self.directions @ (weighted / length).astype(np.float32), np.float64)


def best_match(cosines: Floats) -> float:
    """Return the best viewer's cosine less half of the second's."""
    if len(cosines) < 2:
        return float(cosines.sum())
    places = np.empty(2, np.int64)
    write_leading(cosines, places)
    first, second = cosines[places]
    return float(first - second / 2)


class EmbeddingProbe(CountingProbe):
    """One person being identified by an `EmbeddingIdentifier`."""

    def __init__(
        self,
        identifier: EmbeddingIdentifier,
        log_prior: Floats | None = None,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        super().__init__(len(identifier.viewer_ids), log_prior, terms, identifier.strangers)
        self._identifier = identifier
        self._settled = np.zeros(identifier.embedding.n_embedded)
        self._interval = OpenInterval(identifier.embedding)
        self._n_counted = 0

    def take_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        self._interval.add(row)

    def take_scanpath(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval."""
        self._interval.clear()
        for row in scanpath.saccades:
            self._interval.add(row)
        self.keep_open()

    def keep_open(self) -> None:
        """Keep the evidence of the open interval."""
        self._settled += self._interval.weighted()
        self._n_counted += self._interval.n_saccades
        self._interval.clear()

    def drop_open(self) -> None:
        """Drop the open interval."""
        self._interval.clear()

    def judge(self) -> tuple[Floats, Match | None]:
        """Return the posterior of settled and open windows."""
        identifier = self._identifier
        cosines = identifier.cosines(self._settled + self._interval.weighted())
        n_counted = self._n_counted + self._interval.n_saccades
        log_probabilities = np.empty(len(cosines))
        log_posterior(
            cosines,
            np.zeros(len(cosines)),
            identifier.temperature,
            self.log_prior,
            log_probabilities,
        )
        return log_probabilities, Match(best_match(cosines), float(n_counted))
