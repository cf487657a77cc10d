"""The live pipeline: chunks in, documents out, without clock, files or sockets.

Messages take effect in the order of time: each right before the first sample that is not earlier,
or at once where its block has ended. The posteriors therefore do not depend on the chunks. A
message later than the samples of its time takes effect on arrival; the interval that it begins or
ends is settled as if it had been in time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.analysis import EyeChoice, Parameters, TimeOrder, choose_eyes
from gazelive.detection import DetectorParameters, Method
from gazelive.errors import GazeliveError
from gazelive.features import scanpath_of
from gazelive.gaze import (
    Chunk,
    Document,
    Integers,
    IntervalSettled,
    MainSequence,
    Message,
    ModelLoaded,
    Notice,
    Quality,
    RunStarted,
    RunStopped,
    Samples,
    StreamDescription,
    Validated,
    possible_times,
    quality_from_message,
)
from gazelive.identification import DEFAULT_TERMS, Identifier, Terms
from gazelive.live.pipeline.block import LONGEST_INTERVAL_S, LOOK_BACK_S, KeptBlock
from gazelive.live.pipeline.evidence import N_LEADING, Evidence
from gazelive.live.pipeline.messages import MessageQueue
from gazelive.live.pipeline.quality import QualityWatch
from gazelive.live.pipeline.settling import Settled, Settling, block_name
from gazelive.live.pipeline.trial_steps import (
    ImageCame,
    ImageNamed,
    Step,
    TrialBegan,
    TrialEnded,
    TrialSteps,
    Viewed,
    ViewingEnded,
)
from gazelive.live.pipeline.viewing import LiveViewing, Viewing
from gazelive.recordings import (
    DEFAULT_PATTERNS,
    FoundGeometry,
    RectanglePx,
    TrialPatterns,
    image_rectangle_px,
    interpret,
)

GeometryOf = Callable[[StreamDescription], FoundGeometry]
"""Returns the geometry of a block, or raises a `GazeliveError`."""


def any_rate(_sampling_rate_hz: float) -> None:
    """Accept any rate."""


@dataclass(frozen=True)
class RunningModel:
    """A model to identify viewers with."""

    name: str
    identifier: Identifier
    main_sequence: MainSequence | None = None
    check_rate: Callable[[float], None] = any_rate
    """Raises an `IncompatibleModelError` for a sampling rate that the model does not fit."""
    method_kind: str | None = None
    """What the method is, in plain words."""
    terms: Terms = DEFAULT_TERMS


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run besides its samples."""

    session: str
    viewer: str | None = None
    folder: str | None = None
    n_trials: int | None = None


