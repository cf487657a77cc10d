"""A clock for several threads that does not depend on the machine's speed.

Time stands still while any of the threads works and jumps to the next alarm once all of them
sleep. Threads run side by side as they do on a real clock, but none can fall behind: a busy
machine makes a test slower and changes nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from gazelive.experiment.process.device_thread import DeviceThread

T = TypeVar("T")
PATIENCE_S = 240.0
"""Longest wait; reached only by a thread that waits for something else (`away`)."""


class LockstepClock:
    """A `Clock` of the threads that take part; the one that makes it is the first."""

    def __init__(self, start_s: float = 100.0) -> None:
        self._now_s = start_s
        self._moved = threading.Condition()
        self._parties = {threading.get_ident()}
        self._alarms_s: dict[int, float] = {}

    def now_s(self) -> float:
        return self._now_s

    def sleep_until_s(self, deadline_s: float) -> None:
        me = threading.get_ident()
        with self._moved:
            self._alarms_s[me] = deadline_s
            self._move()
            while self._now_s < deadline_s:
                assert self._moved.wait(PATIENCE_S), "a thread neither sleeps nor is away"
            del self._alarms_s[me]

    def _move(self) -> None:
        """Go to the next alarm if all sleep; call it whenever that may have become true."""
        asleep = {who: alarm_s for who, alarm_s in self._alarms_s.items() if alarm_s > self._now_s}
        if asleep and asleep.keys() >= self._parties:
            self._now_s = min(asleep.values())
            self._moved.notify_all()

    def pass_until_done(self, future: Future[Any]) -> None:
        """Let time go on without the calling thread, which will wait for `future`.

        Time waits for it again as soon as the future is done, before whoever did it goes on.
        """
        me = threading.get_ident()

        def back(_: Future[Any]) -> None:
            with self._moved:
                self._parties = self._parties | {me}

        with self._moved:
            if me in self._parties:
                self._parties = self._parties - {me}
                future.add_done_callback(back)
                self._move()

    @contextmanager
    def parties(self, change: Callable[[set[int]], set[int]]) -> Iterator[None]:
        """Let time wait for other threads than before while the block runs."""
        with self._moved:
            before, self._parties = self._parties, change(self._parties)
            added, left = self._parties - before, before - self._parties
            self._move()
        try:
            yield
        finally:
            with self._moved:
                self._parties = (self._parties | left) - added
                self._move()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Let time go on while the calling thread waits for another one."""
        with self.parties(lambda all_of_them: all_of_them - {threading.get_ident()}):
            yield


class LockstepDeviceThread(DeviceThread):
    """A device thread that tells the clock which of its threads waits for the other."""

    _clock: LockstepClock

    def open(self) -> None:
        self._works = threading.Event()
        super().open()
        assert self._works.wait(PATIENCE_S)

    def _work(self) -> None:
        with self._clock.parties(lambda all_of_them: all_of_them | {threading.get_ident()}):
            self._works.set()
            super()._work()

    def _result(self, future: Future[T]) -> T:
        self._clock.pass_until_done(future)
        return super()._result(future)

    def lend(self, use: Callable[[], T]) -> T:
        def use_alone() -> T:  # the tracker's thread waits meanwhile
            with self._clock.parties(lambda _: {threading.get_ident()}):
                return use()

        with self._clock.away():
            return super().lend(use_alone)

    def _join(self, thread: threading.Thread) -> None:
        with self._clock.away():
            super()._join(thread)
