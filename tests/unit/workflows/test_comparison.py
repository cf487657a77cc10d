"""What events are compared with."""

import json
from pathlib import Path

import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.recordings.recording import Recording
from gazelive.workflows.comparison import compare
from gazelive.workflows.event_spans import label_name, searched_for
from gazelive.workflows.labels import tracker_labels_ms


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


class TestWords:
    @pytest.mark.parametrize(
        ("word", "name"),
        [
            *(("2", "saccade"), ("2.0", "saccade"), ("SAC", "saccade"), ("Saccades", "saccade")),
            *(("ISAC", "saccade"), ("ESACC", "saccade"), ("1", "fixation"), ("FIXA", "fixation")),
            *(("PSO", "oscillation"), ("post-saccadic oscillation", "oscillation")),
            *(("smooth_pursuit", "pursuit"), ("SP", "pursuit"), ("BLNK", "blink")),
            *((None, "undefined"), (" ", "undefined"), ("0", "undefined"), ("9", "9")),
        ],
    )
    def test_coders_and_tools(self, word, name):
        assert label_name(word) == name


class TestWhatIsDoubtful:
    ONSETS_MS = (100, 350, 700, 980, 1400, 1650, 2100)

    @pytest.fixture
    def events(self, tmp_path):
        return self.write(tmp_path / "events.csv", self.ONSETS_MS)

    @staticmethod
    def write(path, onsets_ms, length_ms=30, unit=1.0):
        rows = [f"{t * unit},{(t + length_ms) * unit}" for t in onsets_ms]
        path.write_text("onset_ms,offset_ms\n" + "\n".join(rows) + "\n")
        return path

    def test_one_clock_agrees(self, events):
        result = compare(events, events)
        assert result.agreement.kappa == 1
        assert result.warnings == ()

    def test_a_clock_that_is_ahead_is_told(self, events, tmp_path):
        ahead = self.write(tmp_path / "ahead.csv", [t + 120 for t in self.ONSETS_MS])
        (warning,) = compare(events, ahead).warnings
        assert "moved by -120 ms" in warning

    def test_labels_without_a_saccade_are_told(self, events, tmp_path):
        labels = tmp_path / "labels.csv"
        rows = "\n".join(f"{t},{1 + 8 * (t % 2)}" for t in range(3000))
        labels.write_text(f"t_ms,label\n{rows}\n")
        unknown, nothing = compare(events, labels).warnings
        assert "label 9 is not known" in unknown
        assert "no saccade to compare with" in nothing

    @pytest.mark.parametrize(("unit", "says"), [(1e-3, "in seconds"), (1e3, "in microseconds")])
    def test_another_unit_is_refused(self, events, tmp_path, unit, says):
        other = self.write(tmp_path / "other.csv", self.ONSETS_MS, unit=unit)
        for pair in ((events, other), (other, events)):
            with pytest.raises(RecordingError, match=says):
                compare(*pair)


class TestWhereDetectLooked:
    @staticmethod
    def searched(events, *spans_ms, eye=None):
        intervals = [{"start_us": a * 1000, "end_us": b * 1000} for a, b in spans_ms]
        sidecar = events.with_name(events.name + ".meta.json")
        sidecar.write_text(json.dumps({"intervals": intervals, "eye": eye}))

    @pytest.fixture
    def events(self, tmp_path):
        path = tmp_path / "events.csv"
        path.write_text("onset_ms,offset_ms\n120,150\n")
        return path

    def test_sample_labels_elsewhere_do_not_count(self, events, tmp_path):
        self.searched(events, (100, 200))
        labels = tmp_path / "labels.csv"
        words = [2 if t % 100 in range(20, 51) else 1 for t in range(1000)]
        rows = "\n".join(f"{t},{word}" for t, word in enumerate(words))
        labels.write_text(f"t_ms,label\n{rows}\n")
        result = compare(events, labels)
        assert result.agreement.f1 == 1
        assert result.n_samples == 100
        assert result.confusion["not searched"] == (0, 900)

    def test_event_labels_of_another_time_are_refused(self, events, tmp_path):
        self.searched(events, (100, 200))
        labels = tmp_path / "labels.csv"
        labels.write_text("onset_ms,offset_ms\n5000,5030\n")
        with pytest.raises(RecordingError, match="of one clock"):
            compare(events, labels)

    def test_trials_that_share_their_times_are_refused(self, events):
        self.searched(events, (0, 200), (0, 200))
        with pytest.raises(RecordingError, match="time begins anew"):
            compare(events, events)

    def test_only_the_eye_that_was_searched_counts(self, events):
        self.searched(events, (0, 200), eye="R")
        assert searched_for(events).eyes == "R"
        labels = tracker_labels_ms(
            recording(event("saccade", "L", 10, 40), event("saccade", "R", 12, 44)), "R"
        )
        assert dict(labels)["saccade"].tolist() == [[12, 44]]

    def test_every_kind_of_event_has_its_row(self, events, tmp_path):
        labels = tmp_path / "labels.csv"
        labels.write_text("onset_ms,offset_ms,kind\n0,119,FIX\n120,150,SAC\n151,170,PSO\n")
        confusion = compare(events, labels).confusion
        assert confusion == {"fixation": (0, 120), "saccade": (31, 0), "oscillation": (0, 20)}
