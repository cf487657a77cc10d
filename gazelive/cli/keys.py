"""`gazelive keys`: keys for dashboards on other computers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.terminal.console import Quiet, say
from gazelive.cli.terminal.options import OUT
from gazelive.wording import quoted


def keys(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the other computer, such as lab-2.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option(*OUT, help="Folder of the keys.", show_default="your settings folder"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Make keys that let a dashboard on another computer connect to this one.

    The first call also makes the engine's own keys. Without keys no other computer can connect.
    """
    from gazelive.live import keys_folder, make_keys

    folder = folder or keys_folder()
    made = make_keys(folder, name)
    typer.echo(made)
    say(f"Copy the folder {made} to the other computer in a secure way. Then:", quiet=quiet)
    say(f"  here:   gazelive record … --bind THIS-COMPUTER --keys {quoted(folder)}", quiet=quiet)
    say(
        f"  there:  gazelive dashboard --connect THIS-COMPUTER --keys {quoted(made.name)}",
        quiet=quiet,
    )
