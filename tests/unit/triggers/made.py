"""Chunks of made gaze, and what triggers find in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gazelive.gaze import (
    EYE_FIELDS,
    PAPER_SCREEN,
    Chunk,
    Coordinates,
    Eyes,
    Message,
    Samples,
    StreamDescription,
    each_eye,
    empty_samples,
)
from gazelive.triggers import Trigger, Triggers, Watch

from ...support.manual_clock import ManualClock
from ...support.traces import Trace


def stream_of(
    eyes: Eyes = "R", rate_hz: float = 1000.0, coordinates: Coordinates = Coordinates.SCREEN_PX
) -> StreamDescription:
    return StreamDescription(
        device="made",
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        coordinates=coordinates,
        screen=PAPER_SCREEN,
    )


def samples_of(gaze: Trace, eyes: Eyes = "R") -> Samples:
    """Return gaze as pixels of the screen, the same for each eye."""
    samples = empty_samples(len(gaze.times_us))
    samples["tracker_time_us"] = gaze.times_us
    x_px, y_px = PAPER_SCREEN.deg_to_px(gaze.x_deg, gaze.y_deg)
    for eye in each_eye(eyes):
        x, y, pupil = EYE_FIELDS[eye]
        samples[x], samples[y], samples[pupil] = x_px, y_px, 1000.0
    return samples


def chunks_of(
    samples: Samples,
    edges: Iterable[int] = (),
    *,
    block: int = 0,
    messages: tuple[Message, ...] = (),
) -> Iterator[Chunk]:
    """Yield samples cut at the edges; messages come with the first chunk."""
    all_edges = [0, *sorted(edges), len(samples)]
    for number, (start, stop) in enumerate(itertools.pairwise(all_edges)):
        yield Chunk(number, block, samples[start:stop], messages if number == 0 else (), 0.0)


def new_triggers() -> Triggers:
    return Triggers(PAPER_SCREEN, ManualClock())


def read(watch: Watch) -> list[Trigger]:
    """Return what a watch has not been read of."""
    return list(iter(watch.poll, None))


def found_in(
    gaze: Trace, make: Callable[[Triggers], Watch], *, eyes: Eyes = "R", chunk: int = 4
) -> list[Trigger]:
    """Return what a watch finds in gaze."""
    triggers = new_triggers()
    watch = make(triggers)
    found: list[Trigger] = []
    for part in chunks_of(samples_of(gaze, eyes), range(chunk, len(gaze.times_us), chunk)):
        triggers.take(part, stream_of(eyes, gaze.rate_hz))
        found += read(watch)
    triggers.check()
    return found


def still(
    seconds: float, x_deg: float = 0.0, y_deg: float = 0.0, *, noise_deg: float = 0.01
) -> Trace:
    """Return gaze that rests in one place."""
    n = round(1000 * seconds)
    random = np.random.default_rng(3)
    x, y = (place + random.normal(0, noise_deg, n) for place in (x_deg, y_deg))
    return Trace(np.arange(n, dtype=np.int64) * 1000, x, y, 1000.0, np.empty((0, 2), np.int64))
