"""`gazelive.Tracker` on an EyeLink, with a fake pylink below: what a lab's own script will run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import gazelive
from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.errors import DeviceDisconnectedError
from gazelive.experiment.process import device_thread, owner, tracker as opening
from gazelive.experiment.tracker import tracker as module
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session

from ....experiment.lockstep import LockstepClock, LockstepDeviceThread
from ....support.fake_host import Behaviour, FakeHost
from ....support.fake_pylink import FakePylink

pytestmark = pytest.mark.slow


class Lab:
    """A Host PC and a script's window, which nobody sees."""

    def __init__(self, folder: Path, behaviour: Behaviour, patch: pytest.MonkeyPatch) -> None:
        self.clock = LockstepClock()
        self.host = FakeHost(self.clock, behaviour)  # type: ignore[arg-type]
        self.pylink = FakePylink(self.host)
        self.folder = folder
        self.n_borrowed = 0
        patch.setattr(owner, "DeviceThread", LockstepDeviceThread)
        patch.setattr(device_thread, "PATIENCE_S", 240.0)
        patch.setattr(opening, "_eyelink", self._eyelink)
        patch.setattr(module, "ScriptWindow", lambda _window, _screen: self)

    def _eyelink(self, *_arguments: Any) -> EyeLinkDevice:
        settings = EyeLinkSettings(screen=PAPER_SCREEN)
        return EyeLinkDevice(settings, clock=self.clock, host_file_stem="p07_1", pylink=self.pylink)

    def open(self) -> gazelive.Tracker:
        return gazelive.Tracker(
            "eyelink",
            screen=PAPER_SCREEN,
            window=object(),
            out=self.folder,
            viewer="p07",
            quiet=True,
            clock=self.clock,
        )

    def frames(self, n: int, each: Callable[[], object] = lambda: None) -> None:
        for _ in range(n):
            self.clock.sleep_until_s(self.clock.now_s() + 1 / 60)
            each()

    # the window

    size_px, background_grey = (1280, 720), 100

    @contextmanager
    def borrowed(self) -> Iterator[None]:
        self.n_borrowed += 1
        yield

    def calibration_graphics(self) -> Callable[[Any], Any]:
        return lambda _tracker: self.pylink.EyeLinkCustomDisplay()


def test_it_calibrates_records_and_fetches_the_edf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    behaviour = Behaviour(setups=["leave", "calibrate", "calibrate"], drift_codes=[0, 27])
    lab = Lab(tmp_path, behaviour, monkeypatch)
    with lab.open() as tracker:
        assert "open the window with fullscr=True" in capsys.readouterr().err
        assert tracker.calibrate() == ()
        assert "left without a calibration" in capsys.readouterr().err
        assert [result.kind for result in tracker.calibrate()] == ["calibration", "validation"]
        for number in (1, 2):
            with tracker.trial(number) as trial:
                lab.frames(30, trial.poll)
            tracker.check_drift()
    assert lab.n_borrowed == 1 + 2 + 3, "a drift check that is left with Esc calibrates"
    assert (tracker.folder / f"{tracker.folder.name}.edf").is_file()
    assert not lab.host.is_connected
    recording = read_session(tracker.folder)
    seen = [block.tobytes() for block in lab.host.files["P07_1.EDF"].samples if len(block)]
    assert [block.samples.tobytes() for block in recording.blocks] == seen
    assert "!V CLEAR 100 100 100" in [message.text for message in recording.messages]
    assert sum(one.kind == "validation" for one in recording.calibrations) == 2
    assert read_manifest(tracker.folder).config["host_file"] == "P07_1.EDF"


def test_a_lost_connection_ends_who_waits_and_names_the_edf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path, Behaviour(disconnect_after=700), monkeypatch)
    tracker = lab.open()
    with (
        pytest.raises(DeviceDisconnectedError, match="EyeLink was lost"),
        tracker,
        tracker.trial(1) as trial,
    ):
        lab.frames(200, trial.poll)
    assert "it is on the Host PC as P07_1.EDF" in capsys.readouterr().err
    assert read_session(tracker.folder).n_samples == 700
    reason = read_manifest(tracker.folder).stop_reason
    assert reason is not None
    assert "connection to the EyeLink was lost" in reason
