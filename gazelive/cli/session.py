"""`gazelive session`: which sessions there are, what is in one, and a report to archive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.options import OUT
from gazelive.cli.wording import counted, quoted

app = typer.Typer(
    no_args_is_help=True,
    help="Which sessions there are, what is in one, and a report of it to archive.",
)

SessionFolder = Annotated[
    Path, typer.Argument(metavar="SESSION", help="A session folder.", show_default=False)
]


@app.command(name="list")
def list_(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A folder with session folders in it, or in the folders in it (viewer/session).",
        ),
    ] = Path(),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the sessions under a folder, one row each; damaged ones are named too."""
    announce_first_compile(quiet=quiet)
    import msgspec

    from gazelive.cli.session_text import show_list
    from gazelive.reporting.listing import list_sessions

    with progress("Reading sessions", quiet=quiet) as report:
        rows = list_sessions(folder, report)
    if as_json:
        typer.echo(json.dumps(msgspec.to_builtins(rows), ensure_ascii=False, indent=2))
        return
    show_list(folder, rows)
    whole = [row for row in rows if row.n_trials is not None]
    if whole:
        say(f"\n{counted(len(rows), 'session')}.", quiet=quiet)
        say(f"Look into one with: gazelive session show {quoted(whole[0].folder)}", quiet=quiet)


@app.command()
def show(
    session: SessionFolder,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what is in a session: quality per trial, calibrations, who it was said to be."""
    announce_first_compile(quiet=quiet)
    from gazelive.cli.session_text import show_session
    from gazelive.reporting.session_facts import gather

    with progress(f"Reading {session.resolve().name}", quiet=quiet) as report:
        facts = gather(session, geometry_flags(screen, size_mm, distance_mm), report)
    if as_json:
        typer.echo(json.dumps(facts.as_json(), ensure_ascii=False, indent=2))
        return
    show_session(facts)
    for warning in facts.warnings:
        warn(warning)
    output.print("\nNext:")
    target = quoted(session)
    output.print(f"  [bold]gazelive session report {target}[/bold]  writes it as a page to archive")
    output.print(f"  [bold]gazelive export {target} --bids DATASET[/bold]  for sharing it")


@app.command()
def report(
    session: SessionFolder,
    target: Annotated[
        Path | None,
        typer.Option(
            *OUT,
            metavar="OUT.html",
            help="The page to write.",
            show_default="the session's name, in the working folder",
        ),
    ] = None,
    images: Annotated[
        list[Path] | None,
        typer.Option(
            "--images",
            metavar="DIR",
            help="Where the images are that were shown; may be given several times.",
            show_default="as configured then, else the stimuli that came with gazelive",
        ),
    ] = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    quiet: Quiet = False,
) -> None:
    """Write one page with everything about a session, to archive or print.

    Facts, quality per trial, calibration history, who it was said to be, main
    sequence and scanpaths, all in the page. The session itself is only read.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.atomic import write_bytes
    from gazelive.recordings.session_folder import read_manifest
    from gazelive.recordings.session_writer import now_iso
    from gazelive.reporting.page import session_page
    from gazelive.reporting.session_facts import gather

    folders = _existing(images or [])
    viewer = read_manifest(session).viewer
    path = target or Path(_report_name(session, viewer))
    _check_target(path, session)
    with progress(f"Reading {session.resolve().name}", quiet=quiet) as done:
        facts = gather(session, geometry_flags(screen, size_mm, distance_mm), done)
    for warning in facts.warnings:
        warn(warning)
    with progress("Drawing", quiet=quiet) as done:
        page = session_page(facts, images=folders, made_at=now_iso(), progress=done)
    content = page.encode()
    write_bytes(path, content)
    n_trials = len(facts.recording.trials)
    say(
        f"Wrote {path}: {counted(n_trials, 'trial')}, {len(content) / 1e6:.1f} MB. "
        "Open it in any browser; it needs nothing else.",
        quiet=quiet,
    )


def _existing(folders: list[Path]) -> list[Path]:
    from gazelive.errors import ConfigError

    for folder in folders:
        if not folder.is_dir():
            raise ConfigError("there is no such folder", path=folder, key="--images")
    return folders


def _report_name(session: Path, viewer: str | None) -> str:
    """Return a file name that tells whose session it is."""
    import re

    name = session.resolve().name
    stem = name if viewer is None or viewer in name else f"{viewer}_{name}"
    plain = re.sub(r"[^\w.-]+", "_", stem)
    return f"{plain}-report.html"


def _check_target(path: Path, session: Path) -> None:
    """Refuse a target that cannot be written, or must not be, before anything takes time."""
    from gazelive.errors import ConfigError

    if path.suffix.lower() not in {".html", ".htm"}:
        raise ConfigError(f"must end in .html, not {path.name!r}", key="-o")
    if path.is_dir() or not path.absolute().parent.is_dir():
        why = "is a folder" if path.is_dir() else "is in no folder that exists: make it first"
        raise ConfigError(why, path=path, key="-o")
    if path.resolve().is_relative_to(session.resolve()):
        raise ConfigError(
            "would be written into the session, which is only read: choose a place outside it",
            path=path,
            key="-o",
        )
