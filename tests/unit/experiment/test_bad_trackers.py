"""Trackers that fall silent, leave and return, and computers that sleep: named, nothing lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.devices.simulated import QUEUE_S, SimulatedDevice
from gazelive.errors import DeviceDisconnectedError, GazeliveError
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.gaze.documents import Quality
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.live.engine.model import EngineModel
from gazelive.live.engine.session_run import SessionRun
from gazelive.live.settings import LiveSettings
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from ...support.document_list import DocumentList
from ...support.fake_host import Behaviour, FakeHost
from ...support.fake_pylink import FakePylink
from ...support.manual_clock import ManualClock, SleepingClock
from .test_device_thread import MANIFEST

RATE_HZ = 250.0
STEP_S = 0.05


class Recorded:
    """One device recorded into a folder, and an engine that reads along."""

    def __init__(self, folder: Path, behaviour: Behaviour | None = None) -> None:
        self.folder = folder
        self.world = ManualClock(100.0)
        self.computer = SleepingClock(self.world)
        self.host = FakeHost(self.world, behaviour)
        settings = EyeLinkSettings(screen=PAPER_SCREEN, sampling_rate_hz=RATE_HZ)
        self.device = EyeLinkDevice(
            settings,
            clock=self.computer,
            host_file_stem="v01",
            pylink=FakePylink(self.host),  # type: ignore[arg-type]
        )
        writer = SessionWriter.create(folder, MANIFEST, sync_interval_s=None)
        self.thread = DeviceThread(self.device, writer, clock=self.computer)
        said = DocumentList()
        self.documents = said.documents
        self.engine = SessionRun(
            LiveSettings(folder=folder), EngineModel(), sinks=[said], clock=self.computer
        )

    def go_on(self, seconds: float) -> None:
        """Record for a while."""
        until_s = self.world.now_s() + seconds
        while self.world.now_s() < until_s:
            self.world.advance_s(STEP_S)
            self.thread.turn()
        self.engine.read_disk()

    def finish(self) -> None:
        """End the session in order."""
        self.thread.stop_block()
        self.thread.close("done")
        self.engine.finish("over")

    def close(self) -> None:
        """Release everything, also after a failure."""
        self.engine.close()
        with suppress(GazeliveError):
            self.thread.close("failed")
        self.device.close()

    def reports(self, kind: str) -> list[str]:
        """Return what the engine has said of the data so far."""
        return [d.text for d in self.documents if isinstance(d, Quality) and d.kind == kind]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[Behaviour], Recorded]]:
    """Return what begins to record a tracker."""
    labs = []

    def begin(behaviour: Behaviour) -> Recorded:
        lab = Recorded(tmp_path / "s", behaviour)
        labs.append(lab)
        lab.thread.start_block()
        return lab

    yield begin
    for lab in labs:
        lab.close()


Start = Callable[[Behaviour], Recorded]


@pytest.mark.parametrize("seconds", [1, 5, 60])
def test_a_tracker_that_is_gone_for_a_while_is_named_and_goes_on(
    start: Start, seconds: int
) -> None:
    lost = range(500, 500 + round(seconds * RATE_HZ))
    lab = start(Behaviour(lose=lost))
    lab.go_on(2.0)
    lab.go_on(seconds)
    if seconds > 1:
        assert "no samples for 1 s" in lab.reports("lost_samples")[0], "while it is gone"
    lab.go_on(2.0)
    lab.finish()
    (gap,) = lab.reports("time_gap")
    (gap_ms,) = map(int, re.findall(r"(\d+) ms", gap))
    assert gap_ms - 1000 * seconds in (0, 4), "one more is left out after a gap of more than 10 s"
    assert any("the link lost data" in text for text in lab.reports("lost_samples"))
    (block,) = read_session(lab.folder).blocks
    (on_host,) = lab.host.files["V01.EDF"].samples
    assert block.samples.tobytes() == np.delete(on_host, list(lost)).tobytes()


def test_a_tracker_that_never_sends_again_does_not_keep_a_session_from_ending(
    start: Start,
) -> None:
    lab = start(Behaviour(lose=range(500, 10**6)))
    lab.go_on(20.0)
    lab.finish()
    assert len(lab.reports("lost_samples")) == 1, "said once"
    assert read_session(lab.folder).n_samples == 500
    assert read_manifest(lab.folder).stop_reason == "done"


@pytest.mark.parametrize("seconds", [1, 5, 60])
def test_a_connection_that_breaks_ends_the_session_also_if_it_returns(
    start: Start, seconds: int
) -> None:
    lab = start(Behaviour(disconnect_after=1000))
    with pytest.raises(DeviceDisconnectedError, match="connection to the EyeLink was lost"):
        lab.go_on(10.0)
    lab.world.advance_s(seconds)
    lab.host.behaviour.disconnect_after, lab.host.is_connected = None, True
    for call in (lab.device.start, lambda: lab.thread.close("it was lost")):
        with pytest.raises(DeviceDisconnectedError, match="connection to the EyeLink was lost"):
            call()
    assert read_session(lab.folder).n_samples == 1000
    assert read_manifest(lab.folder).stop_reason == "it was lost"


def test_a_computer_that_slept_names_it_and_goes_on(start: Start) -> None:
    lab = start(Behaviour(queue_size=500))
    lab.go_on(5.0)
    lab.computer.fall_asleep(100.0)
    lab.go_on(5.0)
    lab.finish()
    (report,) = lab.reports("clock")
    assert "100.0 s" in report
    assert lab.reports("time_gap")
    assert "the link lost data" in lab.reports("lost_samples")[-1]
    fit = read_manifest(lab.folder).clock_fit
    assert fit is not None
    assert fit.tracker_us_per_host_s == pytest.approx(1e6, rel=1e-4), "the line is of one piece"
    assert fit.residual_us < 1000
    host_s = lab.thread._recorder.host_time_s(lab.device.tracker_time_us())
    assert host_s == pytest.approx(lab.computer.now_s(), abs=1e-3), "times of triggers are right"


def test_a_simulated_tracker_does_not_simulate_what_it_slept() -> None:
    clock = ManualClock(100.0)
    device = SimulatedDevice("anna", seed=1, session=1, clock=clock, sampling_rate_hz=250.0)
    device.start()
    clock.advance_s(24 * 3600.0)
    times_us = []
    while (chunk := device.read_chunk(0.0)) is not None:
        times_us += chunk.samples["tracker_time_us"].tolist()
    device.close()
    assert len(times_us) == round(QUEUE_S * 250.0)
    assert {after - before for before, after in pairwise(times_us)} == {4000}
