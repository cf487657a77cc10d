"""The doctor opens a real PsychoPy window, on a virtual screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gazelive.experiment.config.reading import examine_config
from gazelive.experiment.doctor.display import display, screen_size
from gazelive.experiment.doctor.finding import Situation
from gazelive.system.screen import virtual_display

pytest.importorskip("psychopy", reason="the extra experiment is not installed")


@pytest.fixture(autouse=True)
def _virtual_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with virtual_display((1280, 720)) as name:
        if name is None:
            pytest.skip("Xvfb is not here")
        monkeypatch.setenv("DISPLAY", name)
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
        monkeypatch.setenv("XDG_SESSION_TYPE", "x11")
        yield


def test_a_virtual_screen_is_described(tmp_path: Path) -> None:
    toml = tmp_path / "lab.toml"
    toml.write_text("[screen]\nnumber = 0\n[dashboard]\nopen = false\n")
    situation = Situation(examine_config(toml))
    found = {finding.what: finding for finding in display(situation)}
    assert set(found) == {"display", "OpenGL", "screens", "resolution", "refresh rate"}
    assert found["display"].level == "ok"
    assert found["screens"].text == "1 (0: 1280 × 720 px)"
    assert found["resolution"].level == "fail"
    assert "1280 × 720" in found["resolution"].text
    assert found["OpenGL"].level == "warn"
    assert "software rendering" in found["OpenGL"].text


def test_a_virtual_screen_has_no_millimetres(tmp_path: Path) -> None:
    pytest.importorskip("PyQt6", reason="Qt is not installed")
    toml = tmp_path / "lab.toml"
    toml.write_text("[screen]\nwidth_px = 1280\nheight_px = 720\n[stimuli]\nwidth_px = 1280\n")
    (found,) = screen_size(Situation(examine_config(toml)))
    assert found.level == "ok"
    assert "no size" in found.text
