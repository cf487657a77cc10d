"""A whole recording, analysed interval by interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gazelive.detection import (
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
    NoiseMemory,
)
from gazelive.detection.parameters import HIGHEST_RATE_HZ, LOWEST_RATE_HZ
from gazelive.errors import RecordingError
from gazelive.features.interval import (
    AnalysedGaze,
    Gaze,
    Parameters,
    Positions,
    analyse_gaze,
    even_gaze,
)
from gazelive.gaze.events import EventEye
from gazelive.gaze.screen import ScreenGeometry
from gazelive.offline.analysis_doubts import doubts
from gazelive.recordings.geometry import (
    FoundGeometry,
    GeometryFlags,
    block_positions_deg,
    find_geometry,
)
from gazelive.recordings.intervals import (
    ViewingInterval,
    calibrations_before,
    viewing_intervals,
)
from gazelive.recordings.recording import Recording

EyeChoice = Literal["L", "R", "both"]


@dataclass(frozen=True)
class AnalysedInterval:
    """A viewing interval and what was found in it."""

    interval: ViewingInterval
    gaze: AnalysedGaze


@dataclass(frozen=True)
class Analysis:
    """What was found in a recording, and everything that was used to find it."""

    recording: Recording
    method: Method
    parameters: Parameters
    geometries: tuple[FoundGeometry, ...]
    """Of each block."""
    intervals: tuple[AnalysedInterval, ...]
    eye: EyeChoice | None = None
    """As it was asked for; None is whatever was recorded."""
    whole_blocks: bool = False
    carries_noise: bool = False
    """Whether intervals began with the noise of those before (`online` does)."""

    @property
    def n_saccades(self) -> int:
        """Number of saccades in all intervals."""
        return sum(len(i.gaze.detection.saccades) for i in self.intervals)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know before the numbers are believed."""
        return tuple(doubts(self))


def analyse(
    recording: Recording,
    *,
    method: Method = "settled",
    parameters: Parameters | None = None,
    eye: EyeChoice | None = None,
    flags: GeometryFlags | None = None,
    corpus_screen: ScreenGeometry | None = None,
    whole_blocks: bool = False,
    carry_noise: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Analysis:
    """Find the events of every viewing interval.

    `eye` is one eye, or `both`; by default whatever was recorded. `online` begins each interval
    with the noise learned in those before it under the same calibration, as it is live; with
    `carry_noise` False it begins each anew.
    """
    if parameters is None:
        offline = method == "engbert-kliegl"
        parameters = EngbertKlieglParameters() if offline else DetectorParameters()
    if not recording.n_samples:
        raise RecordingError("holds no samples, so there is nothing to detect", path=recording.path)
    _refuse_impossible_rates(recording)
    intervals = viewing_intervals(recording, whole_blocks=whole_blocks)
    geometries = tuple(
        find_geometry(block, recording, flags, corpus_screen) for block in recording.blocks
    )
    analysed = []
    memory, calibration = NoiseMemory(), 0
    for done, interval in enumerate(intervals):
        gaze = interval_gaze(recording, interval, geometries[interval.block], eye)
        before, calibration = calibration, calibrations_before(recording, interval.start_us)
        if before != calibration or not carry_noise:
            memory.forget()
        found = analyse_gaze(gaze, method, parameters, memory)
        analysed.append(AnalysedInterval(interval, found))
        if progress is not None:
            progress((done + 1) / len(intervals))
    return Analysis(
        recording,
        method,
        parameters,
        geometries,
        tuple(analysed),
        eye=eye,
        whole_blocks=whole_blocks,
        carries_noise=carry_noise and method == "online",
    )


def _refuse_impossible_rates(recording: Recording) -> None:
    """Say which block is too slow or too fast to find saccades in."""
    for number, block in enumerate(recording.blocks):
        rate_hz = block.stream.sampling_rate_hz
        if len(block.samples) and not LOWEST_RATE_HZ <= rate_hz <= HIGHEST_RATE_HZ:
            raise RecordingError(
                f"block {number + 1} has {rate_hz:g} samples per second, and saccades are found at "
                f"{LOWEST_RATE_HZ:g} to {HIGHEST_RATE_HZ:g} Hz (if the rate is wrong, mend it: "
                "`gazelive info` says what was read)",
                path=recording.path,
            )


def interval_gaze(
    recording: Recording,
    interval: ViewingInterval,
    geometry: FoundGeometry,
    eye: EyeChoice | None = None,
) -> Gaze:
    """Return the gaze of an interval in degrees, on an even grid."""
    block = recording.blocks[interval.block]
    times_us = block.samples["tracker_time_us"]
    first, beyond = np.searchsorted(times_us, [interval.start_us, interval.end_us])
    recorded = block.stream.eyes
    wanted = recorded if eye is None else "LR" if eye == "both" else eye
    if not set(wanted) <= set(recorded):
        raise RecordingError(
            f"block {interval.block + 1} has eye {' and '.join(recorded)}, not {eye}: leave out "
            "--eye, or choose another",
            path=recording.path,
        )
    viewed = replace(block, samples=block.samples[first:beyond])
    eyes: dict[EventEye, Positions] = {
        name: block_positions_deg(viewed, name, geometry) for name in ("L", "R") if name in wanted
    }
    return even_gaze(times_us[first:beyond], eyes, block.stream.sampling_rate_hz)
