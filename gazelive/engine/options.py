"""What an engine is told on its command line, and the engine that follows from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from gazelive.engine.addresses import DEFAULT_ADDRESS
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that can be said in JSON."""

    folder: str
    address: str = DEFAULT_ADDRESS
    model: str | None = None
    images: tuple[str, ...] = ()
    """Folders of the images, for models that look at them."""
    keys: str | None = None
    screen_px: tuple[int, int] | None = None
    size_mm: tuple[float, float] | None = None
    distance_mm: float | None = None
    eye: Literal["L", "R", "both"] | None = None
    patterns: TrialPatterns = DEFAULT_PATTERNS
    stays: bool = False
    has_parent: bool = False
    """Whether standard input is a pipe that ends with whoever started it."""
    lsl: bool = False


class Closes(Protocol):
    """Whatever can be closed."""

    def close(self) -> None:
        """Let go."""
        ...


def run_engine(options: EngineOptions, say: Callable[[str], None]) -> str:
    """Run an engine in this process until its end; return why it ended."""
    from gazelive.engine.threads import hold_to_one_thread

    hold_to_one_thread()  # before anything heavy is imported
    from functools import partial

    from gazelive.engine.addresses import Addresses
    from gazelive.engine.engine_model import load_engine_model
    from gazelive.engine.keys import load_server_keys
    from gazelive.engine.runner import Engine, EngineSettings
    from gazelive.engine.session_run import RunSettings
    from gazelive.recordings.corpus import screen_in_corpus
    from gazelive.recordings.geometry import GeometryFlags

    folder = Path(options.folder)
    settings = EngineSettings(
        folder,
        Addresses.parse(options.address),
        model=None if options.model is None else Path(options.model),
        keys=None if options.keys is None else load_server_keys(Path(options.keys)),
        run=RunSettings(
            flags=GeometryFlags(options.screen_px, options.size_mm, options.distance_mm),
            corpus_screen=screen_in_corpus(folder),
            eye=options.eye,
            patterns=options.patterns,
        ),
        stays=options.stays,
    )
    if options.has_parent:
        from gazelive.engine.parent import when_parent_ends

        settings.is_left_alone = when_parent_ends().is_set
    outlets: list[Closes] = []
    if options.lsl:
        from gazelive.engine.lsl import GazeOutlet, PosteriorOutlet

        gaze, posteriors = GazeOutlet(folder.name), PosteriorOutlet(folder.name)
        settings.chunk_sinks, settings.sinks = [gaze], [posteriors]
        outlets += [gaze, posteriors]
    try:
        load = partial(load_engine_model, images=[Path(images) for images in options.images])
        return Engine(settings, load=load, say=say).run()
    finally:
        for outlet in outlets:
            outlet.close()
