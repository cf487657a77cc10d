"""Identifiers whose evidence is linear in the statistics of a scanpath.

Markov models as generative models (the statistics of an exponential family times each viewer's
natural parameters), as Fisher SVMs (scores times each viewer's machine, whitening and calibration
multiplied in), and every other linear machine on summed scores. The evidence of an interval is

    e = Σ over its saccades of W_u·t + c · (number of units)

so the running posterior costs one small product per saccade, and intervals add up:
ln p = Σ e / (1 + (n − 1)·ρ) + ln prior, normalised (`calibration.evidence_scale`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import msgspec
import numpy as np

from gazelive.errors import ModelError, ModelFormatError
from gazelive.features import Rows, Scanpath
from gazelive.gaze import Floats, Integers
from gazelive.identification.calibration import evidence_scale, session_correlation
from gazelive.identification.comparison import linear_kernels as kernels
from gazelive.identification.comparison.plda import VIEWER_AXIS, Plda, PldaMatch, fit_strangers
from gazelive.identification.contract import (
    DEFAULT_TERMS,
    Arrays,
    Contributions,
    Match,
    State,
    Terms,
)
from gazelive.identification.fitted import Accuracy, Fitted, Options
from gazelive.identification.hyperparameters import Hyperparameters
from gazelive.identification.learning import Machine
from gazelive.identification.open_set import Strangers
from gazelive.identification.probe import CountingProbe
from gazelive.identification.scores import Block, Representation, scanpath_units
from gazelive.identification.shipped.strangers import shipped_genuine
from gazelive.identification.training_data import TrainingSet
from gazelive.identification.units import n_units
from gazelive.models import StoredArrays

CONSTANT = "constant of the viewer's machine"
SACCADES = "saccades per image"
CLOSING_REACH_SD = 3.0


@dataclass(frozen=True, eq=False)
class BlockWeights:
    """Weights of each statistic of a block for each viewer."""

    block: Block
    values: Floats
    """(types, features, 2 or 3, viewers): of both entries of a value's score, and for likelihoods
    of a known value."""
    types: Floats
    """(types, viewers): of the type of a saccade."""

    def add(self, row: Rows, part: int, scratch: Floats, evidence: Floats) -> bool:
        """Add the evidence of a saccade; return whether it has any."""
        return bool(kernels.add_row_evidence(row, part, *self._compiled, scratch, evidence))

    def add_all(self, rows: Rows, scratch: Floats, evidence: Floats) -> bool:
        """Add the evidence of a scanpath; return whether any saccade has some."""
        return bool(kernels.add_scanpath_evidence(rows, *self._compiled, scratch, evidence))

    def contributions(self, rows: Rows) -> Contributions:
        """Return what each feature, and the type, of some saccades add for each viewer."""
        block, found = self.block, []
        types, values = block.features.types(rows), block.features.values(rows)
        n_types, n_features, _ = block.cells.shape
        n_values = n_types * n_features * block.entries
        scores = block.row_scores(rows)[:, :n_values]
        scores = scores.reshape(len(rows), n_types, n_features, block.entries)
        for f, feature in enumerate(block.features.features):
            part = np.einsum("nte,tek->k", scores[:, :, f], self.values[:, f, : block.entries])
            if self.values.shape[2] == 3:
                known = np.isfinite(values[:, f]) & (types >= 0)
                part = part + self.values[types[known], f, 2].sum(axis=0)
            found.append((feature.name, part))
        if (types >= 0).any():
            found.append((block.type_name, self.types[types[types >= 0]].sum(axis=0)))
        return found

    @cached_property
    def _compiled(self) -> tuple[Any, Any, Any, Floats, float, Floats, Floats]:
        """Arguments of the kernels, in their order."""
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
    for block, first, stop in zip(representation.blocks, borders[:-1], borders[1:], strict=True):
        own = weights[first:stop]
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


@dataclass(frozen=True, eq=False)
class Closing:
    """Scores of the number of saccades and the time of a whole interval.

    Only for intervals about as long as those of training: twice the time has twice the saccades.
    """

    mean: Floats
    spread: Floats
    """(2,): of the number of saccades and of the seconds."""
    seconds: tuple[float, float]
    """Shortest and longest interval that is scored."""

    def scores(self, n_saccades: int, seconds: float) -> Floats:
        """Return (4,) scores: z and (z² − 1)/√2 of each; 0 for intervals of another length."""
        if not self.seconds[0] <= seconds <= self.seconds[1]:
            return np.zeros(4)
        z = (np.array([n_saccades, seconds]) - self.mean) / self.spread
        z = np.clip(z, -CLOSING_REACH_SD, CLOSING_REACH_SD)
        return np.concatenate((z, (z * z - 1) / np.sqrt(2)))

    def unit_scores(self, scanpaths: Sequence[Scanpath], where: Integers) -> Floats:
        """Return (units, 4) scores; 0 for units that are only a part of their scanpath."""
        scores = np.zeros((len(where), 4))
        for i in np.flatnonzero(np.bincount(where)[where] == 1):
            path = scanpaths[where[i]]
            scores[i] = self.scores(path.n_saccades, path.seconds)
        return scores


@dataclass(frozen=True, eq=False)
class LinearIdentifier:
    """Identifies by linear weights on scores; see the module."""

    method: str
    viewer_ids: tuple[str, ...]
    weights: tuple[BlockWeights, ...]
    constant: Floats
    """(viewers,): c, once per unit."""
    usual_saccades: float
    """Saccades of a unit in training; scales c while an interval is open."""
    strangers: Strangers
    plda: Plda | None = None
    """Model of strangers; None with too few viewers."""
    closing: Closing | None = None
    closing_weights: Floats | None = None
    """(4, viewers)"""
    correlation: float = 0.0
    """ρ between the units of one session (`calibration.evidence_scale`)."""
    machine: Machine | None = None
    """For enrolment."""

    def probe(self, log_prior: Floats | None = None, terms: Terms = DEFAULT_TERMS) -> LinearProbe:
        """Begin to identify a person."""
        return LinearProbe(self, log_prior, terms)

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        arrays: Arrays = {**self.representation.to_arrays(), "constant": self.constant}
        axis = {"constant": 0}
        for i, weights in enumerate(self.weights):
            arrays |= _weight_arrays(i, weights)
            axis |= {f"weights{i}_values": 3, f"weights{i}_types": 1}
        if self.plda is not None:
            arrays |= self.plda.to_arrays()
            axis |= VIEWER_AXIS
        closing = self.closing
        if closing is not None:
            arrays |= {"closing_mean": closing.mean, "closing_spread": closing.spread}
        if self.closing_weights is not None:
            arrays["closing_weights"] = self.closing_weights
            axis["closing_weights"] = 1
        content = {
            "kind": "linear",
            "blocks": self.representation.to_json(),
            "usual_saccades": self.usual_saccades,
            "correlation": self.correlation,
            "strangers": msgspec.to_builtins(self.strangers),
            "closing_seconds": None if closing is None else list(closing.seconds),
        }
        state = State(content, arrays, axis)
        return state if self.machine is None else self.machine.add_to(state)

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state."""
        state.check_kind("linear")
        content, arrays = state.content, state.stored(viewer_ids)
        representation = Representation.from_file(content["blocks"], arrays)
        closing = closing_weights = None
        if content["closing_seconds"] is not None:
            closing = Closing(
                arrays.take("closing_mean", 2),
                arrays.take("closing_spread", 2, least=1e-9),
                msgspec.convert(content["closing_seconds"], tuple[float, float]),
            )
        if "closing_weights" in arrays:
            closing_weights = arrays.take("closing_weights", 4, "viewers")
        return cls(
            method,
            viewer_ids,
            tuple(
                BlockWeights(block, *_read_weights(i, block, arrays))
                for i, block in enumerate(representation.blocks)
            ),
            arrays.take("constant", "viewers"),
            state.number("usual_saccades", least=1e-9),
            Strangers.from_content(content, shipped_genuine(method)),
            Plda.from_arrays(arrays, representation.n_dimensions),
            closing,
            closing_weights,
            state.number("correlation", 0, 1),
            Machine.from_state(state, arrays),
        )

    def parts(self) -> dict[str, Any]:
        """Return the parts of a linear identifier by name, for one that has more."""
        return {part.name: getattr(self, part.name) for part in fields(LinearIdentifier)}

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Fit the machine of one more viewer."""
        del n_sessions
        if self.machine is None:
            raise ModelError(f"{self.method} cannot enrol: train again")
        scores, _, where = scanpath_units(scanpaths, self.representation)
        arrays = {} if self.plda is None else self.plda.viewer_arrays(scores)
        if self.closing_weights is not None:
            judged = np.zeros((len(scores), 4))
            if self.closing is not None:
                judged = self.closing.unit_scores(scanpaths, where)
            scores = np.concatenate((scores, judged), axis=1)
        own, of_machine = self.machine.fit_viewer(scores)
        n_dimensions = self.representation.n_dimensions
        for i, weights in enumerate(score_weights(self.representation, own.weights[:n_dimensions])):
            arrays |= _weight_arrays(i, weights)
        if self.closing_weights is not None:
            arrays["closing_weights"] = own.weights[n_dimensions:]
        return arrays | of_machine | {"constant": own.bias}

    def contributions(self, scanpaths: Sequence[Scanpath]) -> Contributions:
        """Return exactly what each feature adds for each viewer."""
        found: dict[str, Floats] = {}
        scanpaths = [path for path in scanpaths if self.evidence(path).any()]
        for weights in self.weights:
            for path in scanpaths:
                for name, part in weights.contributions(path.saccades):
                    found[name] = found[name] + part if name in found else part
        units = sum(n_units(path.n_saccades) for path in scanpaths)
        found[CONSTANT] = units * self.constant
        if self.closing is not None and self.closing_weights is not None:
            for path in scanpaths:
                part = self.closing.scores(path.n_saccades, path.seconds) @ self.closing_weights
                found[SACCADES] = found[SACCADES] + part if SACCADES in found else part
        scale = evidence_scale(units, self.correlation)
        return [(name, scale * part) for name, part in found.items()]

    def evidence(self, scanpath: Scanpath) -> Floats:
        """Return the evidence of a whole interval (viewers,); 0 if no saccade says anything."""
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

    @cached_property
    def representation(self) -> Representation:
        """The blocks that the weights are for."""
        return Representation(tuple(weights.block for weights in self.weights))

    @cached_property
    def _scratch(self) -> list[Floats]:
        return [np.empty(len(w.block.features.features)) for w in self.weights]


class LinearProbe(CountingProbe):
    """One person being identified by a `LinearIdentifier`.

    The probability of a stranger changes when an interval has settled.
    """

    def __init__(
        self,
        identifier: LinearIdentifier,
        log_prior: Floats | None = None,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        n_viewers = len(identifier.viewer_ids)
        super().__init__(n_viewers, log_prior, terms, identifier.strangers)
        self._identifier = identifier
        self._scratch = [np.empty(len(w.block.features.features)) for w in identifier.weights]
        self._settled = np.zeros(n_viewers)
        self._open = np.zeros(n_viewers)
        self._units = 0.0
        self._says = False
        self._best = PldaMatch(identifier.plda)

    def take_saccade(self, row: Rows) -> None:
        """Take a saccade as far as it is known."""
        for weights, scratch in zip(self._identifier.weights, self._scratch, strict=True):
            self._says |= weights.add(row, kernels.NEW, scratch, self._open)

    def complete_saccade(self, row: Rows) -> None:
        """Add the late features of the last saccade."""
        for weights, scratch in zip(self._identifier.weights, self._scratch, strict=True):
            self._says |= weights.add(row, kernels.LATE, scratch, self._open)

    def take_scanpath(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval."""
        evidence = self._identifier.evidence(scanpath)
        units = n_units(scanpath.n_saccades) if evidence.any() else 0.0
        self._keep(evidence, units)
        if self._identifier.plda is not None and units:
            leader = int(np.argmax(self._settled + self.log_prior))
            scores = self._identifier.representation.row_scores(scanpath.saccades)
            self._best.add(scores.sum(axis=0), units, leader)

    def keep_open(self) -> None:
        """Keep the evidence of the open interval."""
        evidence = self._open + self._identifier.constant * self._seen_units()
        self._keep(evidence, self._open_units())

    def drop_open(self) -> None:
        """Drop the open interval."""
        self._open[:] = 0
        self._says = False

    def judge(self) -> tuple[Floats, Match | None]:
        """Return the posterior of settled and open evidence."""
        identifier = self._identifier
        log_probabilities = np.empty(len(self._settled))
        kernels.running_log_posterior(
            self._settled,
            self._open,
            identifier.constant,
            self._seen_units(),
            evidence_scale(self._units + self._open_units(), identifier.correlation),
            self.log_prior,
            log_probabilities,
        )
        return log_probabilities, self._best.match

    def _open_units(self) -> float:
        """Return for how many units the open interval counts."""
        return n_units(self.n_open) if self._says else 0.0

    def _seen_units(self) -> float:
        """Return how often c counts for the open interval, by how much of it has been seen."""
        if not self._says:
            return 0.0
        return min(self.n_open / self._identifier.usual_saccades, n_units(self.n_open))

    def _keep(self, evidence: Floats, units: float) -> None:
        self._settled += evidence
        self._units += units
        self.drop_open()


