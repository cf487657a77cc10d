"""What a user should know of recordings before what is found in them is believed, in sentences.

One home for the wording, so that damage is told alike by every command and from Python: problems in
the same words once, with the first line and how many more there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gazelive.recordings.recording import Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

MAX_KINDS = 5
"""So many kinds of damage of one recording are told where there are many recordings."""
N_EXAMPLES = 3
LONGEST_EXAMPLE = 60


@dataclass(frozen=True)
class Doubt:
    """Something that a user should know of one recording."""

    recording: str
    """As the user calls it."""
    text: str
    line: int | None = None
    n_lines: int = 1
    """How many lines it is true of; `line` is the first."""


def damage(recording: Recording, name: str | None = None) -> list[Doubt]:
    """Return what was damaged, each kind of it once."""
    lines: dict[str, list[int | None]] = {}
    for problem in recording.problems:
        lines.setdefault(problem.text, []).append(problem.line)
    called = str(recording.path) if name is None else name
    return [Doubt(called, text, where[0], len(where)) for text, where in lines.items()]


def some_damage(recording: Recording, name: str) -> list[Doubt]:
    """Return the first kinds of damage, and how many more there are."""
    kinds = damage(recording, name)
    more = len(kinds) - MAX_KINDS
    if more <= 0:
        return kinds
    told = f"and {more} more kind{'' if more == 1 else 's'} of damage: gazelive info names them"
    return [*kinds[:MAX_KINDS], Doubt(name, told)]


def trials_not_found(recording: Recording, patterns: TrialPatterns) -> str | None:
    """Return a sentence where patterns of one's own find no trial, with messages to look at."""
    own = patterns.start != DEFAULT_PATTERNS.start
    if recording.trials or not (own or patterns.stop != DEFAULT_PATTERNS.stop):
        return None
    firsts = (message.text.split("\n")[0][:LONGEST_EXAMPLE] for message in recording.messages)
    examples = ", ".join(map(repr, list(dict.fromkeys(firsts))[:N_EXAMPLES]))
    return (
        "no message starts a trial"
        + (f" with {patterns.start!r}" if own else "")
        + (f"; there are messages such as {examples}" if examples else "; it has no messages")
    )


def sentences(doubts: Iterable[Doubt]) -> list[str]:
    """Return each thing once: the first recording it is true of, and how many more there are."""
    alike: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        alike.setdefault(doubt.text, []).append(doubt)
    return [_sentence(text, of_one) for text, of_one in alike.items()]


def _sentence(text: str, doubts: list[Doubt]) -> str:
    first = doubts[0]
    where = first.recording + ("" if first.line is None else f":{first.line}")
    n_recordings = len({doubt.recording for doubt in doubts})
    counts = ((first.n_lines - 1, "more line"), (n_recordings - 1, "more recording"))
    more = " and ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n)
    return f"{where}: {text}" + (f" (and {more})" if more else "")
