"""The Windows display PC: doctor, code pages, sleep, antivirus."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from .recorded import Note

pytestmark = [pytest.mark.hardware, pytest.mark.timeout(3600)]
windows = pytest.mark.skipif(os.name != "nt", reason="Windows only")

GAZELIVE = [sys.executable, "-P", "-m", "gazelive"]
N_APPENDS, CHUNK = 6000, bytes(400)


def test_doctor(lab: Path, note: Note) -> None:
    tracker = os.environ.get("GAZELIVE_EYELINK")
    options = ["--tracker", tracker] if tracker else []
    ran = subprocess.run(
        [*GAZELIVE, "doctor", str(lab), "--json", *options],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    note(doctor=json.loads(ran.stdout))
    assert ran.returncode == 0


@windows
@pytest.mark.parametrize("code_page", [437, 850, 1252, 65001])
def test_code_page(results: Path, code_page: int) -> None:
    """Greek letters and degree signs do not end a command."""
    corpus = results / "Übung"
    simulate = f'simulate "{corpus}" --viewers 1 --images 2 --pool 2 --seconds 2 --replace'
    for command in (simulate, f'info "{corpus / "v001_s1"}"', "detect --help"):
        line = f'chcp {code_page} >nul & "{sys.executable}" -P -m gazelive {command} >nul'
        subprocess.run(f'cmd /s /c "{line}"', check=True)


@windows
def test_no_sleep(note: Note) -> None:
    """The computer does not go to sleep while it is plugged in."""
    query = ["powercfg", "/query", "SCHEME_CURRENT", "SUB_SLEEP", "STANDBYIDLE"]
    printed = subprocess.run(query, capture_output=True, check=True).stdout.decode(errors="replace")
    plugged_in_s, battery_s = (
        int(value, 16) for value in re.findall(r"0x[0-9a-f]{8}", printed)[-2:]
    )
    note(sleeps_after_s=plugged_in_s, on_battery_s=battery_s)
    assert plugged_in_s == 0, "set sleep to Never: Settings, System, Power"


def test_appends(results: Path, note: Note) -> None:
    """An antivirus that checks every write would show as slow appends."""
    took_ms = np.empty(N_APPENDS)
    path = results / "appended.bin"
    with path.open("wb", buffering=0) as file:
        for k in range(N_APPENDS):
            began_s = time.perf_counter()
            file.write(CHUNK)
            took_ms[k] = 1000 * (time.perf_counter() - began_s)
            if k % 100 == 0:
                os.fsync(file.fileno())
    path.unlink()
    p50, p99, largest = np.percentile(took_ms, [50, 99, 100]).round(3)
    note(append_ms={"p50": float(p50), "p99": float(p99), "max": float(largest)})
    assert p99 < 5, "exclude the folder of the sessions from the antivirus"
