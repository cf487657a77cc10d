"""Problems of a recording: logged up to a limit, and summarised for the user.

The wording is defined once, so every command and the Python API report damage alike: problems with
the same text once, with the first line and the number of further ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gazelive.recordings.recording import Problem, Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

MAX_LISTED = 100


class ProblemLog:
    """Collects problems; a file damaged in every line must not fill the memory."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []
        self._n_unlisted = 0

    def add(self, line: int | None, text: str) -> None:
        """Add a problem of `line`, or of the whole file."""
        if len(self._problems) < MAX_LISTED:
            self._problems.append(Problem(line, text))
        else:
            self._n_unlisted += 1

    def count(self, n: int) -> None:
        """Add `n` problems without their text."""
        self._n_unlisted += n

    def problems(self) -> tuple[Problem, ...]:
        """Return problems by line, then those without a line, then the number not listed."""
        listed = sorted(self._problems, key=lambda p: (p.line is None, p.line or 0))
        if self._n_unlisted:
            listed.append(Problem(None, f"{self._n_unlisted} more problems are not listed"))
        return tuple(listed)


MAX_KINDS = 5
"""Kinds of damage reported per recording where there are many recordings."""
N_EXAMPLES = 3
LONGEST_EXAMPLE = 60


@dataclass(frozen=True)
class Caveat:
    """A warning about one recording."""

    recording: str
    """Its name, as the user gave it."""
    text: str
    line: int | None = None
    n_lines: int = 1
    """Number of affected lines; `line` is the first."""


def damage(recording: Recording, name: str | None = None) -> list[Caveat]:
    """Return each kind of damage once."""
    lines: dict[str, list[int | None]] = {}
    for problem in recording.problems:
        lines.setdefault(problem.text, []).append(problem.line)
    called = str(recording.path) if name is None else name
    return [Caveat(called, text, where[0], len(where)) for text, where in lines.items()]


def some_damage(recording: Recording, name: str) -> list[Caveat]:
    """Return the first kinds of damage, and the number of further ones."""
    kinds = damage(recording, name)
    more = len(kinds) - MAX_KINDS
    if more <= 0:
        return kinds
    rest = f"{more} more kind{'' if more == 1 else 's'} of damage: see gazelive info"
    return [*kinds[:MAX_KINDS], Caveat(name, rest)]


def trials_not_found(recording: Recording, patterns: TrialPatterns) -> str | None:
    """Return a sentence if the user's patterns match no trial or no image onset.

    It shows some of the messages.
    """
    own = patterns.start != DEFAULT_PATTERNS.start
    if recording.trials:
        onset = patterns.image_onset
        seen = any(trial.image_onset_us is not None for trial in recording.trials)
        if seen or onset == DEFAULT_PATTERNS.image_onset:
            return None
        return f"no message in a trial starts with the image onset {onset!r}"
    if not (own or patterns.stop != DEFAULT_PATTERNS.stop):
        return None
    firsts = (message.text.split("\n")[0][:LONGEST_EXAMPLE] for message in recording.messages)
    examples = ", ".join(map(repr, list(dict.fromkeys(firsts))[:N_EXAMPLES]))
    return (
        "no message starts a trial"
        + (f" with {patterns.start!r}" if own else "")
        + (f"; there are messages such as {examples}" if examples else "; it has no messages")
    )


def sentences(caveats: Iterable[Caveat]) -> list[str]:
    """Return each warning once: the first affected recording and the number of further ones."""
    alike: dict[str, list[Caveat]] = {}
    for caveat in caveats:
        alike.setdefault(caveat.text, []).append(caveat)
    return [_sentence(text, of_one) for text, of_one in alike.items()]


def _sentence(text: str, caveats: list[Caveat]) -> str:
    first = caveats[0]
    where = first.recording + ("" if first.line is None else f":{first.line}")
    n_recordings = len({caveat.recording for caveat in caveats})
    counts = ((first.n_lines - 1, "more line"), (n_recordings - 1, "more recording"))
    more = " and ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n)
    return f"{where}: {text}" + (f" (and {more})" if more else "")
