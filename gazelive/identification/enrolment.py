"""Enrolling, forgetting and merging viewers, for all methods alike.

The base (densities, whitening, calibration) stays as it is, so models with the same base can be
merged. After many changes a refit does everything again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from gazelive.errors import IncompatibleModelError, ModelError
from gazelive.identification.contract import Identifier, LooksAtImages, State
from gazelive.identification.model_file import TrainedModel
from gazelive.identification.training_data import TrainingSet


def enrol(model: TrainedModel, added: TrainingSet) -> TrainedModel:
    """Return the model with the viewers of `added` in it too."""
    if added.kind != model.kind:
        raise IncompatibleModelError(
            f"the model was made from {model.kind}, and these are {added.kind}"
        )
    twice = sorted(set(model.identifier.viewer_ids) & set(added.viewer_ids))
    if twice:
        raise ModelError(
            f"{_some(twice)} {_is(twice)} enrolled already: forget first, or choose another name"
        )
    identifier = model.identifier
    for number, viewer in enumerate(added.viewer_ids):
        names = identifier.viewer_ids
        try:
            arrays = identifier.viewer_arrays(tuple(added.of_viewer(number)))
        except ModelError as error:
            raise ModelError(f"{viewer}: {error}") from error
        state = identifier.state().append(len(names), arrays)
        identifier = _with_state(identifier, (*names, viewer), state)
    return _changed(
        _not_left_out(model, added.viewer_ids),
        identifier,
        model.training.append(added),
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
        raise ModelError("no viewer would be left: delete the file instead")
    names = tuple(known[i] for i in kept)
    return _changed(
        _not_left_out(model, viewers),
        _with_state(model.identifier, names, model.identifier.state().select(kept)),
        model.training.select(kept),
        f"forgot {_people(len(set(viewers)))}",
    )


def merge(first: TrainedModel, second: TrainedModel) -> TrainedModel:
    """Return a model with the viewers of both, which must have the same base."""
    if first.base_id != second.base_id:
        raise IncompatibleModelError(
            f"the models have different bases ({first.base_id} and {second.base_id}): only models "
            "that come from the same training can be merged"
        )
    names, more = first.identifier.viewer_ids, second.identifier.viewer_ids
    new = np.array([i for i, viewer in enumerate(more) if viewer not in names], np.int64)
    added = second.identifier.state().select(new).viewers()
    state = first.identifier.state().append(len(names), added)
    viewer_ids = names + tuple(more[i] for i in new)
    return _changed(
        first,
        _with_state(first.identifier, viewer_ids, state),
        first.training.append(second.training.select(new)),
        f"merged with {_people(len(new))} of another",
    )


def _with_state(identifier: Identifier, viewer_ids: tuple[str, ...], state: State) -> Identifier:
    """Return the identifier with other viewers, and with the images it had at hand."""
    changed = type(identifier).from_state(identifier.method, viewer_ids, state)
    if isinstance(identifier, LooksAtImages) and isinstance(changed, LooksAtImages):
        return changed.with_stimuli(identifier.stimuli)
    return changed


def _not_left_out(model: TrainedModel, viewers: Sequence[str]) -> TrainedModel:
    """Return the model whose history does not name these viewers as left out of training."""
    named = tuple(f"viewer {viewer}:" for viewer in viewers)
    left_out = tuple(text for text in model.provenance.left_out if not text.startswith(named))
    return replace(model, provenance=msgspec.structs.replace(model.provenance, left_out=left_out))


def _changed(
    model: TrainedModel, identifier: Identifier, training: TrainingSet, what: str
) -> TrainedModel:
    provenance = msgspec.structs.replace(
        model.provenance,
        sessions=tuple(sorted(set(training.sessions))),
        n_scanpaths=len(training),
        n_saccades=sum(path.n_saccades for path in training.scanpaths),
        seconds=float(sum(path.seconds for path in training.scanpaths)),
        changes=(*model.provenance.changes, what),
    )
    fitted = replace(model.fitted, identifier=identifier, accuracy=None, accuracy_by_images={})
    return replace(model, fitted=fitted, training=training, provenance=provenance)


def _people(n: int) -> str:
    """Return the number of viewers; names would survive in the history when they are forgotten."""
    return f"{n} viewer{'' if n == 1 else 's'}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
