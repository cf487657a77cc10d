"""The pipeline: a chunk in, documents out. It has no clock, no files and no sockets.

Messages take effect in the order of time: each just before the first sample that is not earlier,
or at once where its block has ended. So the same stream gives the same posteriors in whatever
chunks it comes. A message that arrives after the samples of its time takes effect on arrival; the
interval that it begins or ends is settled as if it had come in time.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.detection import DetectorParameters, Method
from gazelive.engine.evidence import N_LEADING, Evidence
from gazelive.engine.image_messages import RectanglePx, image_rectangle_px
from gazelive.engine.kept_samples import LONGEST_INTERVAL_S, LOOK_BACK_S, KeptBlock
from gazelive.engine.quality import QualityWatch
from gazelive.engine.settling import Settled, Settling, block_name
from gazelive.engine.time_order import TimeOrder
from gazelive.engine.trial_steps import (
    ImageCame,
    ImageNamed,
    Step,
    TrialBegan,
    TrialEnded,
    TrialSteps,
    Viewed,
    ViewingEnded,
)
from gazelive.engine.viewing import LiveViewing, Viewing
from gazelive.errors import GazeliveError
from gazelive.features.interval import Parameters
from gazelive.features.scanpath import scanpath_of
from gazelive.gaze.documents import (
    Document,
    IntervalSettled,
    MainSequence,
    ModelLoaded,
    Notice,
    Quality,
    RunStarted,
    RunStopped,
    Validated,
)
from gazelive.gaze.quality_messages import told_quality
from gazelive.gaze.samples import Samples
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.identification.contract import Identifier
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.geometry import FoundGeometry
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

GeometryOf = Callable[[StreamDescription], FoundGeometry]
"""Finds how a block's positions become degrees, or raises a `GazeliveError`."""


def any_rate(_sampling_rate_hz: float) -> None:
    """Take any rate."""


