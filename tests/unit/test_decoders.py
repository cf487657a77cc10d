"""Decoders of files and messages that several threads read."""

from __future__ import annotations

import ast
from pathlib import Path

import gazelive

PACKAGE = Path(gazelive.__file__).parent


def test_they_are_made_when_their_modules_load() -> None:
    """Two threads that use a struct type for the first time at once crash msgspec."""
    decoded_later = [
        f"{path}:{call.lineno}"
        for folder in ("recordings", "live/wire", "workflows")
        for path in (PACKAGE / folder).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith((".decode", ".convert"))
        and any(isinstance(type_, ast.Name) for type_ in _types(call))
    ]
    assert decoded_later == []


def _types(call: ast.Call) -> list[ast.expr]:
    """Return the types that a call names."""
    if ast.unparse(call.func) == "msgspec.convert":
        return call.args[1:2]
    return [keyword.value for keyword in call.keywords if keyword.arg == "type"]
