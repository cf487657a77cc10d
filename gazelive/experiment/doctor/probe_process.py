"""Probes in child processes: native code may crash, hang or print there without harm.

A probe is a module that is run as `python -m MODULE RESULT …` and writes its result as JSON into
the file RESULT.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gazelive.system import python_module

T = TypeVar("T")


class ProbeFailedError(Exception):
    """The child process gave no result; the text says how it ended."""


def probe(module: str, *arguments: str, expect: type[T], timeout_s: float) -> T:
    """Run the probe `module` and return its result."""
    with tempfile.TemporaryDirectory(prefix="gazelive-doctor-") as name:
        result = Path(name) / "seen.json"
        try:
            ended = subprocess.run(
                python_module(module, str(result), *arguments),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                timeout=timeout_s,
                check=False,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except subprocess.TimeoutExpired:
            raise ProbeFailedError(f"gave no answer within {timeout_s:.0f} s") from None
        if result.is_file():
            return msgspec.json.decode(result.read_bytes(), type=expect)
        lines = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
        last = f": {lines[-1]}" if lines else ""
        raise ProbeFailedError(f"ended with exit code {ended.returncode}{last}")


def write_result(seen: Any) -> None:
    """Write the result of a probe; called once, in the child process."""
    Path(sys.argv[1]).write_bytes(msgspec.json.encode(seen))
