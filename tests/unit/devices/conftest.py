"""Recordings made in memory, and an EyeLink on a fake pylink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazelive.clock import ManualClock
from gazelive.devices.eyelink import EyeLinkDevice, EyeLinkSettings
from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.recording import Block, Recording

from .fake_host import Behaviour, FakeHost
from .fake_pylink import FakePylink

MakeBlock = Callable[..., Block]
MakeRecording = Callable[..., Recording]
Connect = Callable[..., tuple[EyeLinkDevice, FakePylink]]


def _block(start_us: int, n: int, *, rate_hz: float = 1000.0, first_value: int = 0) -> Block:
    samples = empty_samples(n)
    samples["tracker_time_us"] = start_us + np.round(np.arange(n) * 1e6 / rate_hz)
    for place, field in enumerate(("left_x", "left_y", "right_x", "right_y")):
        samples[field] = first_value + np.arange(n) + 0.25 * place
    stream = StreamDescription(device="made up", sampling_rate_hz=rate_hz, eyes="LR")
    return Block(stream, samples, start_us, start_us + round(n * 1e6 / rate_hz))


def _recording(*blocks: Block, messages: tuple[tuple[int, str], ...] = ()) -> Recording:
    return Recording(
        path=Path("made_up.asc"),
        format="asc",
        blocks=blocks,
        messages=tuple(Message(time_us, text) for time_us, text in messages),
    )


@pytest.fixture(scope="session")
def make_block() -> MakeBlock:
    """Make a block from its start, number of samples and rate; each sample's values are its own."""
    return _block


@pytest.fixture(scope="session")
def make_recording() -> MakeRecording:
    """Make a recording from blocks and (time, text) messages."""
    return _recording


@pytest.fixture
def samples_1s(make_block: MakeBlock) -> Samples:
    """One second at 1000 Hz from 1 s on."""
    return make_block(1_000_000, 1000).samples


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves only when it is told to."""
    return ManualClock(1000.0)


@pytest.fixture
def connect(clock: ManualClock) -> Iterator[Connect]:
    """Connect to a host that behaves as told; return the device and the fake pylink."""
    devices = []

    def make(
        behaviour: Behaviour | None = None, *, version: str = "EYELINK CL 5.15", **settings: Any
    ) -> tuple[EyeLinkDevice, FakePylink]:
        pylink = FakePylink(FakeHost(clock, behaviour, version=version))
        wanted = EyeLinkSettings(screen=PAPER_SCREEN, **settings)
        device = EyeLinkDevice(wanted, clock=clock, host_file_stem="v01", pylink=pylink)  # type: ignore[arg-type]
        device.use_graphics(lambda _tracker: pylink.EyeLinkCustomDisplay())
        devices.append(device)
        return device, pylink

    yield make
    for device in devices:
        device.close()
