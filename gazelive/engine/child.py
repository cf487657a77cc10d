"""An engine as a child process: started, waited for, ended."""

from __future__ import annotations

import subprocess
import sys
import time
from types import TracebackType
from typing import Any, Self

import msgspec
import zmq

from gazelive.engine.addresses import Addresses
from gazelive.engine.control import Answer, request
from gazelive.engine.keys import Context
from gazelive.engine.options import EngineOptions
from gazelive.engine.threads import one_thread_environment
from gazelive.errors import PeerLostError, TransportError

START_S = 180.0
"""How long it may take to be ready: the first time on a computer it compiles its kernels."""
END_S = 10.0


class EngineChild:
    """The engine's process, which ends with this object at the latest."""

    def __init__(self, options: EngineOptions) -> None:
        self._addresses = Addresses.parse(options.address)
        self._context: Context = zmq.Context()
        command = [sys.executable, "-m", "gazelive.engine", msgspec.json.encode(options).decode()]
        # it stops when it is told to, not by the Ctrl-C that is meant for its parent
        if sys.platform == "win32":
            self._process = subprocess.Popen(
                command,
                env=one_thread_environment(),
                creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
            )
        else:
            self._process = subprocess.Popen(
                command, env=one_thread_environment(), start_new_session=True
            )

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
            self._context, self._addresses.control, command, timeout_s=timeout_s, **arguments
        )

    @property
    def has_ended(self) -> bool:
        """True once the process is gone."""
        return self._process.poll() is not None

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
        self._context.destroy(linger=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
