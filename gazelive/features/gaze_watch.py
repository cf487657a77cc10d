"""One gaze being watched live: two eyes become one, events and rows come out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gazelive.detection import CyclopeanGaze, DetectorOutput, DetectorParameters
from gazelive.features.interval import Positions
from gazelive.features.live import LiveFeatures
from gazelive.features.stream import SaccadeRow, Stage
from gazelive.gaze.documents import Quality, Retraction
from gazelive.gaze.events import EventEye, Saccade

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Seen:
    """What was found in some samples."""

    x_deg: Floats
    y_deg: Floats
    outputs: list[DetectorOutput]
    rows: list[tuple[SaccadeRow, Saccade]]
    """Saccades that nothing disproves any more."""


class GazeWatch:
    """Watches stretch after stretch; the noise that was learned is kept between them."""

    def __init__(
        self, sampling_rate_hz: float, eyes: str, parameters: DetectorParameters | None
    ) -> None:
        self._settings = sampling_rate_hz, eyes, parameters
        eye: EventEye = "both" if eyes == "LR" else "L" if eyes == "L" else "R"
        self._live = LiveFeatures(sampling_rate_hz, parameters, eye=eye)
        self._both = CyclopeanGaze(sampling_rate_hz) if eyes == "LR" else None
        self._saccades: dict[int, Saccade] = {}

    def sibling(self) -> GazeWatch:
        """Return another that has learned the same of the noise, and seen nothing."""
        sibling = GazeWatch(*self._settings)
        sibling._live.detector.take_noise_of(self._live.detector)
        return sibling

    @property
    def threshold_deg_s(self) -> float:
        """The velocity along x that counts as a saccade just now."""
        return self._live.detector.thresholds_deg_s[0]

    def push(self, times_us: Integers, eyes: dict[EventEye, Positions]) -> Seen:
        """Take samples that go on in time."""
        if self._both is None:
            ((x_deg, y_deg),) = eyes.values()
        else:
            x_deg, y_deg = self._both.push(*eyes["L"], *eyes["R"], times_us=times_us)
        outputs, updates = self._live.push(times_us, x_deg, y_deg)
        for output in outputs:
            if isinstance(output, Saccade):
                self._saccades[self._live.index_at(output.onset_us)] = output
            elif isinstance(output, Retraction):
                self._saccades.pop(self._live.index_at(output.onset_us), None)
        rows = [
            (row, self._saccades.pop(row.onset)) for stage, row in updates if stage is Stage.SHAPED
        ]
        return Seen(x_deg, y_deg, [o for o in outputs if not isinstance(o, Quality)], rows)

    def flush(self) -> list[DetectorOutput]:
        """End the stretch; return what was still open."""
        outputs, _ = self._live.flush()
        self._saccades.clear()
        if self._both is not None:
            self._both.reset()
        return [output for output in outputs if not isinstance(output, Quality)]
