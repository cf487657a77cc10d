"""Arguments of the public functions: paths, recordings in memory, screens, names; and warnings."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from gazelive.errors import ConfigError, GazeliveWarning
from gazelive.gaze import ScreenGeometry
from gazelive.recordings import HOW_TO_GIVE, GeometryFlags, Recording, screen_in_corpus

if TYPE_CHECKING:
    from gazelive.workflows.probes import Labelled

PathLike: TypeAlias = str | os.PathLike[str]
Names: TypeAlias = str | int | Collection[str | int]
"""One name, or several; sessions are often numbers."""
OneRecording: TypeAlias = Recording | PathLike
Source: TypeAlias = OneRecording | Iterable[OneRecording]
"""A path (a recording's, a corpus', a fixation table's), a recording, or several recordings."""
LabelledSource: TypeAlias = PathLike | Iterable[Recording] | Mapping[str, Source]
"""A corpus' or a fixation table's path, or recordings of viewers who are named."""


def flags_of(screen: ScreenGeometry | None) -> GeometryFlags | None:
    """Return a screen as geometry flags, which take precedence over the recording."""
    return None if screen is None else GeometryFlags.of(screen)


def names_of(names: Names) -> tuple[str, ...]:
    """Return names as recordings and tables have them."""
    return (str(names),) if isinstance(names, str | int) else tuple(map(str, names))


def warn_caller(sentences: Iterable[str]) -> None:
    """Issue a `GazeliveWarning` for each sentence, at the caller of the public function."""
    for sentence in sentences:
        warnings.warn(in_python(sentence), GazeliveWarning, stacklevel=3)


_ARGUMENTS = {
    HOW_TO_GIVE: "screen=gazelive.ScreenGeometry(width_px=1920, height_px=1080, width_mm=535, "
    "height_mm=301, eye_distance_mm=600)",
    "--preset noisy": 'parameters="noisy"',
    "--force": "force=True",
    "--far": "false_acceptance_rate",
    "--trials": "trial_patterns",
    "--disjoint-images": "disjoint_images=True",
}
"""Arguments of the public functions whose names are not those of the commands' options."""


def in_python(sentence: str) -> str:
    """Return a sentence with the options of commands replaced by arguments of functions."""
    for option, argument in _ARGUMENTS.items():
        sentence = re.sub(rf"{re.escape(option)}(?![\w-])", argument, sentence)
    return re.sub(r"(?<![\w-])--([a-z][a-z-]*)", lambda m: m[1].replace("-", "_"), sentence)


def unlabelled(source: Source) -> Path | list[Labelled]:
    """Return the path, or recordings without their viewers."""
    if isinstance(source, str | os.PathLike):
        return Path(source)
    return [_labelled(one) for one in _several(source)]


def labelled(source: LabelledSource) -> Path | list[Labelled]:
    """Return the path, or recordings with their viewers.

    A recording without a session is one of its viewer's own.
    """
    if isinstance(source, str | os.PathLike):
        return Path(source)
    if isinstance(source, Mapping):
        return [
            _labelled(one, str(viewer), n + 1)
            for viewer, theirs in source.items()
            for n, one in enumerate(_several(theirs))
        ]
    found: list[Labelled] = []
    for one in _several(source):
        viewer = one.viewer if isinstance(one, Recording) else None
        if viewer is None:
            raise ConfigError(
                f"recording {len(found) + 1} names no viewer: give a dict of viewers "
                "and their recordings",
                key="source",
            )
        n_before = sum(other.viewer == viewer for other in found)
        found.append(_labelled(one, viewer, n_before + 1))
    return found


def _several(source: Source) -> list[OneRecording]:
    """Return the source as a list; raise if it has no recordings."""
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
    from gazelive.workflows.probes import Labelled  # imports identification

    session = "" if number is None else str(number)
    if not isinstance(one, Recording):
        path = Path(one)
        return Labelled(path, path.name, viewer, session, screen_in_corpus(path))
    screen = screen_in_corpus(one.path) if one.path.exists() else None
    session = session if one.session is None else one.session
    return Labelled(one, one.path.name, viewer, session, screen)
