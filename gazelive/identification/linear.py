"""Identifiers whose evidence is linear in the statistics of a scanpath.

That are the paper's Markov models, as generative models (the statistics of an exponential family
times each viewer's natural parameters) and as Fisher SVMs (scores times each viewer's machine,
whitening and calibration multiplied in), and every other machine on summed scores. What they say
of an interval is

    e = Σ over its saccades of W_u·t + c · (number of units)

so the running posterior costs one small product per saccade, and intervals just add up:
ln p = Σ e / (1 + (n − 1)·ρ) + ln prior, normalised. n units of one session are not n independent
witnesses: with ρ above 0 they count as many as their effective number (the design effect of
cluster samples).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError
from gazelive.features.scanpath import Rows, Scanpath
from gazelive.identification import evidence_kernels as kernels
from gazelive.identification.contract import Estimate
from gazelive.identification.counting import Counts
from gazelive.identification.open_set import NOTHING_KNOWN, MatchThreshold
from gazelive.identification.plda import Plda
from gazelive.identification.representation import Block, Representation
from gazelive.identification.units import n_units

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """What each statistic of a block says for each viewer."""

    block: Block
    values: Floats
    """(types, features, 2 or 3, viewers): of both entries of a value's score, and for likelihoods
    of its being known."""
    types: Floats
    """(types, viewers): of a saccade's being of a type."""

    def add(self, row: Rows, part: int, scratch: Floats, evidence: Floats) -> bool:
        """Add what a saccade says; return whether it says anything."""
        return bool(kernels.add_row_evidence(row, part, *self._compiled, scratch, evidence))

    def add_all(self, rows: Rows, scratch: Floats, evidence: Floats) -> bool:
        """Add what all saccades of a scanpath say; return whether any says anything."""
        return bool(kernels.add_scanpath_evidence(rows, *self._compiled, scratch, evidence))

    @cached_property
    def _compiled(self) -> tuple[Any, Any, Any, Floats, float, Floats, Floats]:
        """What the kernels take of the block and its weights, in their order."""
        features, block = self.block.features, self.block
        return (
            features.compiled_types,
            features.compiled,
            features.late,
            block.cells,
            block.limit,
            self.values,
            self.types,
        )


def score_weights(representation: Representation, weights: Floats) -> tuple[BlockWeights, ...]:
    """Return the blocks' weights for machines `weights` (dimensions, viewers) on scores."""
    if weights.shape[0] != representation.n_dimensions:
        raise ModelError(
            f"machines for {weights.shape[0]} dimensions on scores of {representation.n_dimensions}"
        )
    made = []
    borders = representation.borders
    for block, first, beyond in zip(representation.blocks, borders[:-1], borders[1:], strict=True):
        own = weights[first:beyond]
        n_types, n_features, _ = block.cells.shape
        n_values = n_types * n_features * block.entries
        values = np.zeros((n_types, n_features, 2, weights.shape[1]))
        values[:, :, : block.entries] = own[:n_values].reshape(
            n_types, n_features, block.entries, weights.shape[1]
        )
        of_shares = block.share_weights[:, None] * own[n_values:]
        types = of_shares - block.shares @ of_shares
        made.append(BlockWeights(block, values, types))
    return tuple(made)


CLOSING_REACH_SD = 3.0


@dataclass(frozen=True, eq=False)
class Closing:
    """What the number of saccades and the time of a whole interval say, once it has ended.

    Only for intervals that are about as long as those of training: in twice the time everybody
    makes twice as many saccades.
    """

    mean: Floats
    spread: Floats
    """(2,): of the number of saccades and of the seconds."""
    seconds: tuple[float, float]
    """Shortest and longest interval that is judged."""

    def scores(self, n_saccades: int, seconds: float) -> Floats:
        """Return (4,) scores: z and (z² − 1)/√2 of each; 0 where it is not judged."""
        if not self.seconds[0] <= seconds <= self.seconds[1]:
            return np.zeros(4)
        z = (np.array([n_saccades, seconds]) - self.mean) / self.spread
        z = np.clip(z, -CLOSING_REACH_SD, CLOSING_REACH_SD)
        return np.concatenate((z, (z * z - 1) / np.sqrt(2)))


