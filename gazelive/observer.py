"""Observer: receives the notices, warnings and progress of a long task."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Report = Callable[[float], None]
"""Takes the fraction that is done, 0 to 1."""


class Observer:
    """Keeps the warnings of a task; notices and progress are for the terminal's observer."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def say(self, text: str) -> None:
        """Take a notice about the course of the task."""

    def warn(self, text: str) -> None:
        """Take a warning."""
        self.warnings.append(text)

    def progress(self, task: str) -> AbstractContextManager[Report]:
        """Return a context in which a step reports its progress to the function it yields."""
        del task
        return nullcontext(_ignore)


def _ignore(_fraction: float) -> None:
    pass
