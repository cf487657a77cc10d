"""Rules: at which samples each kind of watch fires.

A rule is asked about one step after the other, from the first after its watch was made. What it
finds depends on the samples alone, not on how they were cut into steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from gazelive.detection import to_samples
from gazelive.errors import ConfigError
from gazelive.gaze import Blink, Flags, Saccade
from gazelive.triggers.area import Area
from gazelive.triggers.dwell import Dwell
from gazelive.triggers.parameters import TriggerParameters
from gazelive.triggers.step import NAN, Step
from gazelive.triggers.trigger import TriggerKind


class Found(NamedTuple):
    """An event in a step."""

    sample: int
    """Index of the one that shows it."""
    event_us: int
    direction_deg: float = NAN
    amplitude_deg: float = NAN


class Rule(Protocol):
    """Finds the events of one watch."""

    kind: TriggerKind

    def begin(self) -> None:
        """Forget what goes on: gaze starts anew."""
        ...

    def find(self, step: Step) -> Iterator[Found]:
        """Yield the events of the next step."""
        ...


@dataclass(frozen=True)
class Movement:
    """Conditions on direction and amplitude."""

    direction_deg: float | None
    within_deg: float
    min_amplitude_deg: float

    def __post_init__(self) -> None:
        if self.direction_deg is not None and not math.isfinite(self.direction_deg):
            raise ConfigError(f"must be a number, not {self.direction_deg}", key="direction_deg")
        if not 0 < self.within_deg <= 180:
            raise ConfigError(f"must be 0 to 180, not {self.within_deg}", key="within_deg")
        if not self.min_amplitude_deg >= 0:
            raise ConfigError(
                f"must be at least 0, not {self.min_amplitude_deg}", key="min_amplitude_deg"
            )

    def meets(self, dx_deg: float, dy_deg: float) -> bool:
        """Return whether a displacement (y downwards) meets them."""
        is_large = math.hypot(dx_deg, dy_deg) >= self.min_amplitude_deg
        return is_large and self.is_towards(dx_deg, dy_deg)

    def is_towards(self, dx_deg: float, dy_deg: float) -> bool:
        """Return whether a displacement has the wanted direction."""
        if self.direction_deg is None:
            return True
        off_deg = direction_of(dx_deg, dy_deg) - self.direction_deg
        return abs((off_deg + 180.0) % 360.0 - 180.0) <= self.within_deg


def direction_of(dx_deg: float, dy_deg: float) -> float:
    """Return the direction of a displacement (y downwards): 0 is right, 90 up."""
    return math.degrees(math.atan2(-dy_deg, dx_deg))


class OnsetRule:
    """Fires once in a movement, where it is above the trigger's threshold and as wanted."""

    kind: TriggerKind = "saccade_onset"

    def __init__(self, wanted: Movement, parameters: TriggerParameters) -> None:
        self._wanted = wanted
        self._hold_ms = parameters.direction_hold_ms
        self._patience_us = round(1000 * parameters.direction_patience_ms)
        self.begin()

    def begin(self) -> None:
        """Forget what goes on."""
        self._done: int | None = None
        """Number of the last movement that is over for this watch."""
        self._movement = 0
        """Number of the movement that goes on."""

    def find(self, step: Step) -> Iterator[Found]:
        """Yield the movements that begin, or become as wanted, in a step."""
        if self._done is None:  # a movement that goes on began before the watch
            self._done = step.n_movements_before
        trace = step.trace
        for i in np.flatnonzero(trace["movement"] > self._done).tolist():
            number, onset_us, dx_deg, dy_deg, ratio, *_ = trace[i].item()
            if number <= self._done:
                continue
            self._follow(number, int(step.times_us[i]), ratio > 1.0, dx_deg, dy_deg, step)
            if self._is_accepted and ratio > 1.0 and self._wanted.meets(dx_deg, dy_deg):
                self._done = number
                yield Found(i, onset_us, direction_of(dx_deg, dy_deg), math.hypot(dx_deg, dy_deg))

    def _follow(
        self, number: int, time_us: int, is_large: bool, dx_deg: float, dy_deg: float, step: Step
    ) -> None:
        """Decide early in a movement whether its direction is the wanted one."""
        if number != self._movement:
            self._movement, self._begun_us, self._n_held = number, time_us, 0
            self._is_accepted = self._wanted.direction_deg is None
        if self._is_accepted:
            return
        if time_us - self._begun_us > self._patience_us:
            self._done = number
            return
        is_held = is_large and self._wanted.is_towards(dx_deg, dy_deg)
        self._n_held = self._n_held + 1 if is_held else 0
        self._is_accepted = self._n_held > to_samples(self._hold_ms, step.sampling_rate_hz)


