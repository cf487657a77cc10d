"""Viewing intervals: the parts of a recording in which the participant views an image.

From image onset to image offset where both are known, else the trial as its messages mark it, else
the whole block. They are the unit of settled detection and of evidence.
"""

from __future__ import annotations

import msgspec

from gazelive.recordings.recording import Block, Recording, Trial

EVIDENCE = "evidence"
"""The trial variable with which our experiment marks, before image offset, whether the viewing
counts (1) or was skipped or repeated (0). Recordings without it count."""


class ViewingInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A part of one block: samples at `start_us` or later, and before `end_us`."""

    block: int
    start_us: int
    end_us: int
    trial: str | None = None
    image: str | None = None
    image_onset_us: int | None = None
    counts: bool = True
    """False if it is no evidence about the viewer: if the trial was skipped or repeated, or its
    image never appeared."""


def viewing_intervals(
    recording: Recording, *, whole_blocks: bool = False
) -> tuple[ViewingInterval, ...]:
    """Return the intervals in the order of time.

    A block without any trial is one interval, and so is every block with `whole_blocks`.
    """
    trials_of: dict[int, list[Trial]] = {}
    if not whole_blocks:
        for trial in recording.trials:
            if trial.block is not None:
                trials_of.setdefault(trial.block, []).append(trial)
    intervals = []
    for number, block in enumerate(recording.blocks):
        if not len(block.samples):
            continue
        span_us = _span_us(block)
        if number in trials_of:
            intervals += [interval_of_trial(trial, number, *span_us) for trial in trials_of[number]]
        else:
            first_us, stop_us = span_us
            intervals.append(ViewingInterval(block=number, start_us=first_us, end_us=stop_us))
    return tuple(interval for interval in intervals if interval.end_us > interval.start_us)


def calibrations_before(recording: Recording, time_us: int) -> int:
    """Count the calibrations up to a time: noise measured before one does not apply after it.

    Validations and drift corrections do not count: they do not change the calibration.
    """
    return sum(
        calibration.kind == "calibration" and calibration.tracker_time_us <= time_us
        for calibration in recording.calibrations
    )


def interval_of_trial(trial: Trial, block: int, first_us: int, stop_us: int) -> ViewingInterval:
    """Return the viewing interval of a trial, cut to the samples of its block; it may be empty.

    The block's samples are at `first_us` or later, and before `stop_us`.
    """
    start_us = trial.start_us if trial.image_onset_us is None else trial.image_onset_us
    end_us = trial.end_us if trial.image_offset_us is None else trial.image_offset_us
    return ViewingInterval(
        block=block,
        start_us=max(start_us, first_us),
        end_us=min(end_us, stop_us),
        trial=trial.name,
        image=trial.image,
        image_onset_us=trial.image_onset_us,
        counts=trial.variables.get(EVIDENCE) != "0",
    )


def _span_us(block: Block) -> tuple[int, int]:
    times = block.samples["tracker_time_us"]
    return int(times[0]), int(times[-1]) + 1
