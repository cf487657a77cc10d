"""Requests to the engine that never keep the window waiting."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from gazelive.dashboard.feed import Command, DocumentFeed, Reply
from gazelive.errors import TransportError

Then = Callable[[Reply], None]
Failed = Callable[[TransportError], None]


class Requests:
    """Sends one request after the other from a thread; answers are handed out by `collect`."""

    def __init__(self, feed: DocumentFeed) -> None:
        self._feed = feed
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="dashboard-requests")
        self._waiting: list[tuple[Future[Reply], Then, Failed]] = []

    @property
    def waiting(self) -> int:
        """How many have no answer yet."""
        return len(self._waiting)

    def send(self, command: Command, then: Then, failed: Failed) -> None:
        """Send `command`; one of the functions is called from `collect` when it was answered."""
        self._waiting.append((self._worker.submit(self._feed.request, command), then, failed))

    def collect(self) -> None:
        """Hand out the answers that have come, in the order in which they were asked for."""
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
        """Send nothing more and forget what was asked."""
        self._waiting.clear()
        self._worker.shutdown(wait=False, cancel_futures=True)
