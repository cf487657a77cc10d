"""`gazelive.Tracker` without a window: its trials, messages, ends and refusals."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import gazelive
from gazelive.errors import DeviceDisconnectedError, DeviceError
from gazelive.experiment.process import owner
from gazelive.experiment.tracker import tracker as module
from gazelive.experiment.tracker.trial import Trial
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.triggers import Circle

from ....experiment.lockstep import LockstepClock, LockstepDeviceThread
from ....support.faults import Disconnect, FaultyDevice

FRAME_S = 1 / 60
MINUTE_S = 60.0
Open = Callable[..., gazelive.Tracker]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Return what opens a simulated tracker on a clock that no machine is too slow for."""
    monkeypatch.setattr(owner, "DeviceThread", LockstepDeviceThread)

    def open_(**options: Any) -> gazelive.Tracker:
        given = {"out": tmp_path / "out", "viewer": "anna", "clock": LockstepClock()}
        return gazelive.Tracker("simulated", **{"quiet": True, **given, **options})

    return open_


@pytest.fixture
def image(tmp_path: Path) -> Path:
    path = tmp_path / "faces" / "07.png"
    path.parent.mkdir()
    Image.new("RGB", (800, 600), (90, 120, 60)).save(path)
    return path


def frames(tracker: gazelive.Tracker, n: int, each: Callable[[], object] = lambda: None) -> None:
    """Let `n` frames pass, as a script's flips do."""
    clock = tracker._clock
    for _ in range(n):
        clock.sleep_until_s(clock.now_s() + FRAME_S)
        each()


def said(recording: Recording) -> list[str]:
    return [message.text for message in recording.messages]


def reason(tracker: gazelive.Tracker) -> str | None:
    manifest = read_manifest(tracker.folder)
    assert manifest.finished_at is not None
    return manifest.stop_reason


def test_a_trial_has_the_messages_of_record(opened: Open, image: Path) -> None:
    with opened() as tracker:
        with tracker.trial("7", image=image, variables={"condition": "left"}) as trial:
            trial.cross_shown()
            frames(tracker, 30)
            trial.shown()
            frames(tracker, 60)
            trial.message("swapped\n now")
            trial.variables["answer"] = 3
            trial.hidden()
            frames(tracker, 6)
        assert trial.outcome == "shown"
    recording = read_session(tracker.folder)
    assert said(recording) == [
        "TRIALID 7",
        "!V CLEAR 128 128 128",
        "cross 960 540",
        "image_onset",
        "!V IMGLOAD CENTER ../../faces/07.png 960 540 800 600",
        "swapped now",
        "!V TRIAL_VAR evidence 1",
        "image_offset",
        "!V CLEAR 128 128 128",
        "!V TRIAL_VAR image 07.png",
        "!V TRIAL_VAR index 1",
        "!V TRIAL_VAR outcome shown",
        "!V TRIAL_VAR condition left",
        "!V TRIAL_VAR answer 3",
        "!V TRIAL_VAR image_ms 1000.0",
        "TRIAL_RESULT 0",
    ]
    (recorded,) = recording.trials
    assert recorded.image_onset_us is not None
    assert recorded.image_offset_us is not None
    assert recorded.image_offset_us - recorded.image_onset_us == pytest.approx(1e6, abs=100)
    assert 1600 <= recording.n_samples <= 1604
    manifest = read_manifest(tracker.folder)
    assert (manifest.viewer, manifest.session, manifest.mode) == ("anna", "1", "enrol")
    assert manifest.stop_reason == "the script ended"
    assert manifest.config["outcome"]["trials"] == [["7", "07.png", "shown"]]
    assert (tracker.folder / f"{tracker.folder.name}.asc").is_file()
    assert (tracker.folder / "experiment.log").is_file()


def test_an_image_ends_with_its_trial_and_may_be_discarded(opened: Open, image: Path) -> None:
    with opened() as tracker:
        for name in ("seen", "discarded", "never shown"):
            with tracker.trial(name, image=image) as trial:
                if name != "never shown":
                    trial.shown()
                    frames(tracker, 3)
                if name == "discarded":
                    trial.discard()
        with tracker.trial("without an image"):
            frames(tracker, 3)
    trials = read_session(tracker.folder).trials
    facts = [(trial.result, trial.variables["evidence"]) for trial in trials]
    assert facts == [("0", "1"), ("2", "0"), ("0", "0"), ("0", "1")]
    assert trials[0].image_offset_us is not None


