"""MNE and pymovements read our files, and agree with us on real files."""

from __future__ import annotations

import dataclasses
import gzip
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazelive.gaze.samples import EYE_FIELDS, Eyes
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.asc.writer import write_asc
from gazelive.recordings.open import read_recording
from gazelive.recordings.recording import Block, Recording

from .asc_recordings import make_events, make_extras, make_samples

MNE_CHANNELS = {
    "L": ["xpos_left", "ypos_left", "pupil_left"],
    "R": ["xpos_right", "ypos_right", "pupil_right"],
}


def read_with_mne(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import mne

        # MNE still renames the columns of its tables in place
        warnings.filterwarnings("ignore", message="The inplace keyword in DataFrame")
        return mne.io.read_raw_eyelink(path, verbose="error")


def read_with_pymovements(path: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import pymovements

    return pymovements.gaze.from_asc(path, events=True, messages=True)


def make_recording(eyes: Eyes, rate_hz: int, *extras: str) -> Recording:
    rng = np.random.default_rng(7)
    samples = make_samples(rng, eyes, rate_hz, 1_000_000_000, 400, missing=0.1)
    for eye in eyes:
        # the peers take no negative positions in some of their patterns
        for field in EYE_FIELDS[eye]:
            samples[field] = np.abs(samples[field])
    end_us = int(samples["tracker_time_us"][-1]) + round(1e6 / rate_hz)
    stream = StreamDescription(
        device="simulated",
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        screen_px=(1920, 1080),
        px_per_deg=(35.1, 35.2),
    )
    block = Block(
        stream, samples, 1_000_000_000, end_us, make_extras(rng, eyes, 400, frozenset(extras))
    )
    return Recording(
        path=Path("made_up"),
        format="session",
        blocks=(block,),
        messages=(
            Message(999_000_000, "TRIALID 1"),
            Message(1_000_010_000, "image_onset"),
            Message(1_000_050_000, "something with several words"),
        ),
        tracker_events=tuple(make_events(rng, samples, eyes)),
        screen_px=(1920, 1080),
    )


def assert_same_as_mne(recording: Recording, raw: Any) -> None:
    (block,) = recording.blocks
    assert raw.info["sfreq"] == block.stream.sampling_rate_hz
    for eye in block.stream.eyes:
        data = raw.get_data(MNE_CHANNELS[eye])
        for values, field in zip(data, EYE_FIELDS[eye], strict=True):
            expected = block.samples[field].astype(np.float64)
            if field.endswith("pupil"):
                expected = np.nan_to_num(expected)
            np.testing.assert_allclose(values, expected, rtol=1e-6)


@pytest.mark.parametrize("eyes", ["L", "R", "LR"])
@pytest.mark.parametrize("rate_hz", [500, 1000])
def test_mne_reads_our_files(eyes: Eyes, rate_hz: int, tmp_path: Path) -> None:
    recording = make_recording(eyes, rate_hz)
    write_asc(recording, tmp_path / "a.asc")
    raw = read_with_mne(tmp_path / "a.asc")
    assert_same_as_mne(recording, raw)
    annotations = {
        (round(float(onset), 3), str(text))
        for onset, text in zip(raw.annotations.onset, raw.annotations.description, strict=True)
    }
    assert {(0.01, "image_onset"), (0.05, "something with several words")} <= annotations
    kinds = [str(text).removeprefix("BAD_") for text in raw.annotations.description]
    for kind in ("fixation", "saccade", "blink"):
        ours = [event for event in recording.tracker_events if event.kind == kind]
        assert kinds.count(kind) == len(ours)


def test_mne_reads_all_columns(tmp_path: Path) -> None:
    recording = make_recording("L", 1000, "velocity", "resolution", "input", "target")
    write_asc(recording, tmp_path / "a.asc", resolution=True)
    raw = read_with_mne(tmp_path / "a.asc")
    assert_same_as_mne(recording, raw)
    extras = recording.blocks[0].extras
    for channel, name in {
        "xvel_left": "left_velocity_x_deg_s",
        "yres": "resolution_y_units_per_deg",
        "DIN": "input_port",
        "distance": "target_distance_mm",
    }.items():
        np.testing.assert_allclose(raw.get_data([channel])[0], extras[name], rtol=1e-6)


def test_pymovements_reads_a_file_of_a_recording_with_resolution(tmp_path: Path) -> None:
    write_asc(make_recording("LR", 1000, "resolution"), tmp_path / "a.asc")
    assert len(read_with_pymovements(tmp_path / "a.asc").samples) == 400


@pytest.mark.parametrize("eyes", ["L", "R", "LR"])
@pytest.mark.parametrize("rate_hz", [1000, 2000])
def test_pymovements_reads_our_files(eyes: Eyes, rate_hz: int, tmp_path: Path) -> None:
    recording = make_recording(eyes, rate_hz)
    write_asc(recording, tmp_path / "a.asc")
    gaze = read_with_pymovements(tmp_path / "a.asc")
    samples = recording.blocks[0].samples
    np.testing.assert_allclose(
        gaze.samples["time"].to_numpy(), samples["tracker_time_us"] / 1000, rtol=0
    )
    pixels = np.array(gaze.samples["pixel"].to_list(), np.float64)
    expected = [samples[field] for eye in eyes for field in EYE_FIELDS[eye][:2]]
    np.testing.assert_allclose(pixels, np.stack(expected, axis=1), rtol=1e-6)
    assert gaze.experiment.sampling_rate == rate_hz
    assert tuple(gaze.experiment.screen.resolution) == (1920, 1080)
    assert list(gaze.messages.iter_rows())[-2:] == [
        (1_000_010.0, "image_onset"),
        (1_000_050.0, "something with several words"),
    ]
    # its pattern for the end of a saccade takes no missing position
    n_ours = sum(event.kind != "saccade" for event in recording.tracker_events)
    assert gaze.events.frame.filter(gaze.events.frame["name"] != "saccade").height == n_ours


@pytest.mark.parametrize("name", ["bino500_unclosed", "mono1000", "bino1000", "test_raw.edf"])
def test_we_agree_with_mne_on_real_files(
    name: str, real_file: Callable[[str], Path], tmp_path: Path
) -> None:
    path, plain = real_file(name), tmp_path / "plain.asc"
    recording = read_recording(path)
    if recording.format == "asc":
        plain.write_bytes(gzip.decompress(path.read_bytes()))
    else:
        write_asc(recording, plain)
    raw = read_with_mne(plain)
    # MNE puts all blocks on one time line
    first_us = recording.blocks[0].samples["tracker_time_us"][0]
    for block in recording.blocks:
        rate_hz = block.stream.sampling_rate_hz
        start_s = float(block.samples["tracker_time_us"][0] - first_us) / 1e6
        stop_s = min(start_s + (len(block.samples) - 1) / rate_hz, raw.times[-1])
        part = dataclasses.replace(recording, blocks=(block,))
        assert_same_as_mne(part, raw.copy().crop(start_s, stop_s))
