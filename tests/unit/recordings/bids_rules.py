"""The published rules for BIDS eye tracking, transcribed (see docs/bids.md), as a small validator.

From the BIDS schema 2.0.1 (BIDS 1.11.2): `rules.sidecars.continuous` (Continuous, EyeTrack,
PhysioEvents), `rules.tabular_data.physio`, `rules.tabular_data.events`, `rules.checks.eyetrack`,
`rules.files.raw.task.timeseries`, and the common principles on file names and TSV files.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

TOP_LEVEL = {"dataset_description.json", "participants.tsv", "participants.json", "README"}
NAME = re.compile(
    r"sub-(?P<sub>[0-9a-zA-Z+]+)(?:_ses-(?P<ses>[0-9a-zA-Z+]+))?_task-[0-9a-zA-Z+]+"
    r"(?:_run-[0-9]+)?"
    r"(?:(?:_recording-(?P<recording>[0-9a-zA-Z+]+))?_(?P<physio>physio|physioevents)"
    r"\.(?:tsv\.gz|json)|_events\.(?:tsv|json))"
)
REQUIRED_OF_SAMPLES = {
    "SamplingFrequency": (int, float),
    "StartTime": (int, float),
    "Columns": list,
    "RecordedEye": str,
    "SampleCoordinateSystem": str,
}
LEVELS = {
    "PhysioType": {"eyetrack"},
    "RecordedEye": {"left", "right", "cyclopean"},
    "SampleCoordinateSystem": {"gaze-on-screen", "eye-in-head", "gaze-in-world", "custom"},
}
TYPES: dict[str, Any] = {
    "AverageCalibrationError": (int, float),
    "MaximalCalibrationError": (int, float),
    "CalibrationCount": int,
    "CalibrationType": str,
    "EyeTrackingMethod": str,
    "PupilFitMethod": str,
    "RawDataFilters": str,
    "Manufacturer": str,
    "ManufacturersModelName": str,
    "SoftwareVersions": str,
    "DeviceSerialNumber": str,
    "TaskName": str,
    "Instructions": str,
}


def violations(dataset: Path) -> list[str]:
    """Return a sentence for everything that the rules forbid; none is a valid dataset."""
    found = _of_dataset(dataset)
    for path in sorted(dataset.rglob("*")):
        relative = path.relative_to(dataset)
        if path.is_dir() or str(relative) in TOP_LEVEL:
            continue
        match = NAME.fullmatch(path.name)
        if match is None:
            found.append(f"{relative}: no BIDS name")
            continue
        folders = [f"sub-{match['sub']}", *([f"ses-{match['ses']}"] if match["ses"] else []), "beh"]
        if list(relative.parts[:-1]) != folders:
            found.append(f"{relative}: not in {'/'.join(folders)}")
        if path.name.endswith("_physio.tsv.gz"):
            found += _of_samples(path)
        elif path.name.endswith("_physioevents.tsv.gz"):
            found += _of_events(path)
        elif path.name.endswith("_events.tsv"):
            found += _of_trials(path)
    return found


def sidecar(path: Path) -> dict[str, Any]:
    """Return the JSON beside a table."""
    beside = path.with_name(path.name.removesuffix(".gz").removesuffix(".tsv") + ".json")
    content: dict[str, Any] = json.loads(beside.read_text())
    return content


def rows(path: Path) -> list[list[str]]:
    """Return the cells of a table."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    assert text == "" or text.endswith("\n")
    return [line.split("\t") for line in text.splitlines()]


def _of_dataset(dataset: Path) -> list[str]:
    found = [f"{name} is missing" for name in TOP_LEVEL if not (dataset / name).is_file()]
    described = json.loads((dataset / "dataset_description.json").read_text())
    found += [f"description lacks {key}" for key in ("Name", "BIDSVersion") if key not in described]
    header, *participants = rows(dataset / "participants.tsv")
    if header[0] != "participant_id":
        found.append("participants.tsv: participant_id must be first")
    ids = [row[0] for row in participants]
    folders = sorted(path.name for path in dataset.glob("sub-*"))
    if sorted(ids) != folders or len(set(ids)) != len(ids):
        found.append(f"participants.tsv has {sorted(ids)}, there are {folders}")
    return found


def _of_samples(path: Path) -> list[str]:
    told, table = sidecar(path), rows(path)
    found = [
        f"{path.name}: {key} is missing or of a wrong type"
        for key, kind in REQUIRED_OF_SAMPLES.items()
        if not isinstance(told.get(key), kind)
    ]
    for key, levels in LEVELS.items():
        if told.get(key) not in levels:
            found.append(f"{path.name}: {key} is {told.get(key)!r}")
    for key, kind in TYPES.items():
        if key in told and not isinstance(told[key], kind):
            found.append(f"{path.name}: {key} is of a wrong type")
    columns = told.get("Columns", [])
    if columns[:3] != ["timestamp", "x_coordinate", "y_coordinate"]:
        found.append(f"{path.name}: wrong first columns {columns}")
    if "pupil_size" in columns:
        described = told.get("pupil_size", {}).get("Description", "")
        if not re.search(r"area|diameter", described):
            found.append(f"{path.name}: is the pupil's size area or diameter?")
    found += _cells(path, table, columns, numbers=columns)
    if told.get("SampleCoordinateSystem") == "gaze-on-screen":
        stem = path.name.partition("_recording-")[0]
        events = path.with_name(f"{stem}_events.tsv")
        screen = sidecar(events).get("StimulusPresentation", {}) if events.is_file() else {}
        found += [
            f"{events.name}: StimulusPresentation lacks {key}"
            for key in ("ScreenDistance", "ScreenOrigin", "ScreenResolution", "ScreenSize")
            if screen.get(key, "n/a") == "n/a"
        ]
    return found


def _of_events(path: Path) -> list[str]:
    told, table = sidecar(path), rows(path)
    columns = told.get("Columns", [])
    found = _cells(path, table, columns, numbers=["onset", "duration"])
    if columns[:1] != ["onset"]:
        found.append(f"{path.name}: onset must be first")
    samples = path.with_name(path.name.replace("_physioevents", "_physio"))
    if not samples.is_file():
        found.append(f"{path.name}: there are no samples beside it")
    elif told.get("OnsetSource") not in sidecar(samples)["Columns"]:
        found.append(f"{path.name}: OnsetSource is no column of the samples")
    if "duration" in columns:
        durations = [row[columns.index("duration")] for row in table]
        if any(text != "n/a" and float(text) < 0 for text in durations):
            found.append(f"{path.name}: a duration is negative")
    return found


def _of_trials(path: Path) -> list[str]:
    header, *table = rows(path)
    found = _cells(path, table, header, numbers=["onset", "duration"])
    if header[:2] != ["onset", "duration"]:
        found.append(f"{path.name}: onset and duration must be first")
    told = sidecar(path)
    found += [f"{path.name}: {name} is not described" for name in header if name not in told]
    return found


def _cells(path: Path, table: list[list[str]], columns: list[str], numbers: list[str]) -> list[str]:
    """Check that every row has a cell for each column, none empty, and numbers where they must."""
    found = []
    if len(set(columns)) != len(columns):
        found.append(f"{path.name}: two columns have one name")
    places = [columns.index(name) for name in numbers if name in columns]
    for number, row in enumerate(table, start=1):
        if len(row) != len(columns) or "" in row:
            found.append(f"{path.name}: row {number} has empty, too many or too few cells")
            break
        for place in places:
            try:
                float("nan" if row[place] == "n/a" else row[place])
            except ValueError:
                found.append(f"{path.name}: row {number}: {row[place]!r} is no number")
    return found
