"""Real recordings, against counts by plain text search."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from gazelive.gaze.samples import missing_mask
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.recording import Recording

NAMES = [
    *(f"asc/{eyes}{rate}" for eyes in ("mono", "bino") for rate in (250, 500, 1000)),
    *(f"asc/{eyes}Remote{rate}" for eyes in ("mono", "bino") for rate in (250, 500)),
    "asc/mono2000",
    "asc/mono1000_trials",
    "asc/bino500_unclosed",
    "edf/pair_left500",
]
KEYWORDS = {"fixation": "EFIX", "saccade": "ESACC", "blink": "EBLINK"}


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def path(name: str, shared_data: Path) -> Path:
    return shared_data / f"{name}.asc.gz"


@pytest.fixture(scope="module")
def text(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("latin-1")


@pytest.fixture(scope="module")
def recording(path: Path) -> Recording:
    return read_asc(path)


def test_all_given_files_are_here(shared_data: Path) -> None:
    given = {
        f"{p.parent.name}/{p.name.removesuffix('.asc.gz')}" for p in shared_data.glob("*/*.asc.gz")
    }
    assert given == set(NAMES)


def test_counts(recording: Recording, text: str) -> None:
    def count(pattern: str) -> int:
        return len(re.findall(pattern, text, re.MULTILINE))

    assert len(recording.blocks) == count(r"^START\t")
    assert recording.n_samples == count(r"^\d")
    assert len(recording.messages) == count(r"^MSG\t")
    assert len(recording.signals) == count(r"^(INPUT|BUTTON)\t")
    for kind, keyword in KEYWORDS.items():
        n = sum(event.kind == kind for event in recording.tracker_events)
        assert n == count(rf"^{keyword} ")


def test_only_damage_is_a_problem(recording: Recording, name: str, text: str) -> None:
    if name == "asc/bino500_unclosed":
        lines = text.splitlines()
        starts = [
            lines[problem.line - 1].split()[0] for problem in recording.problems if problem.line
        ]
        assert starts == ["SFIX", "SFIX"]
    else:
        assert recording.problems == ()


def test_times(recording: Recording) -> None:
    for block in recording.blocks:
        times_us = block.samples["tracker_time_us"]
        assert (np.diff(times_us) > 0).all()
        assert np.median(np.diff(times_us)) == 1e6 / block.stream.sampling_rate_hz
        assert block.start_us <= times_us[0]
        assert times_us[-1] <= block.end_us


def test_missing_samples(recording: Recording, text: str) -> None:
    lost = [line.split("\t")[1:] for line in text.splitlines() if line[:1].isdigit()]
    eyes = recording.blocks[0].stream.eyes
    n_lost = sum(all(row[3 * k].strip() == "." for k in range(len(eyes))) for row in lost)
    assert recording.missing_fraction == pytest.approx(n_lost / len(lost))
    assert recording.missing_fraction < 0.05
    for block in recording.blocks:
        missing = missing_mask(block.samples, block.stream.eyes)
        positions = np.stack([block.samples[f"{side}_x"] for side in ("left", "right")])
        assert (np.isnan(positions).all(axis=0) == missing).all()


def test_every_number(recording: Recording, text: str) -> None:
    samples = np.concatenate([block.samples for block in recording.blocks])
    rows = [line.split("\t") for line in text.splitlines() if line[:1].isdigit()]
    for k, eye in enumerate(recording.blocks[0].stream.eyes):
        side = {"L": "left", "R": "right"}[eye]
        for column, field in enumerate(("x", "y", "pupil")):
            words = [row[1 + 3 * k + column].strip() for row in rows]
            expected = np.array([float("nan") if w == "." else float(w) for w in words], np.float32)
            if field == "pupil":
                expected[expected == 0] = np.nan
            np.testing.assert_array_equal(samples[f"{side}_{field}"], expected)


def test_trials(recording: Recording, name: str) -> None:
    expected = {"asc/mono1000_trials": 20, "asc/bino500_unclosed": 0}
    assert len(recording.trials) == expected.get(name, 4)
    blocks = [trial.block for trial in recording.trials]
    assert blocks == list(range(len(recording.trials)))


def test_screen_and_calibration(recording: Recording, name: str) -> None:
    sizes = {"asc/bino500_unclosed": (1920, 1080), "edf/pair_left500": (1280, 1024)}
    assert recording.screen_px == sizes.get(name, (1024, 768))
    for block in recording.blocks:
        assert block.stream.px_per_deg is not None
        assert block.stream.device == "EYELINK CL"
    validated = {c.eye for c in recording.calibrations if c.kind == "validation"}
    assert validated == set(recording.blocks[0].stream.eyes)
    assert {c.result for c in recording.calibrations} <= {"GOOD", "POOR"}


def test_remote_target(recording: Recording, name: str) -> None:
    has_target = "monoRemote" in name
    for block in recording.blocks:
        assert ("target_distance_mm" in block.extras) == has_target
        if has_target:
            distances_mm = block.extras["target_distance_mm"]
            assert (distances_mm > 400).all()
            assert (distances_mm < 800).all()
