"""Everything once before it counts: kernels are compiled or loaded, caches filled."""

from __future__ import annotations

import gc

import numpy as np

from gazelive.engine.engine_model import EngineModel
from gazelive.engine.pipeline import Pipeline
from gazelive.gaze.samples import Eyes, Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.geometry import FoundGeometry

RATE_HZ = 1000.0
_SECONDS = 3.0
_CHUNK = 20


def warm_up(model: EngineModel) -> None:
    """Run a made-up trial, of one eye and of two, through a pipeline of its own."""
    for eyes in ("R", "LR"):
        _run_trial(model, "R" if eyes == "R" else "LR")
    gc.collect()
    gc.freeze()  # what is there by now stays: later collections need not look at it


def _run_trial(model: EngineModel, eyes: Eyes) -> None:
    stream = StreamDescription(
        device="none", sampling_rate_hz=RATE_HZ, eyes=eyes, screen=PAPER_SCREEN
    )
    pipeline = Pipeline(
        lambda _stream: FoundGeometry(PAPER_SCREEN, "recording"),
        model=model.running,
        method=model.method,
        parameters=model.parameters,
    )
    samples = _with_faults(jumping_gaze(round(_SECONDS * RATE_HZ), eyes))
    begin = (Message(0, "TRIALID 1"), Message(1000, "image_onset"))
    for number, first in enumerate(range(0, len(samples), _CHUNK)):
        messages = begin if number == 0 else ()
        part = samples[first : first + _CHUNK]
        pipeline.push(Chunk(number, 0, part, messages, first / RATE_HZ), stream)
    pipeline.finish("warm")


def _with_faults(samples: Samples) -> Samples:
    """Lose two samples, repeat a time and set one back: what mends that is wanted at once too."""
    third = len(samples) // 3
    samples = np.delete(samples, [third, third + 1])
    times_us = samples["tracker_time_us"]
    times_us[third // 2] = times_us[third // 2 - 1]
    times_us[2 * third] -= 3000
    return samples


def jumping_gaze(n_samples: int, eyes: Eyes) -> Samples:
    """Return gaze that jumps to and fro four times a second, with a blink."""
    time_s = np.arange(n_samples) / RATE_HZ
    phase = np.clip((time_s % 0.25) / 0.04, 0, 1)
    step = 10 * phase**3 - 15 * phase**4 + 6 * phase**5
    side = np.floor(time_s / 0.25) % 2
    noise = np.random.default_rng(0).normal(0, 0.5, (2, n_samples))
    x_px = 800 + 300 * np.where(side == 0, step, 1 - step) + noise[0]
    x_px[n_samples // 2 : n_samples // 2 + 100] = np.nan
    samples = empty_samples(n_samples)
    samples["tracker_time_us"] = np.round(time_s * 1e6)
    for eye, name in (("L", "left"), ("R", "right")):
        if eye in eyes:
            samples[f"{name}_x"] = x_px
            samples[f"{name}_y"] = 540 + 0.3 * (x_px - 800) + noise[1]
    return samples
