"""What `train` and `Model.identify` take: paths, recordings in memory, and who is in them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from gazelive.api.common import PathLike
from gazelive.errors import ConfigError
from gazelive.offline.probes import Labelled
from gazelive.recordings.corpus import screen_in_corpus
from gazelive.recordings.recording import Recording

OneRecording: TypeAlias = Recording | PathLike
Source: TypeAlias = OneRecording | Iterable[OneRecording]
"""A path (a recording's, a corpus', a fixation table's), a recording, or several recordings."""
LabelledSource: TypeAlias = PathLike | Iterable[Recording] | Mapping[str, Source]
"""A corpus' or a fixation table's path, or recordings of viewers who are named."""


def recordings_of(source: Source) -> list[Labelled]:
    """Return recordings of which nobody says who is in them."""
    return [_labelled(one) for one in _several(source)]


def labelled_recordings(source: Iterable[Recording] | Mapping[str, Source]) -> list[Labelled]:
    """Return recordings with their viewers; without a session each is one of its viewer's own."""
    if isinstance(source, Mapping):
        return [
            _labelled(one, str(viewer), n + 1)
            for viewer, theirs in source.items()
            for n, one in enumerate(_several(theirs))
        ]
    labelled: list[Labelled] = []
    for one in _several(source):
        viewer = one.viewer if isinstance(one, Recording) else None
        if viewer is None:
            raise ConfigError(
                f"recording {len(labelled) + 1} does not say who looked: give a dict of viewers "
                "and their recordings",
                key="source",
            )
        n_before = sum(other.viewer == viewer for other in labelled)
        labelled.append(_labelled(one, viewer, n_before + 1))
    return labelled


def _several(source: Source) -> list[OneRecording]:
    """Return what was given as a list, and refuse what is no recording."""
    if isinstance(source, Recording | str | os.PathLike):
        return [source]
    columns = isinstance(source, Mapping) or hasattr(source, "__arrow_c_stream__")
    given = [] if columns or not isinstance(source, Iterable) else list(source)
    if not given or not all(isinstance(one, Recording | str | os.PathLike) for one in given):
        raise ConfigError(
            "must be a path, a recording, or several of them; of columns make a recording with "
            "gazelive.from_columns",
            key="source",
        )
    return given


def _labelled(one: OneRecording, viewer: str | None = None, number: int | None = None) -> Labelled:
    session = "" if number is None else str(number)
    if not isinstance(one, Recording):
        path = Path(one)
        return Labelled(path, path.name, viewer, session, screen_in_corpus(path))
    screen = screen_in_corpus(one.path) if one.path.exists() else None
    session = session if one.session is None else one.session
    return Labelled(one, one.path.name, viewer, session, screen)
