"""Recording in memory: the same structure for ASC, EDF, tables and session folders."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec

from gazelive.errors import ConfigError
from gazelive.gaze import (
    Eye,
    Message,
    Samples,
    ScreenGeometry,
    SingleFloats,
    StreamDescription,
    TrackerEvent,
    each_eye,
    missing_mask,
)
from gazelive.recordings.resolution import TrackerResolution, tracker_resolution
from gazelive.wording import EYE_NAMES, counted

RecordingFormat = Literal["asc", "edf", "session", "table"]


class Problem(msgspec.Struct, frozen=True):
    """Something damaged that was skipped; `line` counts from 1 where the format has lines."""

    line: int | None
    text: str


class Calibration(msgspec.Struct, frozen=True, kw_only=True):
    """A calibration or validation result of one eye."""

    tracker_time_us: int
    kind: Literal["calibration", "validation"]
    eye: Eye
    model: str | None = None
    """The target pattern, such as HV9 or HV13."""
    result: str | None = None
    """The tracker's verdict, such as GOOD, FAIR or POOR."""
    mean_error_deg: float | None = None
    max_error_deg: float | None = None


class DriftCorrection(msgspec.Struct, frozen=True, kw_only=True):
    """A drift check or correction of one eye at a target on the screen."""

    tracker_time_us: int
    eye: Eye
    target_x_px: float
    target_y_px: float
    offset_deg: float
    offset_x_px: float
    offset_y_px: float


class Signal(msgspec.Struct, frozen=True):
    """A change of the tracker's input port or of a button (`number`) to `value`."""

    tracker_time_us: int
    kind: Literal["input", "button"]
    number: int
    value: int


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One trial, marked by the experiment's messages."""

    name: str
    """The text after the start message (TRIALID), else the trial's ordinal number.

    If all trials have one text, it is numbered: `face`, `face (2)`, `face (3)` …
    """
    start_us: int
    end_us: int
    block: int | None = None
    """Index of the trial's recording block, if it has one."""
    image: str | None = None
    image_onset_us: int | None = None
    image_offset_us: int | None = None
    variables: dict[str, str] = {}
    result: str | None = None


@dataclass(frozen=True)
class Block:
    """The recording between one start and one stop of the tracker."""

    stream: StreamDescription
    samples: Samples
    start_us: int
    end_us: int
    extras: dict[str, SingleFloats] = field(default_factory=dict)
    """Further columns of the same length: velocity, resolution, input, head target."""

    @property
    def duration_s(self) -> float:
        """Recorded time, the last sample's interval included."""
        if not len(self.samples):
            return 0.0
        times = self.samples["tracker_time_us"]
        return float(times[-1] - times[0] + self.stream.sample_interval_us) / 1e6


@dataclass(frozen=True)
class Recording:
    """Everything that a recording file holds, in the tracker's time."""

    path: Path
    format: RecordingFormat
    blocks: tuple[Block, ...]
    messages: tuple[Message, ...] = ()
    tracker_events: tuple[TrackerEvent, ...] = ()
    signals: tuple[Signal, ...] = ()
    trials: tuple[Trial, ...] = ()
    calibrations: tuple[Calibration, ...] = ()
    drift_corrections: tuple[DriftCorrection, ...] = ()
    header: tuple[str, ...] = ()
    screen: ScreenGeometry | None = None
    screen_px: tuple[int, int] | None = None
    viewer: str | None = None
    session: str | None = None
    problems: tuple[Problem, ...] = ()

    def __repr__(self) -> str:
        facts = [
            counted(len(self.blocks), "block"),
            counted(len(self.trials), "trial"),
            f"{self.duration_s:.1f} s",
        ]
        if self.blocks:
            stream = self.blocks[0].stream
            facts.append(f"{stream.sampling_rate_hz:g} Hz, {EYE_NAMES[stream.eyes]}")
        if self.problems:
            facts.append(counted(len(self.problems), "problem"))
        return f"<Recording {self.path.name}: {', '.join(facts)}>"

    def to_pandas(self) -> Any:
        """Return the samples as a pandas data frame with the columns of a sample table.

        `t_ms` is the tracker's time; positions are in the unit of their names (px or degrees).
        """
        from gazelive.recordings.tables.sample_writer import sample_table

        try:
            return sample_table(self).to_pandas()
        except ModuleNotFoundError as error:
            raise ConfigError("to_pandas needs pandas: pip install pandas") from error

    @property
    def n_samples(self) -> int:
        """Number of samples in all blocks."""
        return sum(len(block.samples) for block in self.blocks)

    @property
    def duration_s(self) -> float:
        """Recorded time of all blocks."""
        return sum(block.duration_s for block in self.blocks)

    @property
    def missing_fraction(self) -> float:
        """Fraction of samples in which no recorded eye has a position (0 without samples)."""
        missing = sum(
            int(missing_mask(block.samples, block.stream.eyes).sum()) for block in self.blocks
        )
        return missing / self.n_samples if self.n_samples else 0.0

    @property
    def missing_fraction_of(self) -> dict[Eye, float]:
        """Fraction of samples without a position, for each eye in the blocks that recorded it."""
        fractions: dict[Eye, float] = {}
        for eye in each_eye("LR"):
            blocks = [block for block in self.blocks if eye in block.stream.eyes]
            n_samples = sum(len(block.samples) for block in blocks)
            if n_samples:
                missing = sum(int(missing_mask(block.samples, eye).sum()) for block in blocks)
                fractions[eye] = missing / n_samples
        return fractions

    @cached_property
    def tracker_resolution(self) -> TrackerResolution | None:
        """The tracker's own px per degree, one for all blocks, if it wrote any."""
        return tracker_resolution(self.blocks)