def test_a_script_polls_saccades_once_a_frame(opened: Open, image: Path) -> None:
    found = []
    with opened() as tracker, tracker.trial(1, image=image) as trial:
        frames(tracker, 30)
        trial.shown()
        assert trial.poll() is None, "saccades before the image are forgotten"
        frames(tracker, 180, lambda: found.append(trial.poll()))
        assert trial.gaze is not None
        assert trial.gaze_pix == (trial.gaze.x_px - 959.5, 539.5 - trial.gaze.y_px)
    triggers = [trigger for trigger in found if trigger is not None]
    assert len(triggers) >= 3
    onsets_us = [trigger.event_us for trigger in triggers]
    assert onsets_us == sorted(set(onsets_us))
    (recorded,) = read_session(tracker.folder).trials
    assert recorded.image_onset_us is not None
    assert all(trigger.tracker_time_us > recorded.image_onset_us for trigger in triggers)
    # the sample was handed over before the frame in which the script asked
    assert all(0 <= trigger.delay_ms < 1000 * FRAME_S + 0.1 for trigger in triggers)


def test_a_script_waits_for_what_gaze_does(tmp_path: Path, image: Path) -> None:
    """On the real clock, as waiting is done."""
    with (
        gazelive.Tracker("simulated", out=tmp_path / "out", quiet=True) as tracker,
        tracker.trial(1, image=image) as trial,
    ):
        trial.cross_shown()
        on_cross = trial.wait_fixation(100, Circle(0, 0, 2), timeout_s=MINUTE_S)
        assert on_cross is not None
        assert abs(on_cross.x_deg) < 2
        trial.shown()
        onset = trial.wait_saccade(timeout_s=MINUTE_S)
        assert onset is not None
        end = trial.wait_saccade_end(timeout_s=MINUTE_S)
        assert end is not None
        assert end.tracker_time_us > onset.event_us
        away = trial.wait_leave(Circle(end.x_deg, end.y_deg, 1), timeout_s=MINUTE_S)
        assert away is not None
        assert trial.wait_enter(Circle(0, 0, 90), timeout_s=MINUTE_S) is not None
        assert trial.wait_saccade(min_amplitude_deg=89, timeout_s=0.05) is None
        got = []
        with trial.triggers.saccade_onset() as watch:
            watch.callback = got.append
            while not got:
                trial.wait_saccade(timeout_s=0.1)
    assert reason(tracker) == "the script ended"


def test_calibration_and_drift_checks_are_in_the_session(opened: Open) -> None:
    with opened() as tracker:
        results = tracker.calibrate()
        assert [result.kind for result in results] == ["calibration", "validation"]
        with tracker.trial(1):
            frames(tracker, 3)
        (drift,) = tracker.check_drift()
        assert (drift.target_x_px, drift.target_y_px) == (959.5, 539.5)
    recording = read_session(tracker.folder)
    assert len(recording.calibrations) == 2
    assert len(recording.drift_corrections) == 1


def test_sessions_of_a_viewer_are_counted(opened: Open) -> None:
    folders = []
    for _ in range(2):
        with opened() as tracker:
            folders.append(tracker.folder)
    assert [read_manifest(folder).session for folder in folders] == ["1", "2"]
    with opened(viewer=None) as tracker:
        pass
    manifest = read_manifest(tracker.folder)
    assert (manifest.viewer, manifest.mode) == (None, "identify")


# ends


def test_an_exception_in_a_trial_ends_everything_in_order(opened: Open, image: Path) -> None:
    tracker = opened()
    with pytest.raises(ZeroDivisionError), tracker, tracker.trial(1, image=image) as trial:
        trial.shown()
        frames(tracker, 30)
        _ = 1 // 0
    assert trial.outcome == "aborted"
    assert reason(tracker) == "ZeroDivisionError: integer division or modulo by zero"
    recording = read_session(tracker.folder)
    (recorded,) = recording.trials
    assert (recorded.result, recorded.variables["evidence"]) == ("3", "1")
    assert recording.n_samples >= 490
    assert (tracker.folder / f"{tracker.folder.name}.asc").is_file()


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (KeyboardInterrupt(), "stopped by Ctrl-C"),
        (SystemExit(0), "the script ended early (sys.exit)"),
    ],
)
def test_ctrl_c_and_exit_end_the_script_too(
    opened: Open, end: BaseException, expected: str
) -> None:
    tracker = opened()
    with pytest.raises(type(end)), tracker, tracker.trial(1):
        raise end
    assert reason(tracker) == expected
    assert read_session(tracker.folder).trials[0].result == "3"


