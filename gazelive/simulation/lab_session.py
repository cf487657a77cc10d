"""Simulated lab session: trials of a cross and an image, with the lab's messages.

The tracker records from before the cross to after the image, a block per trial, and is
calibrated at the start and after every 14 trials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.gaze import (
    PAPER_SCREEN,
    Eyes,
    Message,
    Samples,
    ScreenGeometry,
    StreamDescription,
    TrackerEvent,
    each_eye,
)
from gazelive.recordings import EYE_WORDS, Block, Calibration, Recording, validation_verdict
from gazelive.simulation.people import random_stream
from gazelive.simulation.tracker_parser import parse_block
from gazelive.simulation.truth import SimulatedTrace, TrueBlink, TrueFixation, TrueSaccade
from gazelive.simulation.viewer import RectPx, ViewerSimulation
from gazelive.stimuli import SaliencyMap

SCREEN = PAPER_SCREEN
IMAGE_PX = (1500, 1000)
"""Width and height of the paper's images, in the middle of its screen."""
CROSS_S = (0.8, 1.2)
CROSS_MARGIN = 0.1
"""Part of the image's width and height at each side where no cross is shown."""
START_DELAY_S = 0.03
"""Delay from the command to record to the first sample."""
AFTER_IMAGE_S = 0.1
PAUSE_S = (0.3, 0.8)
START_S = (60.0, 3600.0)
"""The tracker's clock at the start of a session."""
TRIALS_PER_CALIBRATION = 14
VALIDATION_SCATTER_DEG = 0.25


@dataclass(frozen=True, slots=True)
class TrialImage:
    """An image to be shown: its name in the messages, and where people look in it."""

    name: str
    saliency: SaliencyMap


@dataclass(frozen=True, slots=True)
class TrialTimes:
    """Times of a trial's stimuli."""

    trial: int
    image: str
    cross_us: int
    image_onset_us: int
    image_offset_us: int


@dataclass(frozen=True)
class SimulatedSession:
    """A recording, and its true events."""

    recording: Recording
    trials: tuple[TrialTimes, ...]
    saccades: tuple[TrueSaccade, ...]
    fixations: tuple[TrueFixation, ...]
    blinks: tuple[TrueBlink, ...]


def image_rect_px(screen: ScreenGeometry = SCREEN) -> RectPx:
    """Return the rectangle of an image in the middle of the screen."""
    width, height = IMAGE_PX
    return (screen.width_px - width) / 2, (screen.height_px - height) / 2, width, height


def simulate_session(
    viewer_id: str,
    *,
    seed: int,
    session: int,
    images: Sequence[TrialImage],
    seconds: float,
    sampling_rate_hz: float,
    eyes: Eyes,
    path: Path,
    progress: Callable[[float], None] | None = None,
) -> SimulatedSession:
    """Show each image to a person for `seconds`; `path` becomes the recording's name."""
    run = _Run(viewer_id, seed, session, sampling_rate_hz, eyes)
    for number, image in enumerate(images, start=1):
        if (number - 1) % TRIALS_PER_CALIBRATION == 0:
            run.calibrate()
        run.trial(number, image, seconds)
        if progress is not None:
            progress(number / len(images))
    return run.finish(path)


