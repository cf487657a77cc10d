"""A recording replayed: its trials, images, places and times are shown as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from gazelive.devices.replay import ReplayDevice
from gazelive.errors import RecordingError
from gazelive.experiment.display.display import Blank, Cross, Picture, Words
from gazelive.experiment.protocol.plan import picture_of
from gazelive.experiment.protocol.replayed_session import ReplayedSession, plan_of
from gazelive.recordings.trials import find_trials

from ...support.manual_clock import ManualClock
from .lab import SHORT, Lab, changed, texts


def test_a_replay_shows_scenes_at_their_recorded_times(tmp_path: Path) -> None:
    first = Lab(tmp_path / "first", n_images=2)
    original = first.run()
    clock = ManualClock(5.0)
    stimuli = tmp_path / "stimuli"
    stimuli.mkdir()
    Image.new("RGB", (30, 20)).save(stimuli / "image1.png")  # and no image2
    lab = Lab(
        tmp_path / "again",
        clock=clock,
        device=ReplayDevice(original, clock=clock),
        plan=plan_of(original, SHORT, stimuli),
        kind=ReplayedSession,
    )
    replayed = lab.run()
    assert replayed.n_samples == original.n_samples
    assert [t.image_onset_us for t in replayed.trials] == [
        t.image_onset_us for t in original.trials
    ]
    scenes = [scene for _, scene in lab.display.shown]
    crosses = [(scene.x_px, scene.y_px) for scene in scenes if isinstance(scene, Cross)]
    assert crosses == [(600, 350), (800, 400)]
    assert sum(isinstance(scene, Picture) for scene in scenes) == 1
    assert any(isinstance(scene, Words) and "image2.png" in scene.text for scene in scenes)
    assert lab.session.report.reason == "end of the recording"
    said = texts(replayed)
    assert [text for text in said if text.startswith("gate_replayed")] == [
        "gate_replayed 1", "gate_replayed 2",
    ]  # fmt: skip
    (picture_s,) = (at_s for at_s, scene in lab.display.shown if isinstance(scene, Picture))
    (onset_us,) = (t.image_onset_us for t in replayed.trials[:1])
    began_us = min(
        int(original.blocks[0].samples["tracker_time_us"][0]), original.messages[0].tracker_time_us
    )
    began_s = next(at_s for at_s, scene in lab.display.shown if isinstance(scene, Blank))
    assert onset_us is not None
    assert picture_s - began_s == pytest.approx((onset_us - began_us) / 1e6, abs=0.1)


def test_an_aborted_replay_and_damaged_images(tmp_path: Path) -> None:
    original = Lab(tmp_path / "first", n_images=2).run()
    clock = ManualClock(5.0)
    stimuli = tmp_path / "stimuli"
    stimuli.mkdir()
    Image.new("RGB", (30, 20)).save(stimuli / "image1.png")
    (stimuli / "image2.png").write_bytes(b"no image")
    lab = Lab(
        tmp_path / "again",
        clock=clock,
        device=ReplayDevice(original, clock=clock),
        plan=plan_of(original, SHORT, stimuli),
        kind=ReplayedSession,
    )
    damaged = lab.session.plan.trials[0].picture

    def prepare(scene: object) -> None:
        if scene == damaged:
            raise RecordingError("is not an image that can be read", path=damaged.path)

    lab.display.prepare = prepare  # type: ignore[method-assign]
    lab.display.press_at = [
        (lambda d: isinstance(d.scene, Words) and "image2.png" in d.scene.text, "escape")
    ]
    lab.run()
    assert not any(isinstance(scene, Picture) for _, scene in lab.display.shown)
    assert [what for _, _, what in lab.session.report.outcomes] == ["shown", "aborted"]


def test_a_replay_on_another_screen_scales_positions(tmp_path: Path) -> None:
    original = Lab(tmp_path / "first", n_images=1).run()
    half = changed(SHORT, screen={"width_px": 960, "height_px": 540})
    (trial,) = plan_of(original, half, tmp_path).trials
    assert trial.cross_px == (300, 175)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("CENTER image1.png 500 400 300 200", (350.0, 300.0, 300.0, 200.0)),
        ("TOP_LEFT image1.png 100 50 300 200", (100.0, 50.0, 300.0, 200.0)),
        ("CENTER image1.png 500 400", (485.0, 390.0, 30.0, 20.0)),  # as large as its file
        ("FILL image1.png", (0.0, 0.0, 1920.0, 1080.0)),
        ("CENTER image1.png", (210.0, 40.0, 1500.0, 1000.0)),  # as the configuration has it
    ],
)
def test_a_replay_shows_images_where_the_recording_says(
    tmp_path: Path, told: str, expected: tuple[float, ...]
) -> None:
    stimuli = tmp_path / "stimuli"
    stimuli.mkdir()
    Image.new("RGB", (30, 20)).save(stimuli / "image1.png")
    original = Lab(tmp_path / "first", n_images=1).run()
    messages = tuple(
        msgspec.structs.replace(m, text=f"!V IMGLOAD {told}") if "IMGLOAD" in m.text else m
        for m in original.messages
    )
    original = replace(original, messages=messages, trials=find_trials(messages, original.blocks))
    for size_px, scale, left, top in (((1920, 1080), 1, 0, 0), ((960, 600), 0.5, 0, 30)):
        sizes = {"width_px": size_px[0], "height_px": size_px[1]}
        config = changed(SHORT, screen=sizes)
        (trial,) = plan_of(original, config, stimuli).trials
        if told == "CENTER image1.png":
            assert trial.picture == picture_of(stimuli / "image1.png", config)
            continue
        x, y, width, height = expected
        assert trial.picture == Picture(
            stimuli / "image1.png", left + x * scale, top + y * scale, width * scale, height * scale
        )


def test_a_replay_finds_images_beside_its_recording(tmp_path: Path) -> None:
    original = Lab(tmp_path / "first", n_images=1).run()
    Image.new("RGB", (30, 20)).save(tmp_path / "first" / "image1.png")
    (trial,) = plan_of(original, SHORT, tmp_path / "nowhere").trials
    assert trial.picture == Picture(tmp_path / "first" / "image1.png", 210.0, 40.0, 1500.0, 1000.0)


def test_a_replay_without_images_shows_a_text(tmp_path: Path) -> None:
    original = Lab(tmp_path / "first", n_images=1).run()
    messages = tuple(m for m in original.messages if "IMGLOAD" not in m.text)
    original = replace(original, messages=messages, trials=find_trials(messages, original.blocks))
    clock = ManualClock(5.0)
    lab = Lab(
        tmp_path / "again",
        clock=clock,
        device=ReplayDevice(original, clock=clock),
        plan=plan_of(original, SHORT, tmp_path),
        kind=ReplayedSession,
    )
    lab.run()
    assert Words("No image in the recording") in [scene for _, scene in lab.display.shown]
