"""Viewers come and go: enrol fits only the new one's machine, forget removes all that was kept.

The base (densities, whitening, calibration) stays as it is, so models with the same base can be
merged. After many changes a refit does everything again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import numpy.typing as npt
from scipy import special
from scipy.optimize import minimize

from gazelive.errors import IncompatibleModelError, ModelError
from gazelive.features.scanpath import Scanpath
from gazelive.identification import gazelive_samples as samples
from gazelive.identification.embedding import EmbeddingIdentifier
from gazelive.identification.fitted import Fitted, Machine, MachineKind
from gazelive.identification.identifier_arrays import (
    Arrays,
    viewer_columns,
    with_viewer_columns,
)
from gazelive.identification.linear import LinearIdentifier, score_weights
from gazelive.identification.machines import Linear
from gazelive.identification.markov_methods import (
    likelihood_ratio_weights,
    training_units,
)
from gazelive.identification.model_file import TrainedModel
from gazelive.identification.scenewalk_identifier import SceneWalkIdentifier
from gazelive.identification.training_set import TrainingSet
from gazelive.models import typed_density_kernels as kernels
from gazelive.models.markov import MarkovModel, markov_of_statistics, scanpath_statistics

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

COSTS: dict[MachineKind, float] = {"svm": 0.3, "logistic": 0.05}
"""Prior variance of a new viewer's weights in the whitened space, by the kind of the others."""


def enrol(model: TrainedModel, added: TrainingSet) -> TrainedModel:
    """Return the model with the viewers of `added` in it too."""
    if added.kind != model.kind:
        raise IncompatibleModelError(
            f"the model was made from {model.kind}, and these are {added.kind}"
        )
    known = model.identifier.viewer_ids
    twice = sorted(set(known) & set(added.viewer_ids))
    if twice:
        raise ModelError(
            f"{_some(twice)} {_is(twice)} enrolled already: forget first, or choose another name"
        )
    fitted = model.fitted
    for number, viewer in enumerate(added.viewer_ids):
        paths = tuple(added.of_viewer(number))
        fitted = _with_viewer(fitted, viewer, paths)
    training = TrainingSet(
        model.kind,
        fitted.identifier.viewer_ids,
        model.training.scanpaths + added.scanpaths,
        np.concatenate((model.training.viewers, added.viewers + len(known))),
        model.training.sessions + added.sessions,
    )
    return _changed(
        _not_left_out(model, added.viewer_ids),
        fitted,
        training,
        f"enrolled {_people(added.n_viewers)}",
    )


def forget(model: TrainedModel, viewers: Sequence[str]) -> TrainedModel:
    """Return the model without some viewers and without anything kept of them."""
    known = model.identifier.viewer_ids
    unknown = sorted(set(viewers) - set(known))
    if unknown:
        raise ModelError(
            f"{_some(unknown)} {_is(unknown)} not in the model, which has {_some(known)}"
        )
    kept = np.array([i for i, v in enumerate(known) if v not in set(viewers)], np.int64)
    if not len(kept):
        raise ModelError("nobody would be left: delete the file instead")
    names = tuple(known[i] for i in kept)
    columns = {n: c[kept] for n, c in viewer_columns(model.identifier).items()}
    machine = model.fitted.machine
    identifier = with_viewer_columns(model.identifier, names, columns)
    if isinstance(identifier, SceneWalkIdentifier):
        bank = identifier.scene.bank
        for viewer in viewers:
            bank = bank.forget(viewer)
        identifier = replace(identifier, scene=replace(identifier.scene, bank=bank))
    fitted = replace(
        model.fitted,
        identifier=identifier,
        machine=None if machine is None else machine.without(kept),
        accuracy=None,
    )
    stays = model.training.subset(np.isin(model.training.viewers, kept))
    number = {int(old): new for new, old in enumerate(kept)}
    codes = np.array([number[int(v)] for v in stays.viewers], np.int64)
    training = TrainingSet(model.kind, names, stays.scanpaths, codes, stays.sessions)
    return _changed(
        _not_left_out(model, viewers), fitted, training, f"forgot {_people(len(set(viewers)))}"
    )


