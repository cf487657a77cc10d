"""Fake Host PC with a camera and a simulated viewer, for tests without a tracker.

It follows the vendor's manuals: its clock drifts, it accepts settings in offline mode only, resets
its filter at each stop, takes 20 ms to start recording, and keeps everything in its own file,
including samples that the link lost.
"""

from __future__ import annotations

import math
import re
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from gazelive.devices.pacing import Pace
from gazelive.devices.simulated import generated_image
from gazelive.devices.simulated_host import (
    MEASURING_S,
    SETTLING_S,
    calibration_results,
    calibration_targets_px,
    measure_miss,
)
from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN, ScreenGeometry
from gazelive.gaze.stream import Message
from gazelive.simulation.viewer import ViewerSimulation

from .manual_clock import ManualClock

START_SAMPLES, END_SAMPLES, START_FIXATION, SAMPLE, LOST = 15, 16, 7, 200, 0x3F
_EYE_WORDS = {"L": "LEFT", "R": "RIGHT"}


@dataclass
class Behaviour:
    """Deviations from normal behaviour."""

    rate_hz: float | None = None
    """Recorded at, whatever is asked for."""
    eyes: str | None = None
    is_blind: bool = False
    """No eye is tracked."""
    lose: range = range(0)
    """Mask of recorded samples that never arrive."""
    latency_us: int = 0
    """Delay from camera to queue; samples under way at the end of recording still arrive."""
    queue_size: int = 100_000
    disconnect_after: int | None = None
    """Number of samples after which the link is dead."""
    menu_after: tuple[int, int] | None = None
    """Number of samples after which the operator chooses (code) in the abort menu."""
    replies: dict[str, str] = field(default_factory=dict)
    """Settings that the tracker has otherwise than they were sent."""
    refuses: tuple[str, ...] = ()
    """Beginnings of commands that it does not know."""
    refuses_loudly: bool = False
    """pylink raises what the tracker refuses."""
    reply_s: float = 0.0
    """Time that the tracker needs to report a setting."""
    message_code: int = 0
    start_code: int = 0
    sends_samples: bool = True
    half_ms: str = "flag"
    """Coding of half milliseconds at 2000 Hz: flag, decimal or none."""
    setups: list[str] = field(default_factory=list)
    """Operator's action in each set-up: calibrate (default), leave, abort, fail."""
    drift_codes: list[int] = field(default_factory=list)
    words: str = "edf"
    """Format of calibration results: edf, short or other."""
    transfer_s: float = 0.0
    transfer_breaks: bool = False
    transfer_loses: int = 0
    """Bytes that are missing at the end of a file that came."""


@dataclass
class HostFile:
    name: str
    samples: list[Samples] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    is_open: bool = True

    def content(self) -> bytes:
        head = "\n".join(f"MSG {m.tracker_time_us} {m.text}" for m in self.messages)
        return head.encode() + b"".join(block.tobytes() for block in self.samples)


