"""Patterns of a recording's messages, and proposals for which of them mark trials and images.

Numbers and file names become placeholders, so ``trial 1 on`` and ``trial 2 on`` are one pattern.
Patterns are proposed whose messages make regular intervals: a start and a stop that alternate,
cover much of the recording and last about equally long; and an onset that occurs in nearly every
trial. Words such as `trial`, `start` or `onset` decide between patterns that fit alike.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from gazelive.gaze import Floats, Message, in_time_order
from gazelive.recordings.conventions import CONVENTIONS
from gazelive.recordings.recording import Recording, Trial
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, find_trials

Role = Literal["experiment", "variable", "tracker"]

NUMBER, FILE, REST = "<n>", "<file>", "…"
"""Placeholders in the text of a pattern."""
_SUFFIXES = "jpe?g|png|bmp|gif|tiff?|mp4|avi|mov|mpe?g|wmv|wav|mp3|vcl|xvd|ias|txt|csv"
_VARYING = re.compile(
    rf"(?P<file>[^\s,;]+\.(?:{_SUFFIXES})(?![\w.]))|(?P<number>(?:(?<=\s)[-+]|^[-+])?\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_TRACKER = re.compile(
    r"!CAL|!MODE|VALIDATE\b|CALIBRATION|DRIFTCORRECT|RECCFG|ELCL|GAZE_COORDS|DISPLAY_COORDS|"
    r"THRESHOLDS|PUPIL_DATA_TYPE|CAMERA_|!CMD|RETRACE_INTERVAL|ENVIRONMENT|NO Reply"
)
LONGEST_EXAMPLE = 80
MOST_ALIKE = 12
"""More patterns than these with the same first word are one, if few messages have each."""

FEWEST_TRIALS = 3
LEAST_SHARE = 0.8
"""Of the starts that have a stop, and of the trials that have an onset."""
MOST_CANDIDATES = 40
SHORTEST_S = 0.1
MOST_IRREGULAR = 0.5
"""Interquartile range by median of the durations of trials that only starts mark."""


@dataclass(frozen=True, eq=False)
class MessagePattern:
    """Messages that differ in numbers and file names only."""

    text: str
    role: Role
    example: str
    times_us: tuple[int, ...]
    values: tuple[tuple[str, ...], ...]
    """What stands at the placeholders of each message."""

    @property
    def n(self) -> int:
        """Number of messages."""
        return len(self.times_us)


@dataclass(frozen=True)
class Proposal:
    """Patterns that make regular intervals, and what they make."""

    patterns: TrialPatterns
    convention: str | None
    """Name of the convention that these are."""
    trials: tuple[Trial, ...]

    @property
    def n_onsets(self) -> int:
        """Number of trials with an image onset."""
        return sum(trial.image_onset_us is not None for trial in self.trials)

    @property
    def durations_s(self) -> Floats:
        """Duration of each trial."""
        return np.array([trial.end_us - trial.start_us for trial in self.trials], np.float64) / 1e6


def group_messages(messages: Iterable[Message]) -> list[MessagePattern]:
    """Return the patterns of messages, the most frequent first."""
    found: dict[str, list[tuple[Message, tuple[str, ...]]]] = {}
    for message in in_time_order(list(messages)):
        text, values = _generalised(message.text.split("\n")[0])
        found.setdefault(text, []).append((message, values))
    for text, others in _merged(found).items():
        found[text] = sorted(
            ((message, ()) for other in others for message, _ in found.pop(other)),
            key=lambda item: item[0].tracker_time_us,
        )
    patterns = [
        MessagePattern(
            text=text,
            role=_role(members[0][0].text),
            example=members[0][0].text.split("\n")[0][:LONGEST_EXAMPLE],
            times_us=tuple(message.tracker_time_us for message, _ in members),
            values=tuple(values for _, values in members),
        )
        for text, members in found.items()
    ]
    return sorted(patterns, key=lambda pattern: (-pattern.n, pattern.times_us[0]))


def _generalised(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text with placeholders, and what stood there."""
    values = tuple(match[0] for match in _VARYING.finditer(text))
    return _VARYING.sub(lambda match: FILE if match["file"] else NUMBER, text).strip(), values


def _role(text: str) -> Role:
    if _TRACKER.match(text):
        return "tracker"
    return "variable" if re.match(DEFAULT_PATTERNS.variable, text) else "experiment"


