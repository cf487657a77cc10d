"""Simulated eye: takes commands (fixate, saccade), returns an eye tracker's samples.

The movement is continuous in time and sampled at the sample times, so recordings at 250 and at
2000 Hz are of the same eyes. Randomness is reproducible: each process (saccades, microsaccades,
blinks, losses, per-sample noise) draws from its own stream in time order, so a trace depends on the
seed and the commands, never on how a fixation was split into calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np

from gazelive.errors import ConfigError
from gazelive.gaze import Eye, Eyes, Floats, each_eye
from gazelive.simulation.eye import eye_kernels as kernels
from gazelive.simulation.eye.dynamics import N_DRAWS, fixation_coefficients, saccade_parameters
from gazelive.simulation.eye.tracker_losses import TrackerLosses
from gazelive.simulation.eye.traits import OculomotorTraits
from gazelive.simulation.truth import (
    SaccadeKind,
    SimulatedTrace,
    TrueBlink,
    TrueFixation,
    TrueSaccade,
)


class PendingSamples:
    """A queue of samples, added and taken in pieces of any length."""

    def __init__(self, n_eyes: int) -> None:
        self._n_eyes = n_eyes
        self._parts: list[tuple[Floats, Floats]] = []

    def append(self, gaze_deg: Floats, pupil: Floats) -> None:
        """Add gaze (n_eyes, n, 2) and pupil (n_eyes, n)."""
        self._parts.append((gaze_deg, pupil))

    def take(self, n: int) -> tuple[Floats, Floats]:
        """Remove and return the first `n`, which must be there."""
        gaze, pupil = np.empty((self._n_eyes, n, 2)), np.empty((self._n_eyes, n))
        filled = 0
        n_used = 0
        for part_gaze, part_pupil in self._parts:
            if filled == n:
                break
            use = min(part_gaze.shape[1], n - filled)
            gaze[:, filled : filled + use] = part_gaze[:, :use]
            pupil[:, filled : filled + use] = part_pupil[:, :use]
            filled += use
            if use == part_gaze.shape[1]:
                n_used += 1
            else:
                self._parts[n_used] = (part_gaze[:, use:], part_pupil[:, use:])
        del self._parts[:n_used]
        return gaze, pupil


_RATES_HZ = (100.0, 4000.0)
_CORRECTION_FLOOR_DEG = 0.3
"""A landing error below this is left to drift."""
_SHORTFALL_LIMIT = 0.4
_HOMING = 0.5
"""Share of its distance from the point of fixation that a microsaccade corrects."""
_MICROSACCADE_FLATNESS = 0.6
"""Microsaccades prefer the horizontal: their vertical part is scaled by this."""


@dataclass(slots=True)
class _Movement:
    """A running saccade: each eye's path, counted from `start_s`."""

    start_s: float
    end_s: float
    paths: tuple[Floats, ...]


