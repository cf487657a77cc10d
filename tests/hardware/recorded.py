"""Recording from a device, and comparison of what the link brought with the tracker's EDF."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gazelive
from gazelive.clock import Clock
from gazelive.devices.eyelink.device import EyeLinkDevice

Note = Callable[..., None]
"""Prints measurements and writes them to the results."""
Ask = Callable[[str], str]
"""Asks the operator."""
Confirm = Callable[[str], None]
"""Asks the operator, and fails the test unless the answer is yes."""

POSITION_DIGIT_PX = 0.11
"""The EDF keeps positions to a tenth of a pixel."""
FIELDS = {"L": ("left_x", "left_y"), "R": ("right_x", "right_y")}


@dataclass(frozen=True)
class Recorded:
    """One block as it came over the link."""

    samples: np.ndarray
    messages: list[tuple[int, str]]
    """Tracker time in µs, and text."""
    newest: np.ndarray
    """Of each chunk: host time in s when it arrived, tracker time in µs of its last sample."""
    queries: np.ndarray
    """Of each query of the clock: host time in s, tracker time in µs."""

    @property
    def quality(self) -> list[str]:
        """Quality messages of the device."""
        return [text for _, text in self.messages if text.startswith("GAZELIVE_QUALITY")]

    def clock_line(self) -> tuple[float, float, float]:
        """Return tracker µs at host time 0, µs per s, and the residual in µs."""
        host_s, tracker_us = self.queries.T
        line = np.polynomial.Polynomial.fit(host_s, tracker_us, 1)
        residual_us = float(np.sqrt(np.mean((line(host_s) - tracker_us) ** 2)))
        at_zero_us, us_per_s = line.convert().coef
        return float(at_zero_us), float(us_per_s), residual_us

    def latency_ms(self) -> np.ndarray:
        """Return how long after the tracker's time the last sample of each chunk arrived."""
        at_zero_us, us_per_s, _ = self.clock_line()
        arrival_s, tracker_us = self.newest.T
        return (at_zero_us + us_per_s * arrival_s - tracker_us) / 1000


def record(device: EyeLinkDevice, clock: Clock, seconds: float) -> Recorded:
    """Record one block; ask for the tracker's time once per second."""
    device.start()
    chunks = []
    queries: list[tuple[float, int]] = []
    until_s = clock.now_s() + seconds
    while (now_s := clock.now_s()) < until_s:
        if not queries or now_s >= queries[-1][0] + 1.0:
            before_s = clock.now_s()
            tracker_us = device.tracker_time_us()
            queries.append(((before_s + clock.now_s()) / 2, tracker_us))
        chunks.append(device.read_chunk(0.1))
    device.stop()
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    came = [chunk for chunk in chunks if chunk is not None]
    with_samples = [chunk for chunk in came if len(chunk.samples)]
    return Recorded(
        samples=np.concatenate([chunk.samples for chunk in with_samples]),
        messages=[(m.tracker_time_us, m.text) for chunk in came for m in chunk.messages],
        newest=np.array([(c.arrival_s, c.samples["tracker_time_us"][-1]) for c in with_samples]),
        queries=np.array(queries),
    )


def read(path: Path | str) -> gazelive.Recording:
    """Read a recording; print warnings, which are expected of an interrupted one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", gazelive.GazeliveWarning)
        recording = gazelive.read(path)
    for warning in caught:
        print(f"    warning: {warning.message}")
    return recording


def check_regular(samples: np.ndarray, rate_hz: float) -> None:
    """Assert that no sample is missing, doubled or out of order."""
    steps_us = np.diff(samples["tracker_time_us"])
    wrong = np.flatnonzero(steps_us != round(1e6 / rate_hz))
    assert not len(wrong), f"{len(wrong)} irregular steps, first {steps_us[wrong[:5]]} µs"


def check_equal_to_edf(path: Path, blocks: Sequence[np.ndarray], eyes: str) -> float:
    """Assert that the EDF holds every sample of the link; return the share that only it has."""
    edf = read(path)
    assert len(edf.blocks) == len(blocks)
    n_only_edf = 0
    for samples, block in zip(blocks, edf.blocks, strict=True):
        common = np.isin(block.samples["tracker_time_us"], samples["tracker_time_us"])
        assert common.sum() == len(samples), f"{len(samples) - common.sum()} samples not in the EDF"
        n_only_edf += int((~common).sum())
        for eye in eyes:
            for field in FIELDS[eye]:
                np.testing.assert_allclose(
                    block.samples[field][common],
                    samples[field],
                    atol=POSITION_DIGIT_PX,
                    equal_nan=True,
                )
    return n_only_edf / sum(len(block.samples) for block in edf.blocks)
