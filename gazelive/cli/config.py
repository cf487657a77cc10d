"""`gazelive config`: write, check and show the TOML of an experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Json, Quiet, output, say, warn
from gazelive.cli.options import REPLACE
from gazelive.cli.wording import quoted

app = typer.Typer(no_args_is_help=True, help="Write, check and show the TOML of an experiment.")

ConfigPath = Annotated[
    Path, typer.Argument(metavar="FILE", help="The TOML of an experiment.", show_default=False)
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
    replace: Annotated[bool, typer.Option(*REPLACE, help="Overwrite what is there.")] = False,
    quiet: Quiet = False,
) -> None:
    """Write a TOML with every key, what it means and its default, and the script beside it."""
    from gazelive.config.starting import write_start

    written = write_start(where, replace=replace)
    for path in written.made:
        typer.echo(path)
    say(f"Edit {written.toml}: your screen first. Then:", quiet=quiet)
    say(f"  gazelive config check {quoted(written.toml)}", quiet=quiet)
    say(f"  gazelive doctor {quoted(written.toml)}", quiet=quiet)


@app.command()
def check(file: ConfigPath, as_json: Json = False, quiet: Quiet = False) -> None:
    """Say whether a TOML can be used, and what it asks for; or everything that is wrong with it."""
    from gazelive.config.reading import config_error, examine_config
    from gazelive.config.summary import summary
    from gazelive.experiment.named_files import missing_files

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
    """Show everything that holds with a TOML: what it says, and the defaults, marked."""
    from gazelive.config.reading import config_error, examine_config, snapshot
    from gazelive.config.template import effective, key_names

    examined = examine_config(file)
    if examined.problems:
        raise config_error(examined)
    if as_json:
        defaults = [key for key in key_names() if key not in examined.given]
        facts = {"config": snapshot(examined.config), "defaults": defaults}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        typer.echo(effective(examined.config, examined.given), nl=False)
