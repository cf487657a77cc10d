"""The EyeLink alone: connection, filters, rates, ten minutes without loss, clock, messages."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gazelive.clock import Clock, MonotonicClock
from gazelive.devices.eyelink.device import EyeLinkDevice, EyeLinkSettings
from gazelive.gaze.screen import PAPER_SCREEN

from .recorded import Ask, Note, check_equal_to_edf, check_regular, read, record

pytestmark = [pytest.mark.hardware, pytest.mark.timeout(3600)]

Open = Callable[..., EyeLinkDevice]


@pytest.fixture
def clock() -> Clock:
    """The computer's clock."""
    return MonotonicClock()


@pytest.fixture
def open_device(address: str, clock: Clock) -> Iterator[Open]:
    """Return a function that connects to the tracker; it is closed with the test."""
    opened = []

    def open_device(**settings: Any) -> EyeLinkDevice:
        chosen = EyeLinkSettings(
            **{
                "address": address,
                "screen": PAPER_SCREEN,
                "link_filter": "standard",
                "file_filter": "standard",  # the same for both, so that they can be compared
                **settings,
            }
        )
        device = EyeLinkDevice(chosen, clock=clock, host_file_stem="gltest")
        opened.append(device)
        return device

    yield open_device
    for device in opened:
        device.close()


def test_connection(open_device: Open, note: Note) -> None:
    device = open_device()
    note(device=device.describe().device, problems=device.problems)
    assert device.problems == ()


@pytest.mark.parametrize("link_filter", ["off", "standard", "extra"])
def test_filter(open_device: Open, clock: Clock, note: Note, link_filter: str) -> None:
    """The vendor gives < 2, 3 and 4 ms at 1000 Hz; reading in chunks adds up to 10 ms."""
    device = open_device(link_filter=link_filter, file_filter=link_filter)
    recorded = record(device, clock, 10.0)
    p50_ms, p99_ms = np.percentile(recorded.latency_ms(), [50, 99])
    note(latency_p50_ms=round(p50_ms, 2), latency_p99_ms=round(p99_ms, 2))
    assert device.problems == ()
    assert -1 < p50_ms < 10
    assert p99_ms < 25


@pytest.mark.parametrize(
    ("rate_hz", "eyes"), [(250, "R"), (500, "R"), (1000, "R"), (2000, "R"), (1000, "LR")]
)
def test_rate(
    open_device: Open, clock: Clock, note: Note, results: Path, rate_hz: float, eyes: str
) -> None:
    """Two blocks; every sample comes, and the EDF has the same."""
    device = open_device(sampling_rate_hz=rate_hz, eyes=eyes)
    blocks = [record(device, clock, 10.0) for _ in range(2)]
    stream = device.describe()
    if (stream.sampling_rate_hz, stream.eyes) != (rate_hz, eyes):
        pytest.skip(f"this tracker records {stream.eyes} at {stream.sampling_rate_hz:g} Hz instead")
    for block in blocks:
        check_regular(block.samples, rate_hz)
        assert len(block.samples) == pytest.approx(10 * rate_hz, rel=0.02)
        assert block.quality == []
    fractions: list[float] = []
    path = device.receive_host_file(results, f"rate-{rate_hz}-{eyes}", fractions.append)
    share = check_equal_to_edf(path, [block.samples for block in blocks], eyes)
    note(only_in_edf=share, progress_reports=len(fractions))
    assert fractions[-1] == 1.0


def test_ten_minutes(open_device: Open, clock: Clock, note: Note, results: Path) -> None:
    """No lost sample, a known clock, and an EDF with the same samples."""
    device = open_device(sampling_rate_hz=1000)
    recorded = record(device, clock, 60 * float(os.environ.get("GAZELIVE_MINUTES", "10")))
    _, us_per_s, residual_us = recorded.clock_line()
    latency_ms = recorded.latency_ms()
    note(
        samples=len(recorded.samples),
        drift_ppm=round(us_per_s - 1e6, 2),
        clock_residual_us=round(residual_us, 1),
        latency_p50_p99_max_ms=np.percentile(latency_ms, [50, 99, 100]).round(2).tolist(),
        quality=recorded.quality,
    )
    check_regular(recorded.samples, 1000)
    assert recorded.quality == []
    assert residual_us < 1000
    assert abs(us_per_s - 1e6) < 500
    path = device.receive_host_file(results, "ten-minutes")
    note(only_in_edf=check_equal_to_edf(path, [recorded.samples], "R"))


def test_late_messages(open_device: Open, clock: Clock, note: Note, results: Path) -> None:
    """A message sent late carries the time it refers to, here and in the EDF."""
    device = open_device()
    chunks = []
    device.start()
    for late_s in (0.0, 0.02, 0.1):
        true_s = clock.now_s()
        while clock.now_s() < true_s + late_s:
            chunks.append(device.read_chunk(0.005))
        device.send_message(f"late by {late_s}", at_s=true_s)
        chunks.append(device.read_chunk(0.5))
    device.stop()
    while (chunk := device.read_chunk(0.0)) is not None:
        chunks.append(chunk)
    sent_us = {m.text: m.tracker_time_us for chunk in chunks if chunk for m in chunk.messages}
    edf = read(device.receive_host_file(results, "messages"))
    errors_ms = {
        m.text: (m.tracker_time_us - sent_us[m.text]) / 1000
        for m in edf.messages
        if m.text.startswith("late by")
    }
    note(edf_minus_here_ms=errors_ms)
    assert len(errors_ms) == 3
    assert max(map(abs, errors_ms.values())) <= 2.0


def test_other_threads_run_while_it_reads(open_device: Open, clock: Clock, note: Note) -> None:
    device = open_device()
    ticks, ends = [0], threading.Event()

    def tick() -> None:
        while not ends.wait(0.001):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    record(device, clock, 5.0)
    ends.set()
    thread.join()
    note(ticks_in_5_s=ticks[0])
    assert ticks[0] > 250  # Windows may round a wait of 1 ms up to 16 ms


def test_abort_menu(open_device: Open, clock: Clock, ask: Ask, note: Note) -> None:
    device = open_device()
    ask("In the next 60 s press Abort on the Host PC and choose in its menu. ENTER to start.")
    device.start()
    until_s, request = clock.now_s() + 60.0, None
    while request is None and clock.now_s() < until_s:
        device.read_chunk(0.1)
        request = device.take_host_request()
    device.stop()
    note(request=request)
    assert request in ("repeat", "skip", "abort")
