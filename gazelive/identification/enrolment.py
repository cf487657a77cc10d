"""Enrolling viewers and more sessions of them, forgetting, merging; for all methods alike.

The base (densities, whitening, calibration) stays as it is, so models with the same base can be
merged. After many changes a refit does everything again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from gazelive.errors import IncompatibleModelError, ModelError
from gazelive.features import Scanpath
from gazelive.identification.contract import Identifier, LooksAtImages, State
from gazelive.identification.model_file import TrainedModel
from gazelive.identification.training_data import TrainingSet


def enrol(model: TrainedModel, added: TrainingSet) -> TrainedModel:
    """Return the model with the viewers and sessions of `added` in it too.

    A viewer who is enrolled already keeps their position and is learned anew from all scanpaths,
    the stored and the added ones.
    """
    if added.kind != model.kind:
        raise IncompatibleModelError(
            f"the model was made from {model.kind}, and these are {added.kind}"
        )
    _refuse_known_sessions(model.training, added)
    training = model.training.append(added)
    n_sessions = Counter(viewer for viewer, _ in training.viewer_sessions)
    identifier = model.identifier
    for viewer in added.viewer_ids:
        theirs = tuple(training.of_viewer(training.viewer_ids.index(viewer)))
        try:
            identifier = _with_viewer(identifier, viewer, theirs, n_sessions[viewer])
        except ModelError as error:
            raise ModelError(f"{viewer}: {error}") from error
    return _changed(
        _not_left_out(model, added.viewer_ids),
        identifier,
        training,
        f"enrolled {_additions(model.training, added)}",
    )


def forget(model: TrainedModel, viewers: Sequence[str]) -> TrainedModel:
    """Return the model without some viewers and without anything kept of them."""
    known, gone = model.identifier.viewer_ids, set(viewers)
    unknown = sorted(gone - set(known))
    if unknown:
        raise ModelError(
            f"{_some(unknown)} {_is(unknown)} not in the model, which has {_some(known)}"
        )
    kept = np.array([i for i, v in enumerate(known) if v not in gone], np.int64)
    if not len(kept):
        raise ModelError("no viewer would be left: delete the file instead")
    names = tuple(known[i] for i in kept)
    return _changed(
        _not_left_out(model, viewers),
        _with_state(model.identifier, names, model.identifier.state().select(kept)),
        model.training.select(kept),
        f"forgot {_people(len(gone))}",
    )


def merge(first: TrainedModel, second: TrainedModel) -> TrainedModel:
    """Return a model with the viewers of both, which must have the same base.

    A viewer of both is taken from the first, with the sessions that the first has.
    """
    if first.base_id != second.base_id:
        raise IncompatibleModelError(
            f"the models have different bases ({first.base_id} and {second.base_id}): only models "
            "that come from the same training can be merged"
        )
    names, more = first.identifier.viewer_ids, second.identifier.viewer_ids
    known = set(names)
    new = np.array([i for i, viewer in enumerate(more) if viewer not in known], np.int64)
    added = second.identifier.state().select(new).viewers()
    state = first.identifier.state().append(len(names), added)
    viewer_ids = names + tuple(more[i] for i in new)
    return _changed(
        first,
        _with_state(first.identifier, viewer_ids, state),
        first.training.append(second.training.select(new)),
        f"merged with {_people(len(new))} of another",
    )


def _with_viewer(
    identifier: Identifier, viewer: str, scanpaths: Sequence[Scanpath], n_sessions: int
) -> Identifier:
    """Return the identifier with one viewer learned from these scanpaths, all others unchanged.

    A viewer who is there is learned beside the others only: a machine must not tell them from
    their own earlier scanpaths.
    """
    names, state = identifier.viewer_ids, identifier.state()
    if viewer not in names:
        state = state.append(len(names), identifier.viewer_arrays(scanpaths, n_sessions))
        return _with_state(identifier, (*names, viewer), state)
    place = names.index(viewer)
    kept = np.delete(np.arange(len(names)), place)
    others = _with_state(identifier, tuple(names[i] for i in kept), state.select(kept))
    state = state.replace_viewer(place, len(names), others.viewer_arrays(scanpaths, n_sessions))
    return _with_state(identifier, names, state)


def _refuse_known_sessions(known: TrainingSet, added: TrainingSet) -> None:
    twice = sorted(known.viewer_sessions & added.viewer_sessions)
    if not twice:
        return
    sessions = [f"{viewer} ({_called(session)})" for viewer, session in twice]
    raise ModelError(
        f"{_some(sessions)} {_is(sessions)} enrolled already: choose other sessions, give the new "
        "ones another name, or forget the viewer first"
    )


def _additions(known: TrainingSet, added: TrainingSet) -> str:
    """Return the numbers of new viewers, and of new sessions of viewers who were there."""
    enrolled = set(known.viewer_ids)
    again = [viewer for viewer, _ in added.viewer_sessions if viewer in enrolled]
    n_new = len(set(added.viewer_ids) - enrolled)
    parts = [_people(n_new)] if n_new else []
    if again:
        more = f"{len(again)} more session{'' if len(again) == 1 else 's'}"
        parts.append(f"{more} of {_people(len(set(again)))}")
    return ", ".join(parts)


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
    return replace(model, fitted=fitted, training=training, provenance=provenance, expectation=None)


def _people(n: int) -> str:
    """Return the number of viewers; names would survive in the history when they are forgotten."""
    return f"{n} viewer{'' if n == 1 else 's'}"


def _called(session: str) -> str:
    return f"session {session}" if session else "a session without a name"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
