"""The experiment itself on the EyeLink, with a fake pylink below: what a lab will run."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.errors import DeviceDisconnectedError
from gazelive.experiment.display.display import Cross, Picture
from gazelive.experiment.protocol.stage import SessionAbortedError
from gazelive.experiment.scene_viewing import scene_viewing
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session

from ...support.fake_host import Behaviour, FakeHost
from ...support.fake_pylink import FakePylink
from ...support.manual_clock import ManualClock
from .lab import SHORT, Lab, changed, texts


class EyeLinkLab(Lab):
    """A lab with an imitated EyeLink and a viewer who sees the screen."""

    def __init__(self, folder: Path, behaviour: Behaviour | None = None, **options: object) -> None:
        clock = ManualClock(100.0)
        self.pylink = FakePylink(FakeHost(clock, behaviour))
        settings = EyeLinkSettings(screen=PAPER_SCREEN)
        self.eyelink = EyeLinkDevice(
            settings, clock=clock, host_file_stem="anna1", pylink=self.pylink
        )
        self.eyelink.use_graphics(lambda _tracker: self.pylink.EyeLinkCustomDisplay())
        super().__init__(folder, device=self.eyelink, clock=clock, **options)
        self.display.each_flip = self._flip
        self._seen: object = None

    def _flip(self) -> None:
        scene, host = self.display.scene, self.pylink.host
        if scene != self._seen:
            self._seen = scene
            match scene:
                case Cross():
                    host.show_cross(scene.x_px, scene.y_px)
                case Picture():
                    host.show(scene.path.name)
                case _:
                    host.hide()
        self.device_thread.turn()

    def record(self) -> tuple[Recording, Path | None]:
        """Run the experiment, also if it fails; return the recording and the EDF."""
        edf = None
        try:
            scene_viewing(self.session)
        except (SessionAbortedError, DeviceDisconnectedError) as error:
            self.session.report.reason = str(error)
        finally:
            with suppress(DeviceDisconnectedError):  # which was told before
                self.device_thread.close(self.session.report.reason)
            if self.pylink.host.is_connected:
                edf = self.eyelink.receive_host_file(self.folder, self.folder.name)
            self.eyelink.close()
        return read_session(self.folder), edf


def test_a_whole_experiment_records_the_camera_data(tmp_path: Path) -> None:
    lab = EyeLinkLab(tmp_path / "anna_1", n_images=4)
    recording, edf = lab.record()
    seen = lab.pylink.host.files["ANNA1.EDF"]
    assert [b.samples.tobytes() for b in recording.blocks] == [b.tobytes() for b in seen.samples]
    assert [t.variables["outcome"] for t in recording.trials] == ["shown"] * 4
    assert edf == tmp_path / "anna_1" / "anna_1.edf"
    assert lab.session.report.reason == "all images were shown"
    ours = [text for text in texts(recording) if not text.startswith("!CAL CALIBRATION")]
    theirs = [message.text for message in seen.messages if "COORDS" not in message.text]
    assert len([text for text in ours if not text.startswith("!CAL")]) == len(
        [text for text in theirs if not text.startswith("!CAL")]
    )
    (validation,) = [c for c in recording.calibrations if c.kind == "validation"]
    assert validation.mean_error_deg is not None
    assert read_manifest(tmp_path / "anna_1").clock_fit is not None


def test_drift_checks_and_recalibrations_reach_the_session(tmp_path: Path) -> None:
    config = changed(
        SHORT,
        trial={"image_s": 0.1, "blank_s": 0.0},
        schedule={"drift_check_every_trials": 1, "recalibrate_every_trials": 3},
    )
    lab = EyeLinkLab(
        tmp_path / "s", Behaviour(drift_codes=[0, 27, 0, 0]), config=config, n_images=5
    )
    recording, _ = lab.record()
    assert [t.variables["outcome"] for t in recording.trials] == ["shown"] * 5
    n_validations = sum(c.kind == "validation" for c in recording.calibrations)
    assert n_validations == 1 + 1, "at the beginning, and after Esc in a drift check"
    assert len(recording.drift_corrections) == 3


def test_escape_ends_the_session_and_saves_the_edf(tmp_path: Path) -> None:
    lab = EyeLinkLab(tmp_path / "s", n_images=3)
    lab.display.press_at.append((lambda display: isinstance(display.scene, Picture), "escape"))
    recording, edf = lab.record()
    assert edf is not None
    assert recording.n_samples == sum(map(len, lab.pylink.host.files["ANNA1.EDF"].samples))
    assert len(recording.blocks) == 1


@pytest.mark.parametrize("after", [1, 700, 2500])
def test_a_lost_connection_keeps_all_received_data(tmp_path: Path, after: int) -> None:
    lab = EyeLinkLab(tmp_path / "s", Behaviour(disconnect_after=after), n_images=3)
    recording, edf = lab.record()
    assert recording.n_samples == after
    assert edf is None
    assert "connection to the EyeLink was lost" in lab.session.report.reason
