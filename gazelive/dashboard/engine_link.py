"""Link to the engine: documents into the state, requests that never keep the window waiting."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from gazelive.clock import Clock
from gazelive.dashboard.feed import Command, DocumentFeed, Reply, snapshot_documents
from gazelive.dashboard.state.connection import Playback
from gazelive.dashboard.state.snapshot_tracker import CATCHING_UP, SnapshotTracker
from gazelive.dashboard.state.state import DashboardState
from gazelive.errors import TransportError
from gazelive.gaze import Document

STATUS_EVERY_S = 1.0

Then = Callable[[Reply], None]
Failed = Callable[[TransportError], None]


class EngineLink:
    """Keeps a state up to date with a feed, and sends the user's commands."""

    def __init__(
        self,
        feed: DocumentFeed,
        state: DashboardState,
        clock: Clock,
        device_changed: Callable[[], None],
    ) -> None:
        self._feed = feed
        self._state = state
        self._clock = clock
        self._device_changed = device_changed
        self._requests = _Requests(feed)
        self._next_status_s = 0.0
        self._snapshots = SnapshotTracker()
        self._since: list[Document] | None = None
        """Documents that arrived after a snapshot was requested."""

    @property
    def waiting(self) -> int:
        """Number of requests without a reply."""
        return self._requests.waiting

    def update(self) -> None:
        """Take new replies and documents, then request status or a snapshot if due."""
        self._requests.collect()
        documents = self._feed.poll()
        connected, now_s = self._feed.connected, self._clock.now_s()
        if connected:
            self._state.set_connection(connected, now_s)
        self._state.apply_all(documents)
        if not connected:  # the engine sent these before the connection was lost
            self._state.set_connection(connected, now_s)
        self._snapshots.observe(documents)
        if self._since is not None:
            self._since += documents
        self._ask()

    def send(self, command: Command) -> None:
        """Send a command; an error becomes a notice."""
        self._requests.send(command, self._take_device, self._log_error)

    def close(self) -> None:
        """Close the feed; pending requests are dropped."""
        self._requests.close()
        self._feed.close()

    def _ask(self) -> None:
        if not self._feed.connected:
            self._snapshots.reset()
            self._next_status_s = 0.0
            return
        now_s = self._clock.now_s()
        if self._requests.waiting:
            return
        if self._snapshots.needs_snapshot:
            self._snapshots.mark_requested()
            self._since = []
            self._requests.send({"command": "snapshot"}, self._take_snapshot, self._no_snapshot)
        elif now_s >= self._next_status_s:
            self._next_status_s = now_s + STATUS_EVERY_S
            self._requests.send({"command": "status"}, self._take_status, _ignore)

    def _take_snapshot(self, reply: Reply) -> None:
        self._state.fill(snapshot_documents(reply), self._since or ())
        self._since = None

    def _no_snapshot(self, _error: TransportError) -> None:
        self._since = None
        self._snapshots.reset()  # request it again

    def _take_status(self, reply: Reply) -> None:
        self._snapshots.set_engine_state(str(reply.get("state", "live")))
        self._state.catching_up = self._snapshots.engine_state == CATCHING_UP
        self._take_device(reply)

    def _take_device(self, reply: Reply) -> None:
        """Take what the owner of the device says about it."""
        if "playback" in reply:
            facts = reply["playback"]
            self._state.set_playback(None if facts is None else Playback.from_reply(facts))
            self._state.takes = frozenset(reply.get("takes") or ())
            self._device_changed()

    def _log_error(self, error: TransportError) -> None:
        self._state.log.add("error", str(error), self._state.elapsed_s)


class _Requests:
    """Sends one request after the other from a thread; `collect` calls back with the replies."""

    def __init__(self, feed: DocumentFeed) -> None:
        self._feed = feed
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="dashboard-requests")
        self._waiting: list[tuple[Future[Reply], Then, Failed]] = []

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def send(self, command: Command, then: Then, failed: Failed) -> None:
        self._waiting.append((self._worker.submit(self._feed.request, command), then, failed))

    def collect(self) -> None:
        """Call back for each reply that has come, in the order of the requests."""
        while self._waiting and self._waiting[0][0].done():
            future, then, failed = self._waiting.pop(0)
            error = future.exception()
            if error is None:
                then(future.result())
            elif isinstance(error, TransportError):
                failed(error)
            else:
                raise error

    def close(self) -> None:
        self._waiting.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)


def _ignore(_error: TransportError) -> None:
    """Do nothing: the header shows already that the engine does not answer."""
