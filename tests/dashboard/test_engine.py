"""The window and a real engine process: late, killed, restarted, and at its end."""

import time
from pathlib import Path

import pytest

pytest.importorskip("PyQt6", reason="the dashboard needs the extra `dashboard`")

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QApplication, QLabel

from gazelive.dashboard.feed import RunFeed
from gazelive.devices.recorder import Recorder
from gazelive.devices.replay import ReplayDevice
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.doors import Door
from gazelive.live.wire.owner import OwnerLines
from gazelive.live.wire.runs import hold_run
from gazelive.recordings.session.manifest import SessionManifest
from gazelive.recordings.session.writer import SessionWriter

from ..realtime.engine_process import EngineProcess
from ..support.manual_clock import ManualClock
from ..support.recordings import make_block, make_recording

pytestmark = pytest.mark.slow
PATIENCE_S = 120.0
N_TRIALS = 3
FIRST_US = 1_000_000
FAR_AHEAD_US = 4_000_000
"""More than the pause between two trials."""


def recorded():
    blocks, messages = [], []
    for k in range(N_TRIALS):
        start_us = FIRST_US + k * 5_000_000
        blocks.append(make_block(k, 3.0, start_us, rate_hz=1000.0))
        messages += [
            Message(start_us - 30_000, f"TRIALID {k}"),
            Message(start_us + 300_000, "image_onset"),
            Message(start_us + 300_000, f"!V IMGLOAD FILL stimuli/{('cat', 'harbour')[k % 2]}.jpg"),
            Message(start_us + 2_700_000, "image_offset"),
            Message(start_us + 3_100_000, "TRIAL_RESULT 0"),
        ]
    return make_recording(blocks, messages)


class Lab:
    """A replayed session, an engine and a window, moved on together."""

    def __init__(self, folder: Path, make_window):
        self._holder = hold_run(free_addresses(), folder)
        self.run = self._holder.run
        self.folder = folder
        self._make_window = make_window
        self.start_engine()
        self.device = None
        self.window = self.open_window()

    def start_engine(self):
        self.engine = EngineProcess(self.folder, self.run)
        self.engine.wait_for(lambda _status: True)

    def open_window(self):
        return self._make_window(RunFeed(Door(self.run.id)))

    def begin(self):
        manifest = SessionManifest(
            session="s1", device="replay", mode="identify", started_at="", screen=PAPER_SCREEN
        )
        clock = ManualClock()  # moved by waiting for the next chunk
        self.device = ReplayDevice(recorded(), clock=clock)
        self._writer = SessionWriter.create(self.folder, manifest, sync_interval_s=None)
        self._lines = OwnerLines(self.run, self.device, manifest.id)
        self._sender, self._control = self._lines.sender, self._lines.control
        self._recorder = Recorder(self.device, self._writer, [self._sender], clock=clock)
        self.device.start()

    def until(self, is_true, window=None, *, play=True):
        """Run everything (or all but the device) until the window shows the expected state."""
        window = window or self.window
        deadline = time.monotonic() + PATIENCE_S
        while not is_true(window):
            assert time.monotonic() < deadline, self._how_it_stands(window)
            if self.device is not None and not self.device.finished:
                if play and not self._far_ahead(window):
                    self._recorder.step(0.02)
                self._control.serve()
            window._link._clock.advance_s(0.1)
            window.tick()
            QApplication.processEvents()

    def _how_it_stands(self, window):
        device = self.device and (self.device.finished, self.device.tracker_time_us())
        state = window.state
        return (
            f"{window._header.label.text()!r}; device {device}; shown {state._latest_us}; "
            f"{state.trial}; {state.posterior}; {state.playback}; {self.engine.ask('status')}"
        )

    def _far_ahead(self, window):
        """Say whether the device has played what a busy machine has not shown yet."""
        shown_us = window.state._latest_us or FIRST_US
        return self.device.tracker_time_us() - shown_us > FAR_AHEAD_US

    def finish(self):
        self.device.stop()
        self._recorder.drain()
        self._recorder.finish("over")
        self._sender.end_run("over")

    def close(self):
        if self.device is not None:
            self._writer.close()
            self._lines.close()
        self.engine.kill()
        self._holder.close()


@pytest.fixture
def lab(tmp_path, make_window):
    lab = Lab(tmp_path / "session", make_window)
    yield lab
    lab.close()


def header(words):
    return lambda window: words in window._header.label.text()


def test_a_whole_session(lab, make_window, qtbot):
    lab.until(header("Waiting for a run"))
    lab.begin()
    lab.until(lambda w: w.state.posterior is not None and not w.state.posterior.settled)
    lab.until(lambda w: "RUNNING" in [label.text() for label in w.findChildren(QLabel)])
    state = lab.window.state
    assert state.run.session == "s1"
    assert len(state.model.viewer_ids) == 5
    lab.until(lambda w: len(w.state.traces) > 100)  # not of what the engine caught up with
    assert state.trial.image.endswith(".jpg")
    assert lab.window.panels["gaze"]._image.isVisible()
    lab.until(lambda w: w.state.summaries and w.state.history.points)

    lab.until(lambda w: w._actions["pause"].isEnabled(), play=False)
    qtbot.keyClick(lab.window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    lab.until(header("Replay paused"), play=False)
    assert lab.device.playback().paused
    qtbot.keyClick(lab.window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    lab.until(header("Replay 1×"))

    lab.until(lambda w: w.state.trial is not None and w.state.trial.index == 2)
    late = lab.open_window()
    lab.until(lambda w: w.state.run == state.run and w.state.posterior is not None, late)
    settled = [point for point in late.state.history.points if point.settled]
    assert settled[0].tracker_time_us < late.state.trial.tracker_time_us, "what it had missed"

    lab.until(lambda w: lab.device.finished)
    lab.finish()
    lab.until(header("Run ended: over"))
    posterior = state.posterior
    assert posterior.settled
    assert posterior.n_saccades > 10
    assert posterior.n_images == N_TRIALS
    assert [line.text for line in state.log.lines if line.level == "error"] == []
    after_the_last_image = len(state.main_sequence.points().amplitude_deg) - posterior.n_saccades
    assert 0 <= after_the_last_image <= 2


def test_a_killed_engine_is_replaced(lab):
    lab.begin()
    lab.until(lambda w: w.state.trial is not None and w.state.trial.index == 2)
    lab.until(lambda w: w.state.posterior is not None and len(w.state.scene.saccades) > 0)
    before = lab.window.state.posterior
    lab.engine.kill()
    lab.until(header("Waiting for engine"))
    assert lab.window.state.posterior is not None, "what was known stays"
    lab.start_engine()
    lab.until(header("Replay 1×"))
    lab.until(lambda w: lab.device.finished)
    lab.finish()
    lab.until(header("Run ended"))
    state = lab.window.state
    assert state.posterior.n_saccades > before.n_saccades
    assert state.ranking.n_images == N_TRIALS
    settled = [point for point in state.history.points if point.settled]
    assert len(settled) == N_TRIALS
    assert len(state.history.boundaries) == N_TRIALS
    more = len(state.main_sequence.points().amplitude_deg) - state.posterior.n_saccades
    assert 0 <= more <= 2, "none of those that the second engine found anew"
