"""`gazelive demo`: a simulated lab from enrolment to identification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.terminal.console import (
    Json,
    Quiet,
    Terminal,
    announce_first_compile,
    output,
    progress,
    reached,
    say,
    warn,
)
from gazelive.cli.terminal.options import OUT, REPLACE
from gazelive.wording import called_as, counted, quoted

if TYPE_CHECKING:
    from gazelive.demo import Demo, LiveSession


def demo(
    out: Annotated[Path, typer.Option(*OUT, help="Folder to write to.")] = Path("demo"),
    replace: Annotated[
        bool, typer.Option(*REPLACE, help="Replace an earlier demo in that folder.")
    ] = False,
    method: Annotated[
        str, typer.Option(help="Identification method, one of those of train.")
    ] = "gazelive",
    dashboard: Annotated[
        bool, typer.Option("--dashboard/--no-dashboard", help="Open a dashboard.")
    ] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Enrol simulated people, then identify one of them and a stranger in live sessions.

    Each session has its experiment, tracker, session folder, engine and dashboard. Without a
    screen the windows are drawn off screen and saved as pictures.
    """
    announce_first_compile(quiet=quiet, elsewhere="online_kernels")
    from gazelive.demo import check_method, prepare_folder

    check_method(method)
    prepare_folder(out, replace=replace)
    try:
        result = _play(out, method, dashboard=dashboard, quiet=quiet)
    except KeyboardInterrupt:
        say(f"Stopped; what was recorded until then is in {out}.", quiet=quiet)
        raise
    if as_json:
        typer.echo(json.dumps(result.as_json(), indent=2))
    else:
        _tell(result)


def _play(out: Path, method: str, *, dashboard: bool, quiet: bool) -> Demo:
    """Enrol the people and run both sessions; announce each, and what is missing."""
    from gazelive.demo import (
        N_IMAGES,
        N_VIEWERS,
        STRANGER,
        VIEWER,
        Demo,
        images_of_demo,
        model_of_people,
        person,
        some_screen,
        why_no_dashboard,
        why_no_window,
    )
    from gazelive.system import has_screen

    if not has_screen():
        say("No screen: the windows are saved as pictures.", quiet=quiet)
    missing = why_no_dashboard()
    if dashboard and missing is not None:
        warn(f"no dashboard: {missing}")
    stimuli, photographs = images_of_demo(out)
    if not photographs:
        warn(f"no folder stimuli with photographs: using painted images ({stimuli})")
    task = f"Enrolling {N_VIEWERS} simulated people for {method} (once)"
    with progress(task, quiet=quiet) as report:
        model = model_of_people(stimuli, method, out, report)
    sessions = []
    with some_screen() as has_some:
        left_out = why_no_window(has_some_screen=has_some)
        if left_out is not None:
            warn(f"cross and images are not shown in a window: {left_out}")
        for viewer, who in ((VIEWER, "one of them"), (STRANGER, "a stranger")):
            n_images = counted(N_IMAGES[viewer], "image")
            say(f"{viewer}, {who}, looks at {n_images} …", quiet=quiet)
            with progress("Recording live", quiet=quiet) as report:
                sessions.append(
                    person(
                        viewer,
                        model,
                        stimuli,
                        out,
                        shows=dashboard and missing is None,
                        window=left_out is None,
                        observer=Terminal(quiet=quiet),
                        report=report,
                    )
                )
    return Demo(model, stimuli, *sessions)


def _tell(result: Demo) -> None:
    from gazelive.identification import read_model_manifest

    _tell_session(result.viewer, "is enrolled, second session")
    verdict = result.viewer.summary.verdict
    if verdict is not None and verdict.status == "stranger":
        output.print(
            "  That is wrong: a few seconds are not always enough evidence.",
            markup=False,
        )
    _tell_session(result.stranger, "is not enrolled")
    written = {result.model: "the model of the enrolled people"}
    for session in (result.viewer, result.stranger):
        written[session.folder] = f"the session of {session.viewer}"
        for path in session.seen:
            is_dashboard = path.name.startswith("dashboard")
            shown = "the dashboard" if is_dashboard else "the participant's screen"
            written[path] = f"{shown} during the session ({session.viewer})"
    width = max(len(str(path)) for path in written)
    output.print("\nWritten:", markup=False)
    for path, what in written.items():
        output.print(f"  {path!s:{width}}  {what}", markup=False, soft_wrap=True)
    program, model, folder = called_as(), quoted(result.model), quoted(result.viewer.folder)
    out = result.model.parent
    looks = read_model_manifest(result.model).provenance.stimuli
    stimuli = quoted(result.stimuli)
    output.print("Try next:", markup=False)
    for command in (
        f"identify {model} {folder} --explain{f' --stimuli {stimuli}' if looks else ''}",
        f"replay {folder} --model {model} --speed 4{f' --images {stimuli}' if looks else ''}",
        f"detect {folder} -o {quoted(out / 'saccades.csv')} --plot {quoted(out / 'saccades.png')}",
        f"session report {folder}",
    ):
        output.print(f"  {program} {command}", markup=False, soft_wrap=True)


def _tell_session(session: LiveSession, who: str) -> None:
    summary = session.summary
    output.print(f"\n{session.viewer} {who}:", markup=False)
    verdict = summary.verdict
    if verdict is None:
        output.print("  No identification.", markup=False)
        return
    details = f"; {verdict.details}" if verdict.details else ""
    output.print(
        f"  After {counted(summary.n_images, 'image')}, {summary.seconds:.0f} s and "
        f"{counted(summary.n_saccades, 'saccade')}: {verdict.headline}{details}.",
        markup=False,
    )
    for level, crossing in summary.crossed.items():
        output.print(f"  {reached(level, crossing)}", markup=False)
