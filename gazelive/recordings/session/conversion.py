"""Conversion of a recording to a session folder."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from gazelive.gaze import Chunk, Message
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.journal import Notes, is_text_kept
from gazelive.recordings.session.manifest import SessionManifest
from gazelive.recordings.session.writer import SessionWriter, check_empty
from gazelive.recordings.trials import find_trials
from gazelive.system import storage_error

T = TypeVar("T")
_NOTES_PER_RECORD = 10_000


def manifest_of(
    recording: Recording, *, started_at: str, config: dict[str, Any] | None = None
) -> SessionManifest:
    """Return the manifest of a recording that becomes a session folder."""
    stream = recording.blocks[0].stream if recording.blocks else None
    return SessionManifest(
        viewer=recording.viewer,
        session=recording.session or recording.path.stem,
        device=stream.device if stream else "unknown",
        mode="identify" if recording.viewer is None else "enrol",
        started_at=started_at,
        screen=recording.screen,
        screen_px=recording.screen_px,
        sampling_rate_hz=stream.sampling_rate_hz if stream else None,
        config=config or {},
        calibrations=recording.calibrations,
        drift_corrections=recording.drift_corrections,
    )


def session_losses(recording: Recording) -> list[str]:
    """Name what a session folder cannot store of a recording."""
    texts = [*(message.text for message in recording.messages), *recording.header]
    n_escaped = sum(not is_text_kept(text) for text in texts)
    if not n_escaped:
        return []
    return [f"undecodable bytes in {n_escaped} messages or header lines (written as escapes)"]


def write_session(
    recording: Recording,
    folder: Path,
    manifest: SessionManifest,
    chunk_s: float = 1.0,
    *,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Write a recording as a session folder that appears whole or not at all.

    `folder` must be new or empty.
    """
    aside = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.part"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        check_empty(folder)
        try:
            # the folder is invisible until it is renamed: one sync at the end is enough
            with SessionWriter.create(aside, manifest, sync_interval_s=None) as writer:
                _write(recording, writer, chunk_s, progress)
            if folder.exists():
                folder.rmdir()  # Windows does not rename over an empty folder
            aside.rename(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise storage_error(error, folder) from error


def _write(
    recording: Recording,
    writer: SessionWriter,
    chunk_s: float,
    progress: Callable[[float], None] | None,
) -> None:
    if recording.header:
        writer.append_notes(Notes(header=recording.header))
    messages = list(reversed(recording.messages))
    n_written = 0
    for block in recording.blocks:
        number = writer.start_block(block.stream, start_us=block.start_us, end_us=block.end_us)
        chunk_samples = max(1, round(chunk_s * block.stream.sampling_rate_hz))
        for start in range(0, len(block.samples), chunk_samples):
            rows = slice(start, start + chunk_samples)
            samples = block.samples[rows]
            chunk = Chunk(
                number=writer.next_chunk,
                block=number,
                samples=samples,
                messages=tuple(_take_until(messages, int(samples["tracker_time_us"][-1]))),
            )
            extras = {name: column[rows] for name, column in block.extras.items()}
            writer.append(chunk, extras=extras)
            n_written += len(samples)
            if progress is not None:
                progress(n_written / recording.n_samples)
    for notes in _remaining_notes(recording, tuple(reversed(messages))):
        writer.append_notes(notes)


def _take_until(messages: list[Message], time_us: int) -> Iterator[Message]:
    """Pop messages up to a time; the earliest is at the end of `messages`."""
    while messages and messages[-1].tracker_time_us <= time_us:
        yield messages.pop()


def _remaining_notes(recording: Recording, messages: tuple[Message, ...]) -> Iterator[Notes]:
    """Yield what belongs to no chunk, in records of bounded length."""
    trials = recording.trials
    if trials == find_trials(recording.messages, recording.blocks):
        trials = ()
    for messages_part in _parts(messages):
        yield Notes(messages=messages_part)
    for events_part in _parts(recording.tracker_events):
        yield Notes(tracker_events=events_part)
    for signals_part in _parts(recording.signals):
        yield Notes(signals=signals_part)
    for trials_part in _parts(trials):
        yield Notes(trials=trials_part)


def _parts(items: tuple[T, ...]) -> Iterator[tuple[T, ...]]:
    for start in range(0, len(items), _NOTES_PER_RECORD):
        yield items[start : start + _NOTES_PER_RECORD]
