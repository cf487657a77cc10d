"""`gazelive keys`: let another computer watch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Quiet, say
from gazelive.cli.options import OUT
from gazelive.cli.wording import quoted


def keys(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name for the other computer, such as lab-2.")
    ],
    folder: Annotated[
        Path | None,
        typer.Option(*OUT, help="Where keys are kept.", show_default="your settings folder"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Make keys for another computer, so that a dashboard there may watch what happens here.

    The first time it makes the engine's own keys too. Whoever has no keys gets nothing.
    """
    from gazelive.engine.keys import keys_folder, make_keys

    folder = folder or keys_folder()
    made = make_keys(folder, name)
    typer.echo(made)
    say(f"Take the folder {made} to the other computer, by a way you trust. Then:", quiet=quiet)
    say(f"  here:   gazelive run … --bind THIS-COMPUTER --keys {quoted(folder)}", quiet=quiet)
    say(
        f"  there:  gazelive dashboard --connect THIS-COMPUTER --keys {quoted(made.name)}",
        quiet=quiet,
    )
