"""Sample tables: one row per sample in CSV, gzipped CSV or Parquet.

=======================================  ======================================================
`t_ms`                                   tracker time in milliseconds, decimals allowed
`x_px, y_px` or `x_deg, y_deg`           one eye's position
`left_x_px, left_y_px, right_x_px, …`    the same for two eyes (or in `_deg`)
`pupil` or `left_pupil, right_pupil`     pupil size
`eye`                                    L or R; without it a single eye counts as the right one
`valid`                                  false where the position is to be ignored
`block`                                  number of the recording block
`trial`, `image`                         names of the trial and of the image on the screen
=======================================  ======================================================

An empty cell is a missing value. Messages, geometry and the rate stand in the sidecar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pa_compute

from gazelive.errors import RecordingError
from gazelive.gaze.samples import EYE_FIELDS, Eye, Eyes, Samples, empty_samples
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.recording import Block, Problem, Recording
from gazelive.recordings.sample_table_columns import (
    COLUMN_TYPES,
    EYE_WORDS,
    EyeColumns,
    TableLayout,
    recognise_columns,
)
from gazelive.recordings.sample_table_labels import label_codes, runs, trials_of_columns
from gazelive.recordings.table_clock import BlockClock, TableClock
from gazelive.recordings.table_files import read_table_file, read_table_names
from gazelive.recordings.table_sidecar import (
    Sidecar,
    TableBlock,
    read_sidecar,
    sidecar_path,
    unknown_keys,
)
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, trials_of

Codes = npt.NDArray[np.int64]
NO_LABEL = frozenset({"", "NA"})
"""What an empty cell of labels looks like, here and from R."""
MISSING_CODE = -32768.0
"""What EyeLink writes for a lost position, where a table has copied it."""


def read_sample_table(
    path: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Read the table at `path`, and its sidecar where it has one.

    Trials come from the sidecar, and where it tells of none from the columns `trial` and `image`;
    with patterns of one's own, from the messages alone.
    """
    layout = recognise_columns(read_table_names(path), path)
    file = read_table_file(path, COLUMN_TYPES, progress=progress)
    sidecar = read_sidecar(path) or Sidecar()
    problems = [*file.problems, *(Problem(None, sentence) for sentence in unknown_keys(path))]
    return recording_of_table(file.table, layout, sidecar, path, problems, trial_patterns)


