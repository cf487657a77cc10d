"""How the positions of a live session become degrees: by the rules of any other recording."""

from __future__ import annotations

from pathlib import Path

from gazelive.engine.pipeline import GeometryOf
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.screen import ScreenGeometry
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.geometry import FoundGeometry, GeometryFlags, find_geometry
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.session_folder import SessionManifest


def session_geometry(
    manifest: SessionManifest,
    folder: Path,
    flags: GeometryFlags | None = None,
    corpus_screen: ScreenGeometry | None = None,
) -> GeometryOf:
    """Return what finds the geometry of each block.

    What a recording knows as a whole is here what the session and the blocks so far have told.
    """
    seen: list[Block] = []

    def geometry_of(stream: StreamDescription) -> FoundGeometry:
        block = Block(stream, empty_samples(0), 0, 0)
        seen.append(block)
        screens = (known.stream.screen for known in seen)
        screen = manifest.screen or next((s for s in screens if s is not None), None)
        screen_px = manifest.screen_px
        if screen_px is None and screen is not None:
            screen_px = screen.width_px, screen.height_px
        recording = Recording(
            path=folder,
            format="session",
            blocks=tuple(seen),
            screen=screen,
            screen_px=screen_px,
        )
        return find_geometry(block, recording, flags, corpus_screen)

    return geometry_of
