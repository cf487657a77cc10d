"""Made-up recordings for the tests of the ASC writer."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import EYE_FIELDS, Eyes, Samples, empty_samples
from gazelive.gaze.stream import Message, StreamDescription
from gazelive.recordings.asc.columns import (
    INPUT_NAME,
    RESOLUTION_NAMES,
    TARGET_NAMES,
    VELOCITY_NAMES,
)
from gazelive.recordings.recording import Block, Recording, Signal
from gazelive.recordings.trials import find_trials

RATES_HZ = (250, 500, 1000, 2000)
EYES: tuple[Eyes, ...] = ("L", "R", "LR")


def tenths(rng: np.random.Generator, low: float, high: float, n: int) -> Any:
    """Return numbers with one decimal, as ASC files keep them."""
    return np.round(rng.uniform(low, high, n), 1).astype(np.float32)


def make_samples(
    rng: np.random.Generator, eyes: Eyes, rate_hz: float, start_us: int, n: int, missing: float
) -> Samples:
    """Return `n` samples, of which a fraction is missing, with status flags."""
    samples = empty_samples(n)
    samples["tracker_time_us"] = start_us + np.arange(n) * round(1e6 / rate_hz)
    for eye in eyes:
        x, y, pupil = EYE_FIELDS[eye]
        lost = rng.random(n) < missing
        for field, high in ((x, 1920.0), (y, 1080.0), (pupil, 4000.0)):
            samples[field] = np.where(
                lost, np.nan, tenths(rng, 0.1 - 200 * (field != pupil), high, n)
            )
    flags = {"L": 0b00111, "R": 0b11001, "LR": 0b11111}[eyes]
    samples["status"] = rng.integers(0, 32, n) & flags
    return samples


def make_extras(rng: np.random.Generator, eyes: Eyes, n: int, names: frozenset[str]) -> Any:
    """Return the columns that `names` ask for."""
    extras = {}
    if "velocity" in names:
        for eye in eyes:
            extras.update({name: tenths(rng, -900, 900, n) for name in VELOCITY_NAMES[eye]})
    if "resolution" in names:
        extras.update({name: tenths(rng, 20, 60, n) for name in RESOLUTION_NAMES})
    if "input" in names:
        extras[INPUT_NAME] = rng.integers(0, 256, n).astype(np.float32)
    if "target" in names:
        extras.update({name: tenths(rng, 100, 9000, n) for name in TARGET_NAMES})
    return extras


def make_events(rng: np.random.Generator, samples: Samples, eyes: Eyes) -> list[TrackerEvent]:
    """Return fixations, saccades and blinks that follow one another."""
    times_us = samples["tracker_time_us"]
    events = []
    for eye in eyes:
        edges = np.unique(rng.integers(0, len(times_us), 6))
        for first, stop in itertools.pairwise(edges):
            kind: Literal["fixation", "saccade", "blink"] = rng.choice(
                ["fixation", "saccade", "blink"]
            )
            place = [float(value) for value in np.round(rng.uniform(0, 999, 6), 1)]
            fields: dict[str, float | None] = {}
            if kind == "fixation":
                fields = dict(mean_x=place[0], mean_y=place[1], mean_pupil=round(place[2]))
            elif kind == "saccade":
                fields = dict(start_x=place[0], start_y=None, end_x=place[2], end_y=place[3])
                fields |= dict(amplitude_deg=place[4], peak_velocity_deg_s=round(place[5]))
            events.append(
                TrackerEvent(
                    kind=str(kind),  # type: ignore[arg-type]
                    eye=eye,  # type: ignore[arg-type]
                    start_us=int(times_us[first]),
                    end_us=int(times_us[stop - 1]),
                    **fields,
                )
            )
    return sorted(events, key=lambda event: event.end_us)


message_texts = (
    st.sampled_from(["TRIALID 1", "TRIAL_RESULT 0", "image_onset", "!V IMGLOAD FILL a b.png"])
    | st.sampled_from(
        ["20", "-120 45", "3 apples", "+0 x", "start_trial 7", "var a b c", "", "Möwe"]
    )
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Cs"]), max_size=20)
)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Draw recordings of one to three blocks of any eyes and rates."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    start_us = draw(st.integers(0, 10**9)) * 1000
    blocks, events, signals, messages = [], [], [], []
    for _ in range(draw(st.integers(1, 3))):
        eyes = draw(st.sampled_from(EYES))
        rate_hz = draw(st.sampled_from(RATES_HZ))
        n = draw(st.integers(1, 60))
        samples = make_samples(rng, eyes, rate_hz, start_us, n, draw(st.sampled_from([0, 0.3, 1])))
        names = draw(st.frozensets(st.sampled_from(["velocity", "resolution", "input", "target"])))
        end_us = int(samples["tracker_time_us"][-1]) + 4000
        stream = StreamDescription(
            device="made up",
            sampling_rate_hz=rate_hz,
            eyes=eyes,
            screen_px=(1920, 1080),
            px_per_deg=draw(st.sampled_from([None, (35.19, 36.05)])),
            pupil=draw(st.sampled_from(["area", "diameter"])),
        )
        extras = make_extras(rng, eyes, n, names)
        blocks.append(Block(stream, samples, start_us, end_us, extras))
        events += make_events(rng, samples, eyes)
        times_us = st.integers(start_us // 500, end_us // 500).map(lambda half_ms: half_ms * 500)
        sent_us = sorted(draw(st.lists(times_us, max_size=5)))
        messages += [Message(time_us, draw(message_texts)) for time_us in sent_us]
        for time_us in sorted(draw(st.lists(times_us, max_size=2))):
            kind = draw(st.sampled_from(["input", "button"]))
            number = 0 if kind == "input" else draw(st.integers(1, 8))
            signals.append(Signal(time_us, kind, number, draw(st.integers(0, 255))))
        start_us = end_us + draw(st.integers(1, 1000)) * 1000
    return Recording(
        path=Path("made_up.session"),
        format="session",
        blocks=tuple(blocks),
        messages=tuple(messages),
        tracker_events=tuple(events),
        signals=tuple(signals),
        trials=find_trials(messages, blocks),
        screen_px=(1920, 1080),
    )
