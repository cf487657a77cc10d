"""What events are compared with."""

import json
from pathlib import Path

import pytest

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.recordings.recording import Recording
from gazelive.workflows.comparison import Mismatch, compare, mismatch_table
from gazelive.workflows.event_spans import label_name, parse_codes, searched_for
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


class TestSamplesAreCounted:
    """At 250 Hz a second has 250 samples, not 1000."""

    @pytest.fixture
    def events(self, tmp_path):
        path = tmp_path / "events.csv"
        path.write_text("onset_ms,offset_ms\n1100,1140\n1500,1520\n")
        return path

    @staticmethod
    def searched(events, rate_hz):
        interval = {"start_us": 1_000_000, "end_us": 2_000_000, "sampling_rate_hz": rate_hz}
        events.with_name(events.name + ".meta.json").write_text(
            json.dumps({"intervals": [interval]})
        )

    @pytest.mark.parametrize(("rate_hz", "n_inside"), [(250, 11 + 6), (500, 21 + 11)])
    def test_of_events_that_detect_wrote(self, events, rate_hz, n_inside):
        self.searched(events, rate_hz)
        result = compare(events, events)
        assert result.n_samples == rate_hz
        assert result.sample_ms == 1000 / rate_hz
        assert result.confusion == {
            "saccade": (n_inside, 0),
            "no saccade": (0, rate_hz - n_inside),
        }

    def test_of_a_recording(self, events, tmp_path):
        path = tmp_path / "gaze.asc"
        lines = [f"{t}\t  500.0\t  400.0\t 1000.0\t...\n" for t in range(1000, 2000, 4)]
        path.write_text(
            "START\t1000 \tLEFT\tSAMPLES\tEVENTS\n"
            "SAMPLES\tGAZE\tLEFT\tRATE\t 250.00\tTRACKING\tCR\tFILTER\t2\n"
            + "".join(lines)
            + "ESACC L  1100\t1140\t44\t  500.0\t  400.0\t  600.0\t  400.0\t  3.00\t    200\n"
            "END\t1999 \tSAMPLES\tEVENTS\tRES\t  35.19\t  35.15\n"
        )
        result = compare(events, path)
        assert (result.n_samples, result.sample_ms) == (250, 4)
        assert result.confusion["saccade"] == (11, 0)

    def test_of_tables_that_do_not_say_their_rate(self, events):
        assert compare(events, events).sample_ms is None


class TestMismatches:
    def test_what_was_missed_and_what_was_extra(self, tmp_path):
        events, labels = tmp_path / "events.csv", tmp_path / "labels.csv"
        events.write_text("onset_ms,offset_ms\n100,130\n300,330\n700,710\n")
        labels.write_text(
            "onset_ms,offset_ms,kind\n0,99,fixation\n102,130,saccade\n200,240,saccade\n"
            "290,400,pursuit\n700,712,saccade\n800,900,fixation\n"
        )
        result = compare(events, labels)
        assert result.mismatches == (
            Mismatch("missed", 200, 240, "saccade"),
            Mismatch("extra", 300, 330, "pursuit"),
        )
        assert mismatch_table(result).to_pylist()[1] == {
            "what": "extra",
            "onset_ms": 300.0,
            "offset_ms": 330.0,
            "label": "pursuit",
        }

    def test_none(self, tmp_path):
        events = tmp_path / "events.csv"
        events.write_text("onset_ms,offset_ms\n100,130\n")
        assert mismatch_table(compare(events, events)).num_rows == 0


class TestOtherSchemes:
    @pytest.fixture
    def events(self, tmp_path):
        path = tmp_path / "events.csv"
        path.write_text("onset_ms,offset_ms\n100,120\n160,180\n")
        return path

    @pytest.fixture
    def labels(self, tmp_path):
        """A saccade (2), pursuit (3), and noise (4) around the second event."""
        path = tmp_path / "labels.csv"
        codes = [2 if 100 <= t <= 120 else 4 if t >= 150 else 3 for t in range(0, 300, 4)]
        rows = "".join(f"{4 * k},{code}\n" for k, code in enumerate(codes))
        path.write_text("t_ms,label\n" + rows)
        return path

    @pytest.mark.parametrize("codes", ["gazecom", "GazeCom", "3=pursuit, 4=noise"])
    def test_gazecom(self, events, labels, codes):
        result = compare(events, labels, codes=parse_codes(codes, "--codes"))
        assert set(result.confusion) == {"saccade", "pursuit", "undefined"}
        assert result.n_samples == 38
        assert result.agreement.n_found == 1, "noise is not compared"
        assert result.agreement.f1 == 1

    def test_usual_codes(self, events, labels):
        result = compare(events, labels)
        assert set(result.confusion) == {"saccade", "oscillation", "pursuit"}
        assert result.agreement.n_found == 2

    @pytest.mark.parametrize("codes", ["zemblys", "3", "3=", "=saccade", "3=wobble"])
    def test_mistakes(self, codes):
        with pytest.raises(ConfigError, match=r"must be lund2013 or gazecom, or a list such as"):
            parse_codes(codes, "--codes")


class TestKinds:
    """Both sides may say what each event is; only saccades are compared."""

    ROWS = "100,130,saccade\n200,240,blink_artefact\n241,260,tracker_jump\n300,330,saccade\n"

    def test_artefacts_are_left_out_of_both_sides(self, tmp_path):
        events, plain = tmp_path / "events.csv", tmp_path / "plain.csv"
        events.write_text("onset_ms,offset_ms,kind\n" + self.ROWS)
        plain.write_text("onset_ms,offset_ms\n100,130\n300,330\n")
        for pair in ((events, plain), (plain, events), (events, events)):
            result = compare(*pair)
            assert (result.agreement.n_found, result.agreement.n_reference) == (2, 2)
            assert result.agreement.f1 == 1
            assert result.warnings == ()
        assert compare(plain, events).confusion["artefact"] == (0, 61)

    def test_nothing_but_artefacts(self, tmp_path):
        events, plain = tmp_path / "events.csv", tmp_path / "plain.csv"
        events.write_text("onset_ms,offset_ms,kind\n200,260,blink_artefact\n")
        plain.write_text("onset_ms,offset_ms\n100,130\n300,330\n")
        assert compare(events, plain).agreement.n_found == 0
