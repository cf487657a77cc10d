"""The Python API; runs the examples of docs/python.md."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import gazelive
from gazelive.workflows.sources import in_python, labelled, names_of

from ..support.people import people, small_corpus, write_table
from .cli.lab_recordings import N_TRIALS, damage, lab_corpus, lab_recording

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.mark.slow
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```pycon\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    page = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, None, None)
    told: list[str] = []
    outcome = doctest.DocTestRunner().run(page, out=told.append)
    assert not outcome.failed, "".join(told)
    assert outcome.attempted > 20


def test_importing_gazelive_imports_nothing_heavy() -> None:
    code = (
        "import sys, gazelive; print({'numpy', 'numba', 'gazelive.workflows'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout.strip() == "set()"


def test_a_tracker_without_a_window_needs_no_psychopy(tmp_path: Path) -> None:
    code = (
        "import sys, gazelive; gazelive.Tracker('simulated', quiet=True).close(); "
        "print({'psychopy', 'PyQt6', 'sklearn'} & set(sys.modules))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, cwd=tmp_path
    )
    assert found.stdout.strip() == "set()"


def test_every_public_name_is_there() -> None:
    assert all(hasattr(gazelive, name) for name in gazelive.__all__)
    assert set(gazelive.__all__) <= set(dir(gazelive))


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="attribute nothing"):
        gazelive.nothing  # noqa: B018  the lookup is what is tested


@pytest.fixture
def columns(eye_steps: tuple[np.ndarray, np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
    times_us, x_deg, y_deg = eye_steps
    return {"t_ms": times_us / 1000, "x_deg": x_deg, "y_deg": y_deg}


def test_columns_in_every_shape_are_one_recording(columns: dict[str, np.ndarray]) -> None:
    n_saccades = {
        gazelive.detect(gazelive.from_columns(given)).saccades.num_rows
        for given in (columns, pa.table(columns), {n: list(c) for n, c in columns.items()})
    }
    assert n_saccades == {6}


def test_pixels_need_a_screen_and_take_where_the_eye_is(columns: dict[str, np.ndarray]) -> None:
    screen = gazelive.ScreenGeometry(
        width_px=1920,
        height_px=1080,
        width_mm=535,
        height_mm=301,
        eye_distance_mm=600,
        eye_y_mm=40.0,
    )
    x_px, y_px = screen.deg_to_px(columns["x_deg"], columns["y_deg"])
    recording = gazelive.from_columns({"t_ms": columns["t_ms"], "x_px": x_px, "y_px": y_px})
    with pytest.raises(gazelive.GazeliveError, match="size and distance"):
        gazelive.detect(recording)
    found = gazelive.detect(recording, screen=screen)
    assert np.abs(found.saccades["start_y_deg"].to_numpy()).max() < 0.2
    assert found.settings["geometry"][0]["screen"]["eye_y_mm"] == 40.0


def test_problems_are_warnings(columns: dict[str, np.ndarray]) -> None:
    with pytest.warns(gazelive.GazeliveWarning, match="columns ignored: mood"):
        gazelive.from_columns({**columns, "mood": columns["t_ms"]})


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"t_ms": [1.0], "x_deg": [0.0], "y_deg": [0.0]}, "give sampling_rate_hz"),
        ({"t_ms": [1.0, 2.0], "x_deg": [0.0], "y_deg": [0.0, 0.0]}, "equal length"),
        ({"t_ms": 1.0, "x_deg": 0.0, "y_deg": 0.0}, "equal length"),
        ({"t_ms": [1, 2], "x_deg": ["a", "b"], "y_deg": [0, 0]}, "x_deg is string"),
        ({"time": [1, 2]}, "a sample table needs t_ms"),
    ],
)
def test_invalid_columns_are_refused(columns: dict[str, list[float]], reason: str) -> None:
    with pytest.raises(gazelive.GazeliveError, match=reason):
        gazelive.from_columns(columns)


def test_a_missing_folder_is_reported_before_reading(tmp_path: Path) -> None:
    with pytest.raises(gazelive.GazeliveError, match="no such folder"):
        gazelive.train(tmp_path, stimuli=tmp_path / "nowhere")


@pytest.mark.parametrize("names", ["12", 12, ["12"], (12,)])
def test_one_name_is_as_good_as_a_list(names: str | int | list[str] | tuple[int]) -> None:
    assert names_of(names) == ("12",)


VIEWERS = ("v001", "v002", "v003", "v004")


@pytest.fixture(scope="module")
def corpus() -> Path:
    return small_corpus()


@pytest.fixture(scope="module")
def model(corpus: Path) -> gazelive.Model:
    recordings = {viewer: gazelive.read(corpus / f"{viewer}_s1") for viewer in VIEWERS}
    with pytest.warns(gazelive.GazeliveWarning, match="one session per viewer"):
        return gazelive.train(recordings)


@pytest.mark.filterwarnings("ignore:one session|fewer than 100|. viewers are too few")
class TestRecordingsInMemory:
    """`train` and `identify` without files."""

    def test_they_make_the_model_of_their_files(self, corpus: Path, model: gazelive.Model) -> None:
        of_files = gazelive.train(corpus, sessions=1)
        assert model.viewers == of_files.viewers == VIEWERS
        path = corpus / "v003_s2"
        [by_path], [by_recording] = of_files.identify(path), model.identify(gazelive.read(path))
        assert by_recording.probe == by_path.probe == "v003_s2"
        assert by_recording.posterior == by_path.posterior
        assert by_recording.course == by_path.course
        assert model.trained.provenance.source == "recordings in memory"
        assert model.trained.provenance.sessions == ("1",)

    def test_several_have_one_answer_each_in_their_order(
        self, corpus: Path, model: gazelive.Model
    ) -> None:
        paths = [corpus / f"{viewer}_s2" for viewer in ("v004", "v001")]
        given = (gazelive.read(paths[0]), str(paths[1]))
        found = model.identify(given)
        assert [who.probe for who in found] == ["v004_s2", "v001_s2"]
        assert [who.posterior for who in found] == [
            model.identify(path)[0].posterior for path in paths
        ]

    def test_viewers_can_come_from_the_recordings(self, corpus: Path) -> None:
        recordings = [
            gazelive.read(corpus / f"{viewer}_s{n}") for viewer in VIEWERS for n in (1, 2)
        ]
        model = gazelive.train(recordings, sessions=[2], exclude_viewers="v002")
        assert model.viewers == ("v001", "v003", "v004")
        assert model.trained.provenance.sessions == ("2",)
        nameless = replace(recordings[0], viewer=None, session=None)
        with pytest.raises(gazelive.GazeliveError, match=r"recording 2 .*viewer"):
            gazelive.train([recordings[0], nameless])
        found = labelled({"anna": [nameless, corpus / "v001_s2", recordings[0]]})
        assert [(one.viewer, one.session) for one in found] == [
            ("anna", "1"),
            ("anna", "2"),
            ("anna", "1"),
        ]

    def test_columns_carry_viewer_and_session(self, columns: dict[str, np.ndarray]) -> None:
        recording = gazelive.from_columns(columns, viewer="anna", session=3)
        assert (recording.viewer, recording.session) == ("anna", "3")

    def test_damage_is_reported_on_reading_only(
        self, model: gazelive.Model, tmp_path: Path
    ) -> None:
        path = damage(lab_recording(tmp_path / "broken.asc", "v001", "2"))
        screen = gazelive.read(small_corpus() / "v001_s2").screen
        with pytest.warns(gazelive.GazeliveWarning) as told:
            recording = gazelive.read(path)
        assert [str(one.message).partition(": ")[2] for one in told] == [
            "not a line of an ASC file: skipped (and 1 more line)"
        ]
        [who] = model.identify(recording, screen=screen)
        with pytest.warns(gazelive.GazeliveWarning, match=r"broken\.asc:\d+: not a line"):
            assert model.identify(path, screen=screen)[0].posterior == who.posterior

    def test_patterns_are_kept_with_the_model(self, tmp_path: Path) -> None:
        lab = lab_corpus(tmp_path, ("1", "2"))
        screen = gazelive.read(small_corpus() / "v001_s2").screen
        own = gazelive.TrialPatterns(start=r"PIC (?P<name>\d+)", stop="DONE")
        model = gazelive.train(lab, sessions=1, screen=screen, trial_patterns=own)
        assert len(model.trained.training) == 2 * N_TRIALS
        read = gazelive.read(lab / "v002_s2.asc", trial_patterns=own)
        [by_path] = model.identify(lab / "v002_s2.asc", screen=screen)
        [by_recording] = model.identify(read, screen=screen)
        assert by_path.posterior == by_recording.posterior

    @pytest.mark.parametrize("source", [{"t_ms": [1.0]}, [], [3], 3, pa.table({"t_ms": [1.0]})])
    def test_other_objects_are_refused(self, model: gazelive.Model, source: Any) -> None:
        with pytest.raises(gazelive.GazeliveError, match=r"gazelive\.from_c"):
            model.identify(source)
        with pytest.raises(gazelive.GazeliveError, match=r"gazelive\.from_c"):
            gazelive.train({"anna": source})

    def test_a_model_of_a_table_takes_none(self, corpus: Path, tmp_path: Path) -> None:
        with pytest.warns(gazelive.GazeliveWarning):
            model = gazelive.train(write_table(tmp_path / "t.csv", people(2), 6, 12))
        with pytest.raises(gazelive.GazeliveError, match="on a fixation table"):
            model.identify(gazelive.read(corpus / "v001_s1"))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("compare with --preset noisy", 'compare with parameters="noisy"'),
        ("leave out --eye, or choose another", "leave out eye, or choose another"),
        ("allow a higher rate (--far)", "allow a higher rate (false_acceptance_rate)"),
        ("--far-away stays an option of its own", "far_away stays an option of its own"),
        ("a well-known range, 5--6", "a well-known range, 5--6"),
    ],
)
def test_warnings_name_arguments_of_functions(sentence: str, expected: str) -> None:
    assert in_python(sentence) == expected


def test_a_recording_is_short_in_a_notebook_and_a_data_frame(
    columns: dict[str, np.ndarray],
) -> None:
    recording = gazelive.from_columns(columns)
    assert repr(recording).startswith("<Recording ")
    assert "1 block, 0 trials" in repr(recording)
    frame = recording.to_pandas()
    assert list(frame.columns) == ["t_ms", "eye", "x_deg", "y_deg"]
    assert len(frame) == recording.n_samples
    found = gazelive.detect(recording)
    assert repr(found).startswith("<Detected in ")
    assert len(repr(found)) < 120
    assert repr(gazelive.Study()) == "<Study of no method: tables >"
