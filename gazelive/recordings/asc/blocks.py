"""Recording blocks of an ASC file, built from their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.gaze import (
    EYE_FIELDS,
    Samples,
    SingleFloats,
    StreamDescription,
    left_out_sentence,
    longest_increasing,
)
from gazelive.recordings.asc.columns import RESOLUTION_NAMES, TARGET_NAMES, SampleColumns
from gazelive.recordings.problems import ProblemLog
from gazelive.recordings.recording import Block


@dataclass(slots=True)
class BlockLines:
    """Facts from the lines START to END of one block, and the place of its samples."""

    line: int
    """Line number of the START."""
    first_sample: int
    first_extra: int
    start_us: int | None = None
    end_us: int | None = None
    columns: SampleColumns | None = None
    rate_hz: float | None = None
    """Sampling rate from the SAMPLES line."""
    announced_rate_hz: float | None = None
    """Sampling rate from the EVENTS line or the RECCFG message."""
    pupil: Literal["area", "diameter"] = "area"
    prescaler: float = 1.0
    velocity_prescaler: float = 1.0
    px_per_deg: tuple[float, float] | None = None
    is_described: bool = False
    """True if a SAMPLES or EVENTS line described the block."""
    n_samples: int = 0
    is_out_of_order: bool = False
    has_target: bool = False
    """True if the head target is present, not only announced."""


class BlockMaker:
    """Builds blocks from the file's samples; equal descriptions are shared."""

    def __init__(
        self,
        samples: Samples,
        extras: SingleFloats,
        *,
        device: str,
        screen_px: tuple[int, int] | None,
        problems: ProblemLog,
    ) -> None:
        self._samples = samples
        self._extras = extras
        self._device = device
        self._screen_px = screen_px
        self._problems = problems
        self._streams: dict[StreamDescription, StreamDescription] = {}

    def make(self, lines: Sequence[BlockLines]) -> tuple[Block, ...]:
        """Return the blocks that can be built; the others are reported as problems."""
        made = (self._make(block) for block in lines)
        return tuple(block for block in made if block is not None)

    def _make(self, lines: BlockLines) -> Block | None:
        samples = self._samples[lines.first_sample : lines.first_sample + lines.n_samples]
        columns = lines.columns
        assert columns is not None  # a block without columns is never closed
        names = columns.extra_names
        extras = self._extras[lines.first_extra :][: len(samples) * len(names)]
        extras = extras.reshape(len(samples), len(names))
        if lines.is_out_of_order:
            keep = longest_increasing(np.ascontiguousarray(samples["tracker_time_us"]))
            n_lost = len(samples) - int(keep.sum())
            samples, extras = samples[keep], extras[keep]
            sentence = left_out_sentence(n_lost, "the block that starts here")
            self._problems.add(lines.line, sentence)
        rate_hz = lines.rate_hz or lines.announced_rate_hz or self._measured_rate_hz(lines, samples)
        if rate_hz is None:
            return None
        _divide_by_prescaler(lines, columns, samples, extras)
        stream = StreamDescription(
            device=self._device,
            sampling_rate_hz=rate_hz,
            eyes=columns.eyes,
            coordinates=columns.coordinates,
            screen_px=self._screen_px,
            px_per_deg=lines.px_per_deg,
            pupil=lines.pupil,
        )
        start_us, end_us = self._span_us(lines, samples)
        return Block(
            stream=self._streams.setdefault(stream, stream),
            samples=samples,
            start_us=start_us,
            end_us=end_us,
            extras={
                name: extras[:, k]
                for k, name in enumerate(names)
                if lines.has_target or name not in TARGET_NAMES
            },
        )

    def _measured_rate_hz(self, lines: BlockLines, samples: Samples) -> float | None:
        """Return the rate from the median interval, if no line gives it."""
        what = "no line gives the sampling rate of the block that starts here"
        if len(samples) < 2:
            self._problems.add(lines.line, f"{what}: skipped")
            return None
        rate_hz = 1e6 / float(np.median(np.diff(samples["tracker_time_us"])))
        self._problems.add(
            lines.line, f"{what}: using {rate_hz:g} Hz from the times of its samples"
        )
        return rate_hz

    def _span_us(self, lines: BlockLines, samples: Samples) -> tuple[int, int]:
        """Return start and end; those of the samples if a line is missing or impossible."""
        first_us, last_us = None, None
        if len(samples):
            first_us, last_us = (int(samples["tracker_time_us"][k]) for k in (0, -1))
        start_us, end_us = lines.start_us, lines.end_us
        if start_us is None or (first_us is not None and first_us < start_us):
            if start_us is not None:
                self._problems.add(lines.line, "the block starts after its first sample")
            start_us = first_us if first_us is not None else (end_us or 0)
        earliest_us = start_us if last_us is None else last_us
        if end_us is not None and end_us < earliest_us:
            self._problems.add(lines.line, "the block that starts here ends before its last sample")
        if end_us is None or end_us < earliest_us:
            end_us = earliest_us
        return start_us, end_us


def _divide_by_prescaler(
    lines: BlockLines, columns: SampleColumns, samples: Samples, extras: SingleFloats
) -> None:
    """Undo the scaling with which some programs write positions and velocities as integers."""
    if lines.prescaler != 1:
        for eye in columns.eyes:
            for field in EYE_FIELDS[eye][:2]:
                samples[field] /= lines.prescaler
    for k, name in enumerate(columns.extra_names):
        if name in RESOLUTION_NAMES and lines.prescaler != 1:
            extras[:, k] /= lines.prescaler
        elif name.endswith("deg_s") and lines.velocity_prescaler != 1:
            extras[:, k] /= lines.velocity_prescaler