def _merged(found: dict[str, list[tuple[Message, tuple[str, ...]]]]) -> dict[str, list[str]]:
    """Return texts to merge, by their common beginning."""
    alike: dict[str, list[str]] = {}
    for text in found:
        words = text.split(" ")
        head = " ".join(words[: 2 if words[0] == "!V" else 1])
        if head != text:
            alike.setdefault(f"{head} {REST}", []).append(text)
    return {
        text: others
        for text, others in alike.items()
        if len(others) > 1
        and (
            _role(others[0]) != "experiment"
            or (len(others) > MOST_ALIKE and sum(len(found[o]) for o in others) < 2 * len(others))
        )
    }


# proposals

_START_WORDS = re.compile(r"start|begin|onset|\bon\b|trialid|_on\b|play", re.IGNORECASE)
_STOP_WORDS = re.compile(r"stop|end|offset|\boff\b|result|finish|done|_off\b", re.IGNORECASE)
_TRIAL_WORDS = re.compile(r"trial", re.IGNORECASE)
_ONSET_WORDS = re.compile(
    r"onset|synctime|display|show|draw_list|imgload|image|picture|movie|video|stim|target|scene|"
    r"start_collection|start_phase",
    re.IGNORECASE,
)
_NOT_ONSET = re.compile(r"offset|fix|cross|blank|clear|\bend|stop|coords|drift|\boff\b|feedback")


def propose(recording: Recording, patterns: Sequence[MessagePattern]) -> Proposal | None:
    """Return patterns for the trials and images of a recording, or None if nothing is regular."""
    found = _of_messages(recording, patterns)
    usual = _proposal(recording, DEFAULT_PATTERNS)
    if found is None or (len(usual.trials) >= len(found.trials) and _all_have_onset(usual)):
        return usual if len(usual.trials) >= FEWEST_TRIALS else None
    for name, convention in CONVENTIONS.items():
        known = _proposal(recording, convention, name)
        if len(known.trials) >= len(found.trials) and known.n_onsets >= max(found.n_onsets, 1):
            return known
    if len(usual.trials) >= len(found.trials):  # only the onset is new
        onset = found.patterns.image_onset
        return _proposal(recording, msgspec.structs.replace(DEFAULT_PATTERNS, image_onset=onset))
    return found


def _all_have_onset(proposal: Proposal) -> bool:
    return proposal.n_onsets >= LEAST_SHARE * len(proposal.trials)


def _proposal(recording: Recording, patterns: TrialPatterns, name: str | None = None) -> Proposal:
    trials = find_trials(recording.messages, recording.blocks, patterns)
    return Proposal(patterns, name, trials)


def _of_messages(recording: Recording, patterns: Sequence[MessagePattern]) -> Proposal | None:
    """Return the best start and stop, and the onset between them."""
    candidates = [
        pattern
        for pattern in patterns
        if pattern.role == "experiment" and pattern.n >= FEWEST_TRIALS and REST not in pattern.text
    ][:MOST_CANDIDATES]
    marks = [pattern for pattern in candidates if not pattern.text.startswith("!V")]
    recorded_s = max(recording.duration_s, 1e-9)
    scored = [
        (score, start, stop)
        for start, stop in itertools.chain(
            itertools.permutations(marks, 2), ((mark, None) for mark in marks)
        )
        if (score := _score(start, stop, recorded_s)) is not None
    ]
    if not scored:
        return None
    _, start, stop = max(scored, key=lambda one: one[0])
    chosen = TrialPatterns(
        start=_regex(start, patterns, named=True),
        stop=DEFAULT_PATTERNS.stop if stop is None else _regex(stop, patterns),
    )
    trials = _proposal(recording, chosen).trials
    onset = _onset([c for c in candidates if c not in (start, stop)], trials)
    if onset is not None:
        chosen = msgspec.structs.replace(chosen, image_onset=_regex(onset, patterns))
    found = _proposal(recording, chosen)
    return found if len(found.trials) >= FEWEST_TRIALS else None


