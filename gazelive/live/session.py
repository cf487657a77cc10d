"""A live session: the processes beside the owner of the device, started and supervised together.

`LiveSession` starts the engine and, if wanted, the dashboard; it replaces an engine that dies and
ends both. The owner of the device is the process of an experiment (`run_owner`) or the calling
process itself (`gazelive.live.replay`).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import zmq

from gazelive.errors import PeerLostError, TransportError
from gazelive.live.engine.documents_file import read_documents
from gazelive.live.settings import LiveSettings, encode_settings
from gazelive.live.summary import RunSummary, summarise
from gazelive.live.wire.control import Answer, Heartbeat, request
from gazelive.live.wire.keys import Context
from gazelive.live.wire.runs import Run, hold_run
from gazelive.observer import Observer, Report
from gazelive.recordings import (
    DOCUMENTS_NAME,
    SessionManifest,
    is_closed,
    is_session_folder,
    read_manifest,
)
from gazelive.system import (
    OWN_GROUP,
    EndSignals,
    get_logger,
    has_screen,
    one_thread_environment,
    pass_on,
    python_module,
)

log = get_logger(__name__)

START_S = 180.0
"""Longest start of an engine: the first one on a computer compiles its kernels."""
END_S = 10.0
"""Longest end of an engine that was asked to stop."""
MOST_STARTS = 4
"""An engine that has died or hung this often is not started again."""
HANG_S = 30.0
"""An engine that has not answered for this long hangs and is replaced."""
SETTLE_S = 60.0
"""Longest wait for the engine after a recorded session."""
DASHBOARD_END_S, INTERRUPTED_S = 20.0, 3.0
"""Longest wait for the dashboard's figure, and after Ctrl-C."""
LOOK_S, ENGINE_LOOK_S = 0.2, 0.05
"""Intervals of the supervision."""


