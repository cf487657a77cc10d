"""Clocks that jump: nobody is taken for dead, and no wall clock is read on the live path."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import zmq

import gazelive
from gazelive.live.session import HANG_S
from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.control import Heartbeat

from ...support.manual_clock import ManualClock

LIVE_PACKAGES = ("devices", "experiment", "live", "triggers", "analysis", "detection")
WALL_CLOCKS = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today"}
NAMES_ONLY = {
    "experiment/process/owner.py": "the name of the session folder",
    "live/replay.py": "started_at in session.json",
    "live/wire/runs.py": "started_s in the run file",
}
"""Modules that read the wall clock, for what is written down and never compared."""


def test_a_computer_that_slept_does_not_take_its_engine_for_one_that_hangs() -> None:
    clock = ManualClock()
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    beat = Heartbeat(context, free_addresses().control, now_s=clock.now_s)
    try:
        beat.note_answer()
        clock.advance_s(24 * 3600.0)
        assert beat.silent_s() < 2.0
        while beat.silent_s() <= HANG_S:
            clock.advance_s(0.2)
        assert clock.now_s() - 24 * 3600 == pytest.approx(HANG_S, abs=1.5), "and one that does"
    finally:
        beat.close()
        context.term()


def test_the_live_path_reads_no_wall_clock() -> None:
    root = Path(gazelive.__file__).parent
    found = set()
    for package in LIVE_PACKAGES:
        for path in (root / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and ast.unparse(node) in WALL_CLOCKS:
                    found.add(path.relative_to(root).as_posix())
    assert found == set(NAMES_ONLY)
