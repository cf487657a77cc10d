"""Truth table of a simulated recording: one row per event, in the order of onsets.

Columns: `trial`, `image` and `phase` (cross, image, or empty between trials) at the event's onset;
`kind` (fixation, saccade, corrective, microsaccade, blink, loss); `eye`; `onset_us`, `offset_us`;
positions in degrees (x to the right, y down; a fixation's in `start_…`); `amplitude_deg`,
`peak_velocity_deg_s`, `oscillation_end_us` and `lost` of saccades; `loss_onset_us` and
`loss_offset_us` of blinks. Definitions are in `gazelive.simulation.truth`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import csv

from gazelive.simulation.lab_session import SimulatedSession, TrialTimes
from gazelive.simulation.truth import TrueBlink, TrueFixation, TrueSaccade
from gazelive.system import replacing

Event: TypeAlias = TrueSaccade | TrueFixation | TrueBlink

SCHEMA = pa.schema(
    [
        ("trial", pa.int32()),
        ("image", pa.string()),
        ("phase", pa.string()),
        ("kind", pa.string()),
        ("eye", pa.string()),
        ("onset_us", pa.float64()),
        ("offset_us", pa.float64()),
        ("start_x_deg", pa.float64()),
        ("start_y_deg", pa.float64()),
        ("end_x_deg", pa.float64()),
        ("end_y_deg", pa.float64()),
        ("amplitude_deg", pa.float64()),
        ("peak_velocity_deg_s", pa.float64()),
        ("oscillation_end_us", pa.float64()),
        ("lost", pa.bool_()),
        ("loss_onset_us", pa.float64()),
        ("loss_offset_us", pa.float64()),
    ]
)
_DECIMALS = 4


def write_truth(session: SimulatedSession, path: Path) -> None:
    """Write the truth of a session as CSV, atomically."""
    with replacing(path) as aside:
        csv.write_csv(truth_table(session), aside)


def truth_table(session: SimulatedSession) -> pa.Table:
    """Return the truth of a session."""
    events: list[Event] = [*session.saccades, *session.fixations, *session.blinks]
    events.sort(key=lambda event: event.onset_us)
    places = _Places(session.trials)
    rows = [{**places.at(event.onset_us), **dict(_columns(event))} for event in events]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


class _Places:
    """Finds the trial and phase of a time."""

    def __init__(self, trials: tuple[TrialTimes, ...]) -> None:
        self._trials = trials
        self._starts_us = [trial.cross_us for trial in trials]

    def at(self, time_us: float) -> dict[str, Any]:
        """Return trial, image and phase; nothing between trials."""
        place = bisect_right(self._starts_us, time_us) - 1
        if place < 0 or time_us >= self._trials[place].image_offset_us:
            return {}
        trial = self._trials[place]
        phase = "image" if time_us >= trial.image_onset_us else "cross"
        return {"trial": trial.trial, "image": trial.image, "phase": phase}


def _columns(event: Event) -> Iterator[tuple[str, Any]]:
    yield "eye", event.eye
    yield "onset_us", round(event.onset_us, 1)
    yield "offset_us", round(event.offset_us, 1)
    if isinstance(event, TrueSaccade):
        yield "kind", "saccade" if event.kind == "main" else event.kind
        for name in (
            "start_x_deg",
            "start_y_deg",
            "end_x_deg",
            "end_y_deg",
            "amplitude_deg",
            "peak_velocity_deg_s",
        ):
            yield name, round(getattr(event, name), _DECIMALS)
        yield "oscillation_end_us", round(event.oscillation_end_us, 1)
        yield "lost", event.lost
    elif isinstance(event, TrueFixation):
        yield "kind", "fixation"
        yield "start_x_deg", round(event.x_deg, _DECIMALS)
        yield "start_y_deg", round(event.y_deg, _DECIMALS)
    else:
        yield "kind", event.cause
        yield "loss_onset_us", round(event.loss_onset_us, 1)
        yield "loss_offset_us", round(event.loss_offset_us, 1)
