"""Reading a session folder: the journal's whole records become one `Recording`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gazelive.gaze.screen import ScreenGeometry
from gazelive.gaze.stream import Chunk, StreamDescription
from gazelive.recordings.eyelink_messages import interpret
from gazelive.recordings.journal_contents import read_journal
from gazelive.recordings.journal_follower import JournalFollower
from gazelive.recordings.recording import Recording
from gazelive.recordings.session_manifest import JOURNAL_NAME, SessionManifest, read_manifest
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, trials_of

T = TypeVar("T")


def read_session(
    folder: Path,
    *,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
    progress: Callable[[float], None] | None = None,
) -> Recording:
    """Return everything that is whole in a session folder, and `problems` for what is not.

    Patterns of one's own go before the trials that the folder tells of.
    """
    manifest = read_manifest(folder)
    contents = read_journal(folder / JOURNAL_NAME, progress=progress)
    if manifest.finished_at is None:
        contents.problem("the session has no end: it is still being recorded, or its process died")
    messages = tuple(contents.messages)
    facts = interpret(messages)
    blocks = tuple(contents.blocks())
    screen = manifest.screen or next((b.stream.screen for b in blocks if b.stream.screen), None)
    return Recording(
        path=folder,
        format="session",
        blocks=blocks,
        messages=messages,
        tracker_events=tuple(contents.tracker_events),
        signals=tuple(contents.signals),
        trials=trials_of(messages, blocks, tuple(contents.trials), trial_patterns),
        calibrations=_united(manifest.calibrations, facts.calibrations),
        drift_corrections=_united(manifest.drift_corrections, facts.drift_corrections),
        header=tuple(contents.header),
        screen=screen,
        screen_px=_screen_px(manifest, screen) or facts.screen_px,
        viewer=manifest.viewer,
        session=manifest.session,
        problems=tuple(contents.problems),
    )


def follow(folder: Path, from_chunk: int = 0) -> Iterator[Chunk | StreamDescription]:
    """Yield the chunks from number `from_chunk` on that are there now, blocks described.

    Whoever wants to come back for more keeps a `JournalFollower` and polls it.
    """
    return JournalFollower(folder / JOURNAL_NAME, from_chunk).poll()


def _united(stored: tuple[T, ...], told: tuple[T, ...]) -> tuple[T, ...]:
    """Return what the messages tell, and what is only in the manifest before it."""
    return (*(item for item in stored if item not in told), *told)


def _screen_px(manifest: SessionManifest, screen: ScreenGeometry | None) -> tuple[int, int] | None:
    if manifest.screen_px is not None:
        return manifest.screen_px
    return None if screen is None else (screen.width_px, screen.height_px)
