"""Engine and dashboard beside a script, supervised by a thread of their own."""

from __future__ import annotations

import threading

from gazelive.live import MOST_STARTS, SETTLE_S, LiveSession, LiveSettings, Run
from gazelive.observer import Observer

LOOK_S = 0.2
"""Interval of the supervision."""


class Companions:
    """Engine and dashboard of a session whose device this process owns.

    An engine that dies or hangs is replaced while the script runs.
    """

    def __init__(self, settings: LiveSettings, observer: Observer) -> None:
        """Start the processes; `wait_ready` returns once the engine takes chunks."""
        self._observer = observer
        self._live = LiveSession(settings, observer)
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def run(self) -> Run:
        """Address, id and keys of the run."""
        return self._live.run

    def wait_ready(self) -> None:
        """Return once the engine takes chunks; the first one on a computer compiles."""
        self._live.engine.wait_ready()
        self._thread = threading.Thread(target=self._watch, name="companions", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            if not self._live.keep_alive():
                self._observer.warn(
                    f"the engine died {MOST_STARTS} times: the recording goes on without it"
                )
                return

    def settle(self) -> None:
        """Wait until the engine has analysed the session, which was closed."""
        self._stop_watching()
        folder = self._live.settings.folder
        if not self._live.settle(SETTLE_S):
            self._observer.warn(
                "not all samples were analysed; all are on disk: analyse them with gazelive run "
                f"--session {folder}"
            )

    def close(self) -> None:
        """End the engine and the dashboard."""
        self._stop_watching()
        self._live.close()

    def _stop_watching(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
