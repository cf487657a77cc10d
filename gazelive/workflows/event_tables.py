"""Saccades and fixations as tables: one row each, units in the names, empty where undefined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from gazelive import __version__
from gazelive.analysis import AnalysedInterval, Analysis
from gazelive.features import DEFAULT_RATE_DEG, Kinematics, Turn, overshoots
from gazelive.gaze import Fixation, Floats, Pursuit, ScreenGeometry
from gazelive.recordings import DEFAULT_PATTERNS, TrialPatterns, own_patterns
from gazelive.workflows.arrow_arrays import flag_array, number_array, text_array

_TURN_NAMES = {turn.value: turn.name.lower() for turn in Turn if turn is not Turn.NONE}
_TEXT = ("trial", "image", "eye", "turn", "kind")

_KINEMATIC_COLUMNS = {
    "amplitude_deg": Kinematics.AMPLITUDE_DEG,
    "direction_deg": Kinematics.DIRECTION_DEG,
    "peak_velocity_deg_s": Kinematics.PEAK_VELOCITY_DEG_S,
    "mean_velocity_deg_s": Kinematics.MEAN_VELOCITY_DEG_S,
    "mean_acceleration_deg_s2": Kinematics.MEAN_ACCELERATION_DEG_S2,
    "peak_acceleration_deg_s2": Kinematics.PEAK_ACCELERATION_DEG_S2,
    "peak_deceleration_deg_s2": Kinematics.PEAK_DECELERATION_DEG_S2,
    "ratio_x": Kinematics.RATIO_X,
    "ratio_y": Kinematics.RATIO_Y,
}
_OF_THE_EVENT = (
    *("start_x_deg", "start_y_deg", "end_x_deg", "end_y_deg"),
    *("near_loss", "kind", "oscillation_ms"),
)
SACCADE_COLUMNS = (
    "trial",
    "image",
    "eye",
    "onset_ms",
    "offset_ms",
    "duration_ms",
    "start_x_deg",
    "start_y_deg",
    "end_x_deg",
    "end_y_deg",
    "amplitude_deg",
    "direction_deg",
    "turn",
    "peak_velocity_deg_s",
    "mean_velocity_deg_s",
    "mean_acceleration_deg_s2",
    "peak_acceleration_deg_s2",
    "peak_deceleration_deg_s2",
    "ratio_x",
    "ratio_y",
    "vigor_x",
    "vigor_y",
    "since_image_onset_ms",
    "detection_delay_ms",
    "near_loss",
    "kind",
    "oscillation_ms",
    "overshoot_deg",
)
FIXATION_COLUMNS = (
    "trial",
    "image",
    "eye",
    "onset_ms",
    "offset_ms",
    "duration_ms",
    "x_deg",
    "y_deg",
    "dispersion_deg",
    "drift_speed_deg_s",
    "since_image_onset_ms",
    "detection_delay_ms",
    "kind",
)

Columns = dict[str, list[Any]]


def saccade_table(analysis: Analysis, vigor_rate_deg: float = DEFAULT_RATE_DEG) -> Any:
    """Return an Arrow table with one row per saccade or artefact, in the order of time."""
    columns: Columns = {name: [] for name in SACCADE_COLUMNS}
    for analysed in analysis.intervals:
        _add_saccades(columns, analysed, vigor_rate_deg)
    return _table(columns)


def fixation_table(analysis: Analysis) -> Any:
    """Return an Arrow table with one row per fixation or pursuit, in the order of time."""
    columns: Columns = {name: [] for name in FIXATION_COLUMNS}
    for analysed in analysis.intervals:
        _add_fixations(columns, analysed)
    return _table(columns)


def provenance(
    analysis: Analysis, vigor_rate_deg: float, trial_patterns: TrialPatterns = DEFAULT_PATTERNS
) -> dict[str, Any]:
    """Return everything that the tables rest on, as JSON can hold it."""
    return {
        "gazelive": __version__,
        "recording": analysis.recording.path.resolve().name,
        "method": analysis.method,
        "eye": analysis.eye,
        "whole_blocks": analysis.whole_blocks,
        "carries_noise": analysis.carries_noise,
        "trial_patterns": {
            "start": trial_patterns.start,
            "stop": trial_patterns.stop,
            **own_patterns(trial_patterns),
        },
        "parameters": msgspec.to_builtins(analysis.parameters),
        "vigor_rate_deg": vigor_rate_deg,
        "geometry": [
            {
                "source": found.source,
                "screen" if isinstance(found.geometry, ScreenGeometry) else "resolution": (
                    msgspec.to_builtins(found.geometry)
                ),
            }
            for found in analysis.geometries
        ],
        "intervals": [
            {
                **msgspec.to_builtins(analysed.interval),
                "sampling_rate_hz": analysed.gaze.detection.sampling_rate_hz,
                "outcome": analysed.gaze.detection.outcome.value,
                "thresholds_deg_s": analysed.gaze.detection.thresholds_deg_s,
                "n_saccades": len(analysed.gaze.detection.saccades),
                "n_artefacts": len(analysed.gaze.detection.artefacts),
                "n_pursuits": len(analysed.gaze.detection.pursuits),
            }
            for analysed in analysis.intervals
        ],
    }


def _add_saccades(columns: Columns, analysed: AnalysedInterval, vigor_rate_deg: float) -> None:
    gaze, detection, features = analysed.gaze, analysed.gaze.detection, analysed.gaze.features
    saccades, artefacts = detection.saccades, detection.artefacts
    unknown = [float("nan")] * len(artefacts)
    values: Columns = {
        name: features.kinematics[:, column].tolist() + unknown
        for name, column in _KINEMATIC_COLUMNS.items()
    }
    values["turn"] = [_TURN_NAMES.get(int(turn)) for turn in features.turn] + [None] * len(unknown)
    values["vigor_x"] = features.vigor_x_deg_s(vigor_rate_deg).tolist() + unknown
    values["vigor_y"] = features.vigor_y_deg_s(vigor_rate_deg).tolist() + unknown
    values["overshoot_deg"] = overshoots(gaze).tolist() + unknown
    movements = (*saccades, *artefacts)
    for name in _OF_THE_EVENT:
        values[name] = [getattr(movement, name) for movement in movements]
    order = sorted(range(len(movements)), key=lambda k: movements[k].onset_us)
    _add_common(columns, analysed, [movements[k] for k in order])
    for name, column in values.items():
        columns[name] += [column[k] for k in order]


def _add_fixations(columns: Columns, analysed: AnalysedInterval) -> None:
    gaze = analysed.gaze
    detection = gaze.detection
    rests: list[Fixation | Pursuit] = [*detection.fixations, *detection.pursuits]
    rests.sort(key=lambda rest: rest.onset_us)
    _add_common(columns, analysed, rests)
    for rest in rests:
        first = np.searchsorted(gaze.times_us, rest.onset_us)
        stop = np.searchsorted(gaze.times_us, rest.offset_us, side="right")
        part = slice(first, stop)
        position = np.stack((gaze.x_deg[part], gaze.y_deg[part]))
        spread, drift = _spread_and_drift(gaze.times_us[part] / 1e6, position)
        if isinstance(rest, Fixation):
            x_deg, y_deg, kind = rest.x_deg, rest.y_deg, "fixation"
        else:
            x_deg, y_deg = np.nanmean(position, axis=1).tolist()
            kind = "pursuit"
        columns["x_deg"].append(x_deg)
        columns["y_deg"].append(y_deg)
        columns["dispersion_deg"].append(spread)
        columns["drift_speed_deg_s"].append(drift)
        columns["kind"].append(kind)


def _spread_and_drift(
    times_s: np.ndarray[Any, Any], positions_deg: np.ndarray[Any, Any]
) -> tuple[float, float]:
    """Return the RMS distance from the mean and the speed of the straight line fitted."""
    seen = np.isfinite(positions_deg).all(axis=0)
    if seen.sum() < 3:
        return float("nan"), float("nan")
    centred = positions_deg[:, seen] - positions_deg[:, seen].mean(axis=1, keepdims=True)
    t = times_s[seen] - times_s[seen].mean()
    slopes = centred @ t / (t @ t)
    return float(np.sqrt((centred**2).sum(axis=0).mean())), float(np.hypot(*slopes))


def _add_common(columns: Columns, analysed: AnalysedInterval, events: Sequence[Any]) -> None:
    interval = analysed.interval
    sample_ms = 1000.0 / analysed.gaze.detection.sampling_rate_hz
    for event in events:
        columns["trial"].append(interval.trial)
        columns["image"].append(interval.image)
        columns["eye"].append(event.eye)
        columns["onset_ms"].append(event.onset_us / 1000)
        columns["offset_ms"].append(event.offset_us / 1000)
        columns["duration_ms"].append((event.offset_us - event.onset_us) / 1000 + sample_ms)
        columns["detection_delay_ms"].append(event.detection_delay_ms)
        onset_us = interval.image_onset_us
        columns["since_image_onset_ms"].append(
            None if onset_us is None else (event.onset_us - onset_us) / 1000
        )


def _table(columns: Columns) -> Any:
    arrays = {}
    for name, values in columns.items():
        if name in _TEXT:
            arrays[name] = text_array(values)
        elif name == "near_loss":
            arrays[name] = flag_array(values)
        else:
            # six digits after the point are well below any tracker's resolution
            rounded: Floats = np.array(values, np.float64).round(6) + 0.0  # no −0
            arrays[name] = number_array(rounded)
    return pa.table(arrays)
