"""Watches: what a script waits for, and the triggers that it has not read yet."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from gazelive.triggers.trigger import Trigger

MOST_UNREAD = 64
"""Triggers that a watch keeps; of more, the oldest are dropped and counted."""

Callback = Callable[[Trigger], object]


class Watch:
    """Waits for one kind of event, from its making until `close`; it may fire any number of times.

    Made by the methods of `Triggers`. Events whose trigger fell due before it was made are not
    reported.
    """

    n_dropped: int
    """Triggers that were dropped because nobody read them."""

    callback: Callback | None
    """Called in the device's thread with each trigger, which then is not queued for `poll` and
    `wait`. It delays the samples that follow: set a flag, do not draw. After an exception it is
    not called again; `Triggers.check` raises the exception, and it is logged."""

    def poll(self) -> Trigger | None:
        """Return the oldest trigger that was not read yet, or None; never waits."""
        raise NotImplementedError

    def wait(self, timeout_s: float | None = None) -> Trigger | None:
        """Return the oldest trigger that was not read yet; wait for it up to `timeout_s`.

        Wakes as soon as the trigger fires. None after the time, or when the watch was closed.
        """
        raise NotImplementedError

    def clear(self) -> None:
        """Forget the triggers that were not read."""
        raise NotImplementedError

    def close(self) -> None:
        """Stop watching; who waits gets None. Triggers that were not read can still be."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
