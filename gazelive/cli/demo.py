"""`gazelive demo`: a simulated lab, and who the dashboard says is looking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say, warn
from gazelive.cli.options import OUT, REPLACE
from gazelive.cli.wording import called_as, counted, listed, quoted

if TYPE_CHECKING:
    from gazelive.demonstration.lab import Demo
    from gazelive.demonstration.session import LiveSession


def demo(
    out: Annotated[Path, typer.Option(*OUT, help="Folder to write to.")] = Path("demo"),
    replace: Annotated[
        bool, typer.Option(*REPLACE, help="Remove an earlier demo in that folder first.")
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
    announce_first_compile(quiet=quiet, elsewhere="online_kernels")
    from gazelive.demonstration import lab

    lab.prepare_folder(out, replace=replace)
    try:
        result = _play(out, dashboard=dashboard, quiet=quiet)
    except KeyboardInterrupt:
        say(f"Stopped; what was recorded until then is in {out}.", quiet=quiet)
        raise
    if as_json:
        typer.echo(json.dumps(result.as_json(), indent=2))
    else:
        _tell(result)


def _play(out: Path, *, dashboard: bool, quiet: bool) -> Demo:
    """Enrol, and let both sit down; say before each what it is, and what is left out."""
    from gazelive.demonstration import lab
    from gazelive.demonstration.population import N_VIEWERS
    from gazelive.demonstration.session import some_screen, why_no_dashboard, why_no_window
    from gazelive.experiment.virtual_display import has_screen

    if not has_screen():
        say("No screen here: what would be seen is saved as pictures.", quiet=quiet)
    missing = why_no_dashboard()
    if dashboard and missing is not None:
        warn(f"no dashboard: {missing}")
    stimuli, photographs = lab.images_of_demo(out)
    if not photographs:
        warn(f"no folder stimuli with photographs here: painted images ({stimuli}) stand in")
    with progress(f"Enrolling {N_VIEWERS} simulated people (once)", quiet=quiet) as report:
        model = lab.model_of_people(stimuli, out, report)
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
                        viewer,
                        model,
                        stimuli,
                        out,
                        shows=dashboard and missing is None,
                        window=left_out is None,
                        say=lambda text: say(text, quiet=quiet),
                        report=report,
                    )
                )
    return lab.Demo(model, *sessions)


def _tell(result: Demo) -> None:
    _tell_session(result.viewer, "is enrolled, and sat down for a second session")
    if (result.viewer.summary.unknown or 0.0) > 0.5:
        output.print(
            "  That is wrong: seconds are not always enough, and no stranger is to be let in.",
            markup=False,
        )
    _tell_session(result.stranger, "is not enrolled")
    written = {result.model: "the model of those enrolled"}
    for session in (result.viewer, result.stranger):
        written[session.folder] = f"what was recorded of {session.viewer}, and what was found"
        written |= dict.fromkeys(session.seen, f"what was to be seen meanwhile ({session.viewer})")
    width = max(len(str(path)) for path in written)
    output.print("\nWritten:", markup=False)
    for path, what in written.items():
        output.print(f"  {path!s:{width}}  {what}", markup=False)
    program, model, folder = called_as(), quoted(result.model), quoted(result.viewer.folder)
    out = result.model.parent
    output.print("Try next:", markup=False)
    for command in (
        f"identify {model} {folder} --explain",
        f"replay {folder} --model {model} --speed 4",
        f"detect {folder} -o {quoted(out / 'saccades.csv')} --plot {quoted(out / 'saccades.png')}",
        f"session report {folder}",
    ):
        output.print(f"  {program} {command}", markup=False)


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
        if crossing is not None:
            output.print(
                f"  {level:.0%} was passed after {crossing.seconds:.1f} s of viewing, "
                f"{counted(crossing.n_saccades, 'saccade')}.",
                markup=False,
            )
    never = [f"{level:.0%}" for level, crossing in summary.crossed.items() if crossing is None]
    if never:
        verb = "was" if len(never) == 1 else "were"
        output.print(f"  {listed(never)} {verb} never passed.", markup=False)
