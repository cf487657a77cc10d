"""Simulated tracker with a simulated viewer, who looks at what the experiment shows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gazelive.clock import Clock
from gazelive.devices.lifecycle import Lifecycle
from gazelive.devices.pacing import Pace
from gazelive.devices.protocol import MAX_CHUNK_SAMPLES, ImageStimulus, Stimulus
from gazelive.devices.simulated_host import (
    MEASURING_S,
    SETTLING_S,
    HostFile,
    calibration_results,
    calibration_targets_px,
    measure_miss,
)
from gazelive.errors import CalibrationError
from gazelive.gaze import (
    PAPER_SCREEN,
    Chunk,
    Eyes,
    Integers,
    Message,
    Samples,
    ScreenGeometry,
    StreamDescription,
    each_eye,
    empty_samples,
    in_time_order,
)
from gazelive.recordings import Calibration, DriftCorrection
from gazelive.simulation import ViewerSimulation
from gazelive.stimuli import SaliencyMap, generated_saliency, image_saliency

SaliencyOf = Callable[[str], SaliencyMap]
"""Takes the name of an image and returns where in it people look."""

UNSEEN_S = 1.0
"""Only the last part of a break is simulated, so long breaks cost nothing."""
QUEUE_S = 60.0
"""Samples that wait for a late reader; older ones are lost, as after the computer slept."""


def generated_image(name: str) -> SaliencyMap:
    """Return the map of an image that does not exist; always the same for a name."""
    return generated_saliency(name, seed=0)


def saliency_in(folder: Path) -> SaliencyOf:
    """Return a function for the saliency of the images in `folder`; names are relative to it."""
    return cache(lambda name: image_saliency(folder / name))


@cache
def _warm_up() -> None:
    """Load the simulator's kernels, so the first saccade of a session is not late."""
    viewer = ViewerSimulation(
        "warm-up", seed=0, session=0, sampling_rate_hz=250.0, eyes="LR", screen=PAPER_SCREEN
    )
    viewer.show_image(generated_image("warm-up"), (0, 0, 1920, 1080))
    viewer.advance(750)