class EngineProcess:
    """The engine's process; it ends with this object at the latest.

    It holds the other end of a pipe: when this process dies, the engine stays only until the
    session is no longer recorded.
    """

    def __init__(self, settings: LiveSettings, run: Run) -> None:
        self._settings = settings
        self._address = run.addresses.control
        self._prepare = run.watching.secure
        self._context: Context = zmq.Context()
        self._heartbeat = Heartbeat(self._context, self._address, self._prepare)
        self.n_starts = 0
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        self.n_starts += 1
        return subprocess.Popen(
            python_module("gazelive.live.engine", encode_settings(self._settings)),
            env=one_thread_environment(),
            stdin=subprocess.PIPE,
            **OWN_GROUP,
        )

    def start_again(self) -> None:
        """Replace a process that has died or hangs; the new one catches up from the folder."""
        if not self.has_ended:
            self._process.kill()
            self._process.wait(END_S)
        self._close_pipe()
        self._heartbeat.reset()
        self._process = self._start()

    @property
    def hangs(self) -> bool:
        """True if the process runs and has not answered for `HANG_S`; call it now and then."""
        silent_s = self._heartbeat.silent_s()
        limit_s = HANG_S if self._heartbeat.has_answered else START_S
        return silent_s > limit_s and not self.has_ended

    def wait_ready(self) -> None:
        """Return once the engine takes chunks."""
        deadline_s = time.monotonic() + START_S
        while time.monotonic() < deadline_s:
            if self._process.poll() is not None:
                raise TransportError("the engine did not start (see above)")
            try:
                self.ask("status", timeout_s=0.25)
            except PeerLostError:
                continue
            return
        raise TransportError(f"the engine was not ready after {START_S:g} s")

    def ask(self, command: str, *, timeout_s: float = 2.0, **arguments: Any) -> Answer:
        """Send a request to the engine and return the answer."""
        answer = request(
            self._context,
            self._address,
            command,
            prepare=self._prepare,
            timeout_s=timeout_s,
            **arguments,
        )
        self._heartbeat.note_answer()
        return answer

    @property
    def has_ended(self) -> bool:
        """True once the process is gone."""
        return self._process.poll() is not None

    @property
    def has_failed(self) -> bool:
        """True if the process is gone and its exit code is not 0."""
        return self._process.poll() not in (None, 0)

    def wait(self, timeout_s: float) -> bool:
        """Wait for the end of the process; return whether it came."""
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """End the process, by request if it still answers."""
        if not self.has_ended:
            try:
                self.ask("stop", timeout_s=1.0)
            except TransportError:
                self._process.terminate()
        if not self.wait(END_S):
            self._process.kill()
            self._process.wait(END_S)
        self._close_pipe()
        self._heartbeat.close()
        self._context.destroy(linger=0)

    def _close_pipe(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()


class LiveSession:
    """Engine and dashboard of a session, from construction to `close` (or the end of a `with`)."""

    def __init__(self, settings: LiveSettings, observer: Observer) -> None:
        self.settings = settings
        self._observer = observer
        self._holder = hold_run(settings.addresses, settings.folder, settings.keys)
        observer.say("Starting the engine …")
        try:
            self.engine = EngineProcess(settings, self.run)
        except BaseException:
            self._holder.close()
            raise
        self._window: subprocess.Popen[bytes] | None = None
        self._gave_up = False
        observer.say(
            f"Engine at {self.run.address}. To watch it, or to open a closed dashboard again: "
            "gazelive dashboard, gazelive watch."
        )
        try:
            if settings.dashboard is not None:
                self._window = _open_dashboard(settings)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> LiveSession:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def run(self) -> Run:
        """Address, id and keys of the run."""
        return self._holder.run

    def keep_alive(self) -> bool:
        """Replace an engine that has died or hangs; return False after `MOST_STARTS` starts."""
        engine = self.engine
        if self._gave_up:
            return False
        what = "has died" if self._has_died() else "hangs" if engine.hangs else None
        if what is None:
            return True
        if engine.n_starts >= MOST_STARTS:
            self._gave_up = True
            return False
        log.warning("the engine %s (start %d)", what, engine.n_starts)
        self._observer.warn(f"the engine {what}; a new one catches up from the session folder")
        engine.start_again()
        return True

    def _has_died(self) -> bool:
        """Return whether the engine is gone and was still needed: it ends by itself at the end."""
        return self.engine.has_failed or (
            self.engine.has_ended and not is_closed(self.settings.folder)
        )

    def settle(
        self,
        timeout_s: float,
        *,
        n_chunks: int = 0,
        report: Report = lambda _fraction: None,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Wait until the engine has analysed the whole session; return whether it has.

        `report` takes the share of the session's `n_chunks`; `is_wanted` false ends the wait.
        """
        deadline_s = time.monotonic() + timeout_s
        while time.monotonic() < deadline_s and is_wanted():
            if self.engine.wait(ENGINE_LOOK_S) and not self._has_died():
                return True
            if not self.keep_alive():
                return False
            try:
                status = self.engine.ask("status", timeout_s=0.1)  # it may end any moment
            except PeerLostError:
                continue
            if self.settings.stays and status["state"] == "finished":
                return True
            report(min(status.get("next_chunk", 0) / max(n_chunks, 1), 1.0))
        return False

    def wait_for_dashboard(self, is_wanted: Callable[[], bool] = lambda: True) -> None:
        """Wait until the dashboard, if there is one, is closed, or `is_wanted` is false."""
        while self._window is not None and self._window.poll() is None and is_wanted():
            time.sleep(LOOK_S)

    def close(self) -> None:
        """End the engine and the dashboard."""
        try:
            self.engine.close()
        finally:
            if self._window is not None and self._window.poll() is None:
                self._window.terminate()
                self._window.wait(DASHBOARD_END_S)
            if self._window is not None and self._window.stdin is not None:
                self._window.stdin.close()
            self._holder.close()


def _open_dashboard(settings: LiveSettings) -> subprocess.Popen[bytes]:
    """Start the dashboard; without a screen it draws off screen, for its figure."""
    options = settings.dashboard
    assert options is not None
    command = python_module("gazelive", "dashboard", "--connect", str(settings.addresses.here))
    command.append("--with-parent")
    for folder in settings.images:
        command += ["--images", str(folder)]
    if options.monitor is not None:
        command += ["--monitor", str(options.monitor)]
    if options.beside is not None:
        command += ["--beside", str(options.beside)]
    if options.hide_viewer:
        command.append("--hide-viewer")
    if options.save is not None:
        command += ["--save", str(options.save)]
    if options.size is not None:
        command += ["--size", options.size]
    environment = dict(os.environ)
    if not has_screen():
        environment["QT_QPA_PLATFORM"] = "offscreen"
        environment["QT_LOGGING_RULES"] = "default.warning=false"  # about missing capabilities
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, **OWN_GROUP)


@dataclass(frozen=True)
class SessionResult:
    """Outcome of a session with a device owner of its own."""

    exit_code: int
    """Exit code of the device's process."""
    manifest: SessionManifest | None
    """None if the session was never begun."""
    summary: RunSummary | None
    """None if the engine wrote nothing."""
    was_interrupted: bool = False
    """True if Ctrl-C or another signal ended it."""
    is_analysed: bool = True
    """False if the engine did not analyse all samples; they are on disk."""


def run_owner(
    command: Sequence[str],
    settings: LiveSettings,
    observer: Observer,
    report: Callable[[], None] = lambda: None,
) -> SessionResult:
    """Run the process that owns the device, with engine and dashboard, to the end of the session.

    It starts while the engine does and waits for it. The first Ctrl-C (or `kill`) is passed on, the
    second kills the owner. Every process has ended when this returns or raises. `report` is called
    again and again.
    """
    is_analysed = False
    with EndSignals() as wishes, LiveSession(settings, observer) as live:
        owner = subprocess.Popen(command, env=one_thread_environment(), **OWN_GROUP)
        try:
            _watch(owner, live, wishes, observer, report)
            n_heard = wishes.count
            if is_closed(settings.folder):
                is_analysed = live.settle(SETTLE_S, is_wanted=lambda: wishes.count == n_heard)
                if settings.dashboard is not None and settings.dashboard.save is not None:
                    _wait_for_figure(live, wishes)
        finally:
            if owner.poll() is None:
                owner.terminate()
    manifest, summary = _written(settings.folder)
    return SessionResult(owner.returncode, manifest, summary, wishes.count > 0, is_analysed)


def _watch(
    owner: subprocess.Popen[bytes],
    live: LiveSession,
    wishes: EndSignals,
    observer: Observer,
    report: Callable[[], None],
) -> None:
    """Wait for the end of the device owner, which goes on without an engine if need be."""
    n_heard, has_engine = 0, True
    while owner.poll() is None:
        time.sleep(LOOK_S)
        report()
        if wishes.count > n_heard:
            if n_heard:
                owner.kill()
            else:
                observer.say("Ending the session in order (Ctrl-C again: at once) …")
                pass_on(owner)
            n_heard = wishes.count
        if has_engine and not live.keep_alive():
            has_engine = False
            observer.warn(f"the engine died {MOST_STARTS} times: the recording goes on without it")


def _wait_for_figure(live: LiveSession, wishes: EndSignals) -> None:
    """Wait until the dashboard has saved its figure and closed; only briefly after Ctrl-C."""
    n_heard = wishes.count
    deadline_s = time.monotonic() + (INTERRUPTED_S if n_heard else DASHBOARD_END_S)
    live.wait_for_dashboard(lambda: time.monotonic() < deadline_s and wishes.count == n_heard)


def _written(folder: Path) -> tuple[SessionManifest | None, RunSummary | None]:
    """Return the description and the summary of a session, as far as they were written."""
    if not is_session_folder(folder):
        return None, None
    documents = folder / DOCUMENTS_NAME
    summary = summarise(read_documents(documents)) if documents.is_file() else None
    return read_manifest(folder), summary