@dataclass(frozen=True, eq=False)
class LinearIdentifier:
    """See the module."""

    method: str
    viewer_ids: tuple[str, ...]
    weights: tuple[BlockWeights, ...]
    constant: Floats
    """(viewers,): c, once per unit."""
    usual_saccades: float
    """Of a unit in training: while an interval runs, c counts by how much of it has been seen."""
    threshold: MatchThreshold
    plda: Plda | None = None
    """Tells strangers; None where there are too few viewers."""
    closing: Closing | None = None
    closing_weights: Floats | None = None
    """(4, viewers)"""
    correlation: float = 0.0
    """ρ: how alike the units of one session err, because a person is not the same every day."""

    def probe(self, log_prior: Floats | None = None) -> LinearProbe:
        """Begin to identify a person."""
        return LinearProbe(self, log_prior)

    def evidence(self, scanpath: Scanpath) -> Floats:
        """Return what a whole interval says for each viewer; one that says nothing adds nothing."""
        evidence = np.zeros(len(self.viewer_ids))
        says = False
        for weights, scratch in zip(self.weights, self._scratch, strict=True):
            says |= weights.add_all(scanpath.saccades, scratch, evidence)
        if says:
            evidence += n_units(scanpath.n_saccades) * self.constant
            if self.closing is not None and self.closing_weights is not None:
                scores = self.closing.scores(scanpath.n_saccades, scanpath.seconds)
                evidence += scores @ self.closing_weights
        return evidence

    def evidence_scale(self, units: float) -> float:
        """Return how much the summed evidence of so many units of one session counts."""
        return 1 / (1 + max(units - 1, 0.0) * self.correlation)

    @cached_property
    def representation(self) -> Representation:
        """The blocks that the weights are for."""
        return Representation(tuple(weights.block for weights in self.weights))

    @cached_property
    def _scratch(self) -> list[Floats]:
        return [np.empty(len(w.block.features.features)) for w in self.weights]


class LinearProbe:
    """One person being identified by a `LinearIdentifier`.

    Whether it is a stranger is asked anew whenever an interval has settled.
    """

    def __init__(self, identifier: LinearIdentifier, log_prior: Floats | None = None) -> None:
        self._identifier = identifier
        n_viewers = len(identifier.viewer_ids)
        self._log_prior = checked_log_prior(log_prior, n_viewers)
        self._scratch = [np.empty(len(w.block.features.features)) for w in identifier.weights]
        self._settled = np.zeros(n_viewers)
        self._open = np.zeros(n_viewers)
        self._score = np.zeros(identifier.representation.n_dimensions)
        self._units = 0.0
        self._scored_units = 0.0
        self._log_unknown = NOTHING_KNOWN
        self._says = False
        self._counts = Counts()

    def begin(self, image: str | None) -> None:
        """Open an interval; what an unsettled one said before stays."""
        del image
        if self._counts.is_open:
            evidence = self._open + self._identifier.constant * self._seen_units()
            self._close(evidence, self._open_units(), self._counts.n_open, 0.0)
        self._counts.is_open = True

    def add_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        for weights, scratch in zip(self._identifier.weights, self._scratch, strict=True):
            self._says |= weights.add(row, kernels.NEW, scratch, self._open)
        self._counts.n_open += 1

    def complete_saccade(self, row: Rows) -> None:
        """Take what was missing of the last saccade."""
        for weights, scratch in zip(self._identifier.weights, self._scratch, strict=True):
            self._says |= weights.add(row, kernels.LATE, scratch, self._open)

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Fixations say nothing here that saccades do not."""

    def settle(self, scanpath: Scanpath) -> None:
        """Replace the open interval's evidence."""
        identifier = self._identifier
        evidence = identifier.evidence(scanpath)
        units = n_units(scanpath.n_saccades) if evidence.any() else 0.0
        self._close(evidence, units, scanpath.n_saccades, scanpath.seconds)
        if identifier.plda is None or not units:
            return
        self._score += identifier.representation.row_scores(scanpath.saccades).sum(axis=0)
        self._scored_units += units
        leader = int(np.argmax(self._settled + self._log_prior))
        mean_score = self._score / self._scored_units
        match = identifier.plda.log_ratio(mean_score, self._scored_units, leader)
        self._log_unknown = identifier.threshold.log_unknown(match, self._scored_units)

    def estimate(self, seconds: float | None = None) -> Estimate:
        """Return the posterior of all evidence so far."""
        identifier = self._identifier
        log_probabilities = np.empty(len(self._settled))
        units = self._units + self._open_units()
        kernels.running_log_posterior(
            self._settled,
            self._open,
            identifier.constant,
            self._seen_units(),
            identifier.evidence_scale(units),
            self._log_prior,
            log_probabilities,
        )
        return self._counts.estimate(log_probabilities, self._log_unknown, seconds)

    def _open_units(self) -> float:
        """Return for how many units the open interval counts."""
        return n_units(self._counts.n_open) if self._says else 0.0

    def _seen_units(self) -> float:
        """Return how often c counts for the open interval, by how much of it has been seen."""
        if not self._says:
            return 0.0
        n_open = self._counts.n_open
        return min(n_open / self._identifier.usual_saccades, n_units(n_open))

    def _close(self, evidence: Floats, units: float, n_saccades: int, seconds: float) -> None:
        self._settled += evidence
        self._units += units
        self._counts.close(n_saccades, seconds)
        self._open[:] = 0
        self._says = False


def checked_log_prior(log_prior: Floats | None, n_viewers: int) -> Floats:
    """Return the prior, or the one that favours nobody; raise where it is none."""
    if log_prior is None:
        return even_log_prior(n_viewers)
    prior = np.asarray(log_prior, np.float64)
    if prior.shape != (n_viewers,) or not np.isfinite(prior).all():
        raise ModelError(
            f"a prior is one finite log probability for each of {n_viewers} viewers, in their order"
        )
    return prior


def even_log_prior(n_viewers: int) -> Floats:
    """Return the prior that favours nobody."""
    return np.full(n_viewers, -np.log(max(1, n_viewers)))
