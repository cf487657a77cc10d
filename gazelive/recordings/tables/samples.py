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

An empty cell is a missing value. Messages, geometry and the rate are in the sidecar.
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
from gazelive.gaze import (
    EYE_FIELDS,
    Eye,
    Eyes,
    Flags,
    Integers,
    Message,
    Samples,
    StreamDescription,
    empty_samples,
)
from gazelive.recordings.messages import interpret
from gazelive.recordings.recording import Block, Problem, Recording, Trial
from gazelive.recordings.tables.clock import BlockClock, TableClock
from gazelive.recordings.tables.files import read_table_file, read_table_names
from gazelive.recordings.tables.sample_columns import (
    COLUMN_TYPES,
    EYE_WORDS,
    EyeColumns,
    TableLayout,
    recognise_columns,
)
from gazelive.recordings.tables.sidecar import (
    Sidecar,
    TableBlock,
    read_sidecar,
    sidecar_path,
    unknown_keys,
)
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, trials_of

NO_LABEL = frozenset({"", "NA"})
"""Empty cells of labels, ours and those of R."""


def trials_of_columns(table: Any, blocks: Sequence[Block]) -> tuple[Trial, ...]:
    """Return a trial for every run of rows in one block with the same trial (else image)."""
    if not {"trial", "image"} & set(table.column_names):
        return ()
    trial_codes, trial_names = label_codes(table, "trial")
    image_codes, image_names = label_codes(table, "image")
    codes, names = (trial_codes, trial_names) if trial_names else (image_codes, image_names)
    trials: list[Trial] = []
    first_row = 0
    for number, block in enumerate(blocks):
        times_us = block.samples["tracker_time_us"]
        rows = slice(first_row, first_row + len(times_us))
        first_row += len(times_us)
        for start, stop, code in runs(codes[rows]):
            if code < 0:
                continue
            images = image_codes[rows][start:stop]
            shown = np.flatnonzero(images >= 0)
            image = int(images[shown[0]]) if len(shown) else None
            on_screen = start + np.flatnonzero(images == image)
            trials.append(
                Trial(
                    name=names[code] if trial_names else str(len(trials)),
                    start_us=int(times_us[start]),
                    end_us=_end_us(block, stop - 1),
                    block=number,
                    image=None if image is None else image_names[image],
                    image_onset_us=None if image is None else int(times_us[on_screen[0]]),
                    image_offset_us=None if image is None else _end_us(block, int(on_screen[-1])),
                )
            )
    return tuple(trials)


def _end_us(block: Block, row: int) -> int:
    """Return the end of a sample, so a trial that ends with it includes it."""
    times_us = block.samples["tracker_time_us"]
    end_us = int(times_us[row]) + round(block.stream.sample_interval_us)
    return end_us if row + 1 == len(times_us) else min(end_us, int(times_us[row + 1]))


def label_codes(table: Any, name: str) -> tuple[Integers, list[str]]:
    """Return a column of labels as numbers and their names; −1 is no label."""
    if name not in table.column_names:
        return np.full(table.num_rows, -1), []
    encoded = table[name].combine_chunks().dictionary_encode()
    codes = np.asarray(pa_compute.fill_null(encoded.indices, -1), np.int64)
    names = [str(label) for label in encoded.dictionary.to_pylist()]
    empty = [code for code, label in enumerate(names) if label in NO_LABEL]
    return np.where(np.isin(codes, empty), -1, codes), names


def runs(codes: Integers) -> list[tuple[int, int, int]]:
    """Return start, stop (exclusive) and value of each run of equal values."""
    if not len(codes):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
    stops = np.append(starts[1:], len(codes))
    return [
        (int(start), int(stop), int(codes[start]))
        for start, stop in zip(starts, stops, strict=True)
    ]


MISSING_CODE = -32768.0
"""EyeLink's code for a lost position, which some tables contain."""


def read_sample_table(
    path: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Read the table at `path`, and its sidecar if it has one.

    Trials come from the sidecar, else from the columns `trial` and `image`; with the user's own
    patterns, from the messages only.
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
    """Return an Arrow table of `COLUMN_TYPES` as a recording; `path` is used in errors."""
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
        screen_px = sidecar.screen.size_px
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
    """Return the sidecar's blocks, or none if they do not match this table."""
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
) -> tuple[list[BlockClock], Flags]:
    """Return the clock of each block, and which rows of the table are kept."""
    rows = _block_rows(table, described)
    for number, of_block in enumerate(rows):
        # if two eyes alternate, every other time repeats: the times are fine
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
    """Return the start of a sentence about a block."""
    return f"block {number + 1}: " if len(blocks) > 1 else ""


def _make_block(
    rows: Any,
    clock: BlockClock,
    layout: TableLayout,
    sidecar: Sidecar,
    described: TableBlock | None,
) -> Block:
    """Build one block from rows of a table."""
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
    """Return the eyes of the rows, and their columns."""
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
    """Raise if column `eye` names no eye, or two of them in one block."""
    words = _eye_words(rows) if "eye" in rows.column_names else set()
    if len({EYE_WORDS.get(word) for word in words}) > 1 or words - set(EYE_WORDS):
        raise RecordingError(
            f"{where}column eye has {', '.join(sorted(words)).upper()}: it must be L or R for a "
            "whole block; two eyes need columns left_x_px,left_y_px,right_x_px,right_y_px",
            path=path,
        )


def _eye_words(rows: Any) -> set[str]:
    words = (str(word).strip().lower() for word in rows["eye"].unique().to_pylist() if word)
    return {word for word in words if word}


def _fill_samples(rows: Any, times_us: Integers, columns_of: dict[Eye, EyeColumns]) -> Samples:
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
