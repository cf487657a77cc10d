"""The open viewing interval: events, running posteriors and traces while samples arrive.

One detector works within intervals and another between them. The events of an interval therefore
depend on earlier samples only through the noise learned in earlier intervals, as in offline
detection with `online`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.analysis import Found, LiveGaze
from gazelive.detection import DetectorOutput, DetectorParameters
from gazelive.gaze import (
    Blink,
    Document,
    Fixation,
    Integers,
    Saccade,
    SaccadeOnset,
    Samples,
    TrialStarted,
    TrialStopped,
)
from gazelive.live.pipeline.block import KeptBlock
from gazelive.live.pipeline.evidence import Evidence
from gazelive.live.pipeline.quality import QualityWatch
from gazelive.live.pipeline.traces import TraceMaker
from gazelive.recordings import RectanglePx


@dataclass
class Viewing:
    """A viewing interval that is open."""

    kind: Literal["block", "trial", "image"]
    """Event that starts it: a block, a trial or the onset of an image."""
    trial: str
    start_us: int
    image: str | None = None
    rectangle_px: RectanglePx | None = None
    block: int | None = None
    """The block of its samples; None before the first."""
    is_announced: bool = False


class LiveViewing:
    """Detectors within and outside the open interval, and the documents of both."""

    def __init__(
        self,
        parameters: DetectorParameters,
        evidence: Evidence | None,
        quality: QualityWatch,
        *,
        n_trials: int | None,
    ) -> None:
        self._parameters = parameters
        self._evidence = evidence
        self._quality = quality
        self._n_trials = n_trials
        self._conditions: tuple[float, str] | None = None
        self._certain: LiveGaze | None = None
        self._is_recalibrated = False
        self._n_announced = 0
        self.current: Viewing | None = None

    def begin_block(self, block: KeptBlock) -> None:
        """Prepare for another block; raise a `GazeliveError` where its rate is out of range."""
        rate_hz = block.stream.sampling_rate_hz
        if self._conditions != (rate_hz, block.eyes):
            self._start_detectors(rate_hz, block.eyes)
        self._traces = TraceMaker(rate_hz, self._parameters)

    def _start_detectors(self, rate_hz: float, eyes: str) -> None:
        self._inside = LiveGaze(rate_hz, eyes, self._parameters)
        self._between = LiveGaze(rate_hz, eyes, self._parameters)
        self._certain = None
        self._conditions = rate_hz, eyes

    def calibrated(self) -> None:
        """Forget the learned noise when the next interval begins."""
        self._is_recalibrated = True

    def live_gaze(self, block: KeptBlock, first_us: int) -> LiveGaze:
        """Return the detector for samples that arrive now: within the open interval, or outside."""
        return self._inside if self._is_inside(block, first_us) else self._between

    def report(
        self, block: KeptBlock, live: LiveGaze, times_us: Integers, found: Found, *, traces: bool
    ) -> list[Document]:
        """Return the documents of what `live` found in samples at these times."""
        shown = [
            output
            for output in found.outputs
            if not isinstance(output, Blink) or self._quality.shows_blink()
        ]
        documents: list[Document] = [*shown]
        if live is self._inside:
            documents = self._report_interval(block, found, shown)
        made = self._traces.push(times_us, found.x_deg, found.y_deg)
        if made:
            threshold_deg_s = live.thresholds_deg_s[0]
            self._quality.take_traces(made, threshold_deg_s)
            if traces:
                interval_us = block.stream.sample_interval_us
                for pieces in made:
                    documents += pieces.documents(interval_us, threshold_deg_s)
        return documents

    def begin(self, viewing: Viewing, block: KeptBlock | None) -> list[Document]:
        """Open an interval; analyse again those of its samples that have already arrived."""
        documents = self.flush()
        if self._is_recalibrated and self._conditions is not None:
            self._start_detectors(*self._conditions)
            self._is_recalibrated = False
        self.current = viewing
        if viewing.kind != "image" and self._conditions is not None:
            # the noise learned now counts only if this turns out to be an interval
            self._certain, self._inside = self._inside, self._inside.sibling()
        if viewing.kind != "block":
            documents += self.announce()
        if block is not None and block.first_us is not None and block.geometry is not None:
            samples = block.samples_since(viewing.start_us)
            step = max(1, round(block.stream.sampling_rate_hz))
            for start in range(0, len(samples), step):
                documents += self._push_again(block, samples[start : start + step])
        return documents

    def announce(self) -> list[Document]:
        """Announce the open interval, or announce it again with the name of its image."""
        viewing = self.current
        if viewing is None:
            return []
        if not viewing.is_announced:
            viewing.is_announced = True
            self._n_announced += 1
        return [
            TrialStarted(
                trial=viewing.trial,
                tracker_time_us=viewing.start_us,
                image=viewing.image,
                image_rectangle_px=viewing.rectangle_px,
                index=self._n_announced,
                n_trials=self._n_trials,
            )
        ]

    def end(self, time_us: int) -> list[Document]:
        """Close the interval, before it is settled."""
        viewing = self.current
        if viewing is None:
            return []
        documents = self.flush()
        if not viewing.is_announced:
            documents += self.announce()
        self.current = self._certain = None
        return [*documents, TrialStopped(trial=viewing.trial, tracker_time_us=time_us)]

    def restart(self, viewing: Viewing, block: KeptBlock | None) -> list[Document]:
        """Open another interval in place of one that turns out not to be one.

        Within the same trial, the interval merely begins later than it seemed.
        """
        before = self.current
        documents: list[Document] = []
        if before is not None:
            documents += self.flush()
            if self._certain is not None:
                self._inside, self._certain = self._certain, None
            self.abandon_evidence()
            self.current = None
            if before.is_announced and before.trial == viewing.trial:
                self._n_announced -= 1
            elif before.is_announced:
                time_us = before.start_us if block is None else block.last_us
                documents.append(TrialStopped(trial=before.trial, tracker_time_us=time_us))
        return documents + self.begin(viewing, block)

    def abandon_evidence(self) -> None:
        """Drop the evidence of the open interval."""
        if self._evidence is not None:
            self._evidence.abandon()

    def flush(self) -> list[Document]:
        """End the stretches of both detectors."""
        if self._conditions is None:
            return []
        self._traces.reset()
        return [*self._inside.flush(), *self._between.flush()]

    def _is_inside(self, block: KeptBlock, first_us: int) -> bool:
        """Return whether samples that arrive now belong to the open interval."""
        viewing = self.current
        if viewing is None:
            return False
        if viewing.block is None:
            viewing.block = block.number
            if self._evidence is not None:
                start_us = max(viewing.start_us, first_us)
                self._evidence.begin(start_us, block.stream.sampling_rate_hz)
        return viewing.block == block.number

    def _push_again(self, block: KeptBlock, samples: Samples) -> list[Document]:
        """Analyse samples that arrived before the message that begins their interval."""
        times_us = np.ascontiguousarray(samples["tracker_time_us"])
        if not self._is_inside(block, int(times_us[0])):
            return []
        found = self._inside.push(times_us, block.positions_deg(samples))
        # it is too late to trigger anything
        outputs = [output for output in found.outputs if not isinstance(output, SaccadeOnset)]
        return self._report_interval(block, found, outputs)

    def _report_interval(
        self, block: KeptBlock, found: Found, outputs: Sequence[DetectorOutput]
    ) -> list[Document]:
        """Return the events within the interval, and the posteriors after its saccades."""
        viewing = self.current
        assert viewing is not None
        documents: list[Document] = []
        if not viewing.is_announced and any(isinstance(output, Saccade) for output in outputs):
            documents += self.announce()
        documents += outputs
        if self._evidence is not None and block.identifies:
            for output in found.outputs:
                if isinstance(output, Fixation):
                    self._evidence.add_fixation(output)
            for row in found.rows:
                documents += self._evidence.add_saccade(row, viewing.image)
        return documents