def test_a_ctrl_c_while_saving_waits_for_the_end_of_it(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = opened()
    device = tracker._owner.device_thread.device
    fetch = device.receive_host_file  # type: ignore[attr-defined]

    def slow(*arguments: Any) -> Path:
        signal.raise_signal(signal.SIGINT)
        path: Path = fetch(*arguments)
        return path

    monkeypatch.setattr(device, "receive_host_file", slow)
    with pytest.raises(KeyboardInterrupt), tracker, tracker.trial(1):
        frames(tracker, 1)
    assert reason(tracker) == "the script ended"
    assert (tracker.folder / f"{tracker.folder.name}.asc").is_file()


def test_a_lost_tracker_ends_who_waits(
    opened: Open, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_device = module.open_device

    def faulty(*arguments: Any, **options: Any) -> Any:
        device = open_device(*arguments, **options)
        return FaultyDevice(device, [Disconnect(after_n_samples=700)], clock=arguments[3])

    monkeypatch.setattr(module, "open_device", faulty)
    tracker = opened()

    def use() -> None:
        with tracker, tracker.trial(1, image=image) as trial:
            trial.shown()
            frames(tracker, 100, trial.poll)

    with pytest.raises(DeviceDisconnectedError) as lost:
        use()
    assert reason(tracker) == str(lost.value)
    assert read_session(tracker.folder).n_samples == 700
    assert read_manifest(tracker.folder).config["outcome"]["trials"] == [["1", "07.png", "aborted"]]


class _Asked:
    """What answers a dashboard that asked for something."""

    def __init__(self, *, is_stopped: bool = False, calibrates: bool = False) -> None:
        self.is_stopped = is_stopped
        self._calibrates = calibrates

    def serve(self) -> None:
        pass

    def take_calibration_request(self) -> bool:
        asked, self._calibrates = self._calibrates, False
        return asked


def test_a_dashboard_asks_for_a_calibration_before_the_next_trial(opened: Open) -> None:
    with opened() as tracker:
        for number in range(1, 4):
            with tracker.trial(number):
                frames(tracker, 2)
                if number == 1:
                    tracker._owner.device_thread._server = _Asked(calibrates=True)
    recording = read_session(tracker.folder)
    calibration, validation = recording.calibrations
    assert (calibration.kind, validation.kind) == ("calibration", "validation")
    first, second, _ = recording.trials
    assert first.end_us < calibration.tracker_time_us < second.start_us


def test_a_dashboard_ends_the_with_and_not_the_script(opened: Open) -> None:
    with opened() as tracker:
        for number in range(1, 4):
            with tracker.trial(number):  # asks nothing: the end of the trial notices
                frames(tracker, 2)
                if number == 2:
                    tracker._owner.device_thread._server = _Asked(is_stopped=True)
    assert reason(tracker) == "stopped from the dashboard"
    outcomes = [what for _, _, what in read_manifest(tracker.folder).config["outcome"]["trials"]]
    assert outcomes == ["shown", "aborted"]


def test_the_host_pc_ends_a_trial(opened: Open, image: Path) -> None:
    ended: list[Trial] = []
    with opened() as tracker:
        for request in ("skip", "repeat", "abort"):
            with tracker.trial(request, image=image) as trial:
                ended.append(trial)
                trial.shown()
                frames(tracker, 2)
                tracker._owner.device_thread._host_request = request  # type: ignore[assignment]
                frames(tracker, 5, trial.poll)
                raise AssertionError("the trial goes on")
    assert [trial.outcome for trial in ended] == ["skipped", "repeated", "aborted"]
    assert reason(tracker) == "aborted on the tracker's Host PC"
    evidence = [t.variables["evidence"] for t in read_session(tracker.folder).trials]
    assert evidence == ["0", "0", "1"]


def test_a_failed_transfer_is_raised_after_all_else_was_saved(
    opened: Open, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lost(*_arguments: object) -> Path:
        raise DeviceError("the EDF is on the Host PC as ANNA_1.EDF")

    tracker = opened()
    monkeypatch.setattr(tracker._owner.device_thread.device, "receive_host_file", lost)
    with pytest.raises(DeviceError, match="ANNA_1"), tracker:
        pass
    assert reason(tracker) == "the script ended"
    tracker = opened()
    monkeypatch.setattr(tracker._owner.device_thread.device, "receive_host_file", lost)
    with pytest.raises(ValueError, match="first"), tracker:
        raise ValueError("first")
    assert "ANNA_1" in capsys.readouterr().err


def test_close_may_be_called_twice_and_ends_its_use(opened: Open) -> None:
    tracker = opened()
    tracker.close()
    tracker.close()
    assert reason(tracker) == "the script ended"
    for use in (tracker.calibrate, lambda: tracker.trial(1), lambda: tracker.message("late")):
        with pytest.raises(gazelive.GazeliveError, match="was closed"):
            use()


# refusals


def test_one_trial_at_a_time(opened: Open) -> None:
    with opened() as tracker:
        with tracker.trial("a"):
            for use in (tracker.calibrate, tracker.check_drift, lambda: tracker.trial("b")):
                with pytest.raises(gazelive.GazeliveError, match="trial a is still running"):
                    use()
        with tracker.trial("b"):
            frames(tracker, 1)
    assert [trial.result for trial in read_session(tracker.folder).trials] == ["0", "0"]


def test_images_are_found_and_missing_ones_are_refused(opened: Open, image: Path) -> None:
    with opened(stimuli=image.parent) as tracker:
        assert tracker.trial(1, image="07.png").picture == tracker.trial(1, image=image).picture
        with pytest.raises(gazelive.GazeliveError, match=r"08\.png: not a readable image"):
            tracker.trial(1, image="08.png")
        drawn = tracker.trial(1, image="drawn", rectangle_px=(0, 0, 100, 50)).picture
        assert drawn is not None
        assert (drawn.path, drawn.width_px, drawn.height_px) == (Path("drawn"), 100.0, 50.0)
        with pytest.raises(gazelive.GazeliveError, match="give window too"):
            tracker.trial(1, image=object())
        with pytest.raises(gazelive.GazeliveError, match="window=win"):
            tracker.area_of(object())


SMALL = gazelive.ScreenGeometry(
    width_px=1920, height_px=1080, width_mm=53.5, height_mm=30.1, eye_distance_mm=60
)


@pytest.mark.parametrize(
    ("device", "options", "error"),
    [
        ("eyelnk", {}, 'device: must be "eyelink", .* did you mean "eyelink"'),
        ("eyelink", {}, "window: an EyeLink needs your PsychoPy window"),
        ("replay:nowhere.asc", {}, r"nowhere\.asc: device: there is no such recording"),
        ("simulated", {"screen": SMALL}, "width_mm: .*if this is in cm, write 535"),
        ("simulated", {"sampling_rate_hz": 300}, "sampling_rate_hz: must be 250, 500"),
        ("simulated", {"eyes": "B"}, 'eyes: must be "L", "R" or "LR"'),
        ("simulated", {"viewer": "p 07"}, "viewer: Use letters"),
        ("simulated", {"session": 0}, "session: must be 1 or more"),
        ("simulated", {"stranger_prior": 1.5}, "stranger_prior: must be a number"),
        ("simulated", {"false_acceptance_rate": 5}, "false_acceptance_rate: must be"),
        ("simulated", {"model": "nowhere.model"}, r"nowhere\.model"),
        ("simulated", {"bind": "tcp://*:5870"}, "keys"),
        ("simulated", {"stimuli": "nowhere", "engine": True}, "no such folder of images"),
        ("replay:x", {"simulate_as": "v001"}, "x: device: there is no such"),
    ],
)
def test_mistakes_are_refused_before_anything_is_opened(
    tmp_path: Path, device: str, options: dict[str, Any], error: str
) -> None:
    out = tmp_path / "out"
    with pytest.raises(gazelive.GazeliveError, match=error):
        gazelive.Tracker(device, out=out, quiet=True, **options)
    assert not out.exists()


# replays


def test_a_replay_gives_its_gaze_and_its_own_trials(
    opened: Open, image: Path, tmp_path: Path
) -> None:
    with opened() as tracker:
        for name in ("first", "second"):
            with tracker.trial(name, image=image) as trial:
                trial.shown()
                frames(tracker, 90)
    original = read_session(tracker.folder)
    again = gazelive.Tracker(
        f"replay:{tracker.folder}", out=tmp_path / "out", quiet=True, clock=LockstepClock()
    )
    found = []
    with again:
        assert again.calibrate() == ()
        with again.trial("mine", image=image) as trial:
            trial.shown()
            frames(again, 60, lambda: found.append(trial.poll()))
            trial.message("swapped")
        with again.trial("also mine") as trial:
            while not again._owner.device_thread.has_finished:
                frames(again, 1, lambda: found.append(trial.poll()))
            with again._clock.away():  # type: ignore[attr-defined]
                assert trial.wait_saccade() is None, "the recording is over"
        with pytest.raises(DeviceError, match="played to its end"), again.trial("too late"):
            pass
    replayed = read_session(again.folder)
    assert [trial.name for trial in replayed.trials] == ["first", "second"]
    assert replayed.n_samples == original.n_samples
    assert "swapped" in said(replayed)
    assert any(trigger is not None for trigger in found)
    manifest = read_manifest(again.folder)
    assert manifest.config["replay_of"] == str(tracker.folder)
    assert manifest.stop_reason == "the script ended"