@dataclass(frozen=True, eq=False)
class LinearFit:
    """Weights and machine of a linear method, before strangers are known."""

    weights: tuple[BlockWeights, ...]
    constant: Floats
    accuracy: Accuracy | None
    calibration: str
    """Description of the probability calibration."""
    raw_scores: Floats
    """(units, dimensions): plain scores, for the model of strangers."""
    machine: Machine
    usual_saccades: float
    """Mean number of saccades of a unit."""
    closing: Closing | None = None
    closing_weights: Floats | None = None
    hyperparameters: Hyperparameters = field(default_factory=dict)
    accuracy_by_images: dict[str, Accuracy] = field(default_factory=dict)


def linear_fitted(
    make: Callable[..., LinearIdentifier],
    method: str,
    training: TrainingSet,
    options: Options,
    fit: LinearFit,
) -> Fitted:
    """Return the identifier of a fit, with its model of strangers."""
    options.report(0.7)
    machine = fit.machine
    plda, strangers = fit_strangers(
        fit.raw_scores,
        machine.viewers,
        training.n_viewers,
        options.false_acceptance_rate,
        shipped_genuine(method, training.kind),
    )
    identifier = make(
        method,
        training.viewer_ids,
        fit.weights,
        fit.constant,
        fit.usual_saccades,
        strangers,
        plda,
        fit.closing,
        fit.closing_weights,
        session_correlation(machine.kind, fit.usual_saccades, same=options.same_session),
        machine,
    )
    return Fitted(
        identifier,
        fit.calibration,
        fit.accuracy,
        hyperparameters=fit.hyperparameters,
        accuracy_by_images=fit.accuracy_by_images,
    )


def _read_weights(number: int, block: Block, arrays: StoredArrays) -> tuple[Floats, Floats]:
    """Return the arrays of `_weight_arrays`."""
    n_types, n_features, _ = block.cells.shape
    values = arrays.take(
        f"weights{number}_values", n_types, n_features, f"statistics{number}", "viewers"
    )
    if values.shape[2] < 2:
        raise ModelFormatError(f"block {number} has weights for less than both entries of a score")
    return values, arrays.take(f"weights{number}_types", n_types, "viewers")


def _weight_arrays(number: int, weights: BlockWeights) -> Arrays:
    return {f"weights{number}_values": weights.values, f"weights{number}_types": weights.types}
