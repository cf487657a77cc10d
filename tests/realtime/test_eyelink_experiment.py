"""The experiment's own two threads on an EyeLink (a fake pylink below), as they run in the lab.

The fake refuses calls from two threads while it records, and keeps what its camera saw. The
threads are real; the clock waits for both, so that no frame and no sample is late on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazelive.clock import Clock
from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.errors import DeviceDisconnectedError, DeviceError
from gazelive.experiment import run
from gazelive.experiment.config.schema import ExperimentConfig, Stimuli, Trial
from gazelive.experiment.display.display import Cross, Participant, Picture, Scene, Words
from gazelive.experiment.display.frames import FramePacer
from gazelive.experiment.process import device_thread, owner, tracker
from gazelive.experiment.process.launch import RunSpec
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.live.settings import LiveSettings
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session

from ..experiment.lockstep import LockstepClock, LockstepDeviceThread
from ..support.fake_host import Behaviour, FakeHost
from ..support.fake_pylink import FakePylink

pytestmark = pytest.mark.slow
STIMULI = Path(__file__).parents[2] / "stimuli"
FRAME_S = 1 / 60


class PacedDisplay:
    """A display without a window, at the pace of one; its experimenter agrees with every text."""

    screen, frame_s, is_synced = PAPER_SCREEN, FRAME_S, True

    def __init__(self, clock: Clock, pylink: FakePylink) -> None:
        self._clock = clock
        self._pacer = FramePacer(FRAME_S, clock)
        self._pylink = pylink
        self.scene: Scene | None = None

    def prepare(self, scene: Scene) -> None:
        pass

    def show(self, scene: Scene) -> None:
        self.scene = scene

    def flip(self) -> float:
        self._pacer.wait()
        return self._clock.now_s()

    def pressed(self) -> tuple[str, ...]:
        return ("space",) if isinstance(self.scene, Words) else ()

    def come_to_front(self) -> None:
        pass

    def save_screenshot(self, path: Path) -> None:
        pass

    def calibration_graphics(self) -> Callable[[Any], Any]:
        return lambda _tracker: self._pylink.EyeLinkCustomDisplay()

    def close(self) -> None:
        pass


class Lab:
    """A Host PC, whose viewer looks at what the display shows, and the folder of a session."""

    def __init__(
        self, tmp_path: Path, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.clock = LockstepClock()
        self.host = FakeHost(self.clock, behaviour)  # type: ignore[arg-type]
        self.pylink = FakePylink(self.host)
        self.display = PacedDisplay(self.clock, self.pylink)
        self.folder = tmp_path / "anna-01"
        self._seen: Scene | None = None
        self._live = self.host.live
        monkeypatch.setattr(self.host, "live", self._look_and_live)
        monkeypatch.setattr(tracker, "_eyelink", self._eyelink)
        monkeypatch.setattr(owner, "DeviceThread", LockstepDeviceThread)
        monkeypatch.setattr(device_thread, "PATIENCE_S", 240.0)

    def run(self) -> None:
        config = ExperimentConfig(
            stimuli=Stimuli(folder=str(STIMULI), n_images=2), trial=Trial(image_s=0.5, blank_s=0.1)
        )
        spec = RunSpec(
            config=config,
            config_path=self.folder.parent / "lab.toml",
            participant=Participant(viewer="anna", session=1, eyes="R", mode="enrol"),
            live=LiveSettings(folder=self.folder, address=None),
            quiet=True,
        )
        run.run_session(spec, scene_viewing, lambda _spec, _clock: self.display, self.clock)

    def _eyelink(self, *arguments: Any) -> EyeLinkDevice:
        clock: Clock = arguments[-1]
        settings = EyeLinkSettings(screen=PAPER_SCREEN, sampling_rate_hz=1000.0)
        return EyeLinkDevice(settings, clock=clock, host_file_stem="anna_1", pylink=self.pylink)

    def _look_and_live(self) -> None:
        """Show the viewer, in the thread that lets it live, what has come on the screen."""
        self._live()
        scene = self.display.scene
        if scene != self._seen:
            self._seen = scene
            match scene:
                case Cross():
                    self.host.show_cross(scene.x_px, scene.y_px)
                case Picture():
                    self.host.show(scene.path.name)
                case _:
                    self.host.hide()

    def check_samples(self) -> None:
        """Assert that the session has what the camera saw, bit by bit."""
        seen = [block.tobytes() for block in self.host.files["ANNA_1.EDF"].samples if len(block)]
        assert [block.samples.tobytes() for block in read_session(self.folder).blocks] == seen


def test_a_session_in_two_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(tmp_path, Behaviour(setups=["leave"]), monkeypatch)
    lab.run()
    lab.check_samples()
    manifest = read_manifest(lab.folder)
    assert [what for _, _, what in manifest.config["outcome"]["trials"]] == ["shown"] * 2
    assert manifest.config["host_file"] == "ANNA_1.EDF"
    assert manifest.clock_fit is not None
    frames = manifest.config["outcome"]["frames"]
    assert frames["dropped"] == 0
    assert frames["worst_ms"] == pytest.approx(1000 * FRAME_S)
    rate_hz = 1e6 / np.diff(read_session(lab.folder).blocks[0].samples["tracker_time_us"])
    np.testing.assert_allclose(rate_hz, 1000)
    assert (lab.folder / "anna-01.edf").is_file()
    assert not lab.host.is_connected


def test_a_lost_connection_keeps_the_samples_and_names_the_edf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(tmp_path, Behaviour(disconnect_after=700), monkeypatch)
    with pytest.raises(DeviceDisconnectedError, match="EyeLink was lost"):
        lab.run()
    lab.check_samples()
    assert "it is on the Host PC as ANNA_1.EDF" in capsys.readouterr().err
    manifest = read_manifest(lab.folder)
    assert manifest.stop_reason is not None
    assert "connection to the EyeLink was lost" in manifest.stop_reason
    assert [what for _, _, what in manifest.config["outcome"]["trials"]] == ["aborted"]


def test_a_broken_transfer_is_reported_after_all_else_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path, Behaviour(transfer_breaks=True), monkeypatch)
    with pytest.raises(DeviceError, match=r"Host PC.* ANNA_1\.EDF"):
        lab.run()
    lab.check_samples()
    assert read_manifest(lab.folder).stop_reason == "all images were shown"