class Pipeline:
    """Analyses one run from its first chunk to `finish`."""

    def __init__(
        self,
        geometry: GeometryOf,
        *,
        facts: RunFacts | None = None,
        model: RunningModel | None = None,
        method: Method = "settled",
        parameters: Parameters | None = None,
        eye: EyeChoice | None = None,
        patterns: TrialPatterns = DEFAULT_PATTERNS,
        n_leading: int = N_LEADING,
        traces: bool = True,
    ) -> None:
        self.traces = traces
        """True if it makes `GazeTrace` documents."""
        self._geometry = geometry
        self._facts = facts or RunFacts("")
        self._model = model
        self._eye = eye
        self._evidence = None
        if model is not None:
            self._evidence = Evidence(model.identifier, n_leading, model.terms)
        self._quality = QualityWatch()
        self._viewing = LiveViewing(
            parameters if isinstance(parameters, DetectorParameters) else DetectorParameters(),
            self._evidence,
            self._quality,
            n_trials=self._facts.n_trials,
        )
        self._settling = Settling(method, parameters)
        self._trials = TrialSteps(patterns)
        self._messages = MessageQueue(self._matters)
        self._block: KeptBlock | None = None
        self._last_block = self._refused_block = -1
        self._has_trials = False
        self._has_onsets = False
        self._rectangle_px: RectanglePx | None = None
        self._documents: list[Document] = []
        self._is_started = False
        self._is_finished = False

    def push(self, chunk: Chunk, stream: StreamDescription) -> list[Document]:
        """Analyse the next chunk; return its documents."""
        if not self._is_started:
            self._start(stream)
        if chunk.block > self._last_block:
            self._end_block()
            self._begin_block(chunk, stream)
        self._documents += self._messages.add(chunk.messages)
        block = self._block
        if block is None or chunk.block != block.number:
            self._refuse(chunk, stream)
            self._apply_messages(None)
            return self._drain()
        for times_us, samples in self._stretches(block, chunk):
            self._reach(block, int(times_us[0]), int(times_us[-1]))
            if block.geometry is not None:
                live = self._viewing.live_gaze(block, int(times_us[0]))
                found = live.push(times_us, block.positions_deg(samples))
                self._documents += self._viewing.report(
                    block, live, times_us, found, traces=self.traces
                )
            self._check_quality(block, samples)
        return self._drain()

    def end_block(self) -> list[Document]:
        """End the block: messages and intervals that wait for its samples no longer do.

        A block also ends when the next one begins or the run ends.
        """
        self._end_block()
        self._apply_messages(None)
        return self._drain()

    def finish(self, reason: str) -> list[Document]:
        """End the run and settle the open interval."""
        if self._is_finished:
            return []
        self._is_finished = True
        self._end_block()
        self._apply_messages(None)
        for step in self._trials.finish():
            self._apply_step(step)
        self._report_settled(self._settling.settle_blocks())
        self._documents.append(RunStopped(reason=reason))
        return self._drain()

    @property
    def trial(self) -> str | None:
        """The name of the trial (or block) that is open."""
        viewing = self._viewing.current
        return None if viewing is None else viewing.trial

    def _drain(self) -> list[Document]:
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
                    method_kind=model.method_kind,
                    false_acceptance_rate=model.terms.false_acceptance_rate,
                    stranger_prior=model.terms.stranger_prior,
                )
            )

    # blocks

    def _begin_block(self, chunk: Chunk, stream: StreamDescription) -> None:
        self._last_block = number = chunk.block
        if not stream.sampling_rate_hz:
            return
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
        eyes = choose_eyes(stream.eyes, self._eye)
        if eyes is not None:
            return eyes
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
            self._apply_messages(block.beyond_us)
        trial = self._trials.open
        if trial is None or trial.start_us > block.beyond_us:
            self._report_settled(self._settling.settle_blocks())
        self._forget()

    def _refuse(self, chunk: Chunk, stream: StreamDescription) -> None:
        """Report, once for each block, that its samples are not analysed."""
        if not len(chunk.samples) or chunk.block == self._refused_block:
            return
        self._refused_block = chunk.block
        kind: Literal["lost_samples", "rate"] = "lost_samples"
        text = "samples came after the end of their block: they are left out"
        if not stream.sampling_rate_hz:
            kind = "rate"
            text = f"block {chunk.block + 1} is recorded but not analysed: its rate is not known"
        time_us = int(chunk.samples["tracker_time_us"][0])
        self._documents.append(Quality(tracker_time_us=time_us, kind=kind, text=text))

    # samples

    def _stretches(self, block: KeptBlock, chunk: Chunk) -> Iterator[tuple[Integers, Samples]]:
        """Yield times and samples of a chunk, cut where a message or a quality summary is due.

        Before each stretch the messages due by then take effect, after the last the late ones.
        """
        samples = self._possible(chunk.samples)
        if len(samples):
            samples = self._in_order(block, samples, chunk.arrival_s)
        times_us = np.ascontiguousarray(samples["tracker_time_us"])
        start = 0
        while start < len(times_us):
            self._apply_messages(int(times_us[start]))
            stop = min(len(times_us), start + self._quality.n_until_summary)
            due_us = self._messages.next_due_us
            if due_us is not None:
                stop = min(stop, int(np.searchsorted(times_us, due_us)))
            yield times_us[start:stop], samples[start:stop]
            start = stop
        if block.first_us is not None:
            while (message := self._messages.pop(block.last_us)) is not None:
                self._apply_message(message)

    def _possible(self, samples: Samples) -> Samples:
        """Leave out, and report, samples at times that no tracker has."""
        possible = possible_times(samples["tracker_time_us"])
        if possible is None:
            return samples
        n = len(samples) - int(possible.sum())
        self._documents += self._quality.take_impossible(n)
        return samples[possible]

    def _in_order(self, block: KeptBlock, samples: Samples, arrival_s: float) -> Samples:
        """Keep the samples of a chunk; return those in the order of time."""
        times_us = samples["tracker_time_us"]
        last_us = int(times_us[-1])
        accepted = self._order.take(times_us)
        self._documents += self._quality.take_order(accepted, last_us)
        self._quality.arrived(arrival_s, last_us)
        if accepted.was_set_back:
            self._documents += self._viewing.flush()
        was_too_long = block.is_too_long
        if not block.keep(samples) and not was_too_long:
            text = (
                f"the interval is longer than {LONGEST_INTERVAL_S / 60:g} minutes: it will settle "
                "on its beginning"
            )
            self._documents.append(Quality(tracker_time_us=last_us, kind="interval", text=text))
        return samples if accepted.kept is None else samples[accepted.kept]

    def _reach(self, block: KeptBlock, first_us: int, last_us: int) -> None:
        """Note how far the block reaches now; its first samples may begin an interval."""
        if block.first_us is None:
            block.first_us = first_us
            if not self._has_trials and self._trials.open is None:
                viewing = Viewing("block", block_name(block.number), first_us)
                self._documents += self._viewing.begin(viewing, None)
        block.last_us, block.beyond_us = last_us, last_us + 1
        self._trials.put_block(block.number, block.first_us, block.beyond_us)

    def _check_quality(self, block: KeptBlock, samples: Samples) -> None:
        """Report the quality of samples; now and then forget those that nothing needs."""
        documents = self._quality.take(samples)
        self._documents += documents
        if documents and block.is_decided:
            needed_us = block.last_us - round(LOOK_BACK_S * 1e6)
            block.forget_before(min(needed_us, self._needed_us or needed_us))

    @property
    def _needed_us(self) -> int | None:
        """The time from which the open trial needs samples."""
        trial = self._trials.open
        if trial is None:
            return None
        return trial.start_us if trial.onset_us is None else min(trial.start_us, trial.onset_us)

    def _forget(self) -> None:
        self._settling.forget_blocks(self._needed_us)

    # messages

    def _matters(self, message: Message) -> bool:
        return message.text.startswith("!CAL") or self._trials.matters(message)

    def _apply_messages(self, next_us: int | None) -> None:
        """Apply messages that are due before the sample at `next_us` (None: all)."""
        while (message := self._messages.pop(next_us)) is not None:
            block = self._block
            if next_us is not None and block is not None:
                block.beyond_us = next_us + 1
                first_us = next_us if block.first_us is None else block.first_us
                self._trials.put_block(block.number, first_us, block.beyond_us)
            self._apply_message(message)

    def _apply_message(self, message: Message) -> None:
        for step in self._trials.take(message):
            self._apply_step(step)
        if message.text.startswith("!CAL"):
            self._apply_calibration(message)
        quality = quality_from_message(message)
        if quality is not None:
            self._documents.append(quality)

    def _apply_calibration(self, message: Message) -> None:
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

    def _apply_step(self, step: Step) -> None:
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
                if not self._report_settled(self._settling.settle_trial(step.trial)):
                    self._viewing.abandon_evidence()
            case TrialEnded():
                self._settling.note_trial(step.trial)
                self._report_settled(self._settling.settle_blocks(before=step.trial.block))
                self._forget()

    def _trial_began(self, step: TrialBegan) -> None:
        if self._block is not None:
            self._block.begin_trial()
        self._has_trials = True
        self._rectangle_px = None
        if not self._has_onsets:
            # it is not known yet whether this experiment sends the onsets of its images
            viewing = Viewing("trial", step.name, step.start_us)
            self._documents += self._viewing.restart(viewing, self._block)

    def _image_named(self, step: ImageNamed) -> None:
        stream = None if self._block is None else self._block.stream
        self._rectangle_px = image_rectangle_px(step.text, stream)
        viewing = self._viewing.current
        if viewing is not None:
            viewing.image, viewing.rectangle_px = step.image, self._rectangle_px
            self._documents += self._viewing.announce()

    def _report_settled(self, settled: Iterable[Settled]) -> bool:
        """Report settled intervals and their posteriors; return whether any gave evidence."""
        any_evidence = False
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
                    artefacts=detection.artefacts,
                    pursuits=detection.pursuits,
                )
            )
            if self._evidence is not None and one.block.identifies:
                any_evidence = True
                if not one.interval.counts:
                    self._documents += self._evidence.leave_out(one.interval.end_us)
                    continue
                scanpath = scanpath_of(one.gaze, one.interval.image)
                self._documents += self._evidence.settle(scanpath, one.interval.end_us)
        return any_evidence
