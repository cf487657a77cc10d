"""A simulated session with problems, and the messages of its experiment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from gazelive.gaze.documents import (
    Document,
    IntervalSettled,
    MainSequence,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    RunStarted,
    RunStopped,
    encode_line,
)
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.manifest import DOCUMENTS_NAME, ClockFit, SessionManifest
from gazelive.simulation.lab_session import TrialImage, simulate_session
from gazelive.stimuli.saliency import generated_saliency

IMAGES = ("cat.jpg", "beach.jpg", "generated_0001", "chess_game.jpg")
N_LOST = 25
"""Samples that never arrived, in the middle of the second trial."""
CONFIG = {"stimuli": {"folder": "no/such/folder"}, "note": "<script>alert(1)</script> & more"}


def simulated(eyes: str = "R") -> Recording:
    """Return four trials of two seconds: shown, repeated (with lost samples), skipped, shown."""
    session = simulate_session(
        "v001",
        seed=3,
        session=1,
        images=[TrialImage(name, generated_saliency(name, 0)) for name in IMAGES],
        seconds=2.0,
        sampling_rate_hz=500.0,
        eyes=eyes,  # type: ignore[arg-type]
        path=Path("v001_s1"),
    )
    recording = session.recording
    second = recording.blocks[1]
    middle = len(second.samples) // 2
    kept = np.delete(second.samples, slice(middle, middle + N_LOST))
    blocks = list(recording.blocks)
    blocks[1] = replace(second, samples=kept)
    return replace(
        recording,
        blocks=tuple(blocks),
        messages=tuple(_with_protocol(recording.messages)),
        trials=(),
    )


def _with_protocol(messages: tuple[Message, ...]) -> Iterator[Message]:
    """Yield the messages with those of the experiment's protocol among them."""
    trial = 0
    for message in messages:
        time_us = message.tracker_time_us
        if message.text.startswith("TRIALID"):
            trial += 1
            yield Message(
                time_us - 1000, "DRIFTCORRECT R RIGHT at 960,540  OFFSET 0.44 deg.  10.0,12.0 pix."
            )
        if message.text == "image_onset":
            if trial == 2:
                yield Message(time_us - 2000, "gate_timeout 1 of 2")
            yield Message(time_us, "gate_passed 400 ms")
        if message.text.startswith("TRIAL_RESULT"):
            outcome = {2: "repeated", 3: "skipped"}.get(trial, "shown")
            for key, value in (
                ("index", trial),
                ("attempt", 1),
                ("outcome", outcome),
                ("dropped_frames", 2 if trial == 4 else 0),
            ):
                yield Message(time_us, f"!V TRIAL_VAR {key} {value}")
        yield message


def manifest(mode: str = "enrol") -> SessionManifest:
    return SessionManifest(
        viewer="v001" if mode == "enrol" else None,
        session="1",
        device="simulated EyeLink",
        mode=mode,  # type: ignore[arg-type]
        started_at="2024-05-06T07:08:09+02:00",
        screen=PAPER_SCREEN,
        sampling_rate_hz=500.0,
        config=CONFIG,
        clock_fit=ClockFit(
            host_reference_s=0.0,
            tracker_reference_us=0.0,
            tracker_us_per_host_s=1_000_020.0,
            residual_us=1.0,
            n_queries=9,
        ),
    )

    return PAPER_SCREEN


def documents(recording: Recording, *, with_model: bool = True) -> list[Document]:
    """Return the documents of an engine: at first uncertain, then v001."""
    start_us = int(recording.blocks[0].samples["tracker_time_us"][0])
    said: list[Document] = [RunStarted(session="1", stream=recording.blocks[0].stream)]
    if with_model:
        known = MainSequence(
            amplitude_deg=(0.5, 5.0, 20.0),
            low_deg_s=(20.0, 150.0, 300.0),
            median_deg_s=(40.0, 250.0, 450.0),
            high_deg_s=(70.0, 400.0, 650.0),
        )
        said.append(
            ModelLoaded(
                model="people.model",
                method="gazelive",
                viewer_ids=("v000", "v001", "v002"),
                main_sequence=known,
                false_acceptance_rate=0.01,
            )
        )
        for number, p in enumerate((0.3, 0.7, 0.95, 0.995)):
            said.append(
                Posterior(
                    tracker_time_us=start_us + number * 1_000_000,
                    leading=(1, 0, 2),
                    log_probabilities=tuple(np.log([p, 0.9 * (1 - p), 0.1 * (1 - p)]).tolist()),
                    log_unknown=float(np.log(0.001)),
                    accepted=p > 0.9,
                    n_saccades=3 * (number + 1),
                    n_images=number + 1,
                    seconds=2.0 * (number + 1),
                    settled=number % 2 == 1,
                )
            )
    said += [
        IntervalSettled(trial="1", start_us=start_us, end_us=start_us + 10),
        Quality(tracker_time_us=start_us + 5_000_000, kind="time_gap", text="missing for 50 ms"),
        Notice(level="info", text="not worth a note"),
        Notice(level="warning", text="the model is old"),
        RunStopped(reason="finished"),
    ]
    return said


def write_documents(folder: Path, said: list[Document]) -> None:
    (folder / DOCUMENTS_NAME).write_bytes(b"".join(map(encode_line, said)))
