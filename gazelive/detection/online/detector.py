"""The online detector: events as soon as the samples that show them have arrived."""

from __future__ import annotations

import functools
import threading
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from gazelive.detection.events import DetectorOutput, to_output
from gazelive.detection.online import online_kernels
from gazelive.detection.online.online_state import (
    ROW,
    SETTINGS,
    STATE,
    copy_noise,
    make_settings,
    make_state,
    thresholds_of,
)
from gazelive.detection.parameters import DetectorParameters, check_rate
from gazelive.errors import RecordingError
from gazelive.gaze import EventEye, Floats, Integers

N_ROWS = 512


@runtime_checkable
class SaccadeDetector(Protocol):
    """Finds saccades in a stream, whatever chunks it is cut into."""

    def push(
        self, times_us: npt.ArrayLike, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike
    ) -> list[DetectorOutput]:
        """Take samples in their order (y down, NaN for lost); return new events."""
        ...

    def flush(self) -> list[DetectorOutput]:
        """End the stretch: return the events that were open, and prepare for the next stretch."""
        ...

    def reset(self) -> None:
        """Forget everything, noise and thresholds too."""
        ...


class OnlineDetector:
    """Causal, in constant time and memory per sample, independent of how samples are cut.

    The noise behind the thresholds survives `flush`: a trial starts with the noise learned in
    earlier trials of the same calibration. `reset` forgets it.
    """

    def __init__(
        self,
        parameters: DetectorParameters | None = None,
        sampling_rate_hz: float | None = None,
        *,
        eye: EventEye = "both",
    ) -> None:
        self.parameters = parameters or DetectorParameters()
        self.sampling_rate_hz = check_rate(sampling_rate_hz)
        self.eye = eye
        self._interval_ms = 1000.0 / self.sampling_rate_hz
        self._settings = make_settings(self.parameters, self.sampling_rate_hz)
        self._state = make_state(self.parameters)
        self._rows = np.zeros(N_ROWS, ROW)
        self._push = compiled_push()

    @property
    def noise_deg_s(self) -> tuple[float, float]:
        """The current velocity noise σ of both axes."""
        state = self._state[0]
        return float(state["noise_x_deg_s"]), float(state["noise_y_deg_s"])

    @property
    def thresholds_deg_s(self) -> tuple[float, float]:
        """The current velocity threshold of both axes."""
        return thresholds_of(self._state, self.parameters)

    def push(
        self, times_us: npt.ArrayLike, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike
    ) -> list[DetectorOutput]:
        """Take samples in their order (y down, NaN for lost); return new events.

        Fastest with contiguous arrays of int64 and float64. A sample that is not later than the
        one before is left out, a gap in time is filled with lost samples (a short one is then
        bridged); a `Quality` reports both.
        """
        try:
            n_rows = self._push(self._settings, self._state, self._rows, times_us, x_deg, y_deg)
        except TypeError:
            times_us, x_deg, y_deg = _as_columns(times_us, x_deg, y_deg)
            n_rows = self._push(self._settings, self._state, self._rows, times_us, x_deg, y_deg)
        if n_rows == 0:
            return []
        if n_rows < 0:
            raise RecordingError("times, x and y of a chunk must be of one length")
        outputs = self._outputs(n_rows)
        times, x, y = (cast("npt.NDArray[Any]", a) for a in (times_us, x_deg, y_deg))
        taken = int(self._state[0]["n_taken"])
        while taken < len(times):
            n_rows = self._push(
                self._settings, self._state, self._rows, times[taken:], x[taken:], y[taken:]
            )
            outputs += self._outputs(n_rows)
            taken += int(self._state[0]["n_taken"])
        return outputs

    def flush(self) -> list[DetectorOutput]:
        """End the stretch: return the events that were open, and keep only the noise."""
        n_rows = online_kernels.finish(self._settings, self._state, self._rows)
        outputs = self._outputs(n_rows)
        fresh = make_state(self.parameters)
        copy_noise(self._state, fresh)
        self._state = fresh
        return outputs

    def reset(self) -> None:
        """Forget everything, noise and thresholds too."""
        self._state = make_state(self.parameters)

    def take_noise_of(self, other: OnlineDetector) -> None:
        """Copy the noise learned by another detector with the same parameters."""
        copy_noise(other._state, self._state)

    def _outputs(self, n_rows: int) -> list[DetectorOutput]:
        return [
            to_output(row, self.eye, self.parameters, self._interval_ms)
            for row in self._rows[:n_rows].tolist()
        ]


_compiling = threading.Lock()


def compiled_push() -> Any:
    """Return the kernel, compiled for int64 times and float64 positions and for nothing else.

    Another dtype would make numba compile a second version in the middle of a recording; so it
    raises TypeError instead. Several threads may ask for it at once.
    """
    with _compiling:
        return _compiled_push()


@functools.cache
def _compiled_push() -> Any:
    settings, state, rows = np.zeros(1, SETTINGS), np.zeros(1, STATE), np.zeros(N_ROWS, ROW)
    state[0]["newest"] = -1
    nothing = np.empty(0)
    push: Any = online_kernels.push_samples
    push(settings, state, rows, np.empty(0, np.int64), nothing, nothing)
    push.disable_compile()
    online_kernels.finish(settings, state, rows)
    return push


def _as_columns(
    times_us: npt.ArrayLike, x_deg: npt.ArrayLike, y_deg: npt.ArrayLike
) -> tuple[Integers, Floats, Floats]:
    """Return the chunk in the types that the kernel was compiled for."""
    times = np.ascontiguousarray(times_us, np.int64)
    x, y = np.ascontiguousarray(x_deg, np.float64), np.ascontiguousarray(y_deg, np.float64)
    if not times.ndim == x.ndim == y.ndim == 1:
        raise RecordingError("times, x and y of a chunk must have one dimension")
    return times, x, y
