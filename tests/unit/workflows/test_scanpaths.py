"""Whatever train and identify are given becomes labelled scanpaths."""

import shutil

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.analysis.recording import analyse
from gazelive.errors import ConfigError, RecordingError
from gazelive.features.scanpath import scanpath_of
from gazelive.recordings.geometry import parse_geometry
from gazelive.recordings.open import read_recording
from gazelive.recordings.trials import TrialPatterns
from gazelive.workflows.gathering import gather
from gazelive.workflows.probes import Detector

from ...support.people import people, small_corpus, write_table

SCREEN = parse_geometry("800x600", "345x256", "570")


@pytest.fixture
def corpus():
    return small_corpus()


@pytest.fixture
def table(tmp_path):
    return write_table(tmp_path / "fixations.csv", people(3), 4, 6)


class TestCorpora:
    def test_each_recording_is_a_probe_named_as_in_the_corpus(self, corpus):
        gathered = gather(corpus)
        assert gathered.kind == "samples"
        assert [p.name for p in gathered.probes[:3]] == ["v001_s1", "v001_s2", "v002_s1"]
        assert [(p.viewer, p.session) for p in gathered.probes[:3]] == [
            ("v001", "1"),
            ("v001", "2"),
            ("v002", "1"),
        ]
        assert gathered.sampling_rates_hz == (250.0,)
        for probe in gathered.probes:
            assert len(probe.scanpaths) == 6
            assert all(path.image for path in probe.scanpaths)
            assert probe.seconds == pytest.approx(18, abs=0.2)
            assert probe.n_saccades > 20

    def test_scanpaths_are_those_of_the_analysis(self, corpus):
        probe = gather(corpus, sessions=["2"]).probes[1]
        analysis = analyse(read_recording(corpus / "v002_s2"))
        expected = [scanpath_of(i.gaze, i.interval.image) for i in analysis.intervals]
        assert [p.image for p in probe.scanpaths] == [p.image for p in expected]
        for a, b in zip(probe.scanpaths, expected, strict=True):
            np.testing.assert_array_equal(a.saccades, b.saccades)
            np.testing.assert_array_equal(a.fixations, b.fixations)

    def test_what_was_known_while_it_ran(self, corpus):
        quiet, told = gather(corpus), gather(corpus, running=True)
        for probe, known in zip(quiet.probes, told.probes, strict=True):
            assert probe.running == ()
            assert len(known.running) == len(known.scanpaths)
            n_running = sum(map(len, known.running))
            assert n_running == pytest.approx(known.n_saccades, rel=0.15)
            image = known.scanpaths[-1].image
            only = known.only({image})
            assert only.running == (known.running[-1],)
            assert only.followed_by(only).running == 2 * only.running

    def test_the_list_itself_may_be_named(self, corpus):
        assert len(gather(corpus / "corpus.csv", sessions=["1"]).probes) == 4

    def test_what_is_chosen(self, corpus):
        image = gather(corpus, sessions=["1"]).probes[0].scanpaths[0].image
        gathered = gather(
            corpus, sessions=["1"], images=[image, "other.jpg"], exclude_viewers=["v002", "v004"]
        )
        assert {p.viewer for p in gathered.probes} <= {"v001", "v003"}
        assert {path.image for p in gathered.probes for path in p.scanpaths} == {image}
        assert any("1 of the 2 images named are not in" in text for text in gathered.warnings)

    def test_another_detector(self, corpus):
        plain = gather(corpus, sessions=["1"], exclude_viewers=["v002", "v003", "v004"])
        other = gather(
            corpus,
            sessions=["1"],
            exclude_viewers=["v002", "v003", "v004"],
            detector=Detector("engbert-kliegl"),
        )
        assert plain.probes[0].n_saccades != other.probes[0].n_saccades

    def test_progress_ends_at_one(self, corpus):
        seen = []
        gather(corpus, sessions=["2"], progress=seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1

    @pytest.mark.parametrize(
        ("chosen", "message"),
        [
            ({"sessions": ["3"]}, "no session 3; it has 1, 2"),
            ({"exclude_viewers": ["anna"]}, "no viewer anna; it has v001"),
            ({"images": ["mars.jpg"]}, "none of the 1 images named is in"),
        ],
    )
    def test_slips_of_the_pen(self, corpus, chosen, message):
        with pytest.raises(ConfigError, match=message):
            gather(corpus, **chosen)

    def test_nothing_is_left(self, corpus):
        with pytest.raises(RecordingError, match="no recordings left"):
            gather(corpus, exclude_viewers=["v001", "v002", "v003", "v004"])


class TestBrokenRecordings:
    @pytest.fixture
    def two(self, corpus, tmp_path):
        """A corpus of a session that is whole and of one that is not."""
        shutil.copytree(corpus / "v001_s1", tmp_path / "whole")
        (tmp_path / "broken.asc").write_text("MSG 12 no samples here\n")
        (tmp_path / "corpus.csv").write_text(
            "recording,viewer,session\nwhole,anna,1\nbroken.asc,ben,1\n"
        )
        return tmp_path

    def test_they_are_left_out_and_told(self, two):
        gathered = gather(two)
        assert [p.viewer for p in gathered.probes] == ["anna"]
        assert any(
            "broken.asc" in text and "the recording is left out" in text
            for text in gathered.warnings
        )

    def test_where_nothing_is_whole_the_reasons_are_told(self, two):
        with pytest.raises(RecordingError, match=r"no recordings left.*\n.*broken\.asc"):
            gather(two, exclude_viewers=["anna"])

    def test_a_line_without_a_viewer_is_told_too(self, two):
        (two / "corpus.csv").write_text("recording,viewer,session\nwhole,anna,1\nbroken.asc,,1\n")
        assert any("no viewer in line 3" in text for text in gather(two).warnings)

    def test_a_recording_in_which_nobody_looks_is_still_a_probe(self, two):
        lines = ["t_ms,x_deg,y_deg", *(f"{4 * i},," for i in range(1000))]
        (two / "blind.csv").write_text("\n".join(lines) + "\n")
        (two / "corpus.csv").write_text("recording,viewer,session\nwhole,anna,1\nblind.csv,ben,1\n")
        blind = gather(two).probes[1]
        assert (blind.name, blind.viewer, blind.n_saccades) == ("blind.csv", "ben", 0)

    def test_a_recording_elsewhere_keeps_its_name(self, two, corpus):
        (two / "corpus.csv").write_text(
            f"recording,viewer,session\n{(corpus / 'v002_s1').as_posix()},ben,1\n"
            "../" + two.name + "/whole,anna,1\n"
        )
        names = [p.name for p in gather(two).probes]
        assert names == [(corpus / "v002_s1").as_posix(), f"../{two.name}/whole"]


def test_a_recording_alone_is_a_probe_without_a_label(corpus):
    gathered = gather(corpus / "v003_s1")
    (probe,) = gathered.probes
    assert (probe.name, probe.viewer, probe.session) == ("v003_s1", None, "")
    assert len(probe.scanpaths) == 6


@pytest.mark.parametrize("what", ["nothing here", "a folder", "a text"])
def test_what_is_no_source(tmp_path, what):
    path = tmp_path / "x"
    if what == "a folder":
        path.mkdir()
    elif what == "a text":
        path.write_text("hello")
    with pytest.raises(RecordingError, match="x: "):
        gather(path)


class TestFixationTables:
    def test_each_label_is_a_probe(self, table):
        gathered = gather(table)
        assert gathered.kind == "fixations"
        assert [p.name for p in gathered.probes] == ["p0000", "p0001", "p0002"]
        assert gathered.sampling_rates_hz == ()
        for probe, person in zip(gathered.probes, people(3), strict=True):
            assert [path.image for path in probe.scanpaths] == [f"im{i}.jpg" for i in range(4)]
            for i, path in enumerate(probe.scanpaths):
                expected = person.looks("fixations", 6, i)
                np.testing.assert_allclose(path.fixations, expected.fixations, atol=1e-4)
                np.testing.assert_allclose(path.saccades, expected.saccades, atol=1e-2)

    @settings(max_examples=10)
    @given(order=st.randoms(use_true_random=False))
    def test_fixations_are_put_in_order(self, tmp_path_factory, order):
        folder = tmp_path_factory.mktemp("t")
        path = write_table(folder / "a.csv", people(2), 3, 4)
        head, *rows = path.read_text().splitlines()
        shuffled = folder / "b.csv"
        shuffled.write_text("\n".join([head, *order.sample(rows, len(rows))]) + "\n")
        by_image = [
            {
                (probe.name, scanpath.image): scanpath.saccades
                for probe in gather(source).probes
                for scanpath in probe.scanpaths
            }
            for source in (path, shuffled)
        ]
        assert set(by_image[0]) == set(by_image[1])
        for key, rows_of in by_image[0].items():
            np.testing.assert_array_equal(by_image[1][key], rows_of)

    def test_sessions_are_told_apart(self, tmp_path):
        path = write_table(tmp_path / "s.csv", people(2), 3, 5, sessions=("a", "b"))
        gathered = gather(path)
        assert [(p.name, p.session) for p in gathered.probes] == [
            ("p0000", "a"),
            ("p0000", "b"),
            ("p0001", "a"),
            ("p0001", "b"),
        ]
        assert {p.session for p in gather(path, sessions=["b"]).probes} == {"b"}
        with pytest.raises(ConfigError, match=r"session c; .*a, b"):
            gather(path, sessions=["c"])

    def test_pixels_need_a_screen(self, tmp_path):
        path = write_table(tmp_path / "px.csv", people(1), 2, 5, unit="px")
        with pytest.raises(RecordingError, match="--screen"):
            gather(path)
        found = gather(path, flags=SCREEN).probes[0].scanpaths[0].fixations
        screen = SCREEN.screen_geometry()
        px = people(1)[0].looks("fixations", 5, 0).fixations
        x_deg, y_deg = screen.px_to_deg(px[:, 0], px[:, 1])
        np.testing.assert_allclose(found[:, 0], x_deg, atol=1e-3)
        np.testing.assert_allclose(found[:, 1], y_deg, atol=1e-3)

    def test_what_is_wrong_with_a_table_is_told(self, table):
        text = table.read_text() + "p0000,im9.jpg,1,,3,200\np0001,im9.jpg,1,2,3,-5\n"
        table.write_text(text)
        assert any("2 rows are incomplete" in text for text in gather(table).warnings)

    def test_repeated_rows_change_nothing(self, table):
        before = sum(probe.n_saccades for probe in gather(table).probes)
        head, *rows = table.read_text().splitlines()
        table.write_text("\n".join([head, *rows, *rows[:7]]) + "\n")
        gathered = gather(table)
        assert sum(probe.n_saccades for probe in gathered.probes) == before
        assert gathered.warnings == (f"{table}: 7 rows are repeated: skipped",)

    def test_there_are_no_messages_to_mark_trials(self, table):
        gathered = gather(table, trial_patterns=TrialPatterns(start="PIC"))
        assert gathered.warnings == (
            f"{table}: a fixation table has no messages, so none start a trial",
        )

    def test_viewers_and_images_that_are_chosen(self, table):
        gathered = gather(table, images=["im2.jpg"], exclude_viewers=["p0001"])
        assert [(p.name, len(p.scanpaths)) for p in gathered.probes] == [("p0000", 1), ("p0002", 1)]
        with pytest.raises(ConfigError, match="no viewer zoe"):
            gather(table, exclude_viewers=["zoe"])
