"""`gazelive demo`: a simulated lab, and who the dashboard says is looking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say, warn
from gazelive.cli.wording import counted

if TYPE_CHECKING:
    from gazelive.demonstration.lab import Demo
    from gazelive.demonstration.session import LiveSession


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("demo"),
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove an earlier demo in that folder first.")
    ] = False,
    dashboard: Annotated[
        bool, typer.Option("--dashboard/--no-dashboard", help="Show what is found.")
    ] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Enrol simulated people, let one of them and then a stranger look at images, say who it is.

    Everything goes the way of a live session: experiment, tracker, disk, engine, dashboard.
    Without a screen the windows are drawn unseen and saved as pictures.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.demonstration import lab
    from gazelive.demonstration.population import N_VIEWERS
    from gazelive.demonstration.session import some_screen, why_no_dashboard, why_no_window
    from gazelive.experiment.virtual_display import has_screen

    lab.prepare_folder(out, replace=replace)
    missing = why_no_dashboard()
    if dashboard and missing is not None:
        warn(f"no dashboard: {missing}")
    shows = dashboard and missing is None
    if not has_screen():
        say("No screen here: what would be seen is saved as pictures.", quiet=quiet)
    stimuli, photographs = lab.images_of_demo(out)
    if not photographs:
        warn(f"no folder stimuli with photographs here: painted images ({stimuli}) stand in")
    with progress(f"Enrolling {N_VIEWERS} simulated people (once)", quiet=quiet) as report:
        model = lab.model_of_people(out, report)
    sessions = []
    with some_screen() as has_some:
        left_out = why_no_window(has_some_screen=has_some)
        if left_out is not None:
            warn(f"cross and images are not shown in a window: {left_out}; all else is the same")
        for viewer, who in ((lab.VIEWER, "one of them"), (lab.STRANGER, "a stranger")):
            n_images = counted(lab.N_IMAGES[viewer], "image")
            say(f"{viewer}, {who}, looks at {n_images} …", quiet=quiet)
            with progress("Recording live", quiet=quiet) as report:
                sessions.append(
                    lab.person(
                        viewer, model, stimuli, out,
                        shows=shows, window=left_out is None, report=report,
                    )
                )  # fmt: skip
    result = lab.Demo(model, *sessions)
    if as_json:
        typer.echo(json.dumps(result.as_json(), indent=2))
    else:
        _tell(result)


def _tell(result: Demo) -> None:
    _tell_session(result.viewer, "is enrolled, and sat down for a second session")
    _tell_session(result.stranger, "is not enrolled")
    written = [result.model, result.viewer.folder, result.stranger.folder]
    written += [path for s in (result.viewer, result.stranger) for path in s.seen]
    output.print("\nWrote " + ", ".join(map(str, written)) + ".", markup=False)
    output.print("Try next:", markup=False)
    for command in (
        f"gazelive identify {result.model} {result.viewer.folder} --explain",
        f"gazelive replay {result.viewer.folder} --model {result.model} --speed 4",
        f"gazelive detect {result.viewer.folder} --plot {result.model.parent / 'saccades.png'}",
        f"gazelive session report {result.viewer.folder}",
    ):
        output.print(f"  {command}", markup=False)


def _tell_session(session: LiveSession, who: str) -> None:
    summary = session.summary
    output.print(f"\n{session.viewer} {who}.", markup=False)
    if summary.best is None or summary.p is None or summary.unknown is None:
        output.print("  The engine said nothing about who it is.", markup=False)
        return
    verdict = (
        f"probably nobody enrolled ({summary.unknown:.0%} unknown; the nearest is {summary.best})"
        if summary.unknown > 0.5
        else f"{summary.best}, {summary.p:.1%}"
    )
    output.print(
        f"  After {counted(summary.n_images, 'image')}, {summary.seconds:.0f} s and "
        f"{counted(summary.n_saccades, 'saccade')}: {verdict}.",
        markup=False,
    )
    for level, crossing in summary.crossed.items():
        if crossing is None:
            output.print(f"  {level:.0%} was never passed.", markup=False)
        else:
            output.print(
                f"  {level:.0%} was passed after {crossing.seconds:.1f} s of viewing, "
                f"{counted(crossing.n_saccades, 'saccade')}.",
                markup=False,
            )
