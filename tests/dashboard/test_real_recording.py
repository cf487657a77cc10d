"""A real recording, replayed into the window."""

import pytest

pytest.importorskip("PyQt6", reason="the dashboard needs the extra `dashboard`")

from PyQt6.QtWidgets import QApplication

from gazelive.analysis.recording import analyse
from gazelive.recordings.open import read_recording

from ..support.list_feed import ListFeed
from .recorded_documents import recorded_documents


@pytest.mark.parametrize(
    ("name", "eyes"),
    [("mono1000_trials", "right"), ("bino1000", "both"), ("test_raw.edf", "left")],
)
def test_a_recording_fills_every_panel(real_file, make_window, name, eyes):
    analysis = analyse(read_recording(real_file(name)))
    feed = ListFeed()
    window = make_window(feed)
    due_us = None
    for time_us, document in recorded_documents(analysis):
        feed.put(document)
        if due_us is None or time_us > due_us:
            due_us = time_us + 200_000
            window.tick()
            QApplication.processEvents()
    window.tick()
    state = window.state
    assert len(state.main_sequence.points().amplitude_deg) == analysis.n_saccades
    assert len(state.history.boundaries) == len(analysis.intervals)
    last = analysis.intervals[-1].gaze.detection
    assert len(state.scene.saccades) == len(last.saccades)
    assert len(state.scene.fixations) == len(last.fixations)
    assert state.ranking is not None
    assert state.ranking.settled
    assert eyes in window.panels["session"]._facts["Device"]
    for panel in window.panels.values():
        assert getattr(panel, "_hint", None) is None or not panel._hint.isVisible()
    assert [line for line in state.log.lines if line.level == "error"] == []
