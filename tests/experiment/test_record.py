"""`gazelive record` as a lab would run it: real windows, real processes, a simulated tracker."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gazelive.recordings.open import read_recording
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.reader import read_session

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        importlib.util.find_spec("psychopy") is None,
        reason="PsychoPy is not installed (extra `experiment`)",
    ),
]

Gazelive = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def gazelive(lab: Path, screen_environment: dict[str, str]) -> Gazelive:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "gazelive", *map(str, arguments)],
            env=screen_environment, cwd=lab, capture_output=True, text=True, timeout=600,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run


def check_trials(recording: Recording, n_trials: int) -> None:
    """Assert that every trial is whole and in order."""
    assert [trial.result for trial in recording.trials] == ["0"] * n_trials
    assert len(recording.blocks) == n_trials
    for trial, block in zip(recording.trials, recording.blocks, strict=True):
        messages = [
            m for m in recording.messages if trial.start_us <= m.tracker_time_us <= trial.end_us
        ]
        words = [m.text.split()[0] for m in messages]
        order = ["TRIALID", "cross", "gate_passed", "image_onset", "image_offset", "TRIAL_RESULT"]
        places = [words.index(word) for word in order]
        assert places == sorted(places)
        times_us = [messages[place].tracker_time_us for place in places]
        assert times_us == sorted(times_us)
        texts = [m.text for m in messages]
        assert sum(text.startswith("!V IMGLOAD CENTER ") for text in texts) == 1
        named = {text.split()[2] for text in texts if text.startswith("!V TRIAL_VAR ")}
        assert named == {
            "evidence", "image", "index", "attempt", "outcome", "dropped_frames", "image_ms",
            "onset_delay_ms",
        }  # fmt: skip
        # shown for as long as asked (or longer, on a busy machine)
        assert trial.image_onset_us is not None
        assert trial.image_offset_us is not None
        assert trial.image_offset_us - trial.image_onset_us > 1.95e6
        # the gate: gaze was on the cross before the image came
        _, cross_x, cross_y = messages[places[1]].text.split()
        samples = block.samples
        at_us = messages[places[2]].tracker_time_us
        dwell = samples[np.abs(samples["tracker_time_us"] - (at_us - 150_000)) < 50_000]
        assert abs(np.nanmedian(dwell["right_x"]) - int(cross_x)) < 120
        assert abs(np.nanmedian(dwell["right_y"]) - int(cross_y)) < 120
        # no sample is missing, from before the cross to after the image
        assert set(np.diff(samples["tracker_time_us"])) == {1000}
        assert samples["tracker_time_us"][0] < times_us[1]
        assert samples["tracker_time_us"][-1] > trial.image_offset_us


def check_frames(frames: dict[str, float], shown_s: float) -> None:
    """Assert that frames in time and late ones, which are counted, fill the time of the images.

    How many are late depends on the machine; `test_a_session_shows_every_frame` allows none.
    """
    frame_ms = 1000 / 60
    in_time_ms = 1.5 * frame_ms * (frames["n"] - frames["dropped"])
    assert in_time_ms + frames["worst_ms"] * frames["dropped"] > 1000 * shown_s
    assert frame_ms - 2 < frames["median_ms"] <= frames["worst_ms"]
    if frames["dropped"] < frames["n"] / 2:
        assert frames["median_ms"] <= 1.5 * frame_ms


def test_enrol_train_identify_replay(lab: Path, gazelive: Gazelive) -> None:
    for viewer in ("anna", "ben", "carla"):
        told = json.loads(
            gazelive("record", "lab.toml", "--viewer", viewer, "--json", "-q",
                     "--snapshots", "pictures").stdout
        )  # fmt: skip
        folder = Path(told["session"])
        assert [what for _, _, what in told["trials"]] == ["shown"] * 6
        recording = read_session(folder)
        check_frames(told["frames"], 6 * 2.0)
        dropped = [int(trial.variables["dropped_frames"]) for trial in recording.trials]
        assert sum(dropped) <= told["frames"]["dropped"] < told["frames"]["n"]
        check_trials(recording, 6)
        assert recording.viewer == viewer
        assert not recording.problems
        images = [trial.image for trial in recording.trials]
        assert len(set(images)) == 6
        # the tracker's own file has the same samples
        own = read_recording(folder / f"{folder.name}.asc")
        for block, same in zip(recording.blocks, own.blocks, strict=True):
            np.testing.assert_array_equal(
                block.samples["tracker_time_us"], same.samples["tracker_time_us"]
            )
            np.testing.assert_allclose(
                block.samples["right_x"], same.samples["right_x"], atol=0.051
            )
        assert sum(c.kind == "validation" for c in recording.calibrations) == 1
        assert len(recording.drift_corrections) >= 2
    for kind in ("cross", "picture", "target", "words", "blank"):
        assert (lab / "pictures" / f"{kind}.png").stat().st_size > 1000

    # so little viewing may be no better than chance, depending on when the images came
    gazelive("train", "sessions", "-o", "lab.model", "--force")
    told = json.loads(
        gazelive("record", "lab.toml", "--mode", "identify", "--model", "lab.model",
                 "--simulate-as", "ben", "--dashboard", "--json", "-q").stdout
    )  # fmt: skip
    assert told["viewer"] is None
    assert told["identified"]["best"] in {"anna", "ben", "carla"}
    assert told["identified"]["n_images"] == 6
    live = told["identified"]
    offline = json.loads(gazelive("identify", "lab.model", told["session"], "--json", "-q").stdout)[
        "probes"
    ][0]
    assert offline["best"] == live["best"]

    original = read_session(Path(told["session"]))
    told = json.loads(
        gazelive("record", "lab.toml", "--mode", "identify", "--model", "lab.model",
                 "--device", f"replay:{told['session']}", "--json", "-q").stdout
    )  # fmt: skip
    replayed = read_session(Path(told["session"]))
    assert np.array_equal(
        np.concatenate([block.samples for block in replayed.blocks]).view("u1"),
        np.concatenate([block.samples for block in original.blocks]).view("u1"),
    )
    said = [message.text for message in replayed.messages]
    assert sum(text.startswith("gate_replayed") for text in said) == 6
    assert told["identified"]["best"] == live["best"]
    assert told["identified"]["p"] == pytest.approx(live["p"], abs=1e-9)
