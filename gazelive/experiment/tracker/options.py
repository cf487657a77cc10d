"""Options of `gazelive.Tracker`: checked as those of a configuration file and of `record`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gazelive.errors import ConfigError
from gazelive.experiment.config.key_errors import value_error
from gazelive.experiment.config.plausibility import implausibilities
from gazelive.experiment.config.schema import (
    ExperimentConfig,
    Identify,
    Screen,
    Stimuli,
    Tracker as TrackerTable,
)
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.dialogue import (
    ExistingSessions,
    session_problem,
    viewer_problem,
)
from gazelive.gaze import Eyes, ScreenGeometry

Table = TypeVar("Table", bound=msgspec.Struct)


def checked_tables(
    screen: ScreenGeometry, tracker: dict[str, Any], identify: dict[str, Any]
) -> tuple[TrackerTable, Identify]:
    """Return the tables of a configuration with these values; raise if they are implausible."""
    config = ExperimentConfig(
        screen=Screen(
            width_px=screen.width_px,
            height_px=screen.height_px,
            width_mm=screen.width_mm,
            height_mm=screen.height_mm,
            eye_distance_mm=screen.eye_distance_mm,
        ),
        stimuli=Stimuli(width_px=screen.width_px, height_px=screen.height_px),
        tracker=_checked(tracker, TrackerTable),
        identify=_checked(identify, Identify),
    )
    for keys, reason in implausibilities(config):
        raise ConfigError(reason, key=keys[0].rpartition(".")[2])
    return config.tracker, config.identify


def _checked(values: dict[str, Any], table: type[Table]) -> Table:
    """Return a table of a configuration with these values; raise for the first wrong one."""
    fields = {field.name: field for field in msgspec.structs.fields(table)}
    for name, value in values.items():
        reason = value_error(value, fields[name])
        if reason is not None:
            raise ConfigError(reason, key=name)
    return msgspec.convert(values, table)


def checked_participant(
    sessions: Path, viewer: str | None, session: int | None, eyes: Eyes, simulate_as: str | None
) -> Participant:
    """Return who takes part; without a viewer the session is one to identify."""
    for key, name in (("viewer", viewer), ("simulate_as", simulate_as)):
        problem = None if name is None else viewer_problem(name, "enrol")
        if problem is not None:
            raise ConfigError(problem, key=key)
    taken = ExistingSessions.in_folder(sessions)
    if session is None:
        session = taken.next_free(viewer)
    elif session < 1:
        raise ConfigError(f"must be 1 or more, not {session}", key="session")
    elif viewer is not None:
        problem = session_problem(viewer, session, taken)
        if problem is not None:
            raise ConfigError(problem, key="session")
    return Participant(
        viewer=viewer, session=session, eyes=eyes, mode="identify" if viewer is None else "enrol"
    )
