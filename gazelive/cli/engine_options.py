"""What every command that runs an engine can be told."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gazelive.engine.options import EngineOptions
    from gazelive.recordings.geometry import GeometryFlags
    from gazelive.recordings.trials import TrialPatterns

NETWORK = "Other computers"

Model = Annotated[
    Path | None, typer.Option("--model", help="Made by gazelive train; without it only events.")
]
Images = Annotated[
    list[Path] | None,
    typer.Option(
        "--images",
        metavar="FOLDER",
        help="Where the images are, for the dashboard and for scenewalk trained with them; may be "
        "given several times.",
    ),
]
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FOLDER",
        help="Keys (gazelive keys): needed where other computers may connect.",
        show_default=False,
        rich_help_panel=NETWORK,
    ),
]
Lsl = Annotated[
    bool, typer.Option("--lsl", help="Also send gaze and posteriors to the lab streaming layer.")
]


def engine_options(
    folder: Path,
    address: str,
    *,
    model: Path | None,
    images: Sequence[Path] | None,
    keys: Path | None,
    lsl: bool,
    flags: GeometryFlags,
    patterns: TrialPatterns,
    stays: bool = False,
) -> EngineOptions:
    """Return what an engine is to be told; refuse at once what it could not do."""
    from gazelive.engine.addresses import Addresses
    from gazelive.engine.keys import load_server_keys, require_keys
    from gazelive.engine.lsl import load_pylsl
    from gazelive.engine.options import EngineOptions
    from gazelive.errors import ConfigError

    addresses = Addresses.parse(address)
    require_keys(str(addresses), is_loopback=addresses.is_loopback, has_keys=keys is not None)
    if keys is not None:
        load_server_keys(keys)
    if lsl:
        load_pylsl()
    for images_folder in images or ():
        if not images_folder.is_dir():
            raise ConfigError("there is no such folder of images", path=images_folder)
    return EngineOptions(
        folder=str(folder),
        address=str(addresses),
        model=None if model is None else str(model),
        images=tuple(map(str, images or ())),
        keys=None if keys is None else str(keys),
        screen_px=flags.screen_px,
        size_mm=flags.size_mm,
        distance_mm=flags.distance_mm,
        patterns=patterns,
        stays=stays,
        lsl=lsl,
    )


@contextlib.contextmanager
def killed_in_order() -> Iterator[None]:
    """Let `kill` end the block as Ctrl-C does: with what it has begun closed."""
    if threading.current_thread() is not threading.main_thread():  # which alone hears signals
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
