"""Trials, found from the messages of an experiment."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from gazelive.errors import ConfigError
from gazelive.gaze import LONGEST_COMMAND, Message, in_time_order
from gazelive.recordings.recording import Block, Trial


class TrialPatterns(msgspec.Struct, frozen=True, kw_only=True):
    """Regular expressions, matched from the start of a message.

    The named group of each field holds the value; without that group the value is the text after
    the match. Defaults:

    - trials: ``TRIALID … TRIAL_RESULT`` (the vendor's Data Viewer), ``start_trial …
      stop_trial`` (PyGaze, OpenSesame);
    - images: ``!V IMGLOAD FILL|CENTER|TOP_LEFT path [x y [w h]]``;
    - what the screen shows: ``image_onset``, ``stimulus_onset``, ``DISPLAY ON`` (also with an
      underscore), ``SYNCTIME``, and ``image_offset``, ``stimulus_offset``, ``DISPLAY OFF``,
      ``BLANK_SCREEN``;
    - variables: ``!V TRIAL_VAR key value``, ``var key value`` (OpenSesame).
    """

    start: str = r"(?i:TRIALID|start_trial)\b:?\s*(?P<name>.*)"
    """Group `name`."""
    stop: str = r"(?i:TRIAL_RESULT|stop_trial)\b:?\s*(?P<result>.*)"
    """Group `result`."""
    image: str = r"!V IMGLOAD\s+\S+\s+(?P<image>\S.*?)(?:\s++-?\d++(?:\.\d++)?){0,4}\s*+$"
    """Group `image`."""
    image_onset: str = r"(?i:(?:image|stimulus)[ _]?onset|display[ _]on|synctime)\b"
    image_offset: str = r"(?i:(?:image|stimulus)[ _]?offset|display[ _]off|blank_screen)\b"
    variable: str = r"(?:!V TRIAL_VAR|var)\s+(?P<key>\S+)\s*(?P<value>.*)"
    """Groups `key` and `value`."""


DEFAULT_PATTERNS: TrialPatterns = TrialPatterns()


def own_patterns(patterns: TrialPatterns) -> dict[str, str]:
    """Return the patterns that differ from the defaults."""
    usual = msgspec.structs.asdict(DEFAULT_PATTERNS)
    return {n: p for n, p in msgspec.structs.asdict(patterns).items() if p != usual[n]}


def find_trials(
    messages: Sequence[Message],
    blocks: Sequence[Block],
    patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> tuple[Trial, ...]:
    """Return the trials that `messages` mark, in their order.

    A trial without a stop message ends where the next one starts or where the block of its last
    message ends, whichever is first. `Trial.block` is the block with most of the viewing (from
    image onset to offset, if known): a trial often starts before its block and stops after it.
    """
    finder = TrialFinder(BlockTimes(blocks), patterns)
    for message in in_time_order(messages):
        finder.take(message)
    return finder.trials()


def trials_of(
    messages: Sequence[Message],
    blocks: Sequence[Block],
    stored: tuple[Trial, ...],
    patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> tuple[Trial, ...]:
    """Return the `stored` trials, else those of the messages.

    A user's own patterns apply to the messages only; stored trials remain where they find none.
    """
    if stored and patterns == DEFAULT_PATTERNS:
        return stored
    return find_trials(messages, blocks, patterns) or stored


NOT_A_PATTERN = (re.error, OverflowError, RecursionError)
"""Raised for what is no regular expression, or one with too large numbers or too many brackets."""


@dataclass(frozen=True)
class _Compiled:
    """The patterns, ready to match."""

    start: re.Pattern[str]
    stop: re.Pattern[str]
    image: re.Pattern[str]
    image_onset: re.Pattern[str]
    image_offset: re.Pattern[str]
    variable: re.Pattern[str]


@functools.lru_cache(maxsize=32)
def _compile(patterns: TrialPatterns) -> _Compiled:
    compiled = {}
    for name, pattern in msgspec.structs.asdict(patterns).items():
        try:
            compiled[name] = re.compile(pattern)
        except NOT_A_PATTERN as error:
            raise ConfigError(f"not a regular expression: {error}", key=name) from error
    return _Compiled(**compiled)


def _value(match: re.Match[str], group: str) -> str:
    """Return the named group, else the text after the match, without surrounding blanks."""
    value = match[group] if group in match.re.groupindex else match.string[match.end() :]
    return (value or "").strip()


@dataclass
class OpenTrial:
    """A trial that has started."""

    name: str
    start_us: int
    image: str | None = None
    image_is_final: bool = False
    onset_us: int | None = None
    offset_us: int | None = None
    variables: dict[str, str] = field(default_factory=dict)


class TrialFinder:
    """Collects trials from messages in time order, offline and live alike.

    A live caller keeps `block_times` up to date with the message's time. The viewing of a trial is
    known once its image is gone and has a name: later messages do not change it, so a viewing
    interval can be settled before its trial ends. A live caller takes each trial when it ends:
    without `keeps`, only the last one is remembered.
    """

    def __init__(
        self,
        block_times: BlockTimes,
        patterns: TrialPatterns = DEFAULT_PATTERNS,
        *,
        keeps: bool = True,
    ) -> None:
        self._patterns = _compile(patterns)
        self._block_times = block_times
        self._keeps = keeps
        self.open: OpenTrial | None = None
        """The trial that has started and not ended."""
        self.last: Trial | None = None
        """The trial that ended last."""
        self.n_ended = 0
        """Number of trials that have ended."""
        self._trials: list[Trial] = []
        self._only_name: str | None = None
        self._last_us = 0

    def matters(self, text: str) -> bool:
        """Return whether a message can start or end something, or name an image."""
        known = self._patterns
        return any(
            pattern.match(text[:LONGEST_COMMAND])
            for pattern in (
                known.start,
                known.stop,
                known.image,
                known.image_onset,
                known.image_offset,
            )
        )

    def take(self, message: Message) -> None:
        """Take the next message."""
        self._last_us = message.tracker_time_us
        text = message.text[:LONGEST_COMMAND]
        if match := self._patterns.start.match(text):
            self._close_unstopped(message.tracker_time_us)
            name = self._numbered(_value(match, "name") or str(self.n_ended))
            self.open = OpenTrial(name, message.tracker_time_us)
        elif self.open is None:
            return
        elif match := self._patterns.stop.match(text):
            self._close(message.tracker_time_us, _value(match, "result") or None)
        else:
            self._take_detail(self.open, message.tracker_time_us, text)

    def trials(self) -> tuple[Trial, ...]:
        """Return the trials that were kept; one that is still open ends with its block."""
        self._close_unstopped(None)
        return tuple(self._trials)

    def _numbered(self, name: str) -> str:
        """Return the name of the next trial, with its number if all before it have that name.

        Live, later names are not known yet: so the first trial keeps the bare name.
        """
        if not self.n_ended:
            self._only_name = name
        elif name == self._only_name:
            return f"{name} ({self.n_ended + 1})"
        else:
            self._only_name = None
        return name

    def _take_detail(self, trial: OpenTrial, time_us: int, text: str) -> None:
        if match := self._patterns.variable.match(text):
            trial.variables[_value(match, "key")] = _value(match, "value")
        elif match := self._patterns.image.match(text):
            # Data Viewer's protocol names the image just after its onset; of several images
            # that one counts, else the last before the onset, else the first after the offset
            gone_and_named = trial.offset_us is not None and trial.image is not None
            if not (trial.image_is_final or gone_and_named):
                trial.image = _value(match, "image") or None
                trial.image_is_final = trial.onset_us is not None
        elif trial.onset_us is None:
            if self._patterns.image_onset.match(text):
                trial.onset_us = time_us
        elif trial.offset_us is None and self._patterns.image_offset.match(text):
            trial.offset_us = time_us

    def _close_unstopped(self, next_start_us: int | None) -> None:
        trial = self.open
        if trial is None:
            return
        known_us = (trial.start_us, trial.onset_us, trial.offset_us)
        latest_us = max(time_us for time_us in known_us if time_us is not None)
        end_us = self._block_times.end_after(latest_us, before_us=next_start_us)
        if end_us is None:
            end_us = self._last_us if next_start_us is None else next_start_us
        self._close(max(end_us, latest_us), None)

    def _close(self, end_us: int, result: str | None) -> None:
        trial = self.open
        assert trial is not None
        self.open = None
        viewed_us = (
            trial.start_us if trial.onset_us is None else trial.onset_us,
            end_us if trial.offset_us is None else trial.offset_us,
        )
        block = self._block_times.containing(*viewed_us)
        if block is None:
            block = self._block_times.containing(trial.start_us, end_us)
        self.n_ended += 1
        self.last = Trial(
            name=trial.name,
            start_us=trial.start_us,
            end_us=end_us,
            block=block,
            image=trial.image,
            image_onset_us=trial.onset_us,
            image_offset_us=trial.offset_us,
            variables=trial.variables,
            result=result,
        )
        if self._keeps:
            self._trials.append(self.last)


MOST_LIVE_BLOCKS = 1000
"""Blocks that are known while a session goes on: far more than any trial spans."""


class BlockTimes:
    """Finds the block of a time span; blocks are assumed to follow one another."""

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        order = sorted(range(len(blocks)), key=lambda k: blocks[k].start_us)
        self._indices = order
        self._starts_us = [blocks[k].start_us for k in order]
        self._ends_us = [_end_us(blocks[k]) for k in order]

    def put(self, index: int, start_us: int, end_us: int) -> None:
        """Add or extend a block that starts at `start_us` and reaches to `end_us` so far.

        Only the last `MOST_LIVE_BLOCKS` are kept.
        """
        if self._indices and self._indices[-1] == index:
            self._ends_us[-1] = end_us
            return
        if index in self._indices:
            self._ends_us[self._indices.index(index)] = end_us
            return
        if len(self._indices) == MOST_LIVE_BLOCKS:
            for column in (self._indices, self._starts_us, self._ends_us):
                del column[0]
        at = bisect_right(self._starts_us, start_us)
        self._indices.insert(at, index)
        self._starts_us.insert(at, start_us)
        self._ends_us.insert(at, end_us)

    def end_after(self, start_us: int, *, before_us: int | None) -> int | None:
        """Return the end of the block at or after `start_us`, but not past `before_us`.

        None if no block starts in time.
        """
        for k in self._near(start_us, before_us):
            end_us = self._ends_us[k]
            if end_us > start_us:
                return end_us if before_us is None else min(end_us, before_us)
        return None

    def containing(self, start_us: int, end_us: int) -> int | None:
        """Return the index of the block that shares most time with the span."""
        best, most_us = None, -1
        for k in self._near(start_us, end_us + 1):
            shared_us = min(self._ends_us[k], end_us) - max(self._starts_us[k], start_us)
            if shared_us > most_us:
                best, most_us = self._indices[k], shared_us
        return best

    def _near(self, start_us: int, before_us: int | None) -> Iterator[int]:
        """Yield the indices of blocks that start before `before_us` and may reach `start_us`."""
        first = max(bisect_right(self._starts_us, start_us) - 1, 0)
        n = len(self._starts_us)
        yield from range(first, n if before_us is None else bisect_left(self._starts_us, before_us))


def _end_us(block: Block) -> int:
    """Return a time after the block's last sample, so a trial that ends with it includes it."""
    times_us = block.samples["tracker_time_us"]
    return max(block.end_us, int(times_us[-1]) + 1) if len(times_us) else block.end_us