class _Run:
    """The tracker, the experiment and the viewer of one session."""

    def __init__(
        self, viewer_id: str, seed: int, session: int, sampling_rate_hz: float, eyes: Eyes
    ) -> None:
        self._viewer_id = viewer_id
        self._session = session
        self._eyes = each_eye(eyes)
        self._rng = random_stream(seed, viewer_id, session, "experiment")
        self._stream = StreamDescription(
            device="simulated EyeLink",
            sampling_rate_hz=sampling_rate_hz,
            eyes=eyes,
            screen=SCREEN,
            screen_px=(SCREEN.width_px, SCREEN.height_px),
        )
        # EyeLink's clock counts milliseconds
        self._start_us = round(self._rng.uniform(*START_S) * 1000) * 1000
        self._n_lived = 0
        self._viewer = ViewerSimulation(
            viewer_id,
            seed=seed,
            session=session,
            sampling_rate_hz=sampling_rate_hz,
            eyes=eyes,
            screen=SCREEN,
            start_us=self._start_us,
        )
        self._traces: list[SimulatedTrace] = []
        self._blocks: list[Block] = []
        self._messages: list[Message] = []
        self._calibrations: list[Calibration] = []
        self._trials: list[TrialTimes] = []

    def calibrate(self) -> None:
        """Calibrate, and validate at nine targets, each off by the viewer's offset and chance."""
        for eye in self._eyes:
            self._say(f"!CAL CALIBRATION HV9 {eye} {EYE_WORDS[eye]} GOOD")
            offset_x_deg, offset_y_deg = self._viewer.calibration_offset_deg(eye)
            scatter_deg = VALIDATION_SCATTER_DEG * self._rng.standard_normal((9, 2))
            errors_deg = np.hypot(
                scatter_deg[:, 0] + offset_x_deg, scatter_deg[:, 1] + offset_y_deg
            )
            mean_deg, max_deg = float(errors_deg.mean()), float(errors_deg.max())
            x_px, y_px = SCREEN.deg_to_px([0.0, offset_x_deg], [0.0, offset_y_deg])
            verdict = validation_verdict(mean_deg, max_deg)
            self._say(
                f"!CAL VALIDATION HV9 {eye} {EYE_WORDS[eye]} {verdict} ERROR {mean_deg:.2f} avg. "
                f"{max_deg:.2f} max  OFFSET {math.hypot(offset_x_deg, offset_y_deg):.2f} deg. "
                f"{x_px[1] - x_px[0]:.1f},{y_px[1] - y_px[0]:.1f} pix."
            )
            for kind, result in (("calibration", "GOOD"), ("validation", verdict)):
                checked = kind == "validation"
                self._calibrations.append(
                    Calibration(
                        tracker_time_us=self._now_us(),
                        kind="validation" if checked else "calibration",
                        eye=eye,
                        model="HV9",
                        result=result,
                        mean_error_deg=round(mean_deg, 2) if checked else None,
                        max_error_deg=round(max_deg, 2) if checked else None,
                    )
                )
        self._live(self._rng.uniform(*PAUSE_S))

    def trial(self, number: int, image: TrialImage, seconds: float) -> None:
        """Show a cross, then the image."""
        left_px, top_px, width_px, height_px = rect_px = image_rect_px()
        where_x, where_y = self._rng.uniform(CROSS_MARGIN, 1 - CROSS_MARGIN, 2).tolist()
        cross_px = (round(left_px + where_x * width_px), round(top_px + where_y * height_px))
        self._say(f"TRIALID {number}")
        self._live(START_DELAY_S)
        cross_us = self._now_us()
        self._say(f"cross {cross_px[0]} {cross_px[1]}")
        self._viewer.show_cross(*cross_px)
        parts = [self._live(self._rng.uniform(*CROSS_S))]
        onset_us = self._now_us()
        self._say("image_onset")
        self._say(
            f"!V IMGLOAD CENTER {image.name} {SCREEN.width_px // 2} {SCREEN.height_px // 2} "
            f"{width_px:.0f} {height_px:.0f}"
        )
        self._viewer.show_image(image.saliency, rect_px)
        parts.append(self._live(seconds))
        offset_us = self._now_us()
        self._say("image_offset")
        self._viewer.hide()
        parts.append(self._live(AFTER_IMAGE_S))
        samples = np.concatenate(parts)
        times_us = samples["tracker_time_us"]
        self._blocks.append(Block(self._stream, samples, int(times_us[0]), int(times_us[-1])))
        self._trials.append(TrialTimes(number, image.name, cross_us, onset_us, offset_us))
        self._say("TRIAL_RESULT 0")
        self._live(self._rng.uniform(*PAUSE_S))

    def finish(self, path: Path) -> SimulatedSession:
        """Return everything that was recorded."""
        saccades = tuple(event for trace in self._traces for event in trace.saccades)
        fixations = tuple(event for trace in self._traces for event in trace.fixations)
        blinks = tuple(event for trace in self._traces for event in trace.blinks)
        recording = Recording(
            path=path,
            format="asc" if path.suffix == ".asc" else "session",
            blocks=tuple(self._blocks),
            messages=tuple(self._messages),
            tracker_events=self._tracker_events(saccades, blinks),
            calibrations=tuple(self._calibrations),
            screen=SCREEN,
            screen_px=(SCREEN.width_px, SCREEN.height_px),
            viewer=self._viewer_id,
            session=str(self._session),
        )
        return SimulatedSession(recording, tuple(self._trials), saccades, fixations, blinks)

    def _tracker_events(
        self, saccades: Sequence[TrueSaccade], blinks: Sequence[TrueBlink]
    ) -> tuple[TrackerEvent, ...]:
        events: list[TrackerEvent] = []
        for block in self._blocks:
            here_saccades = [s for s in saccades if _overlaps(s, block)]
            here_blinks = [b for b in blinks if _overlaps(b, block)]
            for eye in self._eyes:
                events += parse_block(block.samples, eye, here_saccades, here_blinks, SCREEN)
        return tuple(sorted(events, key=lambda event: event.end_us))

    def _say(self, text: str) -> None:
        self._messages.append(Message(self._now_us(), text))

    def _now_us(self) -> int:
        return self._start_us + round(self._n_lived * 1e6 / self._stream.sampling_rate_hz)

    def _live(self, seconds: float) -> Samples:
        n_samples = round(seconds * self._stream.sampling_rate_hz)
        samples, trace = self._viewer.advance(n_samples)
        self._traces.append(trace)
        self._n_lived += n_samples
        return samples


def _overlaps(event: TrueSaccade | TrueBlink, block: Block) -> bool:
    return event.onset_us <= block.end_us and event.offset_us >= block.start_us
