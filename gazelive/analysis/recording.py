"""A whole recording, analysed interval by interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gazelive.analysis.grid import EyeChoice, Gaze, choose_eyes, interval_gaze
from gazelive.analysis.interval import Parameters, analyse_gaze
from gazelive.detection import (
    HIGHEST_RATE_HZ,
    LOWEST_RATE_HZ,
    DetectorParameters,
    EngbertKlieglParameters,
    Method,
    NoiseMemory,
    preset,
    smallest_amplitude,
)
from gazelive.errors import RecordingError
from gazelive.features import AnalysedGaze
from gazelive.gaze import EYE_FIELDS, GAP_INTERVALS, Coordinates, ScreenGeometry, find_gaps
from gazelive.recordings import (
    FoundGeometry,
    GeometryFlags,
    Recording,
    ViewingInterval,
    calibrations_before,
    find_geometry,
    viewing_intervals,
)

NOISY_DEG_S = 40.0
"""Thresholds above this hide small saccades: recall is 1.00 below 25 °/s and .65 at 45–60 °/s."""
JITTER_FRACTION = 0.002
FEWEST_JITTERING = 100
"""Fewer samples are too few to judge the jitter of their times."""
NARROWEST_DEG, WIDEST_DEG = 8.0, 110.0
"""A narrower or wider screen suggests that its size and distance are in different units."""


@dataclass(frozen=True)
class AnalysedInterval:
    """A viewing interval, its events and its features."""

    interval: ViewingInterval
    gaze: AnalysedGaze


@dataclass(frozen=True)
class Analysis:
    """The events of a recording, and all that was used to find them."""

    recording: Recording
    method: Method
    parameters: Parameters
    geometries: tuple[FoundGeometry, ...]
    """Screen geometry of each block."""
    intervals: tuple[AnalysedInterval, ...]
    eye: EyeChoice | None = None
    """The chosen eye; None: all that were recorded."""
    whole_blocks: bool = False
    carries_noise: bool = False
    """True if each interval starts with the noise of those before (`online` does)."""

    @property
    def n_saccades(self) -> int:
        """Number of saccades in all intervals."""
        return sum(len(i.gaze.detection.saccades) for i in self.intervals)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the numbers, for the user."""
        return tuple(_warnings(self))


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
    memory = NoiseMemory()
    for done, interval in enumerate(intervals):
        gaze = recorded_gaze(recording, interval, geometries[interval.block], eye)
        memory.begin_interval(calibrations_before(recording, interval.start_us))
        if not carry_noise:
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
    """Raise where the sampling rate of a block is too low or too high for detection."""
    for number, block in enumerate(recording.blocks):
        rate_hz = block.stream.sampling_rate_hz
        if len(block.samples) and not LOWEST_RATE_HZ <= rate_hz <= HIGHEST_RATE_HZ:
            raise RecordingError(
                f"block {number + 1} has {rate_hz:g} samples per second, and saccades are found at "
                f"{LOWEST_RATE_HZ:g} to {HIGHEST_RATE_HZ:g} Hz (if the rate is wrong, mend it: "
                "`gazelive info` says what was read)",
                path=recording.path,
            )


def recorded_gaze(
    recording: Recording,
    interval: ViewingInterval,
    geometry: FoundGeometry,
    eye: EyeChoice | None = None,
) -> Gaze:
    """Return the gaze of an interval in degrees at even times."""
    block = recording.blocks[interval.block]
    recorded = block.stream.eyes
    eyes = choose_eyes(recorded, eye)
    if eyes is None:
        raise RecordingError(
            f"block {interval.block + 1} has eye {' and '.join(recorded)}, not {eye}: leave out "
            "--eye, or choose another",
            path=recording.path,
        )
    return interval_gaze(block.samples, block.stream, eyes, geometry, interval)


def _warnings(analysis: Analysis) -> Iterator[str]:
    geometries = analysis.geometries
    # once for all blocks with a geometry from the same source
    by_source = {g.source: g.warning for g in reversed(geometries) if g.warning is not None}
    yield from by_source.values()
    yield from _screens(analysis)
    yield from _eyes_never_seen(analysis)
    yield from _trials_elsewhere(analysis)
    yield from _times_that_jitter(analysis)


