"""`gazelive record`: a session with a real, simulated or replayed tracker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gazelive.cli.terminal.console import (
    Json,
    Quiet,
    Terminal,
    announce_first_compile,
    output,
    warn,
)
from gazelive.cli.terminal.options import OUT, Bind, FileFar, FileStrangerPrior, Keys, Lsl
from gazelive.wording import bounded_percent, counted, quoted

if TYPE_CHECKING:
    from gazelive.experiment import RunSpec
    from gazelive.live import RunSummary, SessionResult
    from gazelive.recordings import SessionManifest

_WHO, _WHAT, _WINDOW = "Participant", "Images", "Windows"


def record(
    config_path: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT.toml", help="Configuration made by gazelive config init."
        ),
    ],
    device: Annotated[
        str | None,
        typer.Option(help="eyelink, simulated, or replay:FILE.", show_default="as the file says"),
    ] = None,
    viewer: Annotated[
        str | None,
        typer.Option(help="Participant ID; skips the dialog.", rich_help_panel=_WHO),
    ] = None,
    session: Annotated[
        int | None,
        typer.Option(min=1, help="Session number.", show_default="next free", rich_help_panel=_WHO),
    ] = None,
    eye: Annotated[
        str | None,
        typer.Option(help="L, R or LR.", show_default="as the file says", rich_help_panel=_WHO),
    ] = None,
    mode: Annotated[
        Literal["enrol", "identify"] | None,
        typer.Option(
            help="Record for training, or identify the participant.",
            show_default="enrol",
            rich_help_panel=_WHO,
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(help="Model file, to identify.", show_default="as the file says"),
    ] = None,
    far: FileFar = None,
    stranger_prior: FileStrangerPrior = None,
    simulate_as: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The simulated person.", show_default="the viewer"),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(min=1, help="Number of images.", rich_help_panel=_WHAT),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Viewing time per image, in seconds.", rich_help_panel=_WHAT),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(*OUT, help="Folder for the sessions.", show_default="as the file says"),
    ] = None,
    windowed: Annotated[
        bool,
        typer.Option(
            "--windowed", help="Use a window instead of the full screen.", rich_help_panel=_WINDOW
        ),
    ] = False,
    screen: Annotated[
        int | None,
        typer.Option(
            min=0, help="Number of the participant's screen, from 0.", rich_help_panel=_WINDOW
        ),
    ] = None,
    dashboard: Annotated[
        bool | None,
        typer.Option(
            "--dashboard/--no-dashboard",
            help="Open the experimenter's dashboard.",
            show_default="as the file says",
            rich_help_panel=_WINDOW,
        ),
    ] = None,
    bind: Bind = None,
    keys: Keys = None,
    lsl: Lsl = False,
    snapshots: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Save a picture of each kind of scene (drops frames).",
            rich_help_panel=_WINDOW,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an experiment with its tracker, engine and dashboard.

    The experimenter's keys: SPACE continues, S skips, R repeats, C calibrates, P pauses, ESC ends.
    Everything recorded is saved, however the session ends.
    """
    from gazelive.experiment import launch, prepare, resolved

    terminal = Terminal(quiet=quiet)
    spec = prepare(
        config_path,
        terminal,
        device=device,
        viewer=viewer,
        session=session,
        eye=eye,
        mode=mode,
        model=model,
        false_acceptance_rate=far,
        stranger_prior=stranger_prior,
        simulate_as=simulate_as,
        trials=trials,
        seconds=seconds,
        out=out,
        windowed=windowed,
        screen=screen,
        dashboard=dashboard,
        snapshots=snapshots,
        bind=bind,
        keys=keys,
        lsl=lsl,
        quiet=quiet or as_json,
    )
    if spec is None:
        terminal.say("Cancelled; nothing was recorded.")
        raise typer.Exit(1)
    announce_first_compile(quiet=quiet, elsewhere="online_kernels")
    result = launch(spec, resolved(spec.config.script, config_path), terminal)
    _tell(result, spec, as_json=as_json)
    if result.manifest is not None and not (result.is_analysed or result.was_interrupted):
        folder = quoted(spec.live.folder)
        warn(
            "not all samples were analysed; all are on disk: analyse them with "
            f"gazelive run --session {folder}"
        )
        raise typer.Exit(result.exit_code if result.exit_code > 0 else 1)
    raise typer.Exit(result.exit_code if result.exit_code >= 0 else 1)  # a signal is below 0


