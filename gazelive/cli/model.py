"""`gazelive model`: show a model; enrol and forget viewers; refit; merge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gazelive.cli.terminal.console import (
    Json,
    Quiet,
    Terminal,
    announce_first_compile,
    output,
    progress,
    say,
    warn,
)
from gazelive.cli.terminal.help import PlainApp
from gazelive.cli.terminal.options import (
    OUT,
    DistanceMm,
    ModelImageOnset,
    ModelStimuli,
    ModelTrialStart,
    ModelTrialStop,
    Screen,
    Sessions,
    SizeMm,
    Trials,
    geometry_flags,
    names_of,
    trial_patterns,
)
from gazelive.wording import counted, duration, quoted

if TYPE_CHECKING:
    from gazelive.identification import TrainedModel

MOST_NAMED = 20
"""Largest number of viewers, sessions or changes that are listed."""

app = PlainApp(help="Show a model; enrol and forget viewers; refit; merge.")

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")]
Output = Annotated[
    Path | None,
    typer.Option(*OUT, help="File to write.", show_default="the model itself"),
]


@app.command()
def show(model_path: ModelPath, as_json: Json = False) -> None:
    """Show a model: its viewers, training data, accuracy and requirements."""
    from gazelive.identification import load_model, method_kind

    model = load_model(model_path)
    if as_json:
        typer.echo(json.dumps(summary(model), indent=2))
        return
    method, kind = model.identifier.method, method_kind(model.identifier.method, model.kind)
    output.print(f"[bold]{escape(model_path.name)}[/bold]  {method} ({kind})\n")
    for name, text in _rows(model).items():
        if text:
            output.print(f"  [cyan]{name:<11}[/cyan]  {escape(text)}")
    output.print("\nAll settings: add --json.")


def _rows(model: TrainedModel) -> dict[str, str]:
    """Return the facts of a model as names and texts; empty ones do not apply."""
    viewers, made = model.identifier.viewer_ids, model.provenance
    n_saccades = sum(path.n_saccades for path in model.training.scanpaths)
    kind = "recordings" if model.kind == "samples" else "a fixation table"
    sessions = f", sessions {_some(made.sessions)}" if any(made.sessions) else ""
    rates, vigor_deg = model.rate_range_hz, model.fitted.vigor_rate_deg
    return {
        "viewers": f"{len(viewers)}: {_some(viewers)}",
        "trained on": f"{kind} ({made.source}{sessions}): "
        f"{counted(len(model.training), 'scanpath')}, {counted(n_saccades, 'saccade')}, "
        f"{duration(made.seconds)}",
        "left out": _some(made.left_out, "; "),
        "changes": _some(made.changes, "; "),
        "accuracy": "" if model.fitted.accuracy is None else str(model.fitted.accuracy),
        "by images": _by_images(model),
        "calibration": model.fitted.calibration,
        "strangers": f"{100 * made.false_acceptance_rate:g} % false-acceptance rate",
        "trials": ", ".join(f"{name} {text}" for name, text in made.trial_patterns.items()),
        "takes": "fixation tables"
        if rates is None
        else f"recordings of {rates[0]:g} to {rates[1]:g} Hz",
        "detector": "" if model.detector is None else model.detector.method,
        "vigor": "" if vigor_deg is None else f"rate b = {vigor_deg:.3g}°",
        "images": "needs the images' files (--stimuli)" if made.stimuli else "",
        "base": model.base_id,
    }


def _some(names: Sequence[str], separator: str = ", ") -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return separator.join(names[:MOST_NAMED]) + more


@app.command()
def enrol(
    model_path: ModelPath,
    source: Annotated[Path, typer.Argument(metavar="CORPUS|TABLE", help="Recordings to enrol.")],
    viewers: Annotated[
        str | None, typer.Option(help="Only these viewers, such as anna,ben.", show_default="all")
    ] = None,
    sessions: Sessions = None,
    stimuli: ModelStimuli = None,
    target: Output = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: ModelTrialStart = None,
    trial_stop: ModelTrialStop = None,
    image_onset: ModelImageOnset = None,
    quiet: Quiet = False,
) -> None:
    """Add viewers, or sessions of enrolled viewers, without retraining the others.

    A viewer with a new session is learned anew from all sessions that the model then has.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.identification import load_model, save_model, trial_patterns_of
    from gazelive.workflows import enrol_source, with_images

    model = with_images(load_model(model_path), stimuli, "--stimuli")
    changed, added = enrol_source(
        model,
        source,
        Terminal(quiet=quiet),
        viewers=names_of(viewers),
        sessions=names_of(sessions),
        flags=geometry_flags(screen, size_mm, distance_mm),
        trial_patterns=trial_patterns(
            source,
            trials,
            trial_start,
            trial_stop,
            image_onset,
            quiet=quiet,
            usual=trial_patterns_of(model),
        ),
    )
    target = target or model_path
    save_model(changed, target)
    say(
        f"Enrolled {_added(model, changed, added)}: "
        f"{counted(len(changed.identifier.viewer_ids), 'viewer')} in {target}. After many changes: "
        f"gazelive model refit {quoted(target)}",
        quiet=quiet,
    )


