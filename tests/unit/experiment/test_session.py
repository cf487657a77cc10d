"""The trial protocol, the gate, the schedule and the keys, on a manual clock."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gazelive.devices.protocol import HostRequest
from gazelive.devices.simulated import SimulatedDevice
from gazelive.errors import CalibrationError, RecordingError
from gazelive.experiment.config.schema import Keys
from gazelive.experiment.display.display import Blank, Cross, Picture, Question, Target, Words
from gazelive.experiment.protocol.stage import Stage
from gazelive.gaze.documents import Posterior
from gazelive.recordings.bids.tables import OWN_VARIABLES
from gazelive.recordings.recording import Calibration
from gazelive.workflows.gathering import gather

from ...support.manual_clock import ManualClock
from .lab import SHORT, Lab, changed, plan_of_images, texts
from .manual_display import FRAME_S, ManualDisplay


def is_pause(display: ManualDisplay) -> bool:
    return isinstance(display.scene, Words) and display.scene.text == "Pause"


def test_a_session_is_recorded_from_cross_to_blank(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    recording = lab.run()
    said = [text for text in texts(recording) if not text.startswith("!CAL")]
    trial = said[: said.index("TRIAL_RESULT 0") + 1]
    assert [text.split()[0] for text in trial] == [
        "TRIALID", "!V", "cross", "gate_passed", "image_onset", "!V", "!V", "image_offset", "!V",
        "!V", "!V", "!V", "!V", "!V", "!V", "!V", "TRIAL_RESULT",
    ]  # fmt: skip
    assert [trial.result for trial in recording.trials] == ["0", "0", "0"]
    assert [t.variables["outcome"] for t in recording.trials] == ["shown"] * 3
    assert all(
        t.image and t.image.endswith(f"image{i}.png") for i, t in enumerate(recording.trials, 1)
    )
    assert len(recording.blocks) == 3
    assert lab.session.report.reason == "all images were shown"


def test_messages_carry_the_time_of_the_flip(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s", n_images=1)
    recording = lab.run()
    shown = {type(scene): at_s for at_s, scene in lab.display.shown}
    trial = recording.trials[0]
    assert trial.image_onset_us is not None
    assert trial.image_offset_us is not None
    drift = 1 + 20e-6
    onset_s = (trial.image_onset_us - 3_600_000_000) / 1e6 / drift + 100.0
    assert onset_s == pytest.approx(shown[Picture], abs=2e-6)
    assert (trial.image_offset_us - trial.image_onset_us) / 1e6 == pytest.approx(1.0, abs=0.009)


def test_the_viewer_looks_at_the_cross_and_then_at_the_image(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s", n_images=1)
    recording = lab.run()
    trial, samples = recording.trials[0], recording.blocks[0].samples
    assert trial.image_onset_us is not None
    before = samples["tracker_time_us"] < trial.image_onset_us
    last_us = trial.image_onset_us - 200_000
    dwell = samples[before & (samples["tracker_time_us"] > last_us)]
    assert abs(float(dwell["right_x"].mean()) - 600) < 60
    assert abs(float(dwell["right_y"].mean()) - 350) < 60
    after = samples[~before]
    assert float(after["right_x"].std()) > 50


def test_without_a_fixation_the_tracker_is_calibrated_and_the_trial_skipped(
    tmp_path: Path,
) -> None:
    config = changed(SHORT, gate={"radius_deg": 0.01, "timeout_s": 0.5})
    lab = Lab(tmp_path / "s", config=config, n_images=1)
    recording = lab.run()
    said = texts(recording)
    assert sum(text.startswith("gate_timeout") for text in said) == 4
    assert [t.variables["outcome"] for t in recording.trials] == ["repeated", "skipped"]
    assert [t.variables["attempt"] for t in recording.trials] == ["1", "2"]
    assert "image_onset" not in said
    n_validations = sum(c.kind == "validation" for c in recording.calibrations)
    assert n_validations == 2


def test_calibration_every_14_trials_and_drift_checks_between(tmp_path: Path) -> None:
    config = changed(SHORT, trial={"image_s": 0.1, "blank_s": 0.0})
    lab = Lab(tmp_path / "s", config=config, n_images=29)
    recording = lab.run()
    assert sum(c.kind == "validation" for c in recording.calibrations) == 3
    assert len(recording.drift_corrections) == 2
    breaks = [
        scene
        for _, scene in lab.display.shown
        if isinstance(scene, Words) and "break" in scene.text
    ]
    assert len(breaks) == 2
    assert sum(isinstance(scene, Target) for _, scene in lab.display.shown) == 3 * 9 + 2


@pytest.mark.parametrize(
    ("key", "outcomes"),
    [("s", ["skipped", "shown"]), ("r", ["repeated", "shown", "shown"]),
     ("c", ["repeated", "shown", "shown"]), ("p", ["repeated", "shown", "shown"])],
)  # fmt: skip
def test_keys_end_a_trial_and_the_session_continues(
    tmp_path: Path, key: str, outcomes: list[str]
) -> None:
    lab = Lab(tmp_path / "s", n_images=2)
    lab.display.press_at = [
        (lambda display: isinstance(display.scene, Picture), key),
        (is_pause, "space"),
    ]
    recording = lab.run()
    assert [t.variables["outcome"] for t in recording.trials] == outcomes
    counts = [t.variables["evidence"] for t in recording.trials]
    assert counts == ["1" if outcome == "shown" else "0" for outcome in outcomes]
    assert all(t.image_offset_us is not None for t in recording.trials)
    calibrations = sum(c.kind == "calibration" for c in recording.calibrations)
    assert calibrations == (2 if key == "c" else 1)
    assert ("pause" in texts(recording)) == (key == "p")


def after_the_image(display: ManualDisplay) -> bool:
    return isinstance(display.scene, Blank) and isinstance(display.shown[-2][1], Picture)


@pytest.mark.parametrize(
    ("key", "outcomes"),
    [("s", ["shown", "shown"]), ("r", ["repeated", "shown", "shown"]),
     ("c", ["shown", "shown"]), ("p", ["shown", "shown"])],
)  # fmt: skip
def test_a_seen_image_repeats_only_on_request(
    tmp_path: Path, key: str, outcomes: list[str]
) -> None:
    lab = Lab(tmp_path / "s", n_images=2)
    lab.display.press_at = [
        (after_the_image, key),
        (is_pause, "space"),
    ]
    recording = lab.run()
    assert [t.variables["outcome"] for t in recording.trials] == outcomes
    assert [t.variables["evidence"] for t in recording.trials] == ["1"] * len(outcomes)
    calibrations = sum(c.kind == "calibration" for c in recording.calibrations)
    assert calibrations == (2 if key == "c" else 1)
    assert ("pause" in texts(recording)) == (key == "p")


@pytest.mark.parametrize("key", ["s", "r", "c", "p"])
def test_trial_keys_are_ignored_during_a_calibration(tmp_path: Path, key: str) -> None:
    lab = Lab(tmp_path / "s", n_images=1)
    lab.display.press_at = [
        (lambda display: isinstance(display.scene, Target), key),
        (is_pause, "space"),
    ]
    recording = lab.run()
    assert [t.variables["outcome"] for t in recording.trials] == ["shown"]
    assert sum(c.kind == "calibration" for c in recording.calibrations) == (2 if key == "c" else 1)
    assert ("pause" in texts(recording)) == (key == "p")


def test_an_unreadable_image_does_not_end_the_session(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    second = lab.session.plan.trials[1].picture

    def prepare(scene: object) -> None:
        if scene == second:
            raise RecordingError("is not an image that can be read", path=second.path)

    lab.display.prepare = prepare  # type: ignore[method-assign]
    recording = lab.run()
    assert [t.name for t in recording.trials] == ["1", "3"]
    assert [what for _, _, what in lab.session.report.outcomes] == ["shown", "skipped", "shown"]
    assert any("Trial 2 skipped" in text for text in lab.console)


def test_a_stop_from_the_dashboard_ends_the_trial_with_its_image(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s", n_images=2)

    class Server:
        @property
        def is_stopped(self) -> bool:
            return any(isinstance(scene, Picture) for _, scene in lab.display.shown)

        def serve(self) -> None:
            pass

        def take_calibration_request(self) -> bool:
            return False

    lab.device_thread._server = Server()  # type: ignore[assignment]
    recording = lab.run()
    (trial,) = recording.trials
    assert (trial.result, trial.variables["evidence"]) == ("3", "1")
    assert trial.image_offset_us is not None
    assert lab.session.report.reason == "stopped from the dashboard"


def test_a_request_of_the_dashboard_calibrates_before_the_next_trial(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s", n_images=2)
    requests = [True]

    class Server:
        is_stopped = False

        def serve(self) -> None:
            pass

        def take_calibration_request(self) -> bool:
            seen = any(isinstance(scene, Picture) for _, scene in lab.display.shown)
            return seen and bool(requests) and requests.pop()

    lab.device_thread._server = Server()
    recording = lab.run()
    assert [trial.variables["outcome"] for trial in recording.trials] == ["shown", "shown"]
    first, second = (c.tracker_time_us for c in recording.calibrations if c.kind == "calibration")
    assert first < recording.trials[0].start_us
    assert recording.trials[0].end_us < second < recording.trials[1].start_us


@pytest.mark.parametrize("scene", [Words, Target, Cross, Picture, Blank])
def test_abort_at_any_moment_saves_everything(tmp_path: Path, scene: type) -> None:
    lab = Lab(tmp_path / "s", n_images=2)
    lab.display.press_at = [(lambda display: isinstance(display.scene, scene), "escape")]
    recording = lab.run()
    assert lab.session.report.reason == "aborted by the experimenter"
    if scene in (Cross, Picture):
        (trial,) = recording.trials
        assert trial.variables["outcome"] == "aborted"
        assert trial.result == "3"
        assert trial.variables["evidence"] == str(int(scene is Picture))
        assert recording.n_samples
        assert (trial.image_offset_us is not None) == (scene is Picture)


def test_an_attended_session_waits_for_its_keys(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s", n_images=1, attended=True)
    start_s = lab.clock.now_s()
    is_words = lambda display: isinstance(display.scene, Words)  # noqa: E731
    lab.display.press_at = [
        (lambda display: is_words(display) and display.clock.now_s() > start_s + 60, "space"),
        (lambda display: is_words(display) and "Validation" in display.scene.text, "space"),
        (lambda display: is_words(display) and "Thank" in display.scene.text, "space"),
    ]
    recording = lab.run()
    assert len(recording.trials) == 1
    assert lab.clock.now_s() > start_s + 60


def test_duration_and_delay_of_each_image_are_logged(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    recording = lab.run()
    for trial in recording.trials:
        assert float(trial.variables["image_ms"]) == pytest.approx(1000, abs=9)
        assert 0 < float(trial.variables["onset_delay_ms"]) < 2 * 1000 * FRAME_S
    assert len(lab.session.report.image_ms) == len(lab.session.report.onset_delays_ms) == 3


def test_recognition_asks_about_shown_and_new_images(tmp_path: Path) -> None:
    config = changed(SHORT, task={"recognition_questions": 5})
    lab = Lab(tmp_path / "s", config=config, n_images=2, n_foils=3, attended=True)
    shown = {trial.picture for trial in lab.session.plan.trials}
    damaged = lab.session.plan.foils[0]

    def prepare(scene: object) -> None:
        if isinstance(scene, Question) and scene.picture == damaged:
            raise RecordingError("is not an image that can be read", path=damaged.path)

    lab.display.prepare = prepare  # type: ignore[method-assign]
    seen: list[object] = []

    def press(display: ManualDisplay) -> None:
        scene = display.scene
        if isinstance(scene, (Words, Question)) and scene not in seen:
            seen.append(scene)
            yes = isinstance(scene, Question) and scene.picture in shown
            key = "space" if isinstance(scene, Words) else "y" if yes else "n"
            display.press_at.append((lambda _display: True, key))

    turn = lab.display.each_flip

    def each_flip() -> None:
        turn()
        press(lab.display)

    lab.display.each_flip = each_flip
    recording = lab.run()
    asked = [text for text in texts(recording) if text.startswith("recognition")]
    assert len(asked) == 4
    assert sum("shown 1 answer 1" in text for text in asked) == 2
    assert sum("shown 0 answer 0" in text for text in asked) == 2
    assert lab.session.report.n_right_answers == 4


def settled(
    p: float, n_images: int, *, unknown: float = 0.0, accepted: bool | None = None
) -> Posterior:
    return Posterior(
        tracker_time_us=0,
        leading=(0, 1),
        log_probabilities=(math.log(p), math.log(1 - p)),
        log_unknown=math.log(unknown) if unknown else None,
        n_saccades=10,
        n_images=n_images,
        seconds=1.0,
        settled=True,
        accepted=accepted,
    )


@pytest.mark.parametrize(
    ("accepted", "words"), [(True, "0.95, accepted"), (False, "0.95, not accepted"), (None, "0.95")]
)
def test_the_reason_of_an_early_stop_says_whether_it_is_enough(
    tmp_path: Path, accepted: bool | None, words: str
) -> None:
    config = changed(SHORT, identify={"stop_at": 0.95, "stop_after_images": 1})
    lab = Lab(tmp_path / "s", config=config, n_images=2, mode="identify")
    lab.session._latest_posterior = lambda: settled(0.99, 1, accepted=accepted)
    lab.run()
    assert lab.session.report.reason.endswith(words)


@pytest.mark.parametrize(("unknown", "n_trials"), [(0.0, 3), (0.2, 5)])
def test_an_identification_session_stops_early(
    tmp_path: Path, unknown: float, n_trials: int
) -> None:
    config = changed(SHORT, identify={"stop_at": 0.95, "stop_after_images": 2})
    lab = Lab(tmp_path / "s", config=config, n_images=5, mode="identify")
    sure = {1: 0.99, 2: 0.9, 3: 0.97, 4: 0.98, 5: 0.99}
    lab.session._latest_posterior = lambda: settled(
        sure[len(lab.session._shown)], len(lab.session._shown), unknown=unknown
    )
    recording = lab.run()
    assert len(recording.trials) == n_trials
    assert ("reached 0.95" in lab.session.report.reason) == (n_trials == 3)


@pytest.mark.parametrize("key", ["s", "c"])
def test_keys_during_the_wait_for_a_posterior_are_handled_later(tmp_path: Path, key: str) -> None:
    config = changed(SHORT, identify={"stop_at": 0.95, "stop_after_images": 1})
    lab = Lab(tmp_path / "s", config=config, n_images=2, mode="identify")
    lab.display.press_at = [(lambda display: len(lab.session._shown) == 1, key)]
    recording = lab.run()
    assert [t.variables["outcome"] for t in recording.trials] == ["shown"] * 2
    assert sum(c.kind == "calibration" for c in recording.calibrations) == 1 + (key == "c")


def test_without_a_posterior_the_session_continues(tmp_path: Path) -> None:
    config = changed(SHORT, identify={"stop_at": 0.95, "stop_after_images": 1})
    lab = Lab(tmp_path / "s", config=config, n_images=2, mode="identify")
    assert len(lab.run().trials) == 2


class WithMenu(SimulatedDevice):
    """A tracker whose operator uses the Host PC's menu in the first trial."""

    request: HostRequest | None = None

    def take_host_request(self) -> HostRequest | None:
        taken, self.request = self.request, None
        return taken


