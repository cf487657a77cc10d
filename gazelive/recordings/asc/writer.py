"""Write a recording as EDF2ASC would, readable by any program for EyeLink's ASC files.

MNE needs START, SAMPLES with its RATE, and END; pymovements needs the tracker's RECCFG message
and after it GAZE_COORDS. Messages of EyeLink that the recording lacks are therefore added: those
two before each block, results of calibrations and drift corrections, and messages that mark trials.
Positions keep one decimal; times keep their microseconds.
"""

from __future__ import annotations

import gzip
import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import msgspec
import numpy as np

from gazelive.errors import RecordingError
from gazelive.gaze import EYE_FIELDS, Coordinates, Integers, ScreenGeometry
from gazelive.recordings.asc import format_kernels as fmt, lines as asc_lines
from gazelive.recordings.asc.columns import (
    EYE_WORDS,
    INPUT_NAME,
    RESOLUTION_NAMES,
    TARGET_NAMES,
    VELOCITY_NAMES,
    WORDS_PER_SAMPLE,
    SampleColumns,
)
from gazelive.recordings.geometry import HOW_TO_GIVE
from gazelive.recordings.messages import (
    CONFIGURATION_WORD,
    configuration_messages,
    missing_messages,
)
from gazelive.recordings.recording import Block, Recording
from gazelive.system import replacing, storage_error

_ROWS_AT_ONCE = 1 << 13
_N_TARGET_FLAGS = {1: 13, 2: 17}
"""Number of target flags by number of eyes."""
_KIND_RANKS = {"blink": 0, "saccade": 1, "fixation": 2}
_LATEST_US = 10**16
"""Milliseconds of thirteen digits: the longest time that the reader accepts."""


