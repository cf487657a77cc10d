"""Problems of a recording, listed up to a limit and counted beyond it."""

from __future__ import annotations

from gazelive.recordings.recording import Problem

MAX_LISTED = 100


class ProblemLog:
    """Gathers problems; a file that is damaged in every line must not fill the memory."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._n_unlisted = 0

    def add(self, line: int | None, text: str) -> None:
        """Note what is wrong in `line`, or with the whole."""
        if len(self._problems) < MAX_LISTED:
            self._problems.append(Problem(line, text))
        else:
            self._n_unlisted += 1

    def count(self, n: int) -> None:
        """Note `n` problems of which only the number is known."""
        self._n_unlisted += n

    def problems(self) -> tuple[Problem, ...]:
        """Return them in the order of lines, then those without a line, then how many more."""
        listed = sorted(self._problems, key=lambda p: (p.line is None, p.line or 0))
        if self._n_unlisted:
            listed.append(Problem(None, f"{self._n_unlisted} more problems are not listed"))
        return tuple(listed)