def _screens(analysis: Analysis) -> Iterator[str]:
    """Warn of a screen that is not used, and of one with an implausible size."""
    blocks = zip(analysis.recording.blocks, analysis.geometries, strict=True)
    screens = {
        found.geometry: block.stream.coordinates is Coordinates.SCREEN_PX
        for block, found in blocks
        if found.source in ("flags", "corpus") and isinstance(found.geometry, ScreenGeometry)
    }
    for screen, is_used in screens.items():
        width_deg = 2 * math.degrees(math.atan(screen.width_mm / 2 / screen.eye_distance_mm))
        if not is_used:
            yield "positions are angles already, so the size and distance of a screen are not used"
        elif not NARROWEST_DEG <= width_deg <= WIDEST_DEG:
            yield (
                f"a screen {screen.width_mm:g} mm wide at {screen.eye_distance_mm:g} mm is seen as "
                f"{width_deg:.0f}° wide: are both in millimetres?"
            )


def _eyes_never_seen(analysis: Analysis) -> Iterator[str]:
    """Warn of an eye that was never seen in a binocular block.

    Where neither was seen, or the method needs both, the outcome says so.
    """
    if analysis.method == "engbert-kliegl" or analysis.eye in ("L", "R"):
        return
    unseen: dict[str, list[str]] = {}
    for number, block in enumerate(analysis.recording.blocks):
        if block.stream.eyes != "LR" or not len(block.samples):
            continue
        lost = [eye for eye in "LR" if np.isnan(block.samples[EYE_FIELDS[eye][0]]).all()]
        if len(lost) == 1:
            unseen.setdefault(lost[0], []).append(str(number + 1))
    for eye, blocks in unseen.items():
        noun = "block" if len(blocks) == 1 else "blocks"
        shown = ", ".join(blocks[:5]) + (" …" if len(blocks) > 5 else "")
        yield f"eye {eye} was never seen in {noun} {shown}: there the other eye counts alone"


def _trials_elsewhere(analysis: Analysis) -> Iterator[str]:
    """Warn where no marked trial has any samples."""
    trials = analysis.recording.trials
    if trials and not analysis.whole_blocks and all(trial.block is None for trial in trials):
        start_ms = trials[0].start_us / 1000
        yield (
            f"no sample lies within the trials ({trials[0].name} starts at {start_ms:g} ms): are "
            "their times of another clock? Whole blocks are searched instead"
        )


def noise_warnings(analysis: Analysis) -> Iterator[str]:
    """Yield sentences about noise that hides small saccades, with figures."""
    found = [i.gaze.detection for i in analysis.intervals]
    known = [d.thresholds_deg_s for d in found if d.thresholds_deg_s is not None]
    if analysis.method == "engbert-kliegl" or not known:
        return
    threshold_deg_s = float(np.median(np.array(known).max(axis=1)))
    n_adapted = sum(d.parameters != analysis.parameters for d in found)
    if n_adapted:
        yield (
            f"white noise in {n_adapted} of {len(found)} intervals: they were searched with "
            "--preset noisy"
        )
    if threshold_deg_s > NOISY_DEG_S:
        smallest_deg = smallest_amplitude(threshold_deg_s)
        is_noisy = analysis.parameters == preset("noisy") or n_adapted == len(found)
        advice = "" if is_noisy else "; if small saccades matter, compare with --preset noisy"
        yield (
            f"the recording is noisy: the velocity threshold is {threshold_deg_s:.0f} °/s, so "
            f"saccades below about {smallest_deg:.1f}° are likely missed{advice}"
        )


def _times_that_jitter(analysis: Analysis) -> Iterator[str]:
    """Warn of blocks with long steps in time although no sample is missing."""
    for number, block in enumerate(analysis.recording.blocks):
        times_us = block.samples["tracker_time_us"]
        if len(times_us) < FEWEST_JITTERING:
            continue
        interval_us = 1e6 / block.stream.sampling_rate_hz
        n_gaps = len(find_gaps(times_us, block.stream.sampling_rate_hz))
        n_missing = (times_us[-1] - times_us[0]) / interval_us + 1 - len(times_us)
        if n_gaps > JITTER_FRACTION * len(times_us) and n_missing < n_gaps / 2:
            yield (
                f"the times of block {number + 1} jitter: {n_gaps} steps are longer than "
                f"{GAP_INTERVALS:g} samples and count as losses, though no sample is missing; put "
                "t_ms on even steps"
            )