def merge(first: TrainedModel, second: TrainedModel) -> TrainedModel:
    """Return a model with the viewers of both, which must have the same base."""
    if first.base_id != second.base_id:
        raise IncompatibleModelError(
            f"the models have different bases ({first.base_id} and {second.base_id}): only models "
            "that were made from one by enrolling and forgetting can be merged"
        )
    names = first.identifier.viewer_ids
    more = second.identifier.viewer_ids
    new = np.array([i for i, viewer in enumerate(more) if viewer not in names], np.int64)
    other = viewer_columns(second.identifier)
    columns = {
        name: np.concatenate((own, other[name][new]))
        for name, own in viewer_columns(first.identifier).items()
    }
    viewer_ids = names + tuple(more[i] for i in new)
    machine = first.fitted.machine
    number = {int(old): len(names) + i for i, old in enumerate(new)}
    if machine is not None and second.fitted.machine is not None:
        added = second.fitted.machine
        units = np.isin(added.viewers, new)
        machine = replace(
            machine,
            scores=np.concatenate((machine.scores, added.scores[units])),
            viewers=np.concatenate(
                (machine.viewers, [number[int(v)] for v in added.viewers[units]])
            ).astype(np.int64),
            logits=Linear(
                np.concatenate((machine.logits.weights, added.logits.weights[:, new]), axis=1),
                np.concatenate((machine.logits.bias, added.logits.bias[new])),
            ),
        )
    stays = second.training.subset(np.isin(second.training.viewers, new))
    training = TrainingSet(
        first.kind,
        viewer_ids,
        first.training.scanpaths + stays.scanpaths,
        np.concatenate((first.training.viewers, [number[int(v)] for v in stays.viewers])).astype(
            np.int64
        ),
        first.training.sessions + stays.sessions,
    )
    fitted = replace(
        first.fitted,
        identifier=with_viewer_columns(first.identifier, viewer_ids, columns),
        machine=machine,
        accuracy=None,
    )
    return _changed(first, fitted, training, f"merged with {_people(len(new))} of another")


def _with_viewer(fitted: Fitted, viewer: str, paths: tuple[Scanpath, ...]) -> Fitted:
    """Return what was fitted with one more viewer."""
    identifier = fitted.identifier
    alone = TrainingSet(
        "samples" if paths[0].sampling_rate_hz else "fixations",
        (viewer,),
        paths,
        np.zeros(len(paths), np.int64),
        ("",) * len(paths),
    )
    machine = fitted.machine
    if isinstance(identifier, EmbeddingIdentifier):
        embedding = identifier.embedding
        windows = samples.tempered_windows(paths, embedding.block)
        if not len(windows.scores):
            raise ModelError(f"{viewer} has no saccade of {samples.LEAST_AMPLITUDE_DEG}° or more")
        vectors = samples.embedded(embedding, windows)
        nobody_else = np.zeros(len(vectors), np.int64)
        column: Arrays = {
            "directions": samples.directions_of(vectors, windows.weight, nobody_else, 1)
        }
    elif isinstance(identifier, LinearIdentifier) and machine is not None:
        column, machine = _linear_column(identifier, machine, alone)
    elif isinstance(identifier, SceneWalkIdentifier):
        column, machine = _scenewalk_column(identifier, machine, paths)
    else:
        raise ModelError(f"{identifier.method} cannot enrol: train again")
    columns = {
        name: np.concatenate((own, column[name]))
        for name, own in viewer_columns(identifier).items()
    }
    names = (*identifier.viewer_ids, viewer)
    return replace(
        fitted,
        identifier=with_viewer_columns(identifier, names, columns),
        machine=machine,
        accuracy=None,
    )


def _linear_column(
    identifier: LinearIdentifier, machine: Machine, alone: TrainingSet
) -> tuple[Arrays, Machine]:
    """Return a new viewer's entries, and the machine that knows their units too."""
    representation = identifier.representation
    units = training_units(alone, representation)
    column: Arrays = {}
    if identifier.plda is not None:
        mean, variance = identifier.plda.viewer_of_scores(units.scores)
        column |= {"plda_means": mean[None], "plda_variances": variance[None]}
    raw = units.scores
    if identifier.closing_weights is not None:
        judged = np.zeros((len(raw), 4))
        if identifier.closing is not None:
            whole = np.bincount(units.scanpaths)[units.scanpaths] == 1
            for i in np.flatnonzero(whole):
                path = alone.scanpaths[units.scanpaths[i]]
                judged[i] = identifier.closing.scores(path.n_saccades, path.seconds)
        raw = np.concatenate((raw, judged), axis=1)
    whitened = machine.whitening(raw)
    n_known = len(identifier.viewer_ids)
    if machine.kind == "likelihood":
        own = _own_likelihood(identifier, alone)
        weights = likelihood_ratio_weights(*own, machine.factor)
        column |= {
            "weights0_values": np.moveaxis(weights.values, -1, 0),
            "weights0_types": weights.types.T,
            "constant": np.zeros(1),
        }
        logits = Linear(np.zeros((machine.logits.weights.shape[0], 1)), np.zeros(1))
    else:
        logits = _fit_column(machine, whitened, n_known)
        composed = logits.after(machine.whitening)
        n_dimensions = representation.n_dimensions
        made = score_weights(representation, composed.weights[:n_dimensions])
        for i, weights in enumerate(made):
            column[f"weights{i}_values"] = np.moveaxis(weights.values, -1, 0)
            column[f"weights{i}_types"] = weights.types.T
        column["constant"] = composed.bias
        if identifier.closing_weights is not None:
            column["closing_weights"] = composed.weights[n_dimensions:].T
    return column, _with_units(machine, whitened, logits, n_known)


