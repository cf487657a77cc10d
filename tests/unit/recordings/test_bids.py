"""BIDS export: valid by the published rules, faithful to the recording, safe for a dataset."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import EYE_FIELDS, Coordinates, Eyes, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.bids.dataset import BidsTarget
from gazelive.recordings.bids.export import export_bids, what_bids_loses
from gazelive.recordings.bids.runs import even_samples, runs_of
from gazelive.recordings.open import read_recording
from gazelive.recordings.recording import Block, Calibration, Recording, Signal
from gazelive.recordings.trials import find_trials

from .bids_rules import rows, sidecar, violations

START_US = 5_000_000_000
RATE_HZ = 1000.0


def stream(eyes: Eyes = "LR", rate_hz: float = RATE_HZ) -> StreamDescription:
    return StreamDescription(
        device="EYELINK CL", sampling_rate_hz=rate_hz, eyes=eyes, screen=PAPER_SCREEN
    )


def block(start_us: int, n: int, eyes: Eyes = "LR", rate_hz: float = RATE_HZ) -> Block:
    rng = np.random.default_rng(n)
    samples = empty_samples(n)
    samples["tracker_time_us"] = start_us + np.rint(np.arange(n) * 1e6 / rate_hz).astype(np.int64)
    for eye in eyes:
        for field in EYE_FIELDS[eye]:
            samples[field] = np.round(rng.uniform(10, 1000, n), 1)
    samples["left_x"][3:6] = np.nan
    return Block(stream(eyes, rate_hz), samples, start_us, int(samples["tracker_time_us"][-1]))


MESSAGES = (
    (-3_000_000, "!CAL\n>>>>>>> CALIBRATION (HV9,P-CR) FOR LEFT: <<<<<<<<<"),
    (-1000, "TRIALID 1"),
    (0, "RECCFG CR 1000 2 1 LR"),
    (0, "ELCL_PROC ELLIPSE  (5)"),
    (10_000, "cross 100 200"),
    (50_000, "image_onset"),
    (50_000, "!V IMGLOAD CENTER images/cat.jpg 960 540 1500 1000"),
    (150_000, "image_offset"),
    (160_000, "!V TRIAL_VAR outcome shown"),
    (160_000, "!V TRIAL_VAR response_time 12.5"),
    (160_000, "TRIAL_RESULT 0"),
    (900_000, "TRIALID 2\twith a tab"),
    (1_150_000, "TRIAL_RESULT 0"),
)


def recording(*blocks: Block) -> Recording:
    blocks = blocks or (block(START_US, 200), block(START_US + 1_000_000, 100))
    messages = tuple(Message(START_US + at_us, text) for at_us, text in MESSAGES)
    return Recording(
        path=Path("made up"),
        format="session",
        blocks=blocks,
        messages=messages,
        tracker_events=(
            event("fixation", "L", 0, 80_000),
            event("saccade", "L", 81_000, 140_000),
            event("blink", "L", 100_000, 120_000),
            event("fixation", "R", 5_000, 60_000),
        ),
        signals=(Signal(START_US + 70_000, "button", 3, 1),),
        trials=find_trials(messages, blocks),
        calibrations=(
            calibration("calibration", "L", None),
            calibration("validation", "L", 0.35),
            calibration("calibration", "R", None),
        ),
        header=("SERIAL NUMBER: CL1-AAC19", "EYELINK II CL v4.40 Mar 24 2009"),
        screen=PAPER_SCREEN,
        viewer="v001",
        session="1",
    )


def event(kind: str, eye: str, start_us: int, end_us: int) -> TrackerEvent:
    return TrackerEvent(
        kind=kind,  # type: ignore[arg-type]
        eye=eye,  # type: ignore[arg-type]
        start_us=START_US + start_us,
        end_us=START_US + end_us,
    )


def calibration(kind: str, eye: str, mean_deg: float | None) -> Calibration:
    return Calibration(
        tracker_time_us=START_US - 2_000_000,
        kind=kind,  # type: ignore[arg-type]
        eye=eye,  # type: ignore[arg-type]
        model="HV9",
        result="GOOD",
        mean_error_deg=mean_deg,
        max_error_deg=None if mean_deg is None else 0.8,
    )


def target(dataset: Path, subject: str = "v001", session: str | None = "1") -> BidsTarget:
    return BidsTarget(dataset, subject, session, "sceneviewing")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    export_bids(recording(), target(tmp_path / "ds"))
    return tmp_path / "ds"


def beh(dataset: Path, ending: str) -> Path:
    return next((dataset / "sub-v001" / "ses-1" / "beh").glob(f"*{ending}"))


def test_it_is_valid_by_the_published_rules(dataset: Path) -> None:
    assert violations(dataset) == []
    names = sorted(path.name for path in (dataset / "sub-v001" / "ses-1" / "beh").iterdir())
    stem = "sub-v001_ses-1_task-sceneviewing"
    assert names == sorted(
        [
            f"{stem}_events.json",
            f"{stem}_events.tsv",
            *(
                f"{stem}_recording-eye{eye}_{suffix}"
                for eye in "12"
                for suffix in (
                    "physio.json",
                    "physio.tsv.gz",
                    "physioevents.json",
                    "physioevents.tsv.gz",
                )
            ),
        ]
    )


def break_eye(told: dict[str, object]) -> None:
    told["RecordedEye"] = "both"


def break_rate(told: dict[str, object]) -> None:
    del told["SamplingFrequency"]


def break_pupil(told: dict[str, object]) -> None:
    told["pupil_size"] = {"Description": "how large it is"}


@pytest.mark.parametrize("harm", [break_eye, break_rate, break_pupil])
def test_the_rules_find_violations(
    dataset: Path, harm: Callable[[dict[str, object]], None]
) -> None:
    path = beh(dataset, "eye1_physio.json")
    told = json.loads(path.read_text())
    harm(told)
    path.write_text(json.dumps(told))
    assert violations(dataset) != []


def test_the_official_validator_agrees(dataset: Path) -> None:
    validator = shutil.which("bids-validator-deno") or shutil.which("bids-validator")
    if validator is None:
        pytest.skip("the BIDS validator is not installed (pip install bids-validator-deno)")
    export_bids(recording(block(START_US, 300, "R")), target(dataset, "v002", None))
    ended = subprocess.run(
        [validator, str(dataset), "--format", "json", "--max-rows", "-1"],
        capture_output=True,
        check=False,
        timeout=200,
    )
    issues = json.loads(ended.stdout)["issues"]["issues"]
    assert [issue for issue in issues if issue["severity"] == "error"] == []


def test_samples_are_those_of_the_recording_and_pauses_are_filled(dataset: Path) -> None:
    made = recording()
    for eye, name in (("L", "eye1"), ("R", "eye2")):
        table = rows(beh(dataset, f"{name}_physio.tsv.gz"))
        assert len(table) == 1100
        times_ms = np.array([int(row[0]) for row in table])
        np.testing.assert_array_equal(times_ms, START_US // 1000 + np.arange(1100))
        values = np.array([[float("nan" if c == "n/a" else c) for c in row[1:]] for row in table])
        expected = np.full((1100, 3), np.nan)
        for each, start in zip(made.blocks, (0, 1000), strict=True):
            for column, field in enumerate(EYE_FIELDS[eye]):
                stop = start + len(each.samples)
                expected[start:stop, column] = each.samples[field]
        expected[np.isnan(expected[:, 0]), 1] = np.nan  # half a position is none
        np.testing.assert_allclose(values, expected, rtol=1e-6)
        assert table[4][1:] == (["n/a", "n/a", table[4][3]] if eye == "L" else table[4][1:])


def test_sidecars_describe_the_recording(dataset: Path) -> None:
    left = sidecar(beh(dataset, "eye1_physio.tsv.gz"))
    right = sidecar(beh(dataset, "eye2_physio.tsv.gz"))
    assert (left["RecordedEye"], right["RecordedEye"]) == ("left", "right")
    assert left["SamplingFrequency"] == 1000
    assert left["CalibrationCount"] == right["CalibrationCount"] == 1
    assert left["AverageCalibrationError"] == 0.35
    assert left["MaximalCalibrationError"] == 0.8
    assert left["CalibrationType"] == "HV9"
    assert "AverageCalibrationError" not in right
    assert left["PupilFitMethod"] == "ellipse"
    assert left["EyeTrackingMethod"] == "P-CR"
    assert left["RawDataFilters"] == "EyeLink heuristic filter: file extra, link standard"
    assert left["Manufacturer"] == "SR Research"
    assert left["DeviceSerialNumber"] == "CL1-AAC19"
    assert left["SoftwareVersions"] == "EYELINK II CL v4.40 Mar 24 2009"
    screen = sidecar(beh(dataset, "_events.tsv"))["StimulusPresentation"]
    assert screen == {
        "ScreenDistance": 0.6,
        "ScreenOrigin": ["top", "left"],
        "ScreenResolution": [1920, 1080],
        "ScreenSize": [0.535, 0.301],
    }


def test_events_of_each_eye_and_all_messages_are_there(dataset: Path) -> None:
    left = rows(beh(dataset, "eye1_physioevents.tsv.gz"))
    right = rows(beh(dataset, "eye2_physioevents.tsv.gz"))
    found = [(row[2], row[1], row[3]) for row in left if row[2] != "n/a"]
    assert found == [
        ("fixation", "0.081", "0"),
        ("saccade", "0.06", "1"),
        ("blink", "0.021", "1"),
    ]
    assert [row[2] for row in right if row[2] != "n/a"] == ["fixation"]
    for table in (left, right):
        messages = [row[4] for row in table if row[2] == "n/a"]
        assert len(messages) == len(MESSAGES) + 1
        assert "!CAL >>>>>>> CALIBRATION (HV9,P-CR) FOR LEFT: <<<<<<<<<" in messages
        assert "TRIALID 2 with a tab" in messages
        assert "BUTTON 3 1" in messages
        onsets = [float(row[0]) for row in table]
        assert onsets == sorted(onsets)
    onset = next(row for row in left if row[4] == "image_onset")
    assert onset[0] == str((START_US + 50_000) // 1000)


def test_trials_become_rows_of_stimuli(dataset: Path) -> None:
    header, *table = rows(beh(dataset, "_events.tsv"))
    assert header == [
        "onset",
        "duration",
        "trial_type",
        "trial",
        "image",
        "outcome",
        "var_response_time",
    ]
    assert table == [
        ["0.010000", "0.040000", "cross", "1", "n/a", "shown", "12.5"],
        ["0.050000", "0.100000", "image", "1", "cat.jpg", "shown", "12.5"],
        ["0.900000", "0.250000", "trial", "2 with a tab", "n/a", "n/a", "n/a"],
    ]


def test_a_configuration_tells_the_instructions_and_the_refresh_rate(tmp_path: Path) -> None:
    config = {"screen": {"refresh_rate_hz": 120.0}, "task": {"instructions": "Look."}}
    export_bids(recording(), target(tmp_path / "ds"), config=config)
    told = sidecar(beh(tmp_path / "ds", "_events.tsv"))
    assert told["Instructions"] == "Look."
    assert told["StimulusPresentation"]["ScreenRefreshRate"] == 120.0
    assert violations(tmp_path / "ds") == []


def test_another_stream_a_long_pause_or_a_clock_set_back_begins_a_run(tmp_path: Path) -> None:
    made = recording(
        block(START_US, 100),
        block(START_US + 1_000_000, 100, "R"),
        block(START_US + 2_000_000, 50, "R", 500.0),
        block(START_US + 3_000_000_000, 50, "R", 500.0),
        block(START_US, 50, "R", 500.0),
    )
    export_bids(made, target(tmp_path / "ds"))
    assert violations(tmp_path / "ds") == []
    names = [path.name for path in (tmp_path / "ds").rglob("*_physio.tsv.gz")]
    runs = sorted(re.findall(r"run-(\d)_recording-(eye\d)", " ".join(names)))
    assert runs == [
        ("1", "eye1"),
        ("1", "eye2"),
        ("2", "eye1"),
        ("3", "eye1"),
        ("4", "eye1"),
        ("5", "eye1"),
    ]


def test_samples_that_were_lost_are_put_in(tmp_path: Path) -> None:
    whole = block(START_US, 100)
    torn = replace(whole, samples=np.delete(whole.samples, [40, 41, 42, 70]))
    (run,) = runs_of(recording(torn))
    even = even_samples(run)
    np.testing.assert_array_equal(even["tracker_time_us"], whole.samples["tracker_time_us"])
    assert np.isnan(even["right_x"][[40, 41, 42, 70]]).all()
    kept = np.delete(np.arange(100), [40, 41, 42, 70])
    np.testing.assert_array_equal(even["right_x"][kept], whole.samples["right_x"][kept])


def test_2000_hz_has_halves_of_milliseconds(tmp_path: Path) -> None:
    export_bids(recording(block(START_US, 100, "L", 2000.0)), target(tmp_path / "ds"))
    table = rows(beh(tmp_path / "ds", "eye1_physio.tsv.gz"))
    assert [row[0] for row in table[:3]] == ["5000000", "5000000.5", "5000001"]
    assert violations(tmp_path / "ds") == []


@pytest.mark.parametrize(
    ("coordinates", "system"), [(Coordinates.HREF, "eye-in-head"), (Coordinates.DEGREES, "custom")]
)
def test_positions_off_the_screen_are_described(
    coordinates: Coordinates, system: str, tmp_path: Path
) -> None:
    each = block(START_US, 100, "R")
    other = msgspec.structs.replace(each.stream, coordinates=coordinates, screen=None)
    made = replace(recording(replace(each, stream=other)), screen=None)
    export_bids(made, target(tmp_path / "ds"))
    told = sidecar(beh(tmp_path / "ds", "physio.tsv.gz"))
    assert told["SampleCoordinateSystem"] == system
    assert ("SampleCoordinateSystemDescription" in told) == (system == "custom")
    assert violations(tmp_path / "ds") == []


def test_more_sessions_and_subjects_harm_nothing(dataset: Path) -> None:
    (dataset / "participants.tsv").write_bytes(b"participant_id\tage\r\nsub-v001\t31")
    (dataset / "CHANGES").write_text("mine")
    before = {p: p.read_bytes() for p in dataset.rglob("*") if p.is_file()}
    export_bids(recording(), target(dataset, "v001", "2"))
    export_bids(recording(), target(dataset, "v002", "1"))
    for path, content in before.items():
        if path.name != "participants.tsv":
            assert path.read_bytes() == content
    table = (dataset / "participants.tsv").read_bytes()
    assert table == b"participant_id\tage\r\nsub-v001\t31\r\nsub-v002\tn/a\r\n"
    (dataset / "CHANGES").unlink()
    assert violations(dataset) == []
    assert [path for path in dataset.parent.iterdir() if path != dataset] == []


def test_a_dataset_behind_a_link_is_added_to(dataset: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    try:
        link.symlink_to(dataset, target_is_directory=True)
    except OSError:
        pytest.skip("this system lets nobody make links")
    written = export_bids(recording(), target(link, "v002"))
    assert all(path.is_relative_to(link) and path.is_file() for path in written)
    assert violations(dataset) == []
    assert list(link.parent.iterdir()) == [link]


def test_the_same_subject_and_session_is_refused(dataset: Path) -> None:
    before = {p: p.read_bytes() for p in dataset.rglob("*") if p.is_file()}
    with pytest.raises(RecordingError, match=r"v001, session 1, .*dataset"):
        export_bids(recording(), target(dataset))
    with pytest.raises(RecordingError, match="is in this dataset"):
        export_bids(recording(), target(dataset, session=None))
    assert {p: p.read_bytes() for p in dataset.rglob("*") if p.is_file()} == before


def test_sessions_for_all_or_none(tmp_path: Path) -> None:
    export_bids(recording(), target(tmp_path / "ds", session=None))
    assert violations(tmp_path / "ds") == []
    with pytest.raises(RecordingError, match="data without a session"):
        export_bids(recording(), target(tmp_path / "ds", session="2"))


def test_an_export_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gazelive.recordings.bids.export.write_samples", full)
    with pytest.raises(RecordingError, match="ds"):
        export_bids(recording(), target(tmp_path / "ds"))
    assert list(tmp_path.iterdir()) == []


def test_impossible_exports_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = recording()
    unseen = tuple(
        replace(b, stream=msgspec.structs.replace(b.stream, screen=None)) for b in made.blocks
    )
    with pytest.raises(RecordingError, match="--distance-mm"):
        export_bids(replace(made, blocks=unseen, screen=None), target(tmp_path / "ds"))
    with pytest.raises(RecordingError, match="no samples"):
        export_bids(replace(made, blocks=()), target(tmp_path / "ds"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine")
    with pytest.raises(RecordingError, match="not a BIDS dataset"):
        export_bids(made, target(tmp_path / "full"))
    with pytest.raises(RecordingError, match="no such folder"):
        export_bids(made, target(tmp_path / "a" / "b"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(RecordingError, match="working folder"):
        export_bids(made, target(Path()))
    with pytest.raises(ConfigError, match="try v1"):
        target(tmp_path / "ds", "v-1")


def test_losses_are_named() -> None:
    made = recording()
    assert what_bids_loses(made) == []
    samples = made.blocks[0].samples.copy()
    samples["status"][3] = 1
    odd = replace(made.blocks[0], samples=samples, extras={"input_port": np.zeros(200, np.float32)})
    assert what_bids_loses(replace(made, blocks=(odd,))) == [
        "further columns of the samples (input_port)",
        "the status flags of the samples",
    ]


@pytest.mark.parametrize(
    "name",
    [
        *("bino1000", "mono1000_trials", "mono2000", "binoRemote250"),
        *("test_raw.edf", "test_raw_binocular.edf"),
    ],
)
def test_real_recordings_are_valid(
    name: str, real_file: Callable[[str], Path], tmp_path: Path
) -> None:
    made = replace(read_recording(real_file(name)), screen=PAPER_SCREEN)
    export_bids(made, target(tmp_path / "ds"))
    assert violations(tmp_path / "ds") == []
