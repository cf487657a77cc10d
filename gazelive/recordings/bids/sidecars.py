"""JSON sidecars of a BIDS run: how it was recorded, and what each column means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gazelive import __version__
from gazelive.gaze import Coordinates, ScreenGeometry, StreamDescription
from gazelive.recordings.bids.runs import Run, messages_of
from gazelive.recordings.bids.tables import (
    EVENT_COLUMNS,
    OWN_VARIABLES,
    SAMPLE_COLUMNS,
    TRIAL_COLUMNS,
    VARIABLE_PREFIX,
    Eye,
)
from gazelive.recordings.recording import Recording

Sidecar = dict[str, Any]

EYE_NAMES: dict[Eye, str] = {"L": "left", "R": "right"}
SYSTEMS = {
    Coordinates.SCREEN_PX: ("gaze-on-screen", "pixel", "from the left", "from the top"),
    Coordinates.HREF: ("eye-in-head", "arbitrary", "to the right (HREF)", "downwards (HREF)"),
    Coordinates.DEGREES: ("custom", "deg", "to the right", "downwards"),
    Coordinates.RAW: ("custom", "arbitrary", "in the camera's image", "in the camera's image"),
}
"""For each kind of coordinates: name in BIDS, unit, and meaning of x and y."""
CUSTOM_SYSTEMS = {
    Coordinates.DEGREES: "Degrees of visual angle from straight ahead; x grows to the right, y "
    "downwards.",
    Coordinates.RAW: "Pupil minus corneal reflection in camera units; not an angle.",
}
"""A system that BIDS has no name for must be described."""
PUPIL_FITS = {"ELLIPSE": "ellipse", "CENTROID": "centre-of-mass"}
_PUPIL_FIT = re.compile(r"ELCL_PROC\s+(ELLIPSE|CENTROID)")
_CONFIGURATION = re.compile(r"RECCFG\s+(CR|P)\s+\d+\s+(\d)\s+(\d)")
_FILTERS = ("off", "standard", "extra")
_OWN_DESCRIPTIONS = {
    "index": "Number of the trial in the session, from 1.",
    "attempt": "Number of attempts at this image, including this one.",
    "outcome": "Outcome of the trial: shown, repeated, skipped or aborted.",
    "evidence": "Whether the viewing counts (1), or was skipped or repeated too soon (0).",
    "dropped_frames": "Dropped frames during the trial.",
    "image_ms": "Duration of the image on the screen, in ms of the display computer's clock.",
    "onset_delay_ms": "From the end of the fixation gate to the image, in ms.",
}


def sample_sidecar(recording: Recording, run: Run, eye: Eye, task: str) -> Sidecar:
    """Return the JSON beside the samples of an eye."""
    system, unit, x_is, y_is = SYSTEMS[run.stream.coordinates]
    size = "area" if run.stream.pupil == "area" else "diameter"
    described = CUSTOM_SYSTEMS.get(run.stream.coordinates)
    return {
        "TaskName": task,
        "PhysioType": "eyetrack",
        "RecordedEye": EYE_NAMES[eye],
        "SampleCoordinateSystem": system,
        **({} if described is None else {"SampleCoordinateSystemDescription": described}),
        "SamplingFrequency": run.stream.sampling_rate_hz,
        "StartTime": 0,
        "Columns": list(SAMPLE_COLUMNS),
        **_hardware(recording, run),
        **_calibration(recording, run, eye),
        "timestamp": {
            "Description": "The tracker's own time of the sample. Samples that the tracker did "
            "not record (pauses between trials, losses) have n/a in the other columns.",
            "Units": "ms",
            "Origin": "The tracker's own start",
        },
        "x_coordinate": {
            "LongName": "Gaze position (x)",
            "Description": f"Horizontal gaze position of the recorded eye, {x_is}.",
            "Units": unit,
        },
        "y_coordinate": {
            "LongName": "Gaze position (y)",
            "Description": f"Vertical gaze position of the recorded eye, {y_is}.",
            "Units": unit,
        },
        "pupil_size": {
            "Description": f"Pupil {size} of the recorded eye, as the tracker measures it.",
            "Units": "arbitrary",
        },
    }


def event_sidecar(task: str) -> Sidecar:
    """Return the JSON beside the tracker's events and messages."""
    return {
        "TaskName": task,
        "Columns": list(EVENT_COLUMNS),
        "Description": "Events that the eye tracker's own parser found in this eye, and the "
        "messages that the tracker and the experiment logged.",
        "OnsetSource": "timestamp",
        "onset": {
            "Description": "The tracker's own time, as in the column timestamp of the samples.",
            "Units": "ms",
        },
        "duration": {"Description": "From the first to the last sample, both included.",
                     "Units": "s"},
        "trial_type": {
            "Description": "Kind of event as the eye tracker's parser saw it; n/a for messages.",
            "Levels": {
                "fixation": "The eye at rest.",
                "saccade": "A rapid movement.",
                "blink": "No pupil was seen.",
            },
        },
        "blink": {
            "Description": "Whether the eye was closed in the event.",
            "Levels": {"0": "The eye was open.", "1": "The eye was closed for a part of it."},
        },
        "message": {"Description": "Text that was logged, or the change of a button or input."},
    }  # fmt: skip


