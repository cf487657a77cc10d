"""Host computer of the simulated tracker: it calibrates, and keeps a file of the recording.

The tracker is as good as its calibration left it (each simulated session has its own error), so
validation has something to measure: the viewer looks at each target, and the median of the
samples is compared with it. The verdicts are EyeLink's.

An EyeLink's file holds every sample, including those lost on the way to the experiment, and is
fetched at the end. This one goes to an unnamed file on disk, to save memory in a long session, and
is fetched as ASC.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.errors import CalibrationError
from gazelive.gaze import (
    EYE_FIELDS,
    SAMPLE_DTYPE,
    Eye,
    Message,
    Samples,
    ScreenGeometry,
    StreamDescription,
    in_time_order,
)
from gazelive.recordings import Block, Calibration, DriftCorrection, Recording, validation_verdict

SETTLING_S = 0.8
"""Time for the viewer to find a target."""
MEASURING_S = 0.5
_AREA = (0.88, 0.83)
"""Part of the screen's width and height that the targets span."""


@dataclass(frozen=True, slots=True)
class Miss:
    """Error of the gaze at a target: to the right and down in pixels, and as an angle."""

    x_px: float
    y_px: float
    deg: float


def calibration_targets_px(screen: ScreenGeometry) -> list[tuple[float, float]]:
    """Return the nine targets of the pattern HV9."""
    columns_px, rows_px = (
        [(size_px - 1) / 2 * (1 + side * area) for side in (-1, 0, 1)]
        for size_px, area in zip((screen.width_px, screen.height_px), _AREA, strict=True)
    )
    return [(x_px, y_px) for y_px, x_px in itertools.product(rows_px, columns_px)]


def measure_miss(
    look: Samples, eye: Eye, target_px: tuple[float, float], screen: ScreenGeometry
) -> Miss:
    """Compare the median gaze of an eye with its target."""
    x, y, _ = EYE_FIELDS[eye]
    seen = np.isfinite(look[x]) & np.isfinite(look[y])
    if not seen.any():
        raise CalibrationError(
            f"eye {eye} was not tracked during the fixation of the target: try again"
        )
    x_px, y_px = float(np.median(look[x][seen])), float(np.median(look[y][seen]))
    (gaze_x_deg, target_x_deg), (gaze_y_deg, target_y_deg) = screen.px_to_deg(
        [x_px, target_px[0]], [y_px, target_px[1]]
    )
    return Miss(
        x_px=x_px - target_px[0],
        y_px=y_px - target_px[1],
        deg=math.hypot(gaze_x_deg - target_x_deg, gaze_y_deg - target_y_deg),
    )


def calibration_results(
    tracker_time_us: int, eye: Eye, errors_deg: Sequence[float]
) -> list[Calibration]:
    """Return EyeLink's results for an eye with these errors at the targets."""
    mean_deg, max_deg = float(np.mean(errors_deg)), max(errors_deg)
    verdict = validation_verdict(mean_deg, max_deg)
    return [
        Calibration(
            tracker_time_us=tracker_time_us,
            kind="calibration",
            eye=eye,
            model="HV9",
            result=verdict,
        ),
        Calibration(
            tracker_time_us=tracker_time_us,
            kind="validation",
            eye=eye,
            model="HV9",
            result=verdict,
            mean_error_deg=mean_deg,
            max_error_deg=max_deg,
        ),
    ]


class HostFile:
    """Samples in an unnamed file, and what else was recorded."""

    def __init__(self) -> None:
        self._spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._streams: list[StreamDescription] = []
        self._n_samples: list[int] = []
        self._messages: list[Message] = []
        self._calibrations: list[Calibration] = []
        self._drift_corrections: list[DriftCorrection] = []

    def start_block(self, stream: StreamDescription) -> None:
        """Begin a block."""
        self._streams.append(stream)
        self._n_samples.append(0)

    def append(self, samples: Samples) -> None:
        """Keep samples of the current block."""
        self._spool.write(samples.tobytes())
        self._n_samples[-1] += len(samples)

    def add_message(self, message: Message) -> None:
        """Keep a message."""
        self._messages.append(message)

    def add_calibrations(self, calibrations: Iterable[Calibration]) -> None:
        """Keep the results of a calibration."""
        self._calibrations.extend(calibrations)

    def add_drift_corrections(self, drift_corrections: Iterable[DriftCorrection]) -> None:
        """Keep the results of a drift check."""
        self._drift_corrections.extend(drift_corrections)

    def write(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Write everything as ASC, atomically."""
        from gazelive.recordings import write_asc

        target = folder / f"{stem}.asc"
        write_asc(self._recording(target), target, progress=progress)
        return target

    def _recording(self, path: Path) -> Recording:
        self._spool.seek(0)
        blocks = []
        for stream, n in zip(self._streams, self._n_samples, strict=True):
            samples = np.frombuffer(self._spool.read(n * SAMPLE_DTYPE.itemsize), SAMPLE_DTYPE)
            if n:
                times_us = samples["tracker_time_us"]
                blocks.append(Block(stream, samples, int(times_us[0]), int(times_us[-1])))
        screen = self._streams[0].screen if self._streams else None
        messages = tuple(in_time_order(self._messages))
        return Recording(
            path=path,
            format="asc",
            blocks=tuple(blocks),
            messages=messages,
            calibrations=tuple(self._calibrations),
            drift_corrections=tuple(self._drift_corrections),
            screen=screen,
            screen_px=self._streams[0].screen_px if self._streams else None,
        )

    def close(self) -> None:
        """Delete the file."""
        self._spool.close()