def write_asc(
    recording: Recording,
    path: Path,
    *,
    resolution: bool = False,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write `recording` to the .asc or .asc.gz file `path`, whole or not at all.

    Positions in degrees become pixels, for which the screen's geometry must be known. The
    resolution of each sample (RES) is written only on request, as EDF2ASC does: pymovements
    cannot read files with it.
    """
    blocks = [_in_pixels(block, recording) for block in recording.blocks]
    blocks.sort(key=lambda block: block.start_us)
    lines = _other_lines(recording, blocks)
    _refuse_impossible_times(recording, blocks, lines)
    try:
        with replacing(path) as aside, _opened(aside, packed=path.suffix == ".gz") as file:
            _write(file, recording, blocks, lines, resolution, progress)
    except OSError as error:
        raise storage_error(error, path) from error


def asc_losses(recording: Recording) -> list[str]:
    """Name what an ASC file cannot store of a recording."""
    held = {
        name for block in recording.blocks for name in _columns(block, resolution=True).extra_names
    }
    extras = sorted({name for block in recording.blocks for name in block.extras} - held)
    coordinates = {block.stream.coordinates for block in recording.blocks}
    losses = {
        "the viewer's name": recording.viewer is not None,
        "the session's name": recording.session is not None,
        "the screen's size in mm and its distance": recording.screen is not None,
        f"the columns {', '.join(extras)}": bool(extras),
        "degrees (written as pixels)": Coordinates.DEGREES in coordinates,
        "the blocks of trials, since blocks overlap in time": bool(recording.trials)
        and _overlap(recording.blocks),
    }
    return [loss for loss, applies in losses.items() if applies]


def has_resolution(recording: Recording) -> bool:
    """Return whether a block has the resolution of each sample."""
    return any(_columns(block, resolution=True).resolution for block in recording.blocks)


def _overlap(blocks: Sequence[Block]) -> bool:
    """Return whether a block starts before another has ended (each trial may start at 0)."""
    spans = sorted((block.start_us, block.end_us) for block in blocks)
    return any(one[1] > other[0] for one, other in itertools.pairwise(spans))


class _Line(NamedTuple):
    """A line other than a sample."""

    time_us: int
    rank: int
    """Orders lines of the same time."""
    follows_sample: bool
    """True if it follows the sample of the same time, as the end of an event does."""
    text: str


def _other_lines(recording: Recording, blocks: Sequence[Block]) -> list[_Line]:
    """Return messages, events and signals in time order."""
    lines = [
        _Line(message.tracker_time_us, 3, False, asc_lines.message_text(message))
        for message in [*recording.messages, *missing_messages(recording, blocks)]
    ]
    lines += [
        _Line(signal.tracker_time_us, 4, False, asc_lines.signal_text(signal))
        for signal in recording.signals
    ]
    starts_us = [block.start_us for block in blocks]
    for event in recording.tracker_events:
        rank = _KIND_RANKS[event.kind]
        place = max(bisect_right(starts_us, event.start_us) - 1, 0)
        interval_us = blocks[place].stream.sample_interval_us if blocks else 0.0
        end = asc_lines.event_end_text(event, interval_us)
        lines.append(_Line(event.start_us, 7 - rank, False, asc_lines.event_start_text(event)))
        lines.append(_Line(event.end_us, rank, True, end))
    return sorted(lines, key=lambda line: (line.time_us, line.rank))


def _refuse_impossible_times(
    recording: Recording, blocks: Sequence[Block], lines: Sequence[_Line]
) -> None:
    """Raise if a time is negative or too long; a sample line starts with a digit."""
    times_us = [line.time_us for line in (*lines[:1], *lines[-1:])]
    for block in blocks:
        times_us += [block.start_us, block.end_us]
        if len(block.samples):
            sample_times_us = block.samples["tracker_time_us"]
            times_us += [int(sample_times_us.min()), int(sample_times_us.max())]
    if times_us and not (min(times_us) >= 0 and max(times_us) < _LATEST_US):
        raise RecordingError(
            "has times that ASC files cannot store: negative or longer than 13 digits",
            path=recording.path,
        )


def _write(
    file: BinaryIO,
    recording: Recording,
    blocks: Sequence[Block],
    lines: Sequence[_Line],
    resolution: bool,
    progress: Callable[[float], None] | None,
) -> None:
    device = blocks[0].stream.device if blocks else "unknown"
    header = asc_lines.header_text(recording.header, source=recording.path.name, device=device)
    file.write(header.encode(errors="replace"))
    line_times_us = [line.time_us for line in lines]
    configured_us = sorted(
        message.tracker_time_us
        for message in recording.messages
        if message.text.startswith(CONFIGURATION_WORD)
    )
    time_decimals = _time_decimals(blocks)
    n_lines_written = 0
    n_samples_written = 0
    last_end_us = -1
    for block in blocks:
        first = bisect_left(line_times_us, block.start_us, n_lines_written)
        stop = bisect_right(line_times_us, max(block.end_us, block.start_us), first)
        _put(file, lines[n_lines_written:first])
        if bisect_right(configured_us, last_end_us) == bisect_right(configured_us, block.start_us):
            for message in configuration_messages(block, _screen_px(block, recording)):
                file.write(asc_lines.message_text(message).encode())
        columns = _columns(block, resolution=resolution)
        px_per_deg = _px_per_deg(block, recording)
        _write_block(file, block, columns, lines[first:stop], time_decimals, px_per_deg)
        n_lines_written, last_end_us = stop, block.end_us
        n_samples_written += len(block.samples)
        if progress is not None:
            progress(n_samples_written / max(recording.n_samples, 1))
    _put(file, lines[n_lines_written:])


def _put(file: BinaryIO, lines: Sequence[_Line]) -> None:
    for line in lines:
        file.write(line.text.encode(errors="replace"))


def _write_block(
    file: BinaryIO,
    block: Block,
    columns: SampleColumns,
    lines: Sequence[_Line],
    time_decimals: int,
    px_per_deg: tuple[float, float] | None,
) -> None:
    """Write from START to END, the lines among the samples by their times."""
    file.write(asc_lines.start_text(block, columns).encode())
    formatter = _SampleFormatter(block, columns, time_decimals)
    times_us = np.ascontiguousarray(block.samples["tracker_time_us"])
    line_times_us = np.array([line.time_us for line in lines], np.int64)
    follows = np.array([line.follows_sample for line in lines], bool)
    places = np.where(
        follows,
        np.searchsorted(times_us, line_times_us, side="right"),
        np.searchsorted(times_us, line_times_us, side="left"),
    )
    n_written = 0
    for k in np.argsort(places, kind="stable").tolist():
        if places[k] > n_written:
            formatter.write(file, n_written, int(places[k]))
            n_written = int(places[k])
        file.write(lines[k].text.encode(errors="replace"))
    formatter.write(file, n_written, len(times_us))
    file.write(asc_lines.end_text(block.end_us, px_per_deg).encode())


class _SampleFormatter:
    """Writes the samples of a block, a bounded number of rows at a time."""

    def __init__(self, block: Block, columns: SampleColumns, time_decimals: int) -> None:
        self._block = block
        self._names = columns.extra_names
        self._rows = np.empty((_ROWS_AT_ONCE, columns.n_row_words), np.uint32)
        self._first = self._stop = 0
        """Range of the samples in the rows."""
        self._layout = _format_layout(columns, time_decimals)
        longest_line = fmt.LONGEST_TIME + fmt.LONGEST_NUMBER * columns.n_row_words + 32
        self._out = np.empty(_ROWS_AT_ONCE * longest_line, np.uint8)

    def write(self, file: BinaryIO, first: int, stop: int) -> None:
        """Write the samples from `first` to `stop`, which follow those written before."""
        while first < stop:
            if first >= self._stop:
                self._load(first)
            last = min(stop, self._stop)
            n_bytes = fmt.format_samples(
                self._rows.view(np.float32),
                self._rows,
                first - self._first,
                last - self._first,
                self._layout,
                self._out,
            )
            file.write(self._out[:n_bytes].data)
            first = last

    def _load(self, first: int) -> None:
        samples = self._block.samples[first : first + _ROWS_AT_ONCE]
        self._first, self._stop = first, first + len(samples)
        words = np.ascontiguousarray(samples).view(np.uint32).reshape(-1, WORDS_PER_SAMPLE)
        self._rows[: len(samples), :WORDS_PER_SAMPLE] = words
        numbers = self._rows.view(np.float32)
        for k, name in enumerate(self._names):
            extra = self._block.extras[name][self._first : self._stop]
            numbers[: len(samples), WORDS_PER_SAMPLE + k] = extra


def _format_layout(columns: SampleColumns, time_decimals: int) -> Integers:
    words = [word for eye in columns.eyes for word in EYE_WORDS[eye]]
    words += range(WORDS_PER_SAMPLE, columns.n_row_words)
    n_target = len(TARGET_NAMES) if columns.target else 0
    return np.array(
        [
            time_decimals,
            10 ** (3 - time_decimals),
            columns.n_reflection_flags,
            columns.eye_flag_shift,
            _N_TARGET_FLAGS[len(columns.eyes)] if columns.target else 0,
            fmt.WORDS + len(words) - n_target,
            *words,
        ],
        np.int64,
    )


def _columns(block: Block, *, resolution: bool) -> SampleColumns:
    """Return the columns of the block, with or without its resolution."""
    eyes, extras = block.stream.eyes, block.extras
    return SampleColumns(
        eyes=eyes,
        coordinates=block.stream.coordinates,
        velocity=all(name in extras for eye in eyes for name in VELOCITY_NAMES[eye]),
        resolution=resolution and all(name in extras for name in RESOLUTION_NAMES),
        input_port=INPUT_NAME in extras,
        target=all(name in extras for name in TARGET_NAMES),
    )


def _time_decimals(blocks: Sequence[Block]) -> int:
    """Return the number of decimals of the sample times: none, one (2000 Hz), or three."""
    decimals = 0
    for block in blocks:
        times_us = block.samples["tracker_time_us"]
        if decimals == 0 and np.any(times_us % 1000):
            decimals = 1
        if decimals == 1 and np.any(times_us % 100):
            return 3
    return decimals


def _screen(block: Block, recording: Recording) -> ScreenGeometry | None:
    return block.stream.screen or recording.screen


def _screen_px(block: Block, recording: Recording) -> tuple[int, int] | None:
    screen = _screen(block, recording)
    if screen is not None:
        return screen.size_px
    return block.stream.screen_px or recording.screen_px


def _px_per_deg(block: Block, recording: Recording) -> tuple[float, float] | None:
    """Return the tracker's own resolution, else the one at the centre of the screen."""
    screen = _screen(block, recording)
    if block.stream.px_per_deg is not None or screen is None:
        return block.stream.px_per_deg
    mm_per_deg = screen.eye_distance_mm * float(np.radians(1.0))
    return (
        mm_per_deg * screen.width_px / screen.width_mm,
        mm_per_deg * screen.height_px / screen.height_mm,
    )


def _in_pixels(block: Block, recording: Recording) -> Block:
    """Return the block with positions in a unit of ASC files."""
    if block.stream.coordinates is not Coordinates.DEGREES:
        return block
    screen = _screen(block, recording)
    if screen is None:
        raise RecordingError(
            "has positions in degrees, and ASC files need pixels: give the screen, "
            f"such as {HOW_TO_GIVE}",
            path=recording.path,
        )
    samples = block.samples.copy()
    for x, y, _ in EYE_FIELDS.values():
        samples[x], samples[y] = screen.deg_to_px(samples[x], samples[y])
    stream = msgspec.structs.replace(block.stream, coordinates=Coordinates.SCREEN_PX)
    return Block(stream, samples, block.start_us, block.end_us, block.extras)


@contextmanager
def _opened(path: Path, *, packed: bool) -> Iterator[BinaryIO]:
    with path.open("wb") as file:
        if packed:
            # without name and time: equal recordings give equal files
            with gzip.GzipFile("", "wb", 6, file, mtime=0) as packing:
                yield cast("BinaryIO", packing)
        else:
            yield file