def trial_sidecar(
    columns: Sequence[str], task: str, screen: ScreenGeometry | None, config: dict[str, Any]
) -> Sidecar:
    """Return the JSON beside the trials, which also describes the screen."""
    sidecar: Sidecar = {"TaskName": task, **_instructions(config)}
    sidecar |= _stimulus_presentation(screen, config)
    sidecar |= {
        "onset": {
            "Description": "From the first sample of the run, on the tracker's clock.",
            "Units": "s",
        },
        "duration": {"Description": "How long it was shown.", "Units": "s"},
        "trial_type": {
            "Description": "What was shown.",
            "Levels": {
                "cross": "A fixation cross before the image.",
                "image": "The image, from its onset to its offset.",
                "trial": "A whole trial of which no image onset is known.",
            },
        },
        "trial": {"Description": "Name of the trial (TRIALID)."},
        "image": {"Description": "Name of the image's file, without its folders."},
    }
    for column in columns[len(TRIAL_COLUMNS) :]:
        if column in OWN_VARIABLES:
            sidecar[column] = {"Description": _OWN_DESCRIPTIONS[column]}
        else:
            name = column.removeprefix(VARIABLE_PREFIX)
            sidecar[column] = {"Description": f"Trial variable {name}, as the experiment sent it."}
    return sidecar


def _instructions(config: dict[str, Any]) -> dict[str, Any]:
    """Return the participants' instructions from the experiment's configuration, if any."""
    configured = config.get("task")
    facts = configured.get("instructions") if isinstance(configured, dict) else None
    return {"Instructions": facts} if isinstance(facts, str) and facts else {}


def _stimulus_presentation(screen: ScreenGeometry | None, config: dict[str, Any]) -> dict[str, Any]:
    if screen is None:
        return {}
    presentation: dict[str, Any] = {
        "ScreenDistance": screen.eye_distance_mm / 1000,
        "ScreenOrigin": ["top", "left"],
        "ScreenResolution": list(screen.size_px),
        "ScreenSize": [screen.width_mm / 1000, screen.height_mm / 1000],
    }
    configured = config.get("screen")
    rate_hz = configured.get("refresh_rate_hz") if isinstance(configured, dict) else None
    if isinstance(rate_hz, int | float):
        presentation["ScreenRefreshRate"] = rate_hz
        presentation["SoftwareName"] = "gazelive (PsychoPy)"
        presentation["SoftwareVersion"] = __version__
    return {"StimulusPresentation": presentation}


def _hardware(recording: Recording, run: Run) -> dict[str, Any]:
    """Return the facts about the tracker in the recording."""
    device = run.stream.device
    facts: dict[str, Any] = {"ManufacturersModelName": device}
    if _is_eyelink(run.stream):
        facts["Manufacturer"] = "SR Research"
    for line in recording.header:
        word, _, value = line.partition(":")
        if word.strip() == "SERIAL NUMBER" and value.strip():
            facts["DeviceSerialNumber"] = value.strip()
        elif line.startswith("EYELINK ") and " v" in line:
            facts["SoftwareVersions"] = line.strip()
    for message in messages_of(run, recording.messages):
        if match := _PUPIL_FIT.match(message.text):
            facts["PupilFitMethod"] = PUPIL_FITS[match[1]]
        elif match := _CONFIGURATION.match(message.text):
            facts["EyeTrackingMethod"] = "P-CR" if match[1] == "CR" else "P"
            facts["RawDataFilters"] = (
                f"EyeLink heuristic filter: file {_filter(match[2])}, link {_filter(match[3])}"
            )
    return facts


def _is_eyelink(stream: StreamDescription) -> bool:
    device = stream.device.lower()
    return "eyelink" in device and "simulated" not in device


def _filter(level: str) -> str:
    number = int(level)
    return _FILTERS[number] if number < len(_FILTERS) else level


def _calibration(recording: Recording, run: Run, eye: Eye) -> dict[str, Any]:
    """Return the number of calibrations of this eye for a run, and the last result."""
    until_us = run.messages_before_us
    results = [c for c in recording.calibrations if c.eye == eye and c.tracker_time_us < until_us]
    facts: dict[str, Any] = {}
    if results:
        of_run = [c for c in results if c.kind == "calibration" and run.contains(c.tracker_time_us)]
        facts["CalibrationCount"] = len(of_run)
        models = [result.model for result in results if result.model]
        if models:
            facts["CalibrationType"] = models[-1]
    validations = [r for r in results if r.kind == "validation" and r.mean_error_deg is not None]
    if validations:
        facts["AverageCalibrationError"] = validations[-1].mean_error_deg
        if validations[-1].max_error_deg is not None:
            facts["MaximalCalibrationError"] = validations[-1].max_error_deg
    return facts
