"""What notebooks call; docs/python.md is run as it stands."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import gazelive

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
    code = "import sys, gazelive; print({'numpy', 'numba', 'gazelive.api'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert found.stdout.strip() == "set()"


def test_every_public_name_is_there() -> None:
    from gazelive import api

    assert gazelive.__all__ == api.__all__
    assert all(hasattr(gazelive, name) for name in gazelive.__all__)
    assert set(gazelive.__all__) <= set(dir(gazelive))


def test_another_name_is_none() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
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
    with pytest.raises(gazelive.GazeliveError, match="size and distance of the screen"):
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
        ({"t_ms": [1.0, 2.0], "x_deg": [0.0], "y_deg": [0.0, 0.0]}, "equally long"),
        ({"t_ms": 1.0, "x_deg": 0.0, "y_deg": 0.0}, "equally long"),
        ({"t_ms": [1, 2], "x_deg": ["a", "b"], "y_deg": [0, 0]}, "x_deg is string"),
        ({"time": [1, 2]}, "a sample table needs t_ms"),
    ],
)
def test_columns_that_are_no_recording(columns: dict[str, list[float]], reason: str) -> None:
    with pytest.raises(gazelive.GazeliveError, match=reason):
        gazelive.from_columns(columns)


def test_a_folder_that_is_not_there_is_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(gazelive.GazeliveError, match="there is no such folder"):
        gazelive.train(tmp_path, stimuli=tmp_path / "nowhere")


@pytest.mark.parametrize("names", ["12", 12, ["12"], (12,)])
def test_one_name_is_as_good_as_a_list(names: str | int | list[str] | tuple[int]) -> None:
    from gazelive.api.common import names_of

    assert names_of(names) == ("12",)
