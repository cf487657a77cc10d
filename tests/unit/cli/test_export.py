"""`gazelive export` as a user runs it, and what other programs make of our session."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gazelive.cli.app import main
from gazelive.gaze.samples import EYE_FIELDS
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.conversion import manifest_of, write_session
from gazelive.recordings.session.reader import read_session
from gazelive.simulation.lab_session import TrialImage, simulate_session
from gazelive.stimuli.saliency import generated_saliency

Run = Callable[..., Any]


def write(root: Path, viewer: str | None, session: str, eyes: str) -> Path:
    simulated = simulate_session(
        "v001",
        seed=1,
        session=1,
        images=[TrialImage(f"{i}.jpg", generated_saliency(f"{i}.jpg", 0)) for i in range(2)],
        seconds=1.5,
        sampling_rate_hz=1000.0,
        eyes=eyes,  # type: ignore[arg-type]
        path=root,
    )
    manifest = manifest_of(simulated.recording, started_at="2024-05-06T07:08:09+02:00")
    manifest = msgspec.structs.replace(
        manifest,
        viewer=viewer,
        session=session,
        mode="enrol" if viewer else "identify",
        config={"task": {"instructions": "Look at it."}, "screen": {"refresh_rate_hz": 60.0}},
    )
    write_session(simulated.recording, root, manifest)
    return root


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("lab") / "v001_s1", "v001", "1", "LR")


def test_a_session_becomes_a_dataset_and_more_are_added(
    gazelive: Run, session: Path, tmp_path: Path
) -> None:
    dataset = tmp_path / "study"
    exit_code, out, err = gazelive(
        *("export", session, "--bids", dataset, "--name", "My study"),
        *("--author", "Ann A", "--author", "Ben B", "--license", "CC0"),
    )
    assert (exit_code, out) == (0, "")
    assert "Made" in err
    assert "README" in err
    described = json.loads((dataset / "dataset_description.json").read_text())
    assert described["Name"] == "My study"
    assert described["Authors"] == ["Ann A", "Ben B"]
    assert described["License"] == "CC0"
    events = next(dataset.rglob("*_events.json"))
    assert json.loads(events.read_text())["Instructions"] == "Look at it."

    exit_code, _, err = gazelive("export", session, "--bids", dataset)
    assert exit_code == 2
    assert "is in this dataset already" in err

    exit_code, _, err = gazelive("export", session, "--bids", dataset, "--session", "2")
    assert exit_code == 0
    assert "Added to" in err
    assert sorted(p.name for p in (dataset / "sub-v001").iterdir()) == ["ses-1", "ses-2"]


def test_names_become_valid_bids_labels(gazelive: Run, tmp_path: Path) -> None:
    odd = write(tmp_path / "odd", "anna-maria", "2026-11-16", "R")
    exit_code, _, err = gazelive("export", odd, "--bids", tmp_path / "study")
    assert exit_code == 0
    assert "viewer anna-maria becomes sub-annamaria" in err
    assert (tmp_path / "study" / "sub-annamaria" / "ses-20261116").is_dir()
    exit_code, _, err = gazelive(
        "export", odd, "--bids", tmp_path / "study", "--subject", "anna maria"
    )
    assert exit_code == 2
    assert "try annamaria" in err


def test_a_session_without_a_viewer_needs_a_subject(gazelive: Run, tmp_path: Path) -> None:
    identified = write(tmp_path / "who", None, "1", "R")
    exit_code, _, err = gazelive("export", identified, "--bids", tmp_path / "study")
    assert exit_code == 2
    assert "--subject" in err
    assert not (tmp_path / "study").exists()
    exit_code, _, _ = gazelive(
        "export", identified, "--bids", tmp_path / "study", "--subject", "x1", "-q"
    )
    assert exit_code == 0


def test_a_name_without_any_letter_of_a_label_needs_a_subject(
    gazelive: Run, tmp_path: Path
) -> None:
    named = write(tmp_path / "s", "李雷", "1", "R")
    exit_code, _, err = gazelive("export", named, "--bids", tmp_path / "study")
    assert exit_code == 2
    assert "李雷" in err
    assert "--subject" in err


def times_and_gaze(recording: Recording) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    samples = np.concatenate([block.samples for block in recording.blocks])
    gaze = {eye: np.stack([samples[f] for f in EYE_FIELDS[eye][:2]], axis=1) for eye in "LR"}
    return samples["tracker_time_us"] / 1000, gaze


@pytest.fixture(scope="module")
def converted(session: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same session as `gazelive convert` writes it."""
    target = tmp_path_factory.mktemp("asc") / "session.asc"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["gazelive", "convert", str(session), str(target), "-q"])
        with pytest.raises(SystemExit) as ended:
            main()
    assert not ended.value.code
    return target


def test_mne_reads_the_session_as_asc(session: Path, converted: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import mne

        # MNE still renames the columns of its tables in place
        warnings.filterwarnings("ignore", message="The inplace keyword in DataFrame")
        raw = mne.io.read_raw_eyelink(converted, verbose="error")
    recording = read_session(session)
    times_ms, gaze = times_and_gaze(recording)
    assert raw.info["sfreq"] == 1000
    at = np.rint(times_ms - times_ms[0]).astype(int)
    for eye, word in (("L", "left"), ("R", "right")):
        data = raw.get_data([f"xpos_{word}", f"ypos_{word}"]).T
        np.testing.assert_allclose(data[at], gaze[eye], atol=0.051)
    descriptions = [str(text) for text in raw.annotations.description]
    assert descriptions.count("image_onset") == len(recording.trials) == 2


def test_pymovements_reads_the_session_as_asc(session: Path, converted: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import pymovements

    read = pymovements.gaze.from_asc(converted, events=True, messages=True)
    times_ms, gaze = times_and_gaze(read_session(session))
    np.testing.assert_allclose(read.samples["time"].to_numpy(), times_ms, rtol=0)
    pixels = np.array(read.samples["pixel"].to_list(), np.float64)
    np.testing.assert_allclose(pixels, np.hstack([gaze["L"], gaze["R"]]), atol=0.051)
    messages = [row[1] for row in read.messages.iter_rows()]
    assert messages.count("image_onset") == 2
