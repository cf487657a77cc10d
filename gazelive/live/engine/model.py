"""The engine's model: identifier and detector, loaded from a file and warmed up."""

from __future__ import annotations

import gc
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.analysis import Parameters
from gazelive.detection import Method
from gazelive.errors import ModelError
from gazelive.gaze import (
    PAPER_SCREEN,
    Chunk,
    Eyes,
    Message,
    Samples,
    StreamDescription,
    empty_samples,
)
from gazelive.identification import DEFAULT_TERMS, Terms
from gazelive.live.pipeline.pipeline import Pipeline, RunningModel
from gazelive.recordings import FoundGeometry


@dataclass(frozen=True)
class EngineModel:
    """An identifier (None: only events) and the detector that goes with it."""

    running: RunningModel | None = None
    method: Method = "settled"
    parameters: Parameters | None = None


def load_engine_model(
    path: Path | None, images: Iterable[Path] = (), terms: Terms = DEFAULT_TERMS
) -> EngineModel:
    """Read a model file; without one there are only events.

    `terms` say how the viewer is judged. `images` are the folders of the images, for a model that
    uses their saliency. A missing image is reported when it is shown.
    """
    if path is None:
        return EngineModel()
    from gazelive.identification import load_model, method_kind, with_stimuli

    model = with_stimuli(load_model(path), images)
    terms = model.complete(terms)
    running = RunningModel(
        path.name,
        model.identifier,
        model.main_sequence,
        model.check_rate,
        method_kind(model.identifier.method, model.kind),
        terms,
    )
    choice = model.detector
    if choice is None:
        return EngineModel(running)
    return EngineModel(running, choice.method, choice.parameters or choice.engbert_kliegl)


MOST_MODEL_BYTES = 500_000_000
"""Largest model that a request can load."""


def check_model_file(path: Path) -> Path:
    """Return `path`; raise unless it is a regular file of at most `MOST_MODEL_BYTES`.

    A request may name any path; a pipe or a device would block the engine.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from error
    if not stat.S_ISREG(status.st_mode):
        raise ModelError(f"{path}: is not a regular file")
    if status.st_size > MOST_MODEL_BYTES:
        raise ModelError(
            f"{path}: has {status.st_size / 1e6:.0f} MB; a model may have up to "
            f"{MOST_MODEL_BYTES / 1e6:.0f} MB"
        )
    return path


RATE_HZ = 1000.0
_SECONDS = 3.0
_CHUNK = 20


def warm_up(model: EngineModel) -> None:
    """Compile or load all kernels: run an artificial trial of one eye and of two."""
    for eyes in ("R", "LR"):
        _run_trial(model, "R" if eyes == "R" else "LR")
    gc.collect()
    gc.freeze()  # objects made so far stay: later collections skip them


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
    """Drop two samples, repeat a time and set one back, to warm up the repairs too."""
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