@pytest.mark.parametrize(
    ("request_", "outcomes"),
    [("skip", ["skipped", "shown"]), ("repeat", ["repeated", "shown", "shown"]),
     ("abort", ["aborted"])],
)  # fmt: skip
def test_a_trial_can_be_ended_on_the_host_pc(
    tmp_path: Path, request_: HostRequest, outcomes: list[str]
) -> None:
    clock = ManualClock(100.0)
    device = WithMenu("anna", seed=1, session=1, clock=clock)
    lab = Lab(tmp_path / "s", n_images=2, clock=clock, device=device)
    turn, chosen = lab.display.each_flip, False

    def each_flip() -> None:
        nonlocal chosen
        if isinstance(lab.display.scene, Picture) and not chosen:
            device.request, chosen = request_, True
        turn()

    lab.display.each_flip = each_flip
    recording = lab.run()
    assert [t.variables["outcome"] for t in recording.trials] == outcomes


class Uncalibrated(SimulatedDevice):
    """A tracker whose set-up is left without a result the first time."""

    n_left = 0

    def calibrate(self) -> tuple[Calibration, ...]:
        self.n_left += 1
        if self.n_left == 1:
            raise CalibrationError("the set-up was left without a calibration")
        return super().calibrate()


def test_leaving_the_setup_offers_another_calibration(tmp_path: Path) -> None:
    clock = ManualClock(100.0)
    device = Uncalibrated("anna", seed=1, session=1, clock=clock)
    lab = Lab(tmp_path / "s", n_images=1, clock=clock, device=device, attended=True)
    words = ["You will", "The set-up was left", "Validation", "Thank"]
    keys = ["space", "c", "space", "space"]
    lab.display.press_at = [
        (lambda display, text=text: text in getattr(display.scene, "text", ""), key)  # type: ignore[misc]
        for text, key in zip(words, keys, strict=True)
    ]
    recording = lab.run()
    assert len(recording.trials) == 1
    assert device.n_left == 2