def recording_of_table(
    table: Any,
    layout: TableLayout,
    sidecar: Sidecar,
    path: Path,
    problems: Iterable[Problem] = (),
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> Recording:
    """Return the recording that an Arrow table of `COLUMN_TYPES` holds; `path` stands in errors."""
    problems = list(problems)
    if layout.ignored:
        problems.append(Problem(None, f"columns ignored: {', '.join(layout.ignored)}"))
    described = _described_blocks(sidecar, table.num_rows, path, problems)
    clocks, kept = _read_clocks(table, sidecar, described, path, problems)
    if not kept.all():
        table = table.filter(pa.array(kept))
    blocks = []
    first_row = 0
    for number, clock in enumerate(clocks):
        blocks.append(
            _make_block(
                table.slice(first_row, len(clock.times_us)),
                clock,
                layout,
                sidecar,
                described[number] if described else None,
            )
        )
        first_row += len(clock.times_us)
    messages = tuple(Message(round(m.t_ms * 1000), m.text) for m in sidecar.messages)
    facts = interpret(messages)
    trials = trials_of(messages, blocks, sidecar.trials, trial_patterns)
    if not trials and trial_patterns == DEFAULT_PATTERNS:
        trials = trials_of_columns(table, blocks)
    screen_px = sidecar.screen_px or facts.screen_px
    if sidecar.screen is not None:
        screen_px = sidecar.screen.width_px, sidecar.screen.height_px
    return Recording(
        path=path,
        format="table",
        blocks=tuple(blocks),
        messages=messages,
        trials=trials,
        calibrations=facts.calibrations,
        drift_corrections=facts.drift_corrections,
        screen=sidecar.screen,
        screen_px=screen_px,
        viewer=sidecar.viewer,
        session=sidecar.session,
        problems=tuple(problems),
    )


def _described_blocks(
    sidecar: Sidecar, n_rows: int, path: Path, problems: list[Problem]
) -> tuple[TableBlock, ...]:
    """Return the sidecar's blocks, or none where they are not those of this table."""
    n_described = sum(block.n_rows for block in sidecar.blocks)
    if not sidecar.blocks or n_described == n_rows:
        return sidecar.blocks
    name = sidecar_path(path).name
    problems.append(
        Problem(None, f"{name} describes {n_described} rows, not {n_rows}: its blocks are ignored")
    )
    return ()


def _block_rows(table: Any, described: tuple[TableBlock, ...]) -> list[range]:
    """Return the rows of each block: as described, else by the changes in column `block`."""
    if described:
        ends = np.cumsum([block.n_rows for block in described])
        return [
            range(int(end) - block.n_rows, int(end))
            for block, end in zip(described, ends, strict=True)
        ]
    if not table.num_rows:
        return []
    if "block" not in table.column_names:
        return [range(table.num_rows)]
    return [range(start, stop) for start, stop, _ in runs(label_codes(table, "block")[0])]


def _read_clocks(
    table: Any,
    sidecar: Sidecar,
    described: tuple[TableBlock, ...],
    path: Path,
    problems: list[Problem],
) -> tuple[list[BlockClock], npt.NDArray[np.bool_]]:
    """Return the clock of each block, and which rows of the table stay."""
    rows = _block_rows(table, described)
    for number, of_block in enumerate(rows):
        # where two eyes take turns, every other time repeats: no fault of the times
        _refuse_two_eyes(table.slice(of_block.start, len(of_block)), path, _where(number, rows))
    clock = TableClock(path, _floats(table, "t_ms", np.float64), problems=problems)
    if described:
        rates_hz = [block.stream.sampling_rate_hz for block in described]
        clocks = [
            clock.described(of_block, rates_hz[number], _where(number, rows))
            for number, of_block in enumerate(rows)
        ]
    else:
        rows = clock.cut_at_restarts(rows)
        clocks = [
            clock.read(of_block, sidecar.sampling_rate_hz, _where(number, rows))
            for number, of_block in enumerate(rows)
        ]
    return clocks, clock.kept


def _where(number: int, blocks: Sequence[object]) -> str:
    """Return how a sentence about a block begins."""
    return f"block {number + 1}: " if len(blocks) > 1 else ""


def _make_block(
    rows: Any,
    clock: BlockClock,
    layout: TableLayout,
    sidecar: Sidecar,
    described: TableBlock | None,
) -> Block:
    """Make one block of the rows of a table."""
    times_us = clock.times_us
    stream = described.stream if described else None
    eyes, columns = _eyes(rows, layout, stream)
    samples = _fill_samples(rows, times_us, columns)
    if stream is None:
        stream = StreamDescription(
            device="table",
            sampling_rate_hz=clock.sampling_rate_hz,
            eyes=eyes,
            coordinates=layout.coordinates,
            screen=sidecar.screen,
            screen_px=sidecar.screen_px,
            px_per_deg=sidecar.px_per_deg,
        )
    stream = msgspec.structs.replace(stream, eyes=eyes, coordinates=layout.coordinates)
    if described is not None:
        return Block(
            stream, samples, round(described.start_ms * 1000), round(described.end_ms * 1000)
        )
    return Block(stream, samples, int(times_us[0]), int(times_us[-1]))


def _eyes(
    rows: Any, layout: TableLayout, stream: StreamDescription | None
) -> tuple[Eyes, dict[Eye, EyeColumns]]:
    """Say which eyes the rows hold, and in which columns."""
    if layout.one_eye is None:
        with_data = {
            eye: columns
            for eye, columns in layout.two_eyes.items()
            if (stream and eye in stream.eyes) or rows[columns.x].null_count < rows.num_rows
        }
        columns_of = with_data or layout.two_eyes
        return "LR" if len(columns_of) == 2 else next(iter(columns_of)), columns_of
    eye: Eye = stream.eyes if stream and stream.eyes != "LR" else "R"
    if "eye" in rows.column_names:
        eye = next((EYE_WORDS[word] for word in _eye_words(rows) if word in EYE_WORDS), eye)
    return eye, {eye: layout.one_eye}


def _refuse_two_eyes(rows: Any, path: Path, where: str) -> None:
    """Say what to do where column `eye` names no eye, or two of them in one block."""
    words = _eye_words(rows) if "eye" in rows.column_names else set()
    if len({EYE_WORDS.get(word) for word in words}) > 1 or words - set(EYE_WORDS):
        raise RecordingError(
            f"{where}column eye says {', '.join(sorted(words)).upper()}: it must be L or R for a "
            "whole block; two eyes stand in one row as left_x_px,left_y_px,right_x_px,right_y_px",
            path=path,
        )


def _eye_words(rows: Any) -> set[str]:
    words = (str(word).strip().lower() for word in rows["eye"].unique().to_pylist() if word)
    return {word for word in words if word}


def _fill_samples(
    rows: Any, times_us: npt.NDArray[np.int64], columns_of: dict[Eye, EyeColumns]
) -> Samples:
    samples = empty_samples(rows.num_rows)
    samples["tracker_time_us"] = times_us
    ignored = np.zeros(rows.num_rows, bool)
    if "valid" in rows.column_names:
        ignored = ~np.asarray(pa_compute.fill_null(rows["valid"], False), bool)
    for eye, columns in columns_of.items():
        x_field, y_field, pupil_field = EYE_FIELDS[eye]
        x, y = _floats(rows, columns.x), _floats(rows, columns.y)
        missing = ignored | ~(np.isfinite(x) & np.isfinite(y))
        missing |= (x == MISSING_CODE) | (y == MISSING_CODE)
        samples[x_field] = np.where(missing, np.nan, x)
        samples[y_field] = np.where(missing, np.nan, y)
        if columns.pupil is not None:
            samples[pupil_field] = _floats(rows, columns.pupil)
    return samples


def _floats(rows: Any, name: str, dtype: Any = np.float32) -> npt.NDArray[Any]:
    """Return a column of numbers with NaN for empty cells."""
    return np.asarray(rows[name].to_numpy(), dtype)
