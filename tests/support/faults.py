"""Fault injection: any device, made to misbehave reproducibly.

`FaultyDevice(device, [LostSamples(every_n=500, length=3), Disconnect(after_n_samples=60_000)],
seed=1, clock=clock)` is the same device on a bad link. Faults apply in the given order, each to the
result of the previous ones; they depend on the seed only, not on how the samples were split into
chunks. "Every n" means exactly one in each n consecutive samples, at a place chosen by the seed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from gazelive.clock import Clock
from gazelive.devices.protocol import (
    Calibrates,
    ControlsPlayback,
    GazeDevice,
    HasHostFile,
    SeesStimulus,
    SendsMessages,
)
from gazelive.errors import ConfigError, DeviceDisconnectedError
from gazelive.gaze.samples import Samples
from gazelive.gaze.stream import Chunk, StreamDescription

SampleEffect = Callable[[Samples], Samples]
"""Takes the samples of one chunk after the other and returns what becomes of them."""
GAZE_FIELDS = ("left_x", "left_y", "left_pupil", "right_x", "right_y", "right_pupil")
DeliveryEffect = Callable[[float], float]
"""Takes the host time at which a chunk arrived and returns when it is let through."""


class _Loss(msgspec.Struct, frozen=True, kw_only=True):
    """In each `every_n` samples a run of `length` is lost."""

    every_n: int
    length: int = 1

    def __post_init__(self) -> None:
        _require_room(self.every_n, self.length)


class LostSamples(_Loss, frozen=True, kw_only=True, tag=True):
    """In each `every_n` samples a run of `length` never arrives; messages do."""

    def begin(self, random: np.random.Generator) -> SampleEffect:
        """Return the effect."""
        places = _Places(self.every_n, self.length, random)

        def lose(samples: Samples) -> Samples:
            return np.delete(samples, list(places.within(len(samples))))

        return lose


class LostGaze(_Loss, frozen=True, kw_only=True, tag=True):
    """In each `every_n` samples a run of `length` has no gaze: a blink, or an eye out of sight."""

    def begin(self, random: np.random.Generator) -> SampleEffect:
        """Return the effect."""
        places = _Places(self.every_n, self.length, random)

        def lose(samples: Samples) -> Samples:
            lost = list(places.within(len(samples)))
            for name in GAZE_FIELDS:
                samples[name][lost] = np.nan
            return samples

        return lose


class RepeatedTimes(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One in each `every_n` samples has the time of the sample before it."""

    every_n: int

    def __post_init__(self) -> None:
        _require_room(self.every_n, 1)

    def begin(self, random: np.random.Generator) -> SampleEffect:
        """Return the effect."""
        return _retimed(self.every_n, 0, random)


