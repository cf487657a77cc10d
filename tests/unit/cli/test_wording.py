"""Words that several commands use."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from gazelive.cli.wording import called_as, listed


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
def test_what_to_type_for_this_program(
    called: str, known: str | None, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [called])
    monkeypatch.setattr(shutil, "which", lambda _name: known)
    assert called_as() == typed
