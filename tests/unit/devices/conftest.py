"""A manual clock, and an EyeLink on a fake pylink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gazelive.devices.eyelink.device import EyeLinkDevice
from gazelive.devices.eyelink.setup import EyeLinkSettings
from gazelive.gaze.screen import PAPER_SCREEN

from ...support.fake_host import Behaviour, FakeHost
from ...support.fake_pylink import FakePylink
from ...support.manual_clock import ManualClock

Connect = Callable[..., tuple[EyeLinkDevice, FakePylink]]


@pytest.fixture
def clock() -> ManualClock:
    """A clock that moves only when it is advanced."""
    return ManualClock(1000.0)


@pytest.fixture
def connect(clock: ManualClock) -> Iterator[Connect]:
    """Connect to a host with the given behaviour; return the device and the fake pylink."""
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
