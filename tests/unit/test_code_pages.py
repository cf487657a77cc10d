"""A console that lacks letters does not end a session."""

from __future__ import annotations

import io
import sys

import pytest

from gazelive.code_pages import forgive_code_pages


def test_letters_that_a_console_lacks_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", errors="strict")
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", None)  # a program without a console
    forgive_code_pages()
    print("κ → łąka.jpg 0.4°", end="", flush=True)
    assert console.buffer.getvalue().decode("cp1252") == "? ? ??ka.jpg 0.4°"  # type: ignore[attr-defined]
