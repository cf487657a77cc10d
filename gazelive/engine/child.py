"""An engine as a child process: started, waited for, ended."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import zmq

from gazelive.engine.addresses import Addresses
from gazelive.engine.control import Answer, request
from gazelive.engine.keys import Context, load_client_keys, own_keys
from gazelive.engine.options import EngineOptions
from gazelive.engine.threads import one_thread_environment
from gazelive.errors import PeerLostError, TransportError

START_S = 180.0
"""How long it may take to be ready: the first time on a computer it compiles its kernels."""
END_S = 10.0


class EngineChild:
    """The engine's process, which ends with this object at the latest.

    It holds the other end of a pipe: when this process dies, however, the engine hears of it, and
    stays no longer than somebody records.
    """

    def __init__(self, options: EngineOptions) -> None:
        self._options = msgspec.structs.replace(options, has_parent=True)
        self._address = Addresses.parse(options.address).here.control
        self._prepare = None
        if options.keys is not None:
            self._prepare = load_client_keys(own_keys(Path(options.keys))).secure
        self._context: Context = zmq.Context()
        self.n_starts = 1
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        options = msgspec.json.encode(self._options).decode()
        command = [sys.executable, "-m", "gazelive.engine", options]
        # it stops when it is told to, not by the Ctrl-C that is meant for its parent
        apart: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        return subprocess.Popen(
            command, env=one_thread_environment(), stdin=subprocess.PIPE, **apart
        )

    def start_again(self) -> None:
        """Start it anew where it has died; it catches up from the session's folder."""
        self._let_go()
        self.n_starts += 1
        self._process = self._start()

    def wait_ready(self) -> None:
        """Return once it takes chunks."""
        deadline_s = time.monotonic() + START_S
        while time.monotonic() < deadline_s:
            if self._process.poll() is not None:
                raise TransportError("the engine could not be started (it has said why)")
            try:
                self.ask("status", timeout_s=0.25)
            except PeerLostError:
                continue
            return
        raise TransportError(f"the engine was not ready after {START_S:g} s")

    def ask(self, command: str, *, timeout_s: float = 2.0, **arguments: Any) -> Answer:
        """Ask the engine for something."""
        return request(
            self._context,
            self._address,
            command,
            prepare=self._prepare,
            timeout_s=timeout_s,
            **arguments,
        )

    @property
    def has_ended(self) -> bool:
        """True once the process is gone."""
        return self._process.poll() is not None

    @property
    def has_failed(self) -> bool:
        """True where it is gone and did not end in order."""
        return self._process.poll() not in (None, 0)

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end; say whether it came."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """End it, gently if possible."""
        if not self.has_ended:
            try:
                self.ask("stop", timeout_s=1.0)
            except TransportError:
                self._process.terminate()
        if not self.wait(END_S):
            self._process.kill()
            self._process.wait(END_S)
        self._let_go()
        self._context.destroy(linger=0)

    def _let_go(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
