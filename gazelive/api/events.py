"""Saccades and fixations of a recording."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gazelive.api.common import PathLike, flags_of, tell
from gazelive.detection import Method, preset
from gazelive.features.interval import Parameters
from gazelive.features.vigor import DEFAULT_RATE_DEG
from gazelive.gaze.screen import ScreenGeometry
from gazelive.offline import event_tables
from gazelive.offline.analysis import Analysis, EyeChoice, analyse
from gazelive.recordings.corpus import screen_in_corpus
from gazelive.recordings.doubts import damage, sentences
from gazelive.recordings.opening import read_recording
from gazelive.recordings.recording import Recording


@dataclass(frozen=True)
class Detected:
    """The events of a recording, as tables with one row each; units stand in the names."""

    analysis: Analysis
    """Everything: the gaze of each interval in degrees, its events, features and thresholds."""

    @cached_property
    def saccades(self) -> Any:
        """A `pyarrow.Table` with the columns that `gazelive detect` writes."""
        return event_tables.saccade_table(self.analysis)

    @cached_property
    def fixations(self) -> Any:
        """A `pyarrow.Table` with the columns that `gazelive detect --fixations` writes."""
        return event_tables.fixation_table(self.analysis)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the tables rest on, as JSON can hold it."""
        return event_tables.provenance(self.analysis, DEFAULT_RATE_DEG)


def detect(
    recording: Recording | PathLike,
    *,
    method: Method = "settled",
    parameters: Parameters | str | None = None,
    eye: EyeChoice | None = None,
    screen: ScreenGeometry | None = None,
    whole_blocks: bool = False,
) -> Detected:
    """Find the saccades and fixations of every viewing interval.

    `method` is `settled`, `online` or `engbert-kliegl`; `parameters` are those of the method, or
    the name of a preset (`scene-viewing`, `microsaccades`, `noisy`). A recording in pixels needs
    a `screen` where it does not tell of one.
    """
    told = []
    if not isinstance(recording, Recording):
        recording = read_recording(Path(recording))
        told = sentences(damage(recording))
    if isinstance(parameters, str):
        parameters = preset(parameters)
    analysis = analyse(
        recording,
        method=method,
        parameters=parameters,
        eye=eye,
        flags=flags_of(screen),
        corpus_screen=screen_in_corpus(recording.path) if recording.path.exists() else None,
        whole_blocks=whole_blocks,
    )
    tell((*told, *(f"{recording.path}: {warning}" for warning in analysis.warnings)))
    return Detected(analysis)