class BackwardTimes(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One in each `every_n` samples has a time `by_us` before that of the sample before it."""

    every_n: int
    by_us: int = 5000

    def __post_init__(self) -> None:
        _require_room(self.every_n, 1)
        _require(self.by_us > 0, "by_us", "more than 0", self.by_us)

    def begin(self, random: np.random.Generator) -> SampleEffect:
        """Return the effect."""
        return _retimed(self.every_n, self.by_us, random)


class TimeJitter(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The time of every sample is off by up to `max_us` to either side."""

    max_us: int

    def __post_init__(self) -> None:
        _require(self.max_us > 0, "max_us", "more than 0", self.max_us)

    def begin(self, random: np.random.Generator) -> SampleEffect:
        """Return the effect."""

        def shake(samples: Samples) -> Samples:
            off_us = (2 * random.random(len(samples)) - 1) * self.max_us
            samples["tracker_time_us"] += np.round(off_us).astype(np.int64)
            return samples

        return shake


class Jitter(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Every chunk arrives up to `max_s` late; none overtakes another."""

    max_s: float

    def __post_init__(self) -> None:
        _require(self.max_s > 0, "max_s", "more than 0", self.max_s)

    def begin(self, random: np.random.Generator, now_s: float) -> DeliveryEffect:
        """Return the effect."""
        return lambda arrival_s: arrival_s + random.random() * self.max_s


class Stalls(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Once in each `every_s` nothing comes for `length_s`, and then all that was held up."""

    every_s: float
    length_s: float

    def __post_init__(self) -> None:
        fits = 0 < self.length_s < self.every_s
        _require(fits, "length_s", "more than 0 and less than every_s", self.length_s)

    def begin(self, random: np.random.Generator, now_s: float) -> DeliveryEffect:
        """Return the effect."""
        begins_s: list[float] = []

        def hold(arrival_s: float) -> float:
            period = math.floor((arrival_s - now_s) / self.every_s)
            while len(begins_s) <= period:
                earliest_s = now_s + len(begins_s) * self.every_s
                begins_s.append(earliest_s + random.random() * (self.every_s - self.length_s))
            ends_s = begins_s[period] + self.length_s
            return ends_s if begins_s[period] <= arrival_s < ends_s else arrival_s

        return hold


class Disconnect(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The device is gone after `after_n_samples` have come through."""

    after_n_samples: int

    def __post_init__(self) -> None:
        n = self.after_n_samples
        _require(n > 0, "after_n_samples", "more than 0", n)


class _Places:
    """One run of `length` at a random place in each `every_n` samples, never over the edge."""

    def __init__(
        self, every_n: int, length: int, random: np.random.Generator, earliest: int = 0
    ) -> None:
        self._every_n = every_n
        self._length = length
        self._random = random
        self._earliest = earliest
        self._n_seen = 0
        self._n_periods = 0
        self._first = self._drawn()

    def _drawn(self) -> int:
        start = self._random.integers(self._earliest, self._every_n - self._length + 1)
        return self._n_periods * self._every_n + int(start)

    def within(self, n: int) -> Iterator[int]:
        """Yield which of the next `n` samples are hit."""
        end = self._n_seen + n
        while self._first < end:
            last = self._first + self._length
            yield from range(
                max(self._first, self._n_seen) - self._n_seen, min(last, end) - self._n_seen
            )
            if last > end:
                break
            self._n_periods += 1
            self._first = self._drawn()
        self._n_seen = end


def _retimed(every_n: int, back_us: int, random: np.random.Generator) -> SampleEffect:
    places = _Places(every_n, 1, random, earliest=1)  # the first of all has none before it
    before_us = 0

    def retime(samples: Samples) -> Samples:
        nonlocal before_us
        times_us = samples["tracker_time_us"]
        recorded_us = np.concatenate([[before_us], times_us])
        for place in places.within(len(samples)):
            times_us[place] = recorded_us[place] - back_us
        before_us = int(recorded_us[-1])
        return samples

    return retime


def _require_room(every_n: int, length: int) -> None:
    _require(length > 0, "length", "more than 0", length)
    _require(length < every_n, "every_n", f"more than {length}", every_n)


def _require(holds: bool, key: str, must_be: str, value: float) -> None:
    if not holds:
        raise ConfigError(f"must be {must_be}, not {value}", key=key)


Fault = (
    LostSamples
    | LostGaze
    | RepeatedTimes
    | BackwardTimes
    | TimeJitter
    | Jitter
    | Stalls
    | Disconnect
)

_CAPABILITIES: tuple[type, ...] = (
    SendsMessages,
    SeesStimulus,
    Calibrates,
    HasHostFile,
    ControlsPlayback,
)


class FaultyDevice:
    """A device with faults; it can do all that the device can."""

    def __init__(
        self, device: GazeDevice, faults: Sequence[Fault], *, clock: Clock, seed: int = 0
    ) -> None:
        self._device = device
        self._clock = clock
        self._changes: list[SampleEffect] = []
        self._delays: list[DeliveryEffect] = []
        self._samples_left: int | None = None
        for place, fault in enumerate(faults):
            random = np.random.default_rng([seed, place])
            if isinstance(fault, Disconnect):
                self._samples_left = fault.after_n_samples
            elif isinstance(fault, Jitter | Stalls):
                self._delays.append(fault.begin(random, clock.now_s()))
            else:
                self._changes.append(fault.begin(random))
        self._recording = False
        self._n_chunks = 0
        self._held: Chunk | None = None
        self._release_s = 0.0
        for capability in _CAPABILITIES:
            if isinstance(device, capability):
                self._take_over(capability)

    def _take_over(self, capability: type) -> None:
        """Have the device's methods, so that `isinstance` finds the capability here too."""
        for name in vars(capability):
            if not name.startswith("_"):
                setattr(self, name, self._while_connected(getattr(self._device, name)))

    def _while_connected(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            self._require_connection()
            return method(*args, **kwargs)

        return call

    def describe(self) -> StreamDescription:
        """Return what the device says."""
        return self._device.describe()

    def start(self) -> None:
        """Begin a block."""
        self._require_connection()
        self._device.start()
        self._recording = True

    def read_chunk(self, timeout_s: float) -> Chunk | None:
        """Return what got through; after a disconnection, raise."""
        deadline_s = self._clock.now_s() + max(timeout_s, 0.0)
        while self._held is None:
            self._require_connection()
            chunk = self._device.read_chunk(deadline_s - self._clock.now_s())
            if chunk is None:
                return None
            self._release_s = chunk.arrival_s
            for delay in self._delays:
                self._release_s = delay(self._release_s)
            self._held = self._damaged(chunk)
        if self._recording and self._release_s > self._clock.now_s():
            self._clock.sleep_until_s(min(self._release_s, deadline_s))
            if self._release_s > self._clock.now_s():
                return None
        chunk, self._held = self._held, None
        arrival_s = max(chunk.arrival_s, min(self._release_s, self._clock.now_s()))
        chunk = replace(chunk, number=self._n_chunks, arrival_s=arrival_s)
        self._n_chunks += 1
        return chunk

    def _damaged(self, chunk: Chunk) -> Chunk | None:
        """Return the chunk with its faults; None if nothing is left of it."""
        samples, messages = chunk.samples, chunk.messages
        for change in self._changes:
            samples = change(samples)
        if self._samples_left is not None:
            if self._samples_left < len(samples):
                samples = samples[: self._samples_left]
                end_us = samples["tracker_time_us"][-1] if len(samples) else 0
                messages = tuple(m for m in messages if m.tracker_time_us <= end_us)
            self._samples_left -= len(samples)
        return (
            replace(chunk, samples=samples, messages=messages) if len(samples) or messages else None
        )

    @property
    def finished(self) -> bool:
        """True once all was read that gets through."""
        return self._device.finished and self._held is None

    def tracker_time_us(self) -> int:
        """Return the device's time."""
        self._require_connection()
        return self._device.tracker_time_us()

    def stop(self) -> None:
        """End the block; delayed chunks can be read at once."""
        self._recording = False
        self._device.stop()

    def close(self) -> None:
        """Close the device."""
        self._held = None
        self._device.close()

    def _require_connection(self) -> None:
        if self._samples_left == 0:
            raise DeviceDisconnectedError(
                "the connection to the tracker was lost (an injected fault)"
            )
