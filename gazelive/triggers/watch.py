"""Watches: what a script waits for, and the triggers that it has not read yet."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from gazelive.clock import Clock
from gazelive.triggers.rules import Rule
from gazelive.triggers.trigger import Trigger

MOST_UNREAD = 64
"""Triggers that a watch keeps; of more, the oldest are dropped and counted."""
LONGEST_SLEEP_S = 0.25
"""Windows hears Ctrl-C only between two waits for a lock; a trigger wakes the script at once."""

Callback = Callable[[Trigger], object]


class Watch:
    """Waits for one kind of event, from its making until `close`; it may fire any number of times.

    Made by the methods of `Triggers`. What happened before it was made is not reported.
    """

    def __init__(self, rule: Rule, clock: Clock, close: Callable[[Watch], None]) -> None:
        self.rule = rule
        self.n_dropped = 0
        """Triggers that were dropped because nobody read them."""
        self.callback: Callback | None = None
        """Called in the device's thread with each trigger, which then is not queued for `poll` and
        `wait`. It delays the samples that follow: set a flag, do not draw. After an exception it
        is not called again; `Triggers.check` raises the exception, and it is logged."""
        self._clock = clock
        self._close = close
        self._unread: deque[Trigger] = deque()
        self._changed = threading.Condition()
        self._is_closed = False

    def poll(self) -> Trigger | None:
        """Return the oldest trigger that was not read yet, or None; never waits."""
        try:
            return self._delivered(self._unread.popleft())
        except IndexError:
            return None

    def wait(self, timeout_s: float | None = None) -> Trigger | None:
        """Return the oldest trigger that was not read yet; wait for it up to `timeout_s`.

        Wakes as soon as the trigger fires. None after the time, or when the watch was closed.
        """
        deadline_s = None if timeout_s is None else self._clock.now_s() + timeout_s
        with self._changed:
            while (trigger := self.poll()) is None and not self._is_closed:
                left_s = LONGEST_SLEEP_S
                if deadline_s is not None:
                    left_s = min(left_s, deadline_s - self._clock.now_s())
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
        return trigger

    def clear(self) -> None:
        """Forget the triggers that were not read."""
        self._unread.clear()

    def close(self) -> None:
        """Stop watching; who waits gets None. Triggers that were not read can still be."""
        self._close(self)
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def deliver(self, trigger: Trigger) -> None:
        """Take a trigger from `Triggers`: call back, or wake who waits."""
        if self.callback is not None:
            self.callback(self._delivered(trigger))
            return
        with self._changed:
            if len(self._unread) == MOST_UNREAD:
                self._unread.popleft()
                self.n_dropped += 1
            self._unread.append(trigger)
            self._changed.notify_all()

    def _delivered(self, trigger: Trigger) -> Trigger:
        return replace(trigger, delivered_s=self._clock.now_s())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
