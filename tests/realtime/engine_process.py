"""An engine in a process of its own, with the tests' identifier, and how to talk to it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import zmq

from gazelive.errors import PeerLostError
from gazelive.live.wire.control import request
from gazelive.live.wire.runs import Run
from gazelive.system.process import one_thread_environment

MAIN = Path(__file__).with_name("engine_main.py")
START_S = 240.0
"""Longest start of a process: it may have to compile all kernels first."""


class EngineProcess:
    """Starts an engine and asks it things; ends it in whatever way."""

    def __init__(self, folder: Path, run: Run, **options) -> None:
        self.run = run
        self.addresses = addresses = run.addresses
        self._context = zmq.Context()
        arguments = {"folder": str(folder), "address": str(addresses), **options}
        self.process = subprocess.Popen(
            [sys.executable, str(MAIN), json.dumps(arguments)], env=one_thread_environment()
        )

    def ask(self, command: str, *, timeout_s: float = 60.0, **arguments):
        return request(
            self._context,
            self.addresses.control,
            command,
            prepare=self.run.watching.secure,
            timeout_s=timeout_s,
            **arguments,
        )

    def wait_for(self, is_true, timeout_s: float = START_S) -> dict:
        """Request the status until it is the expected one."""
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s:
            assert self.process.poll() is None, f"it ended with {self.process.returncode}"
            try:
                status = self.ask("status", timeout_s=1.0)
            except PeerLostError:
                continue
            if is_true(status):
                return status
        raise AssertionError("the engine never got that far")

    def kill(self) -> None:
        """Kill -9."""
        self.process.kill()
        self.process.wait(30)
        if not self._context.closed:
            self._context.destroy(linger=0)

    def end(self, timeout_s: float = 120.0) -> int:
        """Wait for its own end."""
        try:
            return self.process.wait(timeout_s)
        finally:
            self.kill()