class FakeHost:
    """The tracker's side of the cable."""

    def __init__(
        self,
        clock: ManualClock,
        behaviour: Behaviour | None = None,
        *,
        seed: int = 3,
        drift_ppm: float = 5.0,
        version: str = "EYELINK CL 5.15",
        origin_us: int = 50_000_000,
        address: str = "100.1.1.1",
    ) -> None:
        self.clock = clock
        self.behaviour = behaviour or Behaviour()
        self.version = version
        self.address = address
        self.mode = "setup"
        self.is_connected = True
        self.settings: dict[str, str] = {}
        self.files: dict[str, HostFile] = {}
        self.file: HostFile | None = None
        self.filters: list[str] = []
        """The filter of each block."""
        self.queue: deque[tuple[int, Samples | None]] = deque()
        self._flying: deque[Samples] = deque()
        self.n_recorded = 0
        self.result_text, self.result_code = "", 1000
        self._seed = seed
        self._origin_us = origin_us
        self._pace = Pace(clock, origin_us)
        self._pace.run(1.0 + drift_ppm * 1e-6)
        self._viewer: ViewerSimulation | None = None
        self._n_lived = 0
        self._n_sent = 0
        self._has_lost = False
        self._menu_code: int | None = None

    # settings

    def command(self, text: str) -> int:
        self.require_link()
        name = re.split(r"[ =]", text, maxsplit=1)[0]
        assert self.mode == "offline" or name == "add_file_preamble_text", f"{text!r} not offline"
        if text.startswith(self.behaviour.refuses):
            if self.behaviour.refuses_loudly:
                raise RuntimeError("Unknown command")
            return -1
        self.settings[name] = text[len(name) :].lstrip(" =")
        return 0

    def reply(self, name: str) -> str:
        return self.behaviour.replies.get(name, self.settings.get(name, "").replace(" ", ","))

    @property
    def screen(self) -> ScreenGeometry:
        return PAPER_SCREEN

    @property
    def rate_hz(self) -> float:
        return self.behaviour.rate_hz or float(self.settings["sample_rate"])

    @property
    def eyes(self) -> str:
        if self.behaviour.eyes is not None:
            return self.behaviour.eyes
        return (
            "LR"
            if self.settings.get("binocular_enabled") == "YES"
            else self.settings["active_eye"][0]
        )

    @property
    def viewer(self) -> ViewerSimulation:
        if self._viewer is None:
            self._viewer = ViewerSimulation(
                "fake",
                seed=self._seed,
                session=1,
                sampling_rate_hz=self.rate_hz,
                eyes=self.eyes,
                screen=self.screen,
            )
        return self._viewer

    def show(self, name: str) -> None:
        """Let the viewer see an image from now on."""
        self.live()
        self.viewer.show_image(generated_image(name), (210, 40, 1500, 1000))

    def show_cross(self, x_px: float, y_px: float) -> None:
        """Let the viewer see a cross from now on."""
        self.live()
        self.viewer.show_cross(x_px, y_px)

    def hide(self) -> None:
        """Let the viewer see nothing from now on."""
        self.live()
        self.viewer.hide()

    def require_link(self) -> None:
        if not self.is_connected:
            raise RuntimeError("Link terminated")

    # time

    @property
    def now_us(self) -> float:
        return self._pace.position_us()

    def pass_s(self, seconds: float) -> None:
        self.clock.sleep_until_s(self.clock.now_s() + seconds)

    def live(self) -> None:
        """Let the viewer live up to now; while recording, keep and send what the camera sees."""
        if not self.settings.get("sample_rate"):
            return
        interval_us = 1e6 / self.rate_hz
        n_due = math.floor((self.now_us - self._origin_us + 0.5) / interval_us) + 1
        if self.mode != "record":
            self.viewer.advance(min(n_due - self._n_lived, round(self.rate_hz)))
            self._n_lived = n_due
            return
        n = n_due - self._n_lived
        if n > 0:
            samples, _ = self.viewer.advance(n)
            counts = self._n_lived + np.arange(n)
            samples["tracker_time_us"] = self._origin_us + np.round(counts * interval_us)
            self._n_lived = n_due
            self._keep(samples)
        self._land(self.now_us - self.behaviour.latency_us)

    def _land(self, until_us: float) -> None:
        """Deliver samples under way, up to a time."""
        while self._flying and self._flying[0]["tracker_time_us"][0] <= until_us:
            self._arrive(self._flying.popleft())

    def _keep(self, samples: Samples) -> None:
        limit = self.behaviour.disconnect_after
        if limit is not None and self.n_recorded + len(samples) >= limit:
            samples = samples[: max(limit - self.n_recorded, 0)]
        if self.is_connected and self.file is not None:
            self.file.samples[-1] = np.concatenate([self.file.samples[-1], samples])
        self._flying.extend(samples[at : at + 1] for at in range(len(samples)))
        self.n_recorded += len(samples)
        if limit is not None and self.n_recorded >= limit:
            self.is_connected = False
        menu = self.behaviour.menu_after
        if menu is not None and self.n_recorded >= menu[0]:
            self.behaviour.menu_after, self._menu_code = None, menu[1]

    def _arrive(self, sample: Samples) -> None:
        ordinal, self._n_sent = self._n_sent, self._n_sent + 1
        if ordinal in self.behaviour.lose or len(self.queue) >= self.behaviour.queue_size:
            self._has_lost = True
            return
        if self._has_lost:
            self.queue.append((LOST, None))
            self._has_lost = False
        if ordinal % 250 == 100:
            self.queue.append((START_FIXATION, None))
        self.queue.append((SAMPLE, sample))

    # recording

    def record(self) -> int:
        self.require_link()
        assert self.mode == "offline", "startRecording in offline mode only"
        if self.behaviour.start_code:
            return self.behaviour.start_code
        self.filters.append(self.settings["heuristic_filter"])
        self.live()
        self.pass_s(0.02)
        self.live()
        self.mode, self._menu_code = "record", None
        if self.file is not None:
            self.file.samples.append(empty_samples(0))
        if self.behaviour.sends_samples:
            self.queue.append((START_SAMPLES, None))
        return 0

    def stop_recording(self) -> None:
        assert self.mode == "record"
        self.live()
        self._land(math.inf)
        self.mode = "offline"
        self.queue.append((END_SAMPLES, None))
        self.settings["heuristic_filter"] = "reset"
        self.require_link()

    def recording_code(self) -> int:
        self.live()
        if not self.is_connected:
            return -1
        if self._menu_code is not None:
            self.stop_recording()
            return self._menu_code
        return 0 if self.mode == "record" else -1

    def write_message(self, text: str, offset_ms: int) -> int:
        self.require_link()
        assert len(text) <= 130, "the tracker's messages have 130 characters"
        assert text.isascii()
        if self.file is not None and not self.behaviour.message_code:
            time_us = 1000 * (round(self.now_us / 1000) + offset_ms)
            self.file.messages.append(Message(time_us, text))
        return self.behaviour.message_code

    # calibration

    def set_up(self, draw: object) -> None:
        self.require_link()
        assert self.mode == "offline"
        self.mode = "setup"
        does = self.behaviour.setups.pop(0) if self.behaviour.setups else "calibrate"
        if does != "calibrate":
            self.result_code = {"leave": 1000, "abort": 27, "fail": -1}[does]
            return
        targets_px = calibration_targets_px(self.screen)
        looks = [self._look_at(x_px, y_px, draw) for x_px, y_px in targets_px]
        self.viewer.hide()
        lines, short = [], []
        for eye in self.eyes:
            misses = [
                measure_miss(look, eye, target_px, self.screen)
                for look, target_px in zip(looks, targets_px, strict=True)
            ]
            result = calibration_results(0, eye, [miss.deg for miss in misses])[1]
            mean_deg, max_deg = result.mean_error_deg, result.max_error_deg
            lines.append(
                f"!CAL VALIDATION HV9 {self.eyes} {_EYE_WORDS[eye]:5} {result.result} ERROR "
                f"{mean_deg:.2f} avg. {max_deg:.2f} max  OFFSET 0.36 deg. -9.3,12.6 pix."
            )
            short.append(f"{mean_deg:.2f} {max_deg:.2f} 0.36")
        for line in lines:
            self.write_message(line, 0)
        self._tell_result("\n".join(lines), f"validation_result: {' '.join(short)}")

    def check_drift(self, x_px: int, y_px: int, draw: object) -> int:
        self.require_link()
        assert self.mode != "record"
        self.mode = "drift"
        code = self.behaviour.drift_codes.pop(0) if self.behaviour.drift_codes else 0
        if code:
            return code
        look = self._look_at(x_px, y_px, draw)
        lines = []
        for eye in self.eyes:
            miss = measure_miss(look, eye, (x_px, y_px), self.screen)
            lines.append(
                f"DRIFTCORRECT {self.eyes} {_EYE_WORDS[eye]:5} at {x_px},{y_px}  OFFSET "
                f"{miss.deg:.2f} deg.  {miss.x_px:.1f},{miss.y_px:.1f} pix."
            )
            self.write_message(lines[-1], 0)
        self._tell_result("\n".join(lines), "drift: 0.5")
        return 0

    def _tell_result(self, edf: str, short: str) -> None:
        self.result_code = 0
        self.result_text = {"edf": edf, "short": short, "other": "Erfolgreich"}[
            self.behaviour.words
        ]

    def _look_at(self, x_px: float, y_px: float, draw: object) -> Samples:
        draw(round(x_px), round(y_px))
        self.viewer.show_cross(x_px, y_px)
        self.viewer.advance(round(SETTLING_S * self.rate_hz))
        samples, _ = self.viewer.advance(round(MEASURING_S * self.rate_hz))
        return samples

    # files

    def open_file(self, name: str) -> int:
        if not re.fullmatch(r"[A-Z0-9_]{1,8}\.EDF", name):
            return -1
        self.file = self.files[name] = HostFile(name)
        return 0

    def close_file(self) -> int:
        self.require_link()
        assert self.mode == "offline"
        if self.file is not None:
            self.file.is_open = False
        self.file = None
        return 0