class Oculomotor:
    """One person's eyes in front of a tracker.

    `x_deg` and `y_deg` (right and down) are the gaze at `start_us`, the time of the first sample on
    the tracker's clock. Samples accumulate until they are taken.
    """

    def __init__(
        self,
        traits: OculomotorTraits,
        *,
        sampling_rate_hz: float,
        eyes: Eyes,
        rng: np.random.Generator,
        x_deg: float,
        y_deg: float,
        start_us: int = 0,
    ) -> None:
        if not _RATES_HZ[0] <= sampling_rate_hz <= _RATES_HZ[1]:
            raise ConfigError(
                f"the simulator makes {_RATES_HZ[0]:.0f} to {_RATES_HZ[1]:.0f} samples a second, "
                f"not {sampling_rate_hz}",
                key="sampling_rate_hz",
            )
        self.traits = traits
        self.eyes: Eyes = eyes
        self.sampling_rate_hz = sampling_rate_hz
        self._eye_names = each_eye(eyes)
        self._interval_s = 1.0 / sampling_rate_hz
        self._start_us = start_us
        every_sample, saccades, microsaccades, losses = rng.spawn(4)
        self._sample_rng = every_sample
        self._saccade_rng = saccades
        self._microsaccade_rng = microsaccades
        self._locus = np.array([x_deg, y_deg])
        self._offsets = _offsets(traits)[[("L", "R").index(eye) for eye in self._eye_names]]
        n_eyes = len(self._eye_names)
        self._state = np.zeros(kernels.STATE_EYES + kernels.STATE_PER_EYE * n_eyes)
        self._coefficients = fixation_coefficients(traits, self._eye_names, self._interval_s)
        self._n_normals = 3 + 5 * n_eyes
        self._log_light = 0.0
        self._n_made = 0
        self._n_taken = 0
        self._pending = PendingSamples(n_eyes)
        self._movements: list[_Movement] = []
        self._losses = TrackerLosses(traits, self._eye_names, losses)
        self._saccades: list[TrueSaccade] = []
        self._fixations: list[TrueFixation] = []
        self._rest_sum = np.zeros(2)
        self._n_rest = 0
        self._n_microsaccades = 0
        self._fixation_start_us = [float(start_us)] * n_eyes
        self._busy_until_s = 0.0
        self._next_microsaccade_s = 0.0
        self._schedule_microsaccade(0.0)

    @property
    def position_deg(self) -> tuple[float, float]:
        """True current gaze (without tremor and oscillation)."""
        position = self._locus + self._state[:2]
        return float(position[0]), float(position[1])

    @property
    def n_pending(self) -> int:
        """Samples made and not yet taken."""
        return self._n_made - self._n_taken

    @property
    def now_us(self) -> int:
        """Time of the next sample to be made."""
        return self._start_us + round(self._n_made * 1e6 / self.sampling_rate_hz)

    def fixate(self, n_samples: int) -> None:
        """Append `n_samples` of fixation, with microsaccades, blinks and losses."""
        self._advance(n_samples, microsaccades=True)

    def saccade_to(self, x_deg: float, y_deg: float) -> None:
        """Append a saccade from its start to the end of the eye's own movement.

        The pupil's oscillation continues into the next fixation, as in recordings, so a fixation
        starts at the saccade's end. Sometimes the saccade falls short; then the pause and the
        corrective saccade are appended too. A running microsaccade is finished first.
        """
        self._advance_to(self._busy_until_s)
        target = np.array([x_deg, y_deg], np.float64)
        displacement = target - self._locus - self._state[:2]
        amplitude_deg = float(np.hypot(*displacement))
        rng, traits = self._saccade_rng, self.traits
        scatter = traits.landing_scatter * amplitude_deg * rng.standard_normal(2)
        falls_short, shortfall, latency = rng.random(), rng.standard_gamma(4.0), rng.gamma(12.0)
        landing = target + scatter
        if falls_short < traits.undershoot_probability:
            fraction = min(traits.undershoot_fraction * shortfall / 4.0, _SHORTFALL_LIMIT)
            landing = landing - fraction * displacement
        self._move(target, landing, "main")
        error_deg = float(np.hypot(*(target - landing)))
        if falls_short < traits.undershoot_probability and error_deg > _CORRECTION_FLOOR_DEG:
            pause_s = traits.corrective_latency_s * latency / 12.0
            self._advance(math.ceil(pause_s * self.sampling_rate_hz), microsaccades=False)
            self._move(target, target, "corrective")

    def look_at_brightness(self, log_area: float) -> None:
        """Drive the pupil to `log_area` (log ratio to its mean area) with the light's slow lag."""
        self._log_light = log_area

    def take(self, n: int | None = None) -> SimulatedTrace:
        """Remove and return the first `n` samples (default: all), with the events that ended."""
        n = self.n_pending if n is None else min(n, self.n_pending)
        gaze, pupil = self._pending.take(n)
        counts = np.arange(self._n_taken, self._n_taken + n)
        self._n_taken += n
        times_us = np.round(counts * (1e6 / self.sampling_rate_hz)).astype(np.int64)
        saccades, fixations, blinks = self._take_events()
        return SimulatedTrace(
            eyes=self.eyes,
            first_sample=self._n_taken - n,
            tracker_time_us=self._start_us + times_us,
            gaze_deg=np.ascontiguousarray(gaze.transpose(1, 0, 2)),
            pupil=np.ascontiguousarray(pupil.T),
            saccades=saccades,
            fixations=fixations,
            blinks=blinks,
        )

    def _advance(self, n_samples: int, *, microsaccades: bool) -> None:
        """Simulate samples; due events start before the first sample that they affect."""
        end = self._n_made + n_samples
        while self._n_made < end:
            next_microsaccade_s = self._next_microsaccade_s if microsaccades else math.inf
            due_s = min(self._losses.next_s, next_microsaccade_s)
            due = end if due_s == math.inf else math.ceil(due_s * self.sampling_rate_hz)
            if due > self._n_made:
                self._make(min(due, end) - self._n_made)
            elif due_s == next_microsaccade_s:
                self._microsaccade(due_s)
            else:
                self._losses.begin_next()

    def _advance_to(self, time_s: float) -> None:
        """Simulate the samples up to `time_s` without a microsaccade."""
        until = math.ceil(time_s * self.sampling_rate_hz)
        self._advance(max(until - self._n_made, 0), microsaccades=False)

    def _make(self, n: int) -> None:
        n_eyes = len(self._eye_names)
        gaze, noise = np.empty((n_eyes, n, 2)), np.empty((n_eyes, n, 2))
        pupil = np.empty((n_eyes, n))
        normals = self._sample_rng.standard_normal((n, self._n_normals))
        kernels.advance_fixation(
            normals,
            self._state,
            self._coefficients,
            self._locus,
            self._log_light,
            gaze,
            noise,
            pupil,
            self._rest_sum,
        )
        now_s = self._n_made * self._interval_s
        self._movements = [m for m in self._movements if now_s < m.end_s]
        for movement in self._movements:
            for index, path in enumerate(movement.paths):
                kernels.add_path(
                    gaze[index], self._n_made, self._interval_s, movement.start_s, path
                )
        gaze += noise + self._offsets[:, np.newaxis]
        np.exp(pupil, out=pupil)
        pupil *= self.traits.pupil_area
        self._losses.spoil(gaze, pupil, self._n_made, self._interval_s)
        self._n_rest += n
        self._n_made += n
        self._pending.append(gaze, pupil)

    def _microsaccade(self, start_s: float) -> None:
        rng, traits = self._microsaccade_rng, self.traits
        angle, log_size = rng.random() * 2 * math.pi, rng.standard_normal()
        size_deg = traits.microsaccade_amplitude_deg * math.exp(
            traits.microsaccade_scatter * log_size
        )
        aim = size_deg * np.array([math.cos(angle), _MICROSACCADE_FLATNESS * math.sin(angle)])
        landing = self._locus + (1 - _HOMING) * self._state[:2] + aim
        self._begin(start_s, self._locus, landing, "microsaccade", rng)
        self._n_microsaccades += 1
        self._schedule_microsaccade(self._busy_until_s)

    def _schedule_microsaccade(self, after_s: float) -> None:
        wait_s = self._microsaccade_rng.standard_exponential()
        rate_hz = max(self.traits.microsaccade_rate_hz, 1e-9)
        self._next_microsaccade_s = (
            after_s + self.traits.microsaccade_refractory_s + wait_s / rate_hz
        )

    def _move(self, locus: Floats, landing: Floats, kind: SaccadeKind) -> None:
        """Simulate a main or corrective saccade, which may start between two samples."""
        start_s = max(0.0, (self._n_made - self._saccade_rng.random()) * self._interval_s)
        self._begin(start_s, locus, landing, kind, self._saccade_rng)
        self._advance_to(self._busy_until_s)
        self._rest_sum[:] = 0
        self._n_rest = 0
        self._n_microsaccades = 0
        self._schedule_microsaccade(self._busy_until_s)

    def _begin(
        self,
        start_s: float,
        locus: Floats,
        landing: Floats,
        kind: SaccadeKind,
        rng: np.random.Generator,
    ) -> None:
        """Start a saccade: from here on gaze is `landing` plus the remaining displacement."""
        dx_deg, dy_deg = (landing - self._locus - self._state[:2]).tolist()
        draws = rng.standard_normal(N_DRAWS)
        self._locus = locus.copy()
        self._state[:2] = landing - locus
        paths = []
        for index, eye in enumerate(self._eye_names):
            parameters = saccade_parameters(self.traits, eye, dx_deg, dy_deg, draws)
            path = kernels.saccade_path(parameters)
            marks = kernels.saccade_landmarks(path, dx_deg, dy_deg)
            paths.append(path)
            self._busy_until_s = max(
                self._busy_until_s, start_s + float(parameters[kernels.DURATION])
            )
            saccade = self._true_saccade(eye, kind, start_s, landing + self._offsets[index], marks)
            if kind != "microsaccade":
                self._end_fixation(index, saccade)
            self._saccades.append(saccade)
        end_s = start_s + (max(len(path) for path in paths) - 1) * kernels.GRID_S
        self._movements.append(_Movement(start_s, end_s, tuple(paths)))

    def _true_saccade(
        self, eye: Eye, kind: SaccadeKind, start_s: float, rest: Floats, marks: Floats
    ) -> TrueSaccade:
        onset_s = start_s + float(marks[kernels.ONSET])
        offset_s = start_s + float(marks[kernels.OFFSET])
        start_x, start_y, end_x, end_y = marks[kernels.START_X : kernels.END_Y + 1].tolist()
        return TrueSaccade(
            eye=eye,
            kind=kind,
            onset_us=self._to_us(onset_s),
            offset_us=self._to_us(offset_s),
            oscillation_end_us=self._to_us(start_s + float(marks[kernels.OSCILLATION_END])),
            first_sample=math.ceil(onset_s * self.sampling_rate_hz),
            last_sample=math.floor(offset_s * self.sampling_rate_hz),
            start_x_deg=float(rest[0]) + start_x,
            start_y_deg=float(rest[1]) + start_y,
            end_x_deg=float(rest[0]) + end_x,
            end_y_deg=float(rest[1]) + end_y,
            amplitude_deg=math.hypot(end_x - start_x, end_y - start_y),
            direction_deg=math.degrees(math.atan2(start_y - end_y, end_x - start_x)),
            peak_velocity_deg_s=float(marks[kernels.PEAK_VELOCITY]),
            peak_us=self._to_us(start_s + float(marks[kernels.PEAK_TIME])),
            oscillation_deg=float(marks[kernels.OSCILLATION]),
            lost=False,
        )

    def _end_fixation(self, index: int, saccade: TrueSaccade) -> None:
        """Store the fixation that `saccade` ends, and the start of the next one."""
        if self._n_rest:
            x_deg, y_deg = (self._rest_sum / self._n_rest + self._offsets[index]).tolist()
            fixation = TrueFixation(
                eye=saccade.eye,
                onset_us=self._fixation_start_us[index],
                offset_us=saccade.onset_us,
                x_deg=x_deg,
                y_deg=y_deg,
                n_microsaccades=self._n_microsaccades,
            )
            self._fixations.append(fixation)
        self._fixation_start_us[index] = saccade.offset_us

    def _take_events(
        self,
    ) -> tuple[tuple[TrueSaccade, ...], tuple[TrueFixation, ...], tuple[TrueBlink, ...]]:
        """Return the events that ended by the last sample taken, and forget them."""
        until_s = (self._n_taken - 1) * self._interval_s
        until_us = self._to_us(until_s)
        saccades = [s for s in self._saccades if s.offset_us <= until_us]
        fixations = [f for f in self._fixations if f.offset_us <= until_us]
        self._saccades = [s for s in self._saccades if s.offset_us > until_us]
        self._fixations = [f for f in self._fixations if f.offset_us > until_us]
        seen = tuple(self._with_losses(saccade) for saccade in saccades)
        keep_s = min((self._to_s(s.onset_us) for s in self._saccades), default=until_s)
        blinks = tuple(
            TrueBlink(
                eye=loss.eye,
                cause=loss.cause,
                onset_us=self._to_us(float(loss.times_s[0])),
                offset_us=self._to_us(float(loss.times_s[3])),
                loss_onset_us=self._to_us(float(loss.times_s[1])),
                loss_offset_us=self._to_us(float(loss.times_s[2])),
            )
            for loss in self._losses.forget(min(until_s, keep_s))
        )
        return seen, tuple(fixations), blinks

    def _with_losses(self, saccade: TrueSaccade) -> TrueSaccade:
        onset_s, offset_s = self._to_s(saccade.onset_us), self._to_s(saccade.offset_us)
        if self._losses.hides(saccade.eye, onset_s, offset_s):
            return msgspec.structs.replace(saccade, lost=True)
        return saccade

    def _to_us(self, time_s: float) -> float:
        return self._start_us + time_s * 1e6

    def _to_s(self, time_us: float) -> float:
        return (time_us - self._start_us) / 1e6


def _offsets(traits: OculomotorTraits) -> Floats:
    """Return the calibration error of the left and the right eye."""
    return np.array(
        [
            [traits.left_offset_x_deg, traits.left_offset_y_deg],
            [traits.right_offset_x_deg, traits.right_offset_y_deg],
        ]
    )
