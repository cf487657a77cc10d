"""The online detector with what it knows after each sample, for triggers.

Its documents say what was found in a chunk; a trigger must know at which sample.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.detection.events import DetectorOutput
from gazelive.detection.online.detector import N_ROWS, OnlineDetector
from gazelive.detection.online.online_state import ROW, SETTINGS, STATE
from gazelive.detection.online.trace_kernels import TRACE, push_traced
from gazelive.detection.parameters import DetectorParameters
from gazelive.gaze import EventEye, Floats, Integers

Trace = npt.NDArray[Any]
"""A one-dimensional array of `TRACE`."""


class TracedDetector(OnlineDetector):
    """Finds the same events as `OnlineDetector`, whatever chunks the samples come in."""

    def __init__(
        self,
        parameters: DetectorParameters | None = None,
        sampling_rate_hz: float | None = None,
        *,
        eye: EventEye = "both",
    ) -> None:
        super().__init__(parameters, sampling_rate_hz, eye=eye)
        self._push_traced = compiled_trace()

    @property
    def n_movements(self) -> int:
        """Number of movements for which the trigger has fired in this stretch."""
        return int(self._state[0]["n_movements"])

    def trace(
        self, times_us: Integers, x_deg: Floats, y_deg: Floats
    ) -> tuple[list[DetectorOutput], Trace]:
        """Take samples in their order; return new events, and a `TRACE` record of each sample.

        The arrays are contiguous, of int64 and float64.
        """
        trace = np.empty(len(times_us), TRACE)
        outputs, taken = self._trace(times_us, x_deg, y_deg, trace)
        while taken < len(times_us):
            rest = slice(taken, None)
            more, n = self._trace(times_us[rest], x_deg[rest], y_deg[rest], trace[rest])
            outputs += more
            taken += n
        return outputs, trace

    def _trace(
        self, times_us: Integers, x_deg: Floats, y_deg: Floats, trace: Trace
    ) -> tuple[list[DetectorOutput], int]:
        """Take samples until they or the rows are used up; return events, and how many it took."""
        n_rows = self._push_traced(
            self._settings, self._state, self._rows, times_us, x_deg, y_deg, trace
        )
        return self._outputs(n_rows) if n_rows else [], int(self._state[0]["n_taken"])


_compiling = threading.Lock()


def compiled_trace() -> Any:
    """Return the compiled kernel; several threads may ask for it at once."""
    with _compiling:
        return _compiled_trace()


@functools.cache
def _compiled_trace() -> Any:
    settings, state, rows = np.zeros(1, SETTINGS), np.zeros(1, STATE), np.zeros(N_ROWS, ROW)
    state[0]["newest"] = -1
    nothing = np.empty(0)
    push: Any = push_traced
    push(settings, state, rows, np.empty(0, np.int64), nothing, nothing, np.empty(0, TRACE))
    push.disable_compile()
    return push
