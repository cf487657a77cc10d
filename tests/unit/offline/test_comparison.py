"""What events are compared with."""

from pathlib import Path

import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.offline.comparison import tracker_labels_ms
from gazelive.recordings.recording import Recording


def event(kind, eye, start_ms, end_ms):
    return TrackerEvent(kind=kind, eye=eye, start_us=start_ms * 1000, end_us=end_ms * 1000)


def recording(*events):
    return Recording(path=Path("x.asc"), format="asc", blocks=(), tracker_events=events)


def test_what_the_tracker_puts_around_a_blink_is_no_saccade():
    labels = tracker_labels_ms(
        recording(
            event("saccade", "L", 10, 40),
            event("saccade", "R", 12, 44),
            event("blink", "L", 110, 200),
            event("saccade", "L", 100, 220),
            event("saccade", "R", 300, 330),
        )
    )
    assert {name: spans.tolist() for name, spans in labels} == {
        "blink": [[100, 220]],
        "saccade": [[10, 44], [300, 330]],
    }


def test_a_tracker_that_saw_nothing():
    with pytest.raises(RecordingError, match="nothing to compare with"):
        tracker_labels_ms(recording(event("blink", "L", 1, 5)))
