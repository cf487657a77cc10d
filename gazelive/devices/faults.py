"""Faults on purpose: any device, made to misbehave in a way that can be repeated.

`FaultyDevice(device, [LostSamples(every_n=500, length=3), Disconnect(after_n_samples=60_000)],
seed=1, clock=clock)` is the same device on a bad line. Faults act in the order given, each on
what the ones before it left over; what they do is decided by the seed alone, not by how the
samples were cut into chunks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gazelive.clock import Clock
from gazelive.devices.fault_kinds import (
    BackwardTimes,
    DeliveryEffect,
    Disconnect,
    Jitter,
    LostSamples,
    RepeatedTimes,
    SampleEffect,
    Stalls,
    TimeJitter,
)
from gazelive.devices.protocol import (
    Calibrates,
    ControlsPlayback,
    GazeDevice,
    HasHostFile,
    SeesStimulus,
    SendsMessages,
)
from gazelive.errors import DeviceDisconnectedError
from gazelive.gaze.stream import Chunk, StreamDescription

Fault = LostSamples | RepeatedTimes | BackwardTimes | TimeJitter | Jitter | Stalls | Disconnect

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
        """Return what is left of a chunk, if anything."""
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
        """End the block; what was held up can be read at once."""
        self._recording = False
        self._device.stop()

    def close(self) -> None:
        """Close the device."""
        self._held = None
        self._device.close()

    def _require_connection(self) -> None:
        if self._samples_left == 0:
            raise DeviceDisconnectedError(
                "the connection to the tracker was lost (a fault that was asked for)"
            )
