"""The labels in a sample table's rows: blocks, and trials by their names and images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pa_compute

from gazelive.recordings.recording import Block, Trial

Codes = npt.NDArray[np.int64]
NO_LABEL = frozenset({"", "NA"})
"""What an empty cell of labels looks like, here and from R."""


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
    """Return when a sample is over: a trial that it is the last of includes it."""
    times_us = block.samples["tracker_time_us"]
    end_us = int(times_us[row]) + round(block.stream.sample_interval_us)
    return end_us if row + 1 == len(times_us) else min(end_us, int(times_us[row + 1]))


def label_codes(table: Any, name: str) -> tuple[Codes, list[str]]:
    """Return a column of labels as numbers and their names; −1 is no label."""
    if name not in table.column_names:
        return np.full(table.num_rows, -1), []
    encoded = table[name].combine_chunks().dictionary_encode()
    codes = np.asarray(pa_compute.fill_null(encoded.indices, -1), np.int64)
    names = [str(label) for label in encoded.dictionary.to_pylist()]
    empty = [code for code, label in enumerate(names) if label in NO_LABEL]
    return np.where(np.isin(codes, empty), -1, codes), names


def runs(codes: Codes) -> list[tuple[int, int, int]]:
    """Return start, stop (exclusive) and value of each run of equal values."""
    if not len(codes):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(codes)) + 1])
    stops = np.append(starts[1:], len(codes))
    return [
        (int(start), int(stop), int(codes[start]))
        for start, stop in zip(starts, stops, strict=True)
    ]
