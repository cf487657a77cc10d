"""True events of a simulated eye, beside the trace that the tracker saw.

Definitions, for comparison with detectors. All of them refer to the noise-free trace (what the
tracker would report without measurement noise, lids and losses; the oscillation of the pupil after
a saccade is part of it, since every pupil-based tracker sees it):

- **Peak velocity** is the largest speed of that trace during the saccade.
- **Onset** is the moment when the speed rises above 5 % of the peak velocity (but at least
  5 °/s, and never more than half the peak), **offset** the moment after the peak when the
  velocity along the movement falls below the same value, that is, just before a post-saccadic
  oscillation swings back.
- **Amplitude** is the distance between the positions at onset and offset, **duration** the time
  between them. `first_sample` and `last_sample` are the samples inside.
- The **post-saccadic oscillation** lasts from the offset to the last moment at which the pupil is
  more than 0.05° from where it comes to rest; without such a moment it has no duration.
- A **fixation** lasts from the offset of a main or corrective saccade to the onset of the next
  one; microsaccades do not end it. Its position is the mean without oscillations.
- A **blink** begins when the lid begins to disturb the pupil's image and ends when it no longer
  does; within it, the loss is where there are no data.

Times are microseconds on the tracker's clock and are not rounded to samples. Positions are in the
coordinates of the trace, calibration error included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from gazelive.gaze import EYE_FIELDS, Eye, Eyes, Floats, Geometry, Integers, Samples, empty_samples

SaccadeKind = Literal["main", "corrective", "microsaccade"]

PIXEL_STEP = 0.1
"""EyeLink files give positions in tenths of a pixel."""


class TrueSaccade(msgspec.Struct, frozen=True, kw_only=True):
    """A true saccade; `direction_deg` 0 is right, 90 is up."""

    eye: Eye
    kind: SaccadeKind
    onset_us: float
    offset_us: float
    oscillation_end_us: float
    first_sample: int
    """Index since the simulation's start of the first sample at or after the onset."""
    last_sample: int
    start_x_deg: float
    start_y_deg: float
    end_x_deg: float
    end_y_deg: float
    amplitude_deg: float
    direction_deg: float
    peak_velocity_deg_s: float
    peak_us: float
    oscillation_deg: float
    """Largest distance of the pupil from its rest after the offset."""
    lost: bool
    """True if the tracker missed some of its samples."""

    @property
    def duration_ms(self) -> float:
        """Time from onset to offset."""
        return (self.offset_us - self.onset_us) / 1000


class TrueFixation(msgspec.Struct, frozen=True, kw_only=True):
    """The eye at rest; microsaccades may lie inside."""

    eye: Eye
    onset_us: float
    offset_us: float
    x_deg: float
    y_deg: float
    n_microsaccades: int

    @property
    def duration_ms(self) -> float:
        """Time from onset to offset."""
        return (self.offset_us - self.onset_us) / 1000


class TrueBlink(msgspec.Struct, frozen=True, kw_only=True):
    """A blink, or a loss of the eye's image with the lid open."""

    eye: Eye
    cause: Literal["blink", "loss"]
    onset_us: float
    """Start of the distorted data."""
    offset_us: float
    loss_onset_us: float
    """End of the data before the loss."""
    loss_offset_us: float


@dataclass(frozen=True, slots=True)
class SimulatedTrace:
    """Simulated samples with their true events.

    `gaze_deg` (n, n_eyes, 2) is what the tracker measured, x to the right and y down, NaN where
    it lost the eye; `pupil` (n, n_eyes) in the tracker's arbitrary units of area. The eyes are in
    the order of `eyes`. The events are those that ended within the samples taken so far and were
    not returned before, each kind ordered by end.
    """

    eyes: Eyes
    first_sample: int
    tracker_time_us: Integers
    gaze_deg: Floats
    pupil: Floats
    saccades: tuple[TrueSaccade, ...] = ()
    fixations: tuple[TrueFixation, ...] = ()
    blinks: tuple[TrueBlink, ...] = ()

    def __len__(self) -> int:
        return len(self.tracker_time_us)


def trace_to_samples(trace: SimulatedTrace, screen: Geometry) -> Samples:
    """Return the trace as an EyeLink would write it: screen pixels in steps of 0.1, as f4."""
    samples = empty_samples(len(trace))
    samples["tracker_time_us"] = trace.tracker_time_us
    for index, eye in enumerate(trace.eyes):
        x_field, y_field, pupil_field = EYE_FIELDS[eye]
        x_px, y_px = screen.deg_to_px(trace.gaze_deg[:, index, 0], trace.gaze_deg[:, index, 1])
        samples[x_field] = np.round(x_px / PIXEL_STEP) * PIXEL_STEP
        samples[y_field] = np.round(y_px / PIXEL_STEP) * PIXEL_STEP
        samples[pupil_field] = np.round(trace.pupil[:, index])
    return samples