@dataclass(frozen=True)
class RunningModel:
    """Who can be recognised, and how."""

    name: str
    identifier: Identifier
    main_sequence: MainSequence | None = None
    check_rate: Callable[[float], None] = any_rate
    """Raises an `IncompatibleModelError` where it was not made for a rate."""


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run besides its samples."""

    session: str
    viewer: str | None = None
    folder: str | None = None
    n_trials: int | None = None


class Pipeline:
    """Follows one run from its first chunk to `finish`."""

    def __init__(
        self,
        geometry: GeometryOf,
        *,
        facts: RunFacts | None = None,
        model: RunningModel | None = None,
        method: Method = "settled",
        parameters: Parameters | None = None,
        eye: Literal["L", "R", "both"] | None = None,
        patterns: TrialPatterns = DEFAULT_PATTERNS,
        n_leading: int = N_LEADING,
        traces: bool = True,
    ) -> None:
        self.traces = traces
        """Whether `GazeTrace` documents are made; nothing else depends on it."""
        self._geometry = geometry
        self._facts = facts or RunFacts("")
        self._model = model
        self._eye = eye
        self._evidence = None if model is None else Evidence(model.identifier, n_leading)
        self._quality = QualityWatch()
        self._viewing = LiveViewing(
            parameters if isinstance(parameters, DetectorParameters) else DetectorParameters(),
            self._evidence,
            self._quality,
            n_trials=self._facts.n_trials,
        )
        self._settling = Settling(method, parameters)
        self._trials = TrialSteps(patterns)
        self._waiting: list[Message] = []
        """Messages whose samples have not come yet, in the order of time."""
        self._effective_us: int | None = None
        """The latest time of a message that took effect and made a difference."""
        self._block: KeptBlock | None = None
        self._last_block = -1
        self._has_trials = False
        self._has_onsets = False
        self._rectangle_px: RectanglePx | None = None
        self._documents: list[Document] = []
        self._is_started = False
        self._is_finished = False

    def push(self, chunk: Chunk, stream: StreamDescription) -> list[Document]:
        """Take the next chunk and the description of its block; return what is known now."""
        if not self._is_started:
            self._start(stream)
        if chunk.block > self._last_block:
            self._end_block()
            self._begin_block(chunk.block, stream)
        for message in sorted(chunk.messages, key=_time_of):
            self._queue(message)
        if self._block is not None and chunk.block == self._block.number:
            self._take(self._block, chunk)
        else:
            self._refuse(chunk.samples)
            self._take_messages(None)
        return self._told()

    def end_block(self) -> list[Document]:
        """Say that no more samples of this block will come: what waits for them need not.

        A block ends by itself when the next begins, or the run; this makes it known sooner.
        """
        self._end_block()
        self._take_messages(None)
        return self._told()

    def finish(self, reason: str) -> list[Document]:
        """End the run: settle what is open."""
        if self._is_finished:
            return []
        self._is_finished = True
        self._end_block()
        self._take_messages(None)
        for step in self._trials.finish():
            self._take_step(step)
        self._count(self._settling.settle_blocks())
        self._documents.append(RunStopped(reason=reason))
        return self._told()

    @property
    def trial(self) -> str | None:
        """What is being viewed now."""
        viewing = self._viewing.current
        return None if viewing is None else viewing.trial

    def _told(self) -> list[Document]:
        documents, self._documents = self._documents, []
        return documents

    def _start(self, stream: StreamDescription) -> None:
        self._is_started = True
        facts, model = self._facts, self._model
        self._documents.append(
            RunStarted(
                session=facts.session, stream=stream, viewer=facts.viewer, folder=facts.folder
            )
        )
        if model is not None:
            self._documents.append(
                ModelLoaded(
                    model=model.name,
                    method=model.identifier.method,
                    viewer_ids=model.identifier.viewer_ids,
                    main_sequence=model.main_sequence,
                )
            )

    # blocks

    def _begin_block(self, number: int, stream: StreamDescription) -> None:
        self._last_block = number
        block = KeptBlock(number, stream, None, self._eyes_of(stream))
        try:
            found = self._geometry(stream)
            self._viewing.begin_block(block)
            block.geometry = found
        except GazeliveError as error:
            text = f"block {number + 1} is recorded but not analysed: {error}"
            self._documents.append(Notice(level="error", text=text))
        else:
            if found.warning is not None and number == 0:
                self._documents.append(Notice(level="warning", text=found.warning))
            self._check_model(block)
        self._block = block
        self._settling.add(block)
        self._order = TimeOrder(stream.sampling_rate_hz)
        self._quality.begin_block(stream)

    def _eyes_of(self, stream: StreamDescription) -> str:
        wanted = stream.eyes if self._eye is None else "LR" if self._eye == "both" else self._eye
        if set(wanted) <= set(stream.eyes):
            return wanted
        text = f"eye {self._eye} was asked for, {' and '.join(stream.eyes)} is recorded and taken"
        self._documents.append(Notice(level="warning", text=text))
        return stream.eyes

    def _check_model(self, block: KeptBlock) -> None:
        if self._model is not None:
            try:
                self._model.check_rate(block.stream.sampling_rate_hz)
            except GazeliveError as error:
                block.identifies = False
                self._documents.append(Notice(level="error", text=str(error)))

    def _end_block(self) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        block.has_ended = True
        self._documents += self._viewing.flush()
        if block.first_us is not None:
            block.beyond_us = block.last_us + 1
            self._trials.put_block(block.number, block.first_us, block.beyond_us)
            self._take_messages(block.beyond_us)
        trial = self._trials.open
        if trial is None or trial.start_us > block.beyond_us:
            self._count(self._settling.settle_blocks())
        self._forget()

    def _refuse(self, samples: Samples) -> None:
        if len(samples):
            text = f"{len(samples)} samples came after the end of their block: left out"
            time_us = int(samples["tracker_time_us"][0])
            self._documents.append(
                Quality(tracker_time_us=time_us, kind="lost_samples", text=text, value=len(samples))
            )

    # samples

    def _take(self, block: KeptBlock, chunk: Chunk) -> None:
        samples = chunk.samples
        if len(samples):
            samples = self._in_order(block, chunk)
        times_us = np.ascontiguousarray(samples["tracker_time_us"])
        first = 0
        while first < len(times_us):
            self._take_messages(int(times_us[first]))
            beyond = min(len(times_us), first + self._quality.n_until_summary)
            due_us = self._next_due_us
            if due_us is not None:
                beyond = min(beyond, int(np.searchsorted(times_us, due_us)))
            self._look(block, samples[first:beyond])
            first = beyond
        if block.first_us is not None:  # and those that are late
            while self._waiting and _time_of(self._waiting[0]) <= block.last_us:
                self._take_message(self._waiting.pop(0))

    def _in_order(self, block: KeptBlock, chunk: Chunk) -> Samples:
        """Keep samples as they came; return those that go on in time."""
        times_us = chunk.samples["tracker_time_us"]
        last_us = int(times_us[-1])
        accepted = self._order.take(times_us)
        self._documents += self._quality.take_order(accepted, last_us)
        self._quality.arrived(chunk.arrival_s, last_us)
        if accepted.was_set_back:
            self._documents += self._viewing.flush()
        was_too_long = block.is_too_long
        if not block.keep(chunk.samples) and not was_too_long:
            text = (
                f"the interval is longer than {LONGEST_INTERVAL_S / 60:g} minutes: it will settle "
                "on its beginning"
            )
            self._documents.append(Quality(tracker_time_us=last_us, kind="interval", text=text))
        return chunk.samples if accepted.kept is None else chunk.samples[accepted.kept]

    def _look(self, block: KeptBlock, samples: Samples) -> None:
        first_us, last_us = samples["tracker_time_us"][[0, -1]].tolist()
        if block.first_us is None:
            block.first_us = first_us
            if not self._has_trials and self._trials.open is None:
                viewing = Viewing("block", block_name(block.number), first_us)
                self._documents += self._viewing.begin(viewing, None)
        block.last_us, block.beyond_us = last_us, last_us + 1
        self._trials.put_block(block.number, block.first_us, block.beyond_us)
        if block.geometry is not None:
            self._documents += self._viewing.look(block, samples, traces=self.traces)
        told = self._quality.take(samples)
        self._documents += told
        if told and block.is_decided:
            needed_us = block.last_us - round(LOOK_BACK_S * 1e6)
            block.forget_before(min(needed_us, self._needed_us or needed_us))

    @property
    def _needed_us(self) -> int | None:
        """Since when samples are needed by the trial that is open."""
        trial = self._trials.open
        if trial is None:
            return None
        return trial.start_us if trial.onset_us is None else min(trial.start_us, trial.onset_us)

    def _forget(self) -> None:
        self._settling.forget_blocks(self._needed_us)

    # messages

    def _queue(self, message: Message) -> None:
        is_late = self._effective_us is not None and _time_of(message) < self._effective_us
        if is_late and self._matters(message):
            text = f"came after a later one: {message.text[:80]!r}"
            self._documents.append(
                Quality(tracker_time_us=_time_of(message), kind="message", text=text)
            )
        insort(self._waiting, message, key=_time_of)

    @property
    def _next_due_us(self) -> int | None:
        """When the next message is due that makes a difference; the others can wait for it."""
        matter = (m for m in self._waiting if self._matters(m))
        return next((_time_of(message) for message in matter), None)

    def _matters(self, message: Message) -> bool:
        return message.text.startswith("!CAL") or self._trials.matters(message)

    def _take_messages(self, next_us: int | None) -> None:
        """Let messages take effect that are due before the sample at `next_us` (None: all)."""
        while self._waiting and (next_us is None or _time_of(self._waiting[0]) <= next_us):
            block = self._block
            if next_us is not None and block is not None:
                block.beyond_us = next_us + 1
                first_us = next_us if block.first_us is None else block.first_us
                self._trials.put_block(block.number, first_us, block.beyond_us)
            self._take_message(self._waiting.pop(0))

    def _take_message(self, message: Message) -> None:
        if self._matters(message):
            before_us = _time_of(message) if self._effective_us is None else self._effective_us
            self._effective_us = max(_time_of(message), before_us)
        for step in self._trials.take(message):
            self._take_step(step)
        if message.text.startswith("!CAL"):
            self._take_calibration(message)
        told = told_quality(message)
        if told is not None:
            self._documents.append(told)

    def _take_calibration(self, message: Message) -> None:
        for result in interpret([message]).calibrations:
            if result.kind == "calibration":
                self._viewing.calibrated()
                self._settling.calibrated(result.tracker_time_us)
            elif result.mean_error_deg is not None and result.max_error_deg is not None:
                self._documents.append(
                    Validated(
                        eye=result.eye,
                        mean_error_deg=result.mean_error_deg,
                        max_error_deg=result.max_error_deg,
                    )
                )

    # trials

    def _take_step(self, step: Step) -> None:
        match step:
            case TrialBegan():
                self._trial_began(step)
            case ImageCame():
                self._has_onsets = True
                viewing = Viewing("image", step.name, step.onset_us, step.image, self._rectangle_px)
                self._documents += self._viewing.restart(viewing, self._block)
            case ImageNamed():
                self._image_named(step)
            case ViewingEnded():
                self._documents += self._viewing.end(step.time_us)
            case Viewed():
                if not self._count(self._settling.settle_trial(step.trial)):
                    self._viewing.abandon_evidence()
            case TrialEnded():
                self._settling.note_trial(step.trial)
                self._count(self._settling.settle_blocks(before=step.trial.block))
                self._forget()

    def _trial_began(self, step: TrialBegan) -> None:
        if self._block is not None:
            self._block.begin_trial()
        self._has_trials = True
        self._rectangle_px = None
        if not self._has_onsets:
            # nobody knows yet whether this experiment tells when its images come
            viewing = Viewing("trial", step.name, step.start_us)
            self._documents += self._viewing.restart(viewing, self._block)

    def _image_named(self, step: ImageNamed) -> None:
        stream = None if self._block is None else self._block.stream
        self._rectangle_px = image_rectangle_px(step.text, stream)
        viewing = self._viewing.current
        if viewing is not None:
            viewing.image, viewing.rectangle_px = step.image, self._rectangle_px
            self._documents += self._viewing.announce()

    def _count(self, settled: Iterable[Settled]) -> bool:
        """Tell of intervals that are settled, and what they say; False where there are none."""
        any_counts = False
        for one in settled:
            if one.interval.trial is None:
                self._documents += self._viewing.end(one.interval.end_us)
            detection = one.gaze.detection
            self._documents.append(
                IntervalSettled(
                    trial=one.name,
                    start_us=one.interval.start_us,
                    end_us=one.interval.end_us,
                    image=one.interval.image,
                    saccades=detection.saccades,
                    fixations=detection.fixations,
                    blinks=detection.blinks,
                )
            )
            if self._evidence is not None and one.block.identifies:
                any_counts = True
                if not one.interval.counts:
                    self._documents += self._evidence.leave_out(one.interval.end_us)
                    continue
                scanpath = scanpath_of(one.gaze, one.interval.image)
                self._documents += self._evidence.settle(scanpath, one.interval.end_us)
        return any_counts


def _time_of(message: Message) -> int:
    return message.tracker_time_us
