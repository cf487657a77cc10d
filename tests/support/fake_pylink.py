"""Fake pylink in front of a `FakeHost`; it logs every call.

Names, arguments and constants are those of sr-research-pylink: `tests/contract/test_pylink.py`
compares them with the real one.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.gaze.samples import EYE_FIELDS, Samples

from .fake_host import START_SAMPLES, FakeHost

CONSTANTS = {
    "TRIAL_OK": 0,
    "REPEAT_TRIAL": 1,
    "SKIP_TRIAL": 2,
    "ABORT_EXPT": 3,
    "SAMPLE_TYPE": 200,
    "LOSTDATAEVENT": 0x3F,
    "MISSING_DATA": -32768,
    "INTERP_SAMPLE_WARNING": 0x1000,
    "CR_LOST_LEFT_WARNING": 0x0100,
    "CR_LOST_RIGHT_WARNING": 0x0200,
    "CR_RECOV_LEFT_WARNING": 0x0400,
    "CR_RECOV_RIGHT_WARNING": 0x0800,
    "TFLAG_MISSING": 0x4000,
    "TFLAG_ANGLE": 0x2000,
    "TFLAG_NEAREYE": 0x1000,
    "TFLAG_CLOSE": 0x0800,
    "TFLAG_FAR": 0x0400,
    "TFLAG_T_TSIDE": 0x0080,
    "TFLAG_T_BSIDE": 0x0040,
    "TFLAG_T_LSIDE": 0x0020,
    "TFLAG_T_RSIDE": 0x0010,
    "TFLAG_E_TSIDE": 0x0008,
    "TFLAG_E_BSIDE": 0x0004,
    "TFLAG_E_LSIDE": 0x0002,
    "TFLAG_E_RSIDE": 0x0001,
}
MISSING = CONSTANTS["MISSING_DATA"]


class EyeLinkCustomDisplay:
    """A window; remembers the targets that were drawn."""

    def __init__(self) -> None:
        self.targets_px: list[tuple[int, int]] = []

    def draw_cal_target(self, x: int, y: int) -> None:
        self.targets_px.append((x, y))


class FakeEye:
    def __init__(self, x: float, y: float, pupil: float) -> None:
        self._gaze = (x, y)
        self._pupil = pupil

    def getGaze(self) -> tuple[float, float]:  # noqa: N802
        return self._gaze

    def getPupilSize(self) -> float:  # noqa: N802
        return self._pupil


class FakeSample:
    """One sample of the link: milliseconds, with codes for missing data."""

    def __init__(self, sample: Samples, eyes: str, half_ms: str) -> None:
        self._eyes = {eye: _eye(sample, eye) for eye in eyes}
        time_us = int(sample["tracker_time_us"][0])
        self._flags = 0x8000 * ("L" in eyes) | 0x4000 * ("R" in eyes)
        self._time_ms: float = time_us // 1000
        if time_us % 1000:
            if half_ms == "flag":
                self._flags |= 0x0002
            elif half_ms == "decimal":
                self._time_ms = time_us / 1000

    def getTime(self) -> float:  # noqa: N802
        return self._time_ms

    def getFlags(self) -> int:  # noqa: N802
        return self._flags

    def getStatus(self) -> int:  # noqa: N802
        return 0

    def isTarget(self) -> bool:  # noqa: N802
        return False

    def getLeftEye(self) -> FakeEye | None:  # noqa: N802
        return self._eyes.get("L")

    def getRightEye(self) -> FakeEye | None:  # noqa: N802
        return self._eyes.get("R")


def _eye(sample: Samples, eye: str) -> FakeEye:
    x, y, pupil = (float(sample[name][0]) for name in EYE_FIELDS[eye])
    if np.isnan(x) or np.isnan(y):
        return FakeEye(float(MISSING), float(MISSING), 0.0)
    return FakeEye(x, y, pupil)


class Calls:
    """Records calls and their arguments, and checks that one thread makes them while recording."""

    def __init__(self, host: FakeHost) -> None:
        self.log: list[tuple[str, tuple[Any, ...]]] = []
        self.used: set[str] = set()
        """Names of the module that were asked for."""
        self._host = host
        self._owner: int | None = None

    def note(self, name: str, args: tuple[Any, ...]) -> None:
        self.log.append((name, args))
        thread = threading.get_ident()
        if self._host.mode == "record" and self._host.is_connected:
            assert self._owner in (None, thread), "two threads talk to the tracker"
            self._owner = thread
        else:
            self._owner = None


class FakeTracker:
    """pylink.EyeLink."""

    def __init__(self, host: FakeHost, calls: Calls, module: FakePylink) -> None:
        self._host = host
        self._calls = calls
        self._module = module
        self._item: Samples | None = None
        self._asked, self._asked_s = "", 0.0
        self._in_block = False

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name.startswith("_") or name == "progressUpdate" or not callable(value):
            return value

        def call(*args: Any) -> Any:
            self._calls.note(name, args)
            return value(*args)

        return call

    def isConnected(self) -> int:  # noqa: N802
        return int(self._host.is_connected)

    def close(self) -> int:
        self._host.is_connected = False
        return 0

    def getTrackerVersionString(self) -> str:  # noqa: N802
        return self._host.version

    def trackerTimeUsec(self) -> float:  # noqa: N802
        return self._host.now_us

    def setOfflineMode(self) -> None:  # noqa: N802
        self._host.require_link()
        if self._host.mode == "record":
            self._host.stop_recording()
        self._host.mode = "offline"

    def sendCommand(self, text: str) -> int:  # noqa: N802
        return self._host.command(text)

    def getLastMessage(self) -> str:  # noqa: N802
        return "Unknown command"

    def setHeuristicLinkAndFileFilter(self, link: int, file: int = -1) -> None:  # noqa: N802
        self._host.command(f"heuristic_filter {link} {file}")

    def readRequest(self, name: str) -> int:  # noqa: N802
        self._asked, self._asked_s = name, self._host.clock.now_s()
        return 0

    def readReply(self) -> str:  # noqa: N802
        host, asked = self._host, self._asked
        if not asked or host.clock.now_s() < self._asked_s + host.behaviour.reply_s:
            return ""
        self._asked = ""
        return host.reply(asked)

    def sendMessage(self, text: str, offset: int = 0) -> int:  # noqa: N802
        return self._host.write_message(text, offset)

    def startRecording(self, *what: int) -> int:  # noqa: N802
        assert what == (1, 1, 1, 1)
        return self._host.record()

    def waitForBlockStart(self, timeout_ms: int, samples: int, events: int) -> int:  # noqa: N802
        assert (samples, events) == (1, 0)
        queue = self._host.queue
        while queue:
            if queue.popleft()[0] == START_SAMPLES:
                self._in_block = True
                return 1
        self._host.pass_s(timeout_ms / 1000)
        return 0

    def eyeAvailable(self) -> int:  # noqa: N802
        if self._host.behaviour.is_blind or not self._in_block:
            return -1
        return {"L": 0, "R": 1, "LR": 2}[self._host.eyes]

    def getSampleRate(self) -> int:  # noqa: N802
        return round(self._host.rate_hz) if self._in_block else MISSING

    def getNextData(self) -> int:  # noqa: N802
        self._host.live()
        if not self._host.queue:
            return 0
        kind, self._item = self._host.queue.popleft()
        return kind

    def getFloatData(self) -> FakeSample | None:  # noqa: N802
        host = self._host
        if self._item is None:
            return None
        return FakeSample(self._item, host.eyes, host.behaviour.half_ms)

    def isRecording(self) -> int:  # noqa: N802
        return self._host.recording_code()

    def stopRecording(self) -> None:  # noqa: N802
        self._host.stop_recording()
        self._in_block = False

    def doTrackerSetup(self) -> None:  # noqa: N802
        self._host.set_up(self._draw)

    def doDriftCorrect(self, x: int, y: int, draw: int, allow_setup: int) -> int:  # noqa: N802
        assert isinstance(x, int)
        assert isinstance(y, int)
        assert (draw, allow_setup) == (1, 0)
        return self._host.check_drift(x, y, self._draw)

    def _draw(self, x: int, y: int) -> None:
        assert self._module.graphics is not None
        self._module.graphics.draw_cal_target(x, y)

    def getCalibrationResult(self) -> int:  # noqa: N802
        code, self._host.result_code = self._host.result_code, 1000
        return code

    def getCalibrationMessage(self) -> str:  # noqa: N802
        return self._host.result_text

    def openDataFile(self, name: str) -> int:  # noqa: N802
        return self._host.open_file(name)

    def closeDataFile(self) -> int:  # noqa: N802
        return self._host.close_file()

    def receiveDataFile(self, source: str, target: str) -> int:  # noqa: N802
        self._host.require_link()
        assert target.isascii(), "the native library knows no other names on Windows"
        file = self._host.files[source]
        assert not file.is_open
        content = file.content()
        n_parts = 10
        with Path(target).open("wb") as out:
            for part in range(n_parts):
                begin, end = (len(content) * k // n_parts for k in (part, part + 1))
                out.write(content[begin:end])
                self._host.pass_s(self._host.behaviour.transfer_s / n_parts)
                self.progressUpdate(source, len(content), end)
                if self._host.behaviour.transfer_breaks and part == n_parts // 2:
                    raise RuntimeError("Transfer failed")
            out.truncate(len(content) - self._host.behaviour.transfer_loses)
        return len(content)

    def progressUpdate(self, name: str, size: int, received: int) -> int:  # noqa: N802
        return 0


class FakePylink:
    """The module."""

    EyeLinkCustomDisplay = EyeLinkCustomDisplay

    def __init__(self, host: FakeHost) -> None:
        self.host = host
        self.calls = Calls(host)
        self.graphics: EyeLinkCustomDisplay | None = None
        self.is_real_time = False
        self._tracker: FakeTracker | None = None

    def __getattr__(self, name: str) -> int:
        self.calls.used.add(name)
        if name not in CONSTANTS:
            raise AttributeError(name)
        return CONSTANTS[name]

    def _note(self, name: str, *args: Any) -> None:
        self.calls.used.add(name)
        self.calls.note(f"pylink.{name}", args)

    def EyeLink(self, address: str) -> FakeTracker:  # noqa: N802
        self._note("EyeLink", address)
        if address != self.host.address:
            raise RuntimeError(f"Could not connect to tracker at {address}")
        self._tracker = FakeTracker(self.host, self.calls, self)
        return self._tracker

    def getEYELINK(self) -> FakeTracker | None:  # noqa: N802
        self._note("getEYELINK")
        return self._tracker

    def openGraphicsEx(self, graphics: EyeLinkCustomDisplay) -> int:  # noqa: N802
        self._note("openGraphicsEx", graphics)
        assert isinstance(graphics, EyeLinkCustomDisplay)
        assert self.graphics is None
        self.graphics = graphics
        return 0

    def closeGraphics(self) -> None:  # noqa: N802
        self._note("closeGraphics")
        self.graphics = None

    def beginRealTimeMode(self, delay_ms: int) -> None:  # noqa: N802
        self._note("beginRealTimeMode", delay_ms)
        self.is_real_time = True

    def endRealTimeMode(self) -> None:  # noqa: N802
        self._note("endRealTimeMode")
        self.is_real_time = False