class SimulatedDevice:
    """Simulates samples when they are read, up to the clock's current time.

    The tracker's time has its own origin and runs `drift_ppm` faster than the host's. The same
    viewer, seed, session and commands at the same times give the same samples, however they are
    read. Calibration and drift check measure the simulated gaze; they take no time.
    """

    def __init__(
        self,
        viewer_id: str,
        *,
        seed: int,
        session: int,
        clock: Clock,
        sampling_rate_hz: float = 1000.0,
        eyes: Eyes = "R",
        screen: ScreenGeometry = PAPER_SCREEN,
        saliency_of: SaliencyOf = generated_image,
        drift_ppm: float = 20.0,
        tracker_origin_us: int = 3_600_000_000,
        chunk_s: float = 0.01,
    ) -> None:
        _warm_up()
        self._life = Lifecycle("the simulated tracker")
        self._viewer = ViewerSimulation(
            viewer_id,
            seed=seed,
            session=session,
            sampling_rate_hz=sampling_rate_hz,
            eyes=eyes,
            screen=screen,
        )
        self._screen = screen
        self._stream = StreamDescription(
            device="simulated EyeLink",
            sampling_rate_hz=sampling_rate_hz,
            eyes=eyes,
            screen=screen,
            screen_px=(screen.width_px, screen.height_px),
        )
        self._saliency_of = saliency_of
        self._host_file = HostFile()
        self._clock = clock
        self._origin_us = tracker_origin_us
        self._pace = Pace(clock, tracker_origin_us)
        self._pace.run(1.0 + drift_ppm * 1e-6)
        self._chunk_n = max(round(chunk_s * sampling_rate_hz), 1)
        self._n_lived = 0
        """Sample intervals since the origin that have been simulated."""
        self._arrived: deque[tuple[int, Samples]] = deque()
        """Blocks and samples that have not been read."""
        self._sent: list[Message] = []
        self._block = -1
        self._n_chunks = 0
        self.on_target: Callable[[float, float], None] = lambda _x_px, _y_px: None
        """Called with each target of a calibration or drift check before it is fixated."""

    def describe(self) -> StreamDescription:
        """Return the description of the stream, which never changes."""
        return self._stream

    def start(self) -> None:
        """Start to record."""
        self._life.require_open()
        self._live()
        self._life.start()
        self._block += 1
        self._host_file.start_block(self._stream)

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what has arrived; if less than `chunk_s` has, wait up to `timeout_s`."""
        self._life.require_started()
        if self._life.recording:
            self._wait(max(timeout_s, 0.0))
            self._live()
        if self._arrived:
            block, samples = self._arrived.popleft()
        elif self._sent:
            block, samples = self._block, empty_samples(0)
        else:
            return None
        messages = tuple(in_time_order(self._sent))
        self._sent.clear()
        number = self._n_chunks
        self._n_chunks += 1
        return Chunk(number, block, samples, messages, self._clock.now_s())

    @property
    def finished(self) -> bool:
        """True after `close`: a viewer never ends."""
        return self._life.closed

    def tracker_time_us(self) -> int:
        """Return the tracker's time now."""
        return round(self._pace.position_us())

    def stop(self) -> None:
        """Stop recording; what had arrived by now can still be read."""
        if self._life.recording:
            self._live()
            self._life.stop()

    def close(self) -> None:
        """Close the tracker, and delete the host file."""
        if self._life.close():
            self._arrived.clear()
            self._host_file.close()

    def send_message(self, text: str, at_s: float | None = None) -> None:
        """Stamp and store a message."""
        self._life.require_open()
        message = Message(round(self._pace.position_us(at_s)), text)
        self._sent.append(message)
        self._host_file.add_message(message)

    def show(self, stimulus: Stimulus) -> None:
        """Show the viewer an image or a cross from now on."""
        self._life.require_open()
        self._live()
        if isinstance(stimulus, ImageStimulus):
            rect_px = (stimulus.left_px, stimulus.top_px, stimulus.width_px, stimulus.height_px)
            self._viewer.show_image(self._saliency_of(stimulus.name), rect_px)
        else:
            self._viewer.show_cross(stimulus.x_px, stimulus.y_px)

    def hide(self) -> None:
        """Show the viewer a blank screen from now on."""
        self._life.require_open()
        self._live()
        self._viewer.hide()

    def calibrate(self) -> tuple[Calibration, ...]:
        """Calibrate, then measure the viewer's gaze at nine targets."""
        self._life.require_between_blocks("calibrating", CalibrationError)
        targets_px = calibration_targets_px(self._screen)
        looks = []
        for x_px, y_px in targets_px:
            self.on_target(x_px, y_px)
            looks.append(self._look_at(x_px, y_px))
        self._viewer.hide()
        time_us = self.tracker_time_us()
        results: list[Calibration] = []
        for eye in each_eye(self._stream.eyes):
            misses = [
                measure_miss(look, eye, target_px, self._screen)
                for look, target_px in zip(looks, targets_px, strict=True)
            ]
            results += calibration_results(time_us, eye, [miss.deg for miss in misses])
        self._host_file.add_calibrations(results)
        return tuple(results)

    def check_drift(self, x_px: float, y_px: float) -> tuple[DriftCorrection, ...]:
        """Measure the viewer's gaze during fixation of the target."""
        self._life.require_between_blocks("checking drift", CalibrationError)
        self._live()
        self.on_target(x_px, y_px)
        look = self._look_at(x_px, y_px)
        time_us = self.tracker_time_us()
        drifts = []
        for eye in each_eye(self._stream.eyes):
            miss = measure_miss(look, eye, (x_px, y_px), self._screen)
            drifts.append(
                DriftCorrection(
                    tracker_time_us=time_us,
                    eye=eye,
                    target_x_px=x_px,
                    target_y_px=y_px,
                    offset_deg=miss.deg,
                    offset_x_px=miss.x_px,
                    offset_y_px=miss.y_px,
                )
            )
        self._host_file.add_drift_corrections(drifts)
        return tuple(drifts)

    def receive_host_file(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Write everything recorded so far as ASC."""
        self._life.require_between_blocks("fetching its file")
        return self._host_file.write(folder, stem, progress)

    def _look_at(self, x_px: float, y_px: float) -> Samples:
        """Return samples of the viewer's fixation of a target."""
        self._viewer.show_cross(x_px, y_px)
        self._viewer.advance(round(SETTLING_S * self._stream.sampling_rate_hz))
        samples, _ = self._viewer.advance(round(MEASURING_S * self._stream.sampling_rate_hz))
        return samples

    def _wait(self, timeout_s: float) -> None:
        """Sleep until a chunk is complete or the time is up."""
        deadline_s = self._clock.now_s() + timeout_s
        n_unread = sum(len(samples) for _, samples in self._arrived)
        last = self._n_lived - n_unread + self._chunk_n - 1
        complete_s = self._pace.reached_s(float(self._sample_us(last)))
        self._clock.sleep_until_s(min(complete_s, deadline_s))

    def _sample_us(self, count: npt.ArrayLike) -> Integers:
        """Return the tracker's time of samples by their number of intervals from the origin."""
        elapsed_us = np.asarray(count) * (1e6 / self._stream.sampling_rate_hz)
        return np.asarray(self._origin_us + np.round(elapsed_us), np.int64)

    def _live(self) -> None:
        """Simulate up to now; while recording, keep the samples."""
        position_us = self._pace.position_us() - self._origin_us + 0.5
        n_due = math.floor(position_us * self._stream.sampling_rate_hz / 1e6) + 1
        if not self._life.recording:
            n_unseen = round(UNSEEN_S * self._stream.sampling_rate_hz)
            self._viewer.advance(min(n_due - self._n_lived, n_unseen))
            self._n_lived = n_due
        n_queue = round(QUEUE_S * self._stream.sampling_rate_hz)
        self._n_lived = max(self._n_lived, n_due - n_queue)
        while self._n_lived < n_due:
            n = min(n_due - self._n_lived, MAX_CHUNK_SAMPLES)
            samples, _ = self._viewer.advance(n)
            samples["tracker_time_us"] = self._sample_us(self._n_lived + np.arange(n))
            self._host_file.append(samples)
            self._arrived.append((self._block, samples))
            self._n_lived += n