class EndRule:
    """Fires where a saccade is known to have ended."""

    kind: TriggerKind = "saccade_end"

    def __init__(self, wanted: Movement) -> None:
        self._wanted = wanted

    def begin(self) -> None:
        """Do nothing: a saccade is known whole."""

    def find(self, step: Step) -> Iterator[Found]:
        """Yield the saccades that ended."""
        for saccade in step.outputs:
            if isinstance(saccade, Saccade):
                dx_deg = saccade.end_x_deg - saccade.start_x_deg
                dy_deg = saccade.end_y_deg - saccade.start_y_deg
                if self._wanted.meets(dx_deg, dy_deg):
                    decided_us = saccade.offset_us + round(1000 * saccade.detection_delay_ms)
                    yield Found(
                        step.index_at(decided_us),
                        saccade.offset_us,
                        direction_of(dx_deg, dy_deg),
                        math.hypot(dx_deg, dy_deg),
                    )


class DwellRule:
    """Fires where gaze has been in an area, or outside it, for a while; once a stay."""

    def __init__(self, kind: TriggerKind, area: Area, for_ms: float) -> None:
        self.kind = kind
        self._area = area
        self._for_us = _microseconds("for_ms", for_ms)
        self.begin()

    def begin(self) -> None:
        """Forget what goes on."""
        self._dwell = Dwell()
        self._has_fired = False

    def find(self, step: Step) -> Iterator[Found]:
        """Yield the stays that become long enough."""
        there = inside_of(self._area, step)
        if self.kind == "leave":
            there = ~there & step.seen
        since = self._dwell.take(step.times_us, step.seen, there)
        away = (step.seen & ~there).tolist()
        for i, (time_us, since_us) in enumerate(zip(step.times_us.tolist(), since, strict=True)):
            if away[i]:
                self._has_fired = False
            elif (
                since_us is not None and not self._has_fired and time_us - since_us >= self._for_us
            ):
                self._has_fired = True
                yield Found(i, since_us)


class RestRule:
    """Fires where the eye has been at rest, in an area if there is one, for a while."""

    kind: TriggerKind = "fixation"

    def __init__(self, ms: float, area: Area | None) -> None:
        self._rest_us = _microseconds("ms", ms)
        self._area = area
        self.begin()

    def begin(self) -> None:
        """Forget what goes on."""
        self._dwell = Dwell()
        self._begun_us: int | None = None
        """Rest before the watch was made does not count."""
        self._last_us = -1
        """Start of the last fixation that it fired for."""

    def find(self, step: Step) -> Iterator[Found]:
        """Yield the fixations that become long enough."""
        if self._begun_us is None:
            self._begun_us = int(step.times_us[0])
        inside = step.seen if self._area is None else inside_of(self._area, step)
        dwelling = self._dwell.take(step.times_us, step.seen, inside)
        resting = step.trace["resting_since_us"].tolist()
        for i, time_us in enumerate(step.times_us.tolist()):
            inside_since_us, since_us = dwelling[i], resting[i]
            if inside_since_us is None or since_us < 0 or since_us == self._last_us:
                continue
            start_us = max(since_us, inside_since_us, self._begun_us)
            if time_us - start_us >= self._rest_us:
                self._last_us = since_us
                yield Found(i, start_us)


class BlinkRule:
    """Fires where gaze has been lost for as long as a blink takes at least."""

    kind: TriggerKind = "blink"

    def __init__(self, shortest_ms: float) -> None:
        self._shortest_us = round(1000 * shortest_ms)

    def begin(self) -> None:
        """Do nothing: the detector knows since when gaze has been lost."""

    def find(self, step: Step) -> Iterator[Found]:
        """Yield the losses that become long enough at a sample, also at the first one after."""
        last_us = self._shortest_us - round(1e6 / step.sampling_rate_hz)
        """From the first to the last lost sample of the shortest blink."""
        found = []
        lost_since = step.trace["lost_since_us"]
        for i in np.flatnonzero(lost_since >= 0).tolist():
            due_us = int(lost_since[i]) + last_us
            if step.time_before_us(i) < due_us <= step.times_us[i]:
                found.append(Found(i, int(lost_since[i])))
        for loss in step.outputs:
            if isinstance(loss, Blink):
                decided_us = loss.offset_us + round(1000 * loss.detection_delay_ms)
                i, due_us = step.index_at(decided_us), loss.onset_us + last_us
                if step.time_before_us(i) < due_us <= loss.offset_us:
                    found.append(Found(i, loss.onset_us))
        yield from sorted(found)


def inside_of(area: Area, step: Step) -> Flags:
    """Return which samples are in an area."""
    x, y = step.px if area.unit == "px" else (step.x_deg, step.y_deg)
    return area.contains(x, y)


def _microseconds(name: str, ms: float) -> int:
    if not (math.isfinite(ms) and ms >= 0):
        raise ConfigError(f"must be milliseconds of at least 0, not {ms}", key=name)
    return round(1000 * ms)
