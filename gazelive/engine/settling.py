"""Intervals settled as offline analysis would: the same samples, the same order, the same numbers.

A block in which there was no trial is an interval as a whole; that is known when it has ended and
no trial that reaches into it is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gazelive.detection import Method, NoiseMemory
from gazelive.engine.kept_samples import KeptBlock
from gazelive.features.interval import AnalysedGaze, Parameters, analyse_gaze
from gazelive.recordings.intervals import ViewingInterval, interval_of_trial
from gazelive.recordings.recording import Trial


@dataclass(frozen=True)
class Settled:
    """A viewing interval and what was found in it."""

    block: KeptBlock
    interval: ViewingInterval
    gaze: AnalysedGaze

    @property
    def name(self) -> str:
        """The trial's name, or the block's."""
        return self.interval.trial or block_name(self.block.number)


def block_name(number: int) -> str:
    """Return what an interval is called that is a whole block."""
    return f"block {number + 1}"


class Settling:
    """Keeps the blocks whose samples may still be needed."""

    def __init__(self, method: Method, parameters: Parameters | None) -> None:
        self._method = method
        self._parameters = parameters
        self._memory = NoiseMemory()
        self._calibrations_us: list[int] = []
        self._n_calibrations = 0
        """How many there were before the interval that was settled last."""
        self._blocks: list[KeptBlock] = []

    def add(self, block: KeptBlock) -> None:
        """Take a block that begins."""
        self._blocks.append(block)

    def calibrated(self, time_us: int) -> None:
        """Take note that what was learned of the noise says nothing of intervals from now on."""
        self._calibrations_us.append(time_us)

    def settle_trial(self, trial: Trial) -> Iterator[Settled]:
        """Yield what was viewed in a trial, and before it the whole blocks that it decides on."""
        self.note_trial(trial)
        yield from self.settle_blocks(before=trial.block)
        block = next((b for b in self._blocks if b.number == trial.block), None)
        if block is not None and block.first_us is not None:
            interval = interval_of_trial(trial, block.number, block.first_us, block.beyond_us)
            if interval.end_us > interval.start_us:
                yield from self._settle(block, interval)

    def note_trial(self, trial: Trial) -> None:
        """Take note that the block of a trial is no interval as a whole."""
        for block in self._blocks:
            if block.number == trial.block:
                block.is_decided = True

    def settle_blocks(self, before: int | None = None) -> Iterator[Settled]:
        """Yield the blocks that have ended (and lie before one) and in which there was no trial."""
        for block in self._blocks:
            if block.is_decided or not block.has_ended or block.first_us is None:
                continue
            if before is None or block.number < before:
                block.is_decided = True
                first_us, last_us = block.span_us
                yield from self._settle(
                    block,
                    ViewingInterval(block=block.number, start_us=first_us, end_us=last_us + 1),
                )

    def forget_blocks(self, needed_us: int | None) -> None:
        """Let go of blocks that are done with; those that reach `needed_us` are not."""
        self._blocks = [
            block
            for block in self._blocks
            if not block.has_ended
            or (block.first_us is not None and not block.is_decided)
            or (needed_us is not None and block.beyond_us >= needed_us)
        ]

    def _settle(self, block: KeptBlock, interval: ViewingInterval) -> Iterator[Settled]:
        if block.geometry is not None:
            gaze = block.gaze_of(interval)
            n_before = sum(time_us <= interval.start_us for time_us in self._calibrations_us)
            if n_before != self._n_calibrations:
                self._memory.forget()
            self._n_calibrations = n_before
            analysed = analyse_gaze(gaze, self._method, self._parameters, self._memory)
            yield Settled(block, interval, analysed)
