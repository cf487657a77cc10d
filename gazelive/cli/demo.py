"""`gazelive demo`: the whole path of the data, with a simulated person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say
from gazelive.cli.wording import counted

if TYPE_CHECKING:
    from gazelive.offline.demo import DemoResult


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("demo"),
    speed: Annotated[
        float, typer.Option(min=0, help="Times real time of the replay; 0 is as fast as it goes.")
    ] = 10.0,
    replace: Annotated[
        bool, typer.Option("--replace", help="Remove an earlier demo in that folder first.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let a simulated person look at images, record it as a tracker would, find the saccades."""
    announce_first_compile(quiet=quiet)
    from gazelive.offline import demo as steps

    if replace:
        steps.remove_demo(out)
    steps.refuse_taken(out)
    out.mkdir(parents=True, exist_ok=True)
    with progress("Simulating a person who looks at images", quiet=quiet) as report:
        recording = steps.simulate_viewer(out, report)
    say(f"Simulated {counted(len(recording.blocks), 'trial')} of {recording.viewer}.", quiet=quiet)
    with progress("Replaying it through the device to disk", quiet=quiet) as report:
        steps.replay_to_disk(recording, out / "session", speed or None, report)
    with progress("Finding saccades and drawing", quiet=quiet) as report:
        result = steps.analyse_session(out / "session", out, report)
    if as_json:
        _print_json(result)
        return
    from gazelive.cli import info_summary

    info_summary.show(info_summary.of_recording(result.recording))
    _tell(result)


def _print_json(result: DemoResult) -> None:
    import json

    facts = {
        "viewer": result.viewer,
        "session": str(result.session),
        "n_samples": result.recording.n_samples,
        "n_saccades": result.analysis.n_saccades,
        "table": str(result.table),
        "figures": [str(figure) for figure in result.figures],
    }
    typer.echo(json.dumps(facts, indent=2))


def _tell(result: DemoResult) -> None:
    seconds = sum(
        (i.interval.end_us - i.interval.start_us) / 1e6 for i in result.analysis.intervals
    )
    output.print(
        f"\n{result.viewer} looked at {counted(len(result.analysis.intervals), 'image')} for "
        f"{seconds:.0f} s and made {counted(result.analysis.n_saccades, 'saccade')}.",
        markup=False,
    )
    output.print(
        f"Wrote {result.session} (samples and messages), {result.table}, "
        + ", ".join(str(figure) for figure in result.figures)
        + ".",
        markup=False,
    )
    output.print("Try next:", markup=False)
    for command in (
        f"gazelive info {result.session}",
        f"gazelive detect {result.session} --plot {result.session.parent / 'trial.png'}",
        f"gazelive convert {result.session} {result.session.parent / 'session.asc'}",
        "gazelive simulate corpus --viewers 4 --images 10 --pool 40",
    ):
        output.print(f"  {command}", markup=False)