def _with_units(machine: Machine, whitened: Floats, logits: Linear, n_known: int) -> Machine:
    """Return the machine with the units and the weights of a viewer who comes last."""
    return replace(
        machine,
        scores=np.concatenate((machine.scores, whitened.astype(np.float32))),
        viewers=np.concatenate((machine.viewers, np.full(len(whitened), n_known, np.int64))),
        logits=Linear(
            np.concatenate((machine.logits.weights, logits.weights), axis=1),
            np.concatenate((machine.logits.bias, logits.bias)),
        ),
    )


def _scenewalk_column(
    identifier: SceneWalkIdentifier, machine: Machine | None, paths: tuple[Scanpath, ...]
) -> tuple[Arrays, Machine | None]:
    """Return a new viewer's entries, and the machine that knows their scores too."""
    viewings = [viewing for path in paths if (viewing := identifier.scene.viewing(path)).n_scored]
    scores = np.array([identifier.pooled.fisher_score(viewing) for viewing in viewings])
    column: Arrays = {}
    if identifier.plda is not None:
        mean, variance = identifier.plda.viewer_of_scores(scores)
        column |= {"plda_means": mean[None], "plda_variances": variance[None]}
    if identifier.own:
        column["own"] = identifier.pooled.fit_viewer(viewings).natural.to_array()[None]
    if machine is None:
        return column, None
    whitened = machine.whitening(scores)
    n_known = len(identifier.viewer_ids)
    logits = _fit_column(machine, whitened, n_known)
    composed = logits.after(machine.whitening)
    column |= {"machine_weights": composed.weights.T, "machine_bias": composed.bias}
    return column, _with_units(machine, whitened, logits, n_known)


def _own_likelihood(
    identifier: LinearIdentifier, alone: TrainingSet
) -> tuple[MarkovModel, list[MarkovModel]]:
    block = identifier.weights[0].block
    pooled = MarkovModel(
        block.features,
        block.shares,
        block.cells[:, :, kernels.SHAPE].copy(),
        1 / block.cells[:, :, kernels.INVERSE],
    )
    total = sum(scanpath_statistics(block.features, path) for path in alone.scanpaths)
    return pooled, [markov_of_statistics(block.features, np.asarray(total), towards=pooled)]


def _fit_column(machine: Machine, whitened: Floats, n_known: int) -> Linear:
    """Fit the new viewer's weights, everybody else's held as they are.

    What they say is comparable at once with what the others' say: a support vector machine of
    one's own would have to be calibrated against theirs, from a few units.
    """
    cost = COSTS[machine.kind]
    scores = np.concatenate((machine.scores.astype(np.float64), whitened))
    is_new = np.arange(len(scores)) >= len(machine.scores)
    others = special.logsumexp(machine.logits(scores), axis=1)
    balance = len(machine.scores) / max(n_known, 1) / len(whitened)
    weight = np.where(is_new, balance, 1.0)

    def loss(packed: Floats) -> tuple[float, Floats]:
        logit = scores @ packed[:-1] + packed[-1]
        margin = logit - others
        value = weight @ np.where(is_new, np.logaddexp(0, -margin), np.logaddexp(0, margin))
        slope = weight * (special.expit(margin) - is_new)
        ridge = packed[:-1] / cost
        gradient = np.append(scores.T @ slope + ridge, slope.sum())
        return float(value + 0.5 * packed[:-1] @ ridge), gradient

    start = np.zeros(scores.shape[1] + 1)
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return Linear(found[:-1, None], found[-1:])


def _not_left_out(model: TrainedModel, viewers: Sequence[str]) -> TrainedModel:
    """Return the model whose history does not name these viewers as left out of training."""
    named = tuple(f"viewer {viewer}:" for viewer in viewers)
    left_out = tuple(text for text in model.provenance.left_out if not text.startswith(named))
    return replace(model, provenance=msgspec.structs.replace(model.provenance, left_out=left_out))


def _changed(model: TrainedModel, fitted: Fitted, training: TrainingSet, what: str) -> TrainedModel:
    provenance = msgspec.structs.replace(
        model.provenance,
        sessions=tuple(sorted(set(training.sessions))),
        n_scanpaths=len(training),
        n_saccades=sum(path.n_saccades for path in training.scanpaths),
        seconds=float(sum(path.seconds for path in training.scanpaths)),
        changes=(*model.provenance.changes, what),
    )
    return replace(model, fitted=fitted, training=training, provenance=provenance)


def _people(n: int) -> str:
    """Return how many, without names: what is forgotten later must not stand in a history."""
    return f"{n} viewer{'' if n == 1 else 's'}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
