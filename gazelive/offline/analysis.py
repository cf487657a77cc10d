"""A whole recording, analysed interval by interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gazelive.detection import (
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
    NoiseMemory,
)
from gazelive.detection.online_state import GAP_INTERVALS
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
from gazelive.gaze.samples import EYE_FIELDS, Coordinates
from gazelive.gaze.screen import ScreenGeometry
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

JITTER_FRACTION = 0.002
FEWEST_JITTERING = 100
"""Fewer samples say nothing of how even their times are."""


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
        """What a user should know of geometry (blocks from one source say it once) and eyes."""
        told = {g.source: g.warning for g in reversed(self.geometries) if g.warning is not None}
        return (
            *told.values(),
            *self._flags_in_vain(),
            *self._eyes_never_seen(),
            *self._trials_elsewhere(),
            *self._times_that_jitter(),
        )

    def _flags_in_vain(self) -> Iterator[str]:
        """Yield a sentence where the user told of a screen, and positions are angles already."""
        blocks = zip(self.recording.blocks, self.geometries, strict=True)
        if any(
            found.source == "flags" and block.stream.coordinates is not Coordinates.SCREEN_PX
            for block, found in blocks
        ):
            yield "positions are angles already, so --screen, --size-mm, --distance-mm are not used"

    def _eyes_never_seen(self) -> Iterator[str]:
        """Yield a sentence for each eye without which two eyes were made one gaze.

        Where neither was seen, and where the method needs both, the outcome says it.
        """
        if self.method == "engbert-kliegl":
            return
        unseen: dict[str, list[str]] = {}
        for number, block in enumerate(self.recording.blocks):
            if block.stream.eyes != "LR" or self.eye in ("L", "R") or not len(block.samples):
                continue
            lost = [eye for eye in "LR" if np.isnan(block.samples[EYE_FIELDS[eye][0]]).all()]
            if len(lost) == 1:
                unseen.setdefault(lost[0], []).append(str(number + 1))
        for eye, blocks in unseen.items():
            noun = "block" if len(blocks) == 1 else "blocks"
            shown = ", ".join(blocks[:5]) + (" …" if len(blocks) > 5 else "")
            yield f"eye {eye} was never seen in {noun} {shown}: there the other eye counts alone"

    def _trials_elsewhere(self) -> Iterator[str]:
        """Yield a sentence where trials are marked, and none of them where gaze was recorded."""
        trials = self.recording.trials
        if trials and not self.whole_blocks and all(trial.block is None for trial in trials):
            start_ms = trials[0].start_us / 1000
            yield (
                f"no sample lies within the trials ({trials[0].name} starts at {start_ms:g} ms): "
                "are their times of another clock? Whole blocks are searched instead"
            )

    def _times_that_jitter(self) -> Iterator[str]:
        """Yield a sentence for each block with long steps in time, though no sample is missing."""
        for number, block in enumerate(self.recording.blocks):
            times_us = block.samples["tracker_time_us"]
            if len(times_us) < FEWEST_JITTERING:
                continue
            interval_us = 1e6 / block.stream.sampling_rate_hz
            n_gaps = int(np.sum(np.diff(times_us) > GAP_INTERVALS * interval_us))
            n_missing = (times_us[-1] - times_us[0]) / interval_us + 1 - len(times_us)
            if n_gaps > JITTER_FRACTION * len(times_us) and n_missing < n_gaps / 2:
                yield (
                    f"the times of block {number + 1} jitter: {n_gaps} steps are longer than "
                    f"{GAP_INTERVALS:g} samples and count as losses, though no sample is missing; "
                    "put t_ms on even steps"
                )


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
