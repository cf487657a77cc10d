"""`gazelive config`: write, check and show the configuration of an experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.terminal.console import Json, Quiet, output, say, warn
from gazelive.cli.terminal.help import PlainApp
from gazelive.cli.terminal.options import REPLACE
from gazelive.wording import quoted

app = PlainApp(help="Write, check and show the configuration of an experiment.")

ConfigPath = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="Configuration of an experiment (TOML).", show_default=False
    ),
]


@app.command()
def init(
    where: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|FILE.toml",
            help="Where to write.",
            show_default="scene_viewing.toml here",
        ),
    ] = Path(),
    replace: Annotated[bool, typer.Option(*REPLACE, help="Overwrite existing files.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a configuration with every key explained, and the experiment's script beside it.

    If there is no folder of images, it also paints some to try the experiment with.
    """
    from gazelive.experiment import write_start

    written = write_start(where, replace=replace)
    for path in written.made:
        typer.echo(path)
    if written.painted is not None:
        say(f"{written.painted} has painted images to try it; replace them by yours.", quiet=quiet)
    say(f"Edit {written.toml} (your screen first). Then:", quiet=quiet)
    say(f"  gazelive config check {quoted(written.toml)}", quiet=quiet)
    say(f"  gazelive doctor {quoted(written.toml)}", quiet=quiet)


@app.command()
def check(file: ConfigPath, as_json: Json = False, quiet: Quiet = False) -> None:
    """Check a configuration; print a summary, or all its errors."""
    from gazelive.experiment import config_error, examine_config, missing_files, summary

    examined = examine_config(file)
    missing = missing_files(examined.config, file)
    if as_json:
        problems = [problem._asdict() for problem in examined.problems]
        facts = {"ok": not problems, "problems": problems, "warnings": missing}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
        raise typer.Exit(2 if problems else 0)
    if examined.problems:
        raise config_error(examined)
    for line in missing:
        warn(line)
    output.print(f"{file}: ok", markup=False)
    if not quiet:
        for line in summary(examined.config):
            output.print(f"  {line}", markup=False)


@app.command()
def show(file: ConfigPath, as_json: Json = False) -> None:
    """Show a configuration with all defaults, which are marked."""
    from gazelive.experiment import config_error, effective, examine_config, key_names, snapshot

    examined = examine_config(file)
    if examined.problems:
        raise config_error(examined)
    if as_json:
        defaults = [key for key in key_names() if key not in examined.given]
        facts = {"config": snapshot(examined.config), "defaults": defaults}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        typer.echo(effective(examined.config, examined.given), nl=False)