def test_skipped_and_repeated_trials_are_not_evidence(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "s")
    lab.display.press_at = [(lambda display: isinstance(display.scene, Picture), "s")]
    lab.run()
    gathered = gather(tmp_path / "s")
    images = [Path(path.image or "").name for path in gathered.probes[0].scanpaths]
    assert images == ["image2.png", "image3.png"]
    assert any("1 trial was skipped or repeated" in warning for warning in gathered.warnings)


def test_snapshots_of_every_text_and_the_first_of_each_scene(tmp_path: Path) -> None:
    display = ManualDisplay(ManualClock())
    stage = Stage(
        display, Keys(), attended=False, each_frame=lambda: None, snapshots=tmp_path / "pictures"
    )
    for scene in (Words("one"), Words("two"), Words("one"), Target(1, 1), Target(2, 2), Blank()):
        stage.show(scene)
    pictures = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert pictures == ["blank.png", "target.png", "words-2.png", "words.png"]


def test_a_long_image_path_keeps_its_position(tmp_path: Path) -> None:
    far = Path("/stimuli", *("a_folder_with_a_long_name",) * 5, "image1.png")
    plan = plan_of_images(1)
    (trial,) = plan.trials
    trial = msgspec.structs.replace(trial, picture=msgspec.structs.replace(trial.picture, path=far))
    lab = Lab(tmp_path / "s", plan=replace(plan, trials=(trial,)))
    said = texts(lab.run())
    assert "!V IMGLOAD CENTER image1.png 960 540 1500 1000" in said


def test_every_trial_variable_has_a_bids_column(tmp_path: Path) -> None:
    (trial,) = Lab(tmp_path / "s", n_images=1).run().trials
    assert set(trial.variables) == {"image", *OWN_VARIABLES}
