"""Numbers, durations and lists as text."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from gazelive.wording import (
    bounded_percent,
    called_as,
    clock_time,
    counted,
    duration,
    listed,
    speed_words,
)


def test_lists() -> None:
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "", "a", "a and b", "a, b and c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("called", "known", "typed"),
    [
        (".venv/bin/gazelive", None, str(Path(".venv/bin/gazelive"))),
        (".venv/bin/gazelive", "/usr/bin/gazelive", str(Path(".venv/bin/gazelive"))),
        ("my env/gazelive", None, f'"{Path("my env/gazelive")}"'),
        ("/usr/bin/gazelive", "/usr/bin/gazelive", "gazelive"),
        ("pytest", None, "gazelive"),
        ("gazelive/__main__.py", "/usr/bin/gazelive", f"{sys.executable} -m gazelive"),
    ],
)
def test_command_of_this_program(
    called: str, known: str | None, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(shutil, "which", lambda _name: known)
    assert called_as() == typed


@given(st.floats(0, 1))
def test_percent_is_never_rounded_to_certainty(p: float) -> None:
    text = bounded_percent(p, "")
    assert text.endswith("%")
    assert text not in ("100%", "100.0%", "0%", "0.0%")


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.5, "50.0 %"),
        (0.9996, "> 99.9 %"),
        (0.0004, "< 0.1 %"),
        (0.123, "12.3 %"),
        (0.0, "< 0.1 %"),
        (1.0, "> 99.9 %"),
    ],
)
def test_percent(p: float, text: str) -> None:
    assert bounded_percent(p) == text


def test_times_counts_and_speeds() -> None:
    assert [clock_time(s) for s in (0, 59.9, 61, 3600 + 62, -1)] == [
        "0:00",
        "0:59",
        "1:01",
        "1:01:02",
        "-0:01",
    ]
    assert counted(1, "saccade") == "1 saccade"
    assert counted(12_345, "saccade") == "12,345 saccades"
    assert (speed_words(None), speed_words(0.5)) == ("max", "0.5×")


def test_durations() -> None:
    assert [duration(s) for s in (7.46, 200, 3605)] == ["7.5 s", "3 min 20 s", "1 h 0 min 5 s"]
