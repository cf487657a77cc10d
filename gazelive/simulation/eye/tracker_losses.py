"""Losses of a simulated tracker: blinks, and short losses of one eye's image.

Blinks occur in both eyes at once, slightly earlier in one than in the other; the time between them
is log-normal. Before the pupil is lost and after it is found again, the lid distorts the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gazelive.gaze import Eye, Floats
from gazelive.simulation.eye import eye_kernels as kernels
from gazelive.simulation.eye.traits import OculomotorTraits

_BLINK_INTERVAL_SCATTER = 0.8
_BLINK_PAUSE_S = 0.3
_EYE_JITTER_S = 0.006
_EYE_LOSS_SCATTER = 0.15
_SIDEWAYS_SHARE_Y = 0.2
"""The downward excursion varies by this fraction from blink to blink."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One eye hidden: `times_s` are lid down, end of data, start of data, lid up."""

    eye: Eye
    cause: Literal["blink", "loss"]
    times_s: Floats
    excursion_x_deg: float = 0.0
    excursion_y_deg: float = 0.0


class TrackerLosses:
    """Draws losses in time order and applies them to samples."""

    def __init__(
        self, traits: OculomotorTraits, eyes: tuple[Eye, ...], rng: np.random.Generator
    ) -> None:
        self._traits = traits
        self._eyes = eyes
        self._blink_rng, *self._dropout_rngs = rng.spawn(1 + len(eyes))
        self._losses: list[Loss] = []
        # a recording starts at a random time between two blinks
        self._next_blink_s = self._blink_rng.random() * self._blink_interval_s()
        self._next_dropouts_s = [self._dropout_interval_s(i) for i in range(len(eyes))]

    @property
    def next_s(self) -> float:
        """Start of the next loss."""
        return min(self._next_blink_s, *self._next_dropouts_s)

    def begin_next(self) -> None:
        """Start the loss due at `next_s`, and draw the next one."""
        due_s = self.next_s
        if self._next_blink_s == due_s:
            blinks = [self._blink(eye, due_s) for eye in self._eyes]
            self._losses += blinks
            end_s = max(float(blink.times_s[3]) for blink in blinks)
            self._next_blink_s = end_s + _BLINK_PAUSE_S + self._blink_interval_s()
            return
        index = self._next_dropouts_s.index(due_s)
        end_s = due_s + self._dropout_rngs[index].exponential(self._traits.dropout_s)
        times_s = np.array([due_s, due_s, end_s, end_s])
        self._losses.append(Loss(self._eyes[index], "loss", times_s))
        self._next_dropouts_s[index] = end_s + self._dropout_interval_s(index)

    def spoil(
        self, gaze: Floats, pupil: Floats, first_sample: int, sample_interval_s: float
    ) -> None:
        """Apply the losses to samples: `gaze` (n_eyes, n, 2), `pupil` (n_eyes, n)."""
        start_s = first_sample * sample_interval_s
        for loss in self._losses:
            if loss.times_s[3] <= start_s:
                continue
            index = self._eyes.index(loss.eye)
            kernels.cover_with_lid(
                gaze[index],
                pupil[index],
                first_sample,
                sample_interval_s,
                loss.times_s,
                loss.excursion_x_deg,
                loss.excursion_y_deg,
            )

    def hides(self, eye: Eye, start_s: float, end_s: float) -> bool:
        """Return whether some of an eye's data are missing in an interval."""
        return any(
            loss.eye == eye and loss.times_s[1] < end_s and loss.times_s[2] > start_s
            for loss in self._losses
        )

    def forget(self, until_s: float) -> list[Loss]:
        """Remove and return the losses that were over by `until_s`."""
        over = [loss for loss in self._losses if loss.times_s[3] <= until_s]
        self._losses = [loss for loss in self._losses if loss.times_s[3] > until_s]
        return over

    def _blink(self, eye: Eye, start_s: float) -> Loss:
        traits, rng = self._traits, self._blink_rng
        draws = rng.standard_normal(5)
        start_s += abs(_EYE_JITTER_S * draws[0])
        lost_s = start_s + traits.lid_closing_s * math.exp(_EYE_LOSS_SCATTER * draws[1])
        scatter = traits.blink_loss_scatter * draws[2]
        found_s = lost_s + traits.blink_loss_s * math.exp(scatter)
        up_s = found_s + traits.lid_opening_s * math.exp(_EYE_LOSS_SCATTER * draws[1])
        return Loss(
            eye,
            "blink",
            np.array([start_s, lost_s, found_s, up_s]),
            traits.lid_excursion_x_deg * draws[3],
            traits.lid_excursion_y_deg * math.exp(_SIDEWAYS_SHARE_Y * draws[4]),
        )

    def _blink_interval_s(self) -> float:
        rate_hz = self._traits.blink_rate_per_min / 60
        if rate_hz <= 0:
            return math.inf
        sigma = _BLINK_INTERVAL_SCATTER
        return self._blink_rng.lognormal(-sigma * sigma / 2 - math.log(rate_hz), sigma)

    def _dropout_interval_s(self, index: int) -> float:
        rate_hz = self._traits.dropout_rate_per_min / 60
        return self._dropout_rngs[index].exponential(1 / rate_hz) if rate_hz > 0 else math.inf
