"""`gazelive dashboard`: watch a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.terminal.options import ClientKeys, Connect


def dashboard(
    connect: Connect = None,
    keys: ClientKeys = None,
    images: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Folder of the images; repeatable."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FIGURE",
            help="Save the window as .png or .svg at the end of the run, then close.",
        ),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WIDTHxHEIGHT", help="Size of the window in pixels.")
    ] = None,
    monitor: Annotated[
        int | None,
        typer.Option(min=0, help="Number of the screen, from 0.", show_default="as last time"),
    ] = None,
    beside: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of an experiment's screen: leave room for its window there.",
            show_default=False,
        ),
    ] = None,
    hide_viewer: Annotated[
        bool, typer.Option("--hide-viewer", help="Hide the participant's ID.")
    ] = False,
    with_parent: Annotated[
        bool,
        typer.Option(
            "--with-parent",
            help="Close after the run if the program that started the dashboard is gone.",
        ),
    ] = False,
) -> None:
    """Show the live identification, its evidence and the data quality.

    Finds your run on this computer by its run file. Can be started before the run, opened again
    during it, and stays open after its end.
    """
    from gazelive.errors import ConfigError
    from gazelive.live import Door
    from gazelive.system import parent_exit

    door = Door(connect, keys)
    if save is not None and not save.absolute().parent.is_dir():
        raise ConfigError("there is no such folder; create it first", path=save.parent)
    if save is not None and save.suffix.lower() not in {".png", ".svg"}:
        raise ConfigError(f"must end in .png or .svg, not {save.name!r}", key="--save")
    window_size = None if size is None else _size(size)
    try:
        from gazelive.dashboard import run_dashboard
    except ImportError as error:
        raise ConfigError(
            f"the dashboard needs Qt ({error}): pip install 'gazelive[dashboard]'"
        ) from error
    from gazelive.dashboard import RunFeed

    feed = RunFeed(door)
    try:
        code = run_dashboard(
            feed,
            image_folders=images or (),
            save=save,
            size=window_size,
            monitor=monitor,
            beside=beside,
            hide_viewer=hide_viewer,
            is_left_alone=parent_exit().is_set if with_parent else lambda: False,
        )
    finally:
        feed.close()
    raise typer.Exit(code)


def _size(text: str) -> tuple[int, int]:
    from gazelive.errors import ConfigError

    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) > 0 and int(height) > 0):
        raise ConfigError(f"must be WIDTHxHEIGHT such as 1280x800, not {text!r}", key="--size")
    return int(width), int(height)
