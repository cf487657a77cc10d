"""Settled intervals: analysed at their end as offline, with the same samples and numbers.

A block without a trial is one interval. This is known once it has ended and no open trial reaches
into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gazelive.analysis import Parameters, analyse_gaze
from gazelive.detection import Method, NoiseMemory
from gazelive.features import AnalysedGaze
from gazelive.live.pipeline.block import KeptBlock
from gazelive.recordings import Trial, ViewingInterval, interval_of_trial


@dataclass(frozen=True)
class Settled:
    """A viewing interval with its events and features."""

    block: KeptBlock
    interval: ViewingInterval
    gaze: AnalysedGaze

    @property
    def name(self) -> str:
        """The trial's name, or the block's."""
        return self.interval.trial or block_name(self.block.number)


def block_name(number: int) -> str:
    """Return the name of an interval that is a whole block."""
    return f"block {number + 1}"


class Settling:
    """Keeps the blocks whose samples may still be needed."""

    def __init__(self, method: Method, parameters: Parameters | None) -> None:
        self._method = method
        self._parameters = parameters
        self._memory = NoiseMemory()
        self._calibrations_us: list[int] = []
        self._blocks: list[KeptBlock] = []

    def add(self, block: KeptBlock) -> None:
        """Add a block that begins."""
        self._blocks.append(block)

    def calibrated(self, time_us: int) -> None:
        """Note a calibration: later intervals do not start with noise learned before it."""
        self._calibrations_us.append(time_us)

    def settle_trial(self, trial: Trial) -> Iterator[Settled]:
        """Yield the interval of a trial, after earlier blocks that are intervals themselves."""
        self.note_trial(trial)
        yield from self.settle_blocks(before=trial.block)
        block = next((b for b in self._blocks if b.number == trial.block), None)
        if block is not None and block.first_us is not None:
            interval = interval_of_trial(trial, block.number, block.first_us, block.beyond_us)
            if interval.end_us > interval.start_us:
                yield from self._settle(block, interval)

    def note_trial(self, trial: Trial) -> None:
        """Note that the block of a trial is not one interval."""
        for block in self._blocks:
            if block.number == trial.block:
                block.is_decided = True

    def settle_blocks(self, before: int | None = None) -> Iterator[Settled]:
        """Yield the blocks without a trial that have ended (and lie before the block `before`)."""
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
        """Drop blocks that are settled, unless they reach `needed_us`."""
        self._blocks = [
            block
            for block in self._blocks
            if not block.has_ended
            or (block.first_us is not None and not block.is_decided)
            or (needed_us is not None and block.beyond_us >= needed_us)
        ]

    def _settle(self, block: KeptBlock, interval: ViewingInterval) -> Iterator[Settled]:
        if block.geometry is not None:
            n_before = sum(time_us <= interval.start_us for time_us in self._calibrations_us)
            self._memory.begin_interval(n_before)
            gaze = block.gaze_of(interval)
            analysed = analyse_gaze(gaze, self._method, self._parameters, self._memory)
            yield Settled(block, interval, analysed)