def _score(start: MessagePattern, stop: MessagePattern | None, recorded_s: float) -> float | None:
    """Return how well two patterns mark trials; None if their messages do not alternate."""
    starts = np.array(start.times_us, np.float64) / 1e6
    nexts = np.append(starts[1:], np.inf)
    if stop is None:
        durations, share = np.diff(starts), 1.0
        words = bool(_START_WORDS.search(start.text)) - 1.5
    else:
        stops = np.append(np.array(stop.times_us, np.float64) / 1e6, np.inf)
        ends = stops[np.searchsorted(stops, starts)]
        durations = (ends - starts)[np.isfinite(ends) & (ends <= nexts)]
        share = len(durations) / max(start.n, stop.n)
        words = bool(_START_WORDS.search(start.text)) + bool(_STOP_WORDS.search(stop.text))
        words -= 2 * bool(_STOP_WORDS.search(start.text) and _START_WORDS.search(stop.text))
    if share < LEAST_SHARE or not len(durations) or np.median(durations) < SHORTEST_S:
        return None
    quartiles = np.quantile(durations, [0.25, 0.75])
    irregular = float(quartiles[1] - quartiles[0]) / max(float(np.median(durations)), 1e-9)
    if stop is None and irregular > MOST_IRREGULAR:
        return None
    coverage = min(float(durations.sum()) / recorded_s, 1.0)
    return (
        share
        + coverage
        + 0.5 / (1 + irregular)
        + 0.5 * words
        + 0.5 * bool(_TRIAL_WORDS.search(start.text))
    )


def _onset(candidates: Iterable[MessagePattern], trials: Sequence[Trial]) -> MessagePattern | None:
    """Return the pattern that occurs once in nearly every trial and sounds like an onset."""
    starts = np.array([trial.start_us for trial in trials], np.int64)
    ends = np.array([trial.end_us for trial in trials], np.int64)

    def score(pattern: MessagePattern) -> float:
        if not _ONSET_WORDS.search(pattern.text) or _NOT_ONSET.search(pattern.text.lower()):
            return 0.0
        times = np.array(pattern.times_us, np.int64)
        n_in = np.searchsorted(times, ends) - np.searchsorted(times, starts, side="right")
        share = float((n_in >= 1).mean())
        strong = bool(re.search(r"onset|synctime", pattern.text, re.IGNORECASE))
        of_viewer = pattern.text.startswith("!V")
        once = float((n_in == 1).mean())
        return 0.0 if share < LEAST_SHARE else share + once + strong - 0.5 * of_viewer

    best = max(candidates, key=score, default=None)
    return best if best is not None and score(best) > 0 else None


def _regex(
    pattern: MessagePattern, others: Sequence[MessagePattern], *, named: bool = False
) -> str:
    """Return a regular expression for the messages of a pattern, and for no others."""
    group = _name_placeholders(pattern) if named else None
    columns = _columns(pattern)
    text = ""
    k = 0
    for part in re.split(f"({NUMBER}|{FILE})", pattern.text):
        if part not in (NUMBER, FILE):
            text += re.escape(part).replace("\\ ", " ")
            continue
        opening = "(?P<name>" if group is not None and k == group[0] else ""
        closing = ")" if group is not None and k == group[1] else ""
        text += f"{opening}{_regex_of(part, columns[k])}{closing}"
        k += 1
    if any(other is not pattern and re.match(text, other.example) for other in others):
        text += r"\s*$"
    return text


def _regex_of(placeholder: str, values: Sequence[str]) -> str:
    if placeholder == FILE:
        return r"\S+"
    return r"\d+" if all(value.isdigit() for value in values) else r"[-+]?\d+(?:\.\d+)?"


def _columns(pattern: MessagePattern) -> list[tuple[str, ...]]:
    """Return the values of each placeholder."""
    return list(zip(*pattern.values, strict=True))


def _name_placeholders(pattern: MessagePattern) -> tuple[int, int] | None:
    """Return the first and last placeholder that make a trial's name, or None without one.

    The first that differs in every message, if it is no time; else all from the first to the last
    that vary and are no time.
    """
    columns = _columns(pattern)
    varying = [k for k, column in enumerate(columns) if len(set(column)) > 1 and not _time(column)]
    for k in varying:
        if max(Counter(columns[k]).values()) == 1:
            return k, k
    return (varying[0], varying[-1]) if varying else None


def _time(column: Sequence[str]) -> bool:
    """Return whether numbers grow like times: far faster than they are counted."""
    try:
        numbers = np.array(column, np.float64)
    except ValueError:
        return False
    steps = np.diff(numbers)
    return bool((steps > 0).all() and np.median(steps) > 100)
