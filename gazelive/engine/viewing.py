"""What is seen while somebody looks: events, running posteriors and traces, sample by sample.

Within an interval one detector watches, and between intervals another: so what is said of an
interval does not depend on what lay before it, but for the noise that the intervals before have
taught. That is what offline `online` detection has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.detection import DetectorOutput, DetectorParameters
from gazelive.engine.evidence import Evidence
from gazelive.engine.image_messages import RectanglePx
from gazelive.engine.kept_samples import KeptBlock
from gazelive.engine.quality import QualityWatch
from gazelive.engine.traces import TraceMaker
from gazelive.features.gaze_watch import GazeWatch, Seen
from gazelive.gaze.documents import Document, SaccadeOnset, TrialStarted, TrialStopped
from gazelive.gaze.events import Fixation, Saccade
from gazelive.gaze.samples import Samples


@dataclass
class Viewing:
    """The interval that somebody is looking through now."""

    kind: Literal["block", "trial", "image"]
    """What it begins with: a block, the start of a trial, or the onset of an image."""
    trial: str
    start_us: int
    image: str | None = None
    rectangle_px: RectanglePx | None = None
    block: int | None = None
    """Where its samples are; None before the first."""
    is_announced: bool = False


class LiveViewing:
    """Watches the samples, and knows what is being viewed."""

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
        self._watched: tuple[float, str] | None = None
        self._certain: GazeWatch | None = None
        self._is_recalibrated = False
        self._n_announced = 0
        self.current: Viewing | None = None

    def begin_block(self, block: KeptBlock) -> None:
        """Be ready for another block; raises a `GazeliveError` where its rate is impossible."""
        rate_hz = block.stream.sampling_rate_hz
        if self._watched != (rate_hz, block.eyes):
            self._watch(rate_hz, block.eyes)
        self._traces = TraceMaker(rate_hz, self._parameters)

    def _watch(self, rate_hz: float, eyes: str) -> None:
        self._inside = GazeWatch(rate_hz, eyes, self._parameters)
        self._between = GazeWatch(rate_hz, eyes, self._parameters)
        self._certain = None
        self._watched = rate_hz, eyes

    def calibrated(self) -> None:
        """Forget what the noise was, when the next interval begins."""
        self._is_recalibrated = True

    def look(self, block: KeptBlock, samples: Samples, *, traces: bool) -> list[Document]:
        """Watch samples that go on in time."""
        times_us = np.ascontiguousarray(samples["tracker_time_us"])
        is_inside = self._is_inside(block, int(times_us[0]))
        watch = self._inside if is_inside else self._between
        seen = watch.push(times_us, block.positions_deg(samples))
        documents: list[Document] = [*seen.outputs]
        if is_inside:
            documents = self._take(block, seen, seen.outputs)
        made = self._traces.push(times_us, seen.x_deg, seen.y_deg)
        if made:
            threshold_deg_s = watch.threshold_deg_s
            self._quality.take_traces(made, threshold_deg_s)
            if traces:
                interval_us = block.stream.sample_interval_us
                for pieces in made:
                    documents += pieces.documents(interval_us, threshold_deg_s)
        return documents

    def begin(self, viewing: Viewing, block: KeptBlock | None) -> list[Document]:
        """Open an interval; samples of it that were seen already are watched anew."""
        documents = self.flush()
        if self._is_recalibrated and self._watched is not None:
            self._watch(*self._watched)
            self._is_recalibrated = False
        self.current = viewing
        if viewing.kind != "image" and self._watched is not None:
            # what is learned now counts only if it turns out to be an interval
            self._certain, self._inside = self._inside, self._inside.sibling()
        if viewing.kind != "block":
            documents += self.announce()
        if block is not None and block.first_us is not None and block.geometry is not None:
            samples = block.samples_since(viewing.start_us)
            step = max(1, round(block.stream.sampling_rate_hz))
            for first in range(0, len(samples), step):
                documents += self._look_again(block, samples[first : first + step])
        return documents

    def announce(self) -> list[Document]:
        """Say what is being viewed, also once more when more is known of it."""
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
        """Close the interval; it is yet to be settled."""
        viewing = self.current
        if viewing is None:
            return []
        documents = self.flush()
        if not viewing.is_announced:
            documents += self.announce()
        self.current = self._certain = None
        return [*documents, TrialStopped(trial=viewing.trial, tracker_time_us=time_us)]

    def restart(self, viewing: Viewing, block: KeptBlock | None) -> list[Document]:
        """Open another interval in place of one that turns out to be none.

        Where it is of the same trial, that one only began later than it seemed.
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
        """Forget what the interval said that was open."""
        if self._evidence is not None:
            self._evidence.abandon()

    def flush(self) -> list[Document]:
        """End the stretches that are being watched."""
        if self._watched is None:
            return []
        self._traces.reset()
        return [*self._inside.flush(), *self._between.flush()]

    def _is_inside(self, block: KeptBlock, first_us: int) -> bool:
        """Say whether samples that come now belong to the interval that is open."""
        viewing = self.current
        if viewing is None:
            return False
        if viewing.block is None:
            viewing.block = block.number
            if self._evidence is not None:
                start_us = max(viewing.start_us, first_us)
                self._evidence.begin(start_us, block.stream.sampling_rate_hz)
        return viewing.block == block.number

    def _look_again(self, block: KeptBlock, samples: Samples) -> list[Document]:
        times_us = np.ascontiguousarray(samples["tracker_time_us"])
        if not self._is_inside(block, int(times_us[0])):
            return []
        seen = self._inside.push(times_us, block.positions_deg(samples))
        # what these samples would have triggered is past
        outputs = [output for output in seen.outputs if not isinstance(output, SaccadeOnset)]
        return self._take(block, seen, outputs)

    def _take(
        self, block: KeptBlock, seen: Seen, outputs: Sequence[DetectorOutput]
    ) -> list[Document]:
        """Return what was found within the interval, and what it says of the person."""
        viewing = self.current
        assert viewing is not None
        documents: list[Document] = []
        if not viewing.is_announced and any(isinstance(output, Saccade) for output in outputs):
            documents += self.announce()
        documents += outputs
        if self._evidence is not None and block.identifies:
            for output in seen.outputs:
                if isinstance(output, Fixation):
                    self._evidence.add_fixation(output)
            for row, saccade in seen.rows:
                documents += self._evidence.add_saccade(row, saccade, viewing.image)
        return documents
