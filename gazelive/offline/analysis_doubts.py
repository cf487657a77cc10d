"""What a user should know before the numbers of an analysis are believed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gazelive.detection.online_state import GAP_INTERVALS
from gazelive.gaze.samples import EYE_FIELDS, Coordinates
from gazelive.gaze.screen import ScreenGeometry

if TYPE_CHECKING:
    from gazelive.offline.analysis import Analysis

JITTER_FRACTION = 0.002
FEWEST_JITTERING = 100
"""Fewer samples say nothing of how even their times are."""
NARROWEST_DEG, WIDEST_DEG = 8.0, 110.0
"""Screens that are seen as narrower or wider are written in two units."""


def doubts(analysis: Analysis) -> Iterator[str]:
    """Yield a sentence for each."""
    geometries = analysis.geometries
    # blocks from one source say it once
    told = {g.source: g.warning for g in reversed(geometries) if g.warning is not None}
    yield from told.values()
    yield from _screens(analysis)
    yield from _eyes_never_seen(analysis)
    yield from _trials_elsewhere(analysis)
    yield from _times_that_jitter(analysis)


def _screens(analysis: Analysis) -> Iterator[str]:
    """Say where a screen is not used, and where it cannot be as it was told."""
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
    """Name each eye without which two eyes were made one gaze.

    Where neither was seen, and where the method needs both, the outcome says it.
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
    """Say so where trials are marked, and none of them where gaze was recorded."""
    trials = analysis.recording.trials
    if trials and not analysis.whole_blocks and all(trial.block is None for trial in trials):
        start_ms = trials[0].start_us / 1000
        yield (
            f"no sample lies within the trials ({trials[0].name} starts at {start_ms:g} ms): are "
            "their times of another clock? Whole blocks are searched instead"
        )


def _times_that_jitter(analysis: Analysis) -> Iterator[str]:
    """Name each block with long steps in time, though no sample is missing."""
    for number, block in enumerate(analysis.recording.blocks):
        times_us = block.samples["tracker_time_us"]
        if len(times_us) < FEWEST_JITTERING:
            continue
        interval_us = 1e6 / block.stream.sampling_rate_hz
        n_gaps = int(np.sum(np.diff(times_us) > GAP_INTERVALS * interval_us))
        n_missing = (times_us[-1] - times_us[0]) / interval_us + 1 - len(times_us)
        if n_gaps > JITTER_FRACTION * len(times_us) and n_missing < n_gaps / 2:
            yield (
                f"the times of block {number + 1} jitter: {n_gaps} steps are longer than "
                f"{GAP_INTERVALS:g} samples and count as losses, though no sample is missing; put "
                "t_ms on even steps"
            )