DIED = "the session was never closed (its process died, or the disk is full)"


def _tell(result: SessionResult, spec: RunSpec, *, as_json: bool) -> None:
    """Print the outcome of a session."""
    manifest, summary, folder = result.manifest, result.summary, spec.live.folder
    if manifest is None:
        warn("the session did not begin; nothing was written")
        return
    if as_json:
        facts = {
            "session": str(folder),
            "viewer": manifest.viewer,
            "mode": manifest.mode,
            "reason": manifest.stop_reason or DIED,
            **manifest.config.get("outcome", {}),
            "identified": None if summary is None else summary.as_json(),
        }
        output.print_json(json.dumps(facts))
        return
    for line in (*_course(manifest), *identified(summary), f"Wrote {folder}"):
        output.print(line, markup=False)
    host_file = manifest.config.get("host_file")
    if host_file and not any(folder.glob("*.edf")):
        warn(f"the EDF was not fetched: it is on the Host PC as {host_file}")
    following = (
        f"gazelive train {quoted(folder.parent)} -o lab.model"
        if spec.participant.mode == "enrol"
        else f"gazelive identify {quoted(spec.live.model or 'lab.model')} {quoted(folder)}"
    )
    output.print(f"Next: gazelive session report {quoted(folder)}   ·   {following}", markup=False)


def _course(manifest: SessionManifest) -> Iterator[str]:
    """Yield the course of the session: its end, trials, frames and times."""
    outcome: dict[str, Any] = manifest.config.get("outcome", {})
    trials = [what for _, _, what in outcome.get("trials", [])]
    frames = outcome.get("frames", {})
    yield f"Ended: {(manifest.stop_reason or DIED).rstrip('.')}."
    if outcome:
        outcomes = ", ".join(f"{trials.count(what)} {what}" for what in dict.fromkeys(trials))
        yield f"{counted(len(trials), 'trial')}: {outcomes or 'none'}."
    if frames.get("n"):
        synced = "" if frames.get("synced") else " (timed by the clock: no vertical sync)"
        yield (
            f"Frames: {frames['n']}, {frames['dropped']} dropped; median {frames['median_ms']:.1f} "
            f"ms, longest {frames['worst_ms']:.1f} ms{synced}."
        )
    shown_ms, delay_ms = outcome.get("image_ms"), outcome.get("onset_delay_ms")
    if shown_ms and delay_ms:
        yield (
            f"Images were shown for {shown_ms['median']:.1f} ms "
            f"({shown_ms['min']:.1f} to {shown_ms['max']:.1f}), {delay_ms['median']:.1f} ms after "
            f"the gate (at most {delay_ms['max']:.1f})."
        )
    recognition = outcome.get("recognition", {})
    if recognition.get("of"):
        yield f"Recognition: {recognition['right']} of {recognition['of']} answers correct."


def identified(summary: RunSummary | None) -> Iterator[str]:
    """Yield the result of the identification, if there is one."""
    verdict = None if summary is None else summary.verdict
    if summary is None or verdict is None:
        return
    facts = [f"after {counted(summary.n_saccades, 'saccade')} and {summary.seconds:.0f} s"]
    if verdict.status == "stranger":
        facts.append(verdict.details)
    elif summary.unknown is not None and verdict.status != "nothing":
        facts.append(f"nobody enrolled: {bounded_percent(summary.unknown)}")
    yield f"{verdict.headline}  ({'; '.join(facts)})"