def _added(before: TrainedModel, after: TrainedModel, viewers: Sequence[str]) -> str:
    """Return the new viewers, and those of whom there are more sessions, in words."""
    known = set(before.identifier.viewer_ids)
    new = [viewer for viewer in viewers if viewer not in known]
    again = [viewer for viewer in viewers if viewer in known]
    parts = [", ".join(new[:10])] if new else []
    if again:
        sessions = after.training.viewer_sessions - before.training.viewer_sessions
        n = sum(viewer in known for viewer, _ in sessions)
        parts.append(f"{counted(n, 'more session')} of {', '.join(again[:10])}")
    return "; ".join(parts)


@app.command()
def forget(
    model_path: ModelPath,
    viewers: Annotated[list[str], typer.Argument(metavar="VIEWER", help="Viewers to forget.")],
    target: Output = None,
    quiet: Quiet = False,
) -> None:
    """Remove viewers and all their data.

    The pooled densities were fitted to their data too; refit to remove that influence.
    """
    from gazelive.identification import forget as forget_viewers, load_model, save_model

    changed = forget_viewers(load_model(model_path), viewers)
    target = target or model_path
    save_model(changed, target)
    say(
        f"Forgot {', '.join(viewers)}: {counted(len(changed.identifier.viewer_ids), 'viewer')} "
        f"left in {target}. To remove them from the pooled densities too: gazelive model refit "
        f"{quoted(target)}",
        quiet=quiet,
    )


@app.command()
def refit(model_path: ModelPath, target: Output = None, quiet: Quiet = False) -> None:
    """Retrain everything from the scanpaths that the model keeps."""
    announce_first_compile(quiet=quiet)
    from gazelive.identification import load_model, save_model
    from gazelive.workflows import refit as refit_model

    model = load_model(model_path)
    with progress(f"Training {model.identifier.method}", quiet=quiet) as report:
        again = refit_model(model, report)
    for warning in again.warnings:
        warn(warning)
    save_model(again.model, target or model_path)
    tell(again.model, quiet=quiet)
    say(f"Wrote {target or model_path}.", quiet=quiet)


@app.command()
def merge(
    first: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")],
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="Model with the same base.")],
    target: Annotated[Path, typer.Option(*OUT, help="File to write.")],
    quiet: Quiet = False,
) -> None:
    """Merge the viewers of two models with the same base.

    A viewer of both is taken from MODEL, with the sessions that MODEL has.
    """
    from gazelive.identification import load_model, merge as merge_models, save_model

    merged = merge_models(load_model(first), load_model(second))
    save_model(merged, target)
    say(f"{counted(len(merged.identifier.viewer_ids), 'viewer')} in {target}.", quiet=quiet)


def tell(model: TrainedModel, *, quiet: bool) -> None:
    """Write a summary of a model."""
    n_saccades = sum(path.n_saccades for path in model.training.scanpaths)
    say(
        f"{model.identifier.method} for {counted(len(model.identifier.viewer_ids), 'viewer')}, "
        f"from {counted(len(model.training), 'scanpath')} with {counted(n_saccades, 'saccade')}.",
        quiet=quiet,
    )
    if model.fitted.accuracy is not None:
        say(f"Accuracy by cross-validation: {model.fitted.accuracy}.", quiet=quiet)
    if model.fitted.accuracy_by_images:
        say(f"By number of images: {_by_images(model)}.", quiet=quiet)
    say(f"Calibration: {model.fitted.calibration}.", quiet=quiet)


def _by_images(model: TrainedModel) -> str:
    """Return the accuracy for 1, 10 and all images in words."""
    return ", ".join(
        f"{found.estimate:.3f} ± {found.standard_error:.3f} with "
        f"{'all of a fold' if name == 'all' else name} (n = {found.n})"
        for name, found in model.fitted.accuracy_by_images.items()
    )


def summary(model: TrainedModel) -> dict[str, object]:
    """Return the facts about a model for JSON."""
    import msgspec

    from gazelive.identification import method_kind

    identifier = model.identifier
    accuracy = model.fitted.accuracy
    return {
        "method": identifier.method,
        "method_kind": method_kind(identifier.method, model.kind),
        "kind": model.kind,
        "n_viewers": len(identifier.viewer_ids),
        "viewers": list(identifier.viewer_ids),
        "n_scanpaths": len(model.training),
        "n_saccades": sum(path.n_saccades for path in model.training.scanpaths),
        "rate_range_hz": model.rate_range_hz,
        "vigor_rate_deg": model.fitted.vigor_rate_deg,
        "calibration": model.fitted.calibration,
        "accuracy": None if accuracy is None else msgspec.to_builtins(accuracy),
        "accuracy_by_images": msgspec.to_builtins(model.fitted.accuracy_by_images),
        "expectation": msgspec.to_builtins(model.expectation),
        "detector": None if model.detector is None else msgspec.to_builtins(model.detector),
        "base_id": model.base_id,
        "provenance": msgspec.to_builtins(model.provenance),
    }
