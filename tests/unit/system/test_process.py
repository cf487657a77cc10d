"""Settings of a process."""

from __future__ import annotations

import io
import sys

import pytest

from gazelive.system.process import replace_unencodable


def test_letters_that_a_console_lacks_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", errors="strict")
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", None)  # a program without a console
    replace_unencodable()
    print("κ → łąka.jpg 0.4°", end="", flush=True)
    assert console.buffer.getvalue().decode("cp1252") == "? ? ??ka.jpg 0.4°"  # type: ignore[attr-defined]
