"""`gazelive model`: look into a model, enrol and forget viewers, refit, merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.model_text import summary, tell
from gazelive.cli.options import OUT, ModelStimuli, Sessions, names_of, seeing
from gazelive.cli.trial_options import ModelTrialStart, ModelTrialStop, trial_patterns
from gazelive.cli.wording import counted, listed, quoted

app = typer.Typer(
    no_args_is_help=True, help="Look into a model, enrol and forget viewers, refit, merge."
)

ModelPath = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
Output = Annotated[
    Path | None,
    typer.Option(*OUT, help="Where to write.", show_default="over the model"),
]


@app.command()
def show(model_path: ModelPath, as_json: Json = False) -> None:
    """Say what a model is, who is in it, what it fits, and how good it seems."""
    from gazelive.identification.model_file import load_model

    facts = summary(load_model(model_path))
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
        return
    names = facts.pop("viewers")
    assert isinstance(names, list)
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    output.print(f"viewers: {', '.join(names[:20])}{more}", markup=False)
    detector = facts["detector"]
    if isinstance(detector, dict):
        facts["detector"] = f"{detector['method']} (its settings: add --json)"
    for name, value in facts.items():
        output.print(f"{name}: {_plain(value)}", markup=False)


def _plain(value: object) -> str:
    """Return a fact as a person reads it; what is not there is left out."""
    if isinstance(value, dict):
        there = {k: v for k, v in value.items() if v not in (None, "", (), [], {})}
        return ", ".join(f"{key} {_plain(v)}" for key, v in there.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)


@app.command()
def enrol(
    model_path: ModelPath,
    source: Annotated[
        Path, typer.Argument(metavar="CORPUS|TABLE", help="Recordings of the new viewers.")
    ],
    viewers: Annotated[
        str | None, typer.Option(help="Only these viewers, such as anna,ben.", show_default="all")
    ] = None,
    sessions: Sessions = None,
    stimuli: ModelStimuli = None,
    target: Output = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: ModelTrialStart = None,
    trial_stop: ModelTrialStop = None,
    quiet: Quiet = False,
) -> None:
    """Add viewers: only their own machines are fitted, against the scores the model keeps."""
    announce_first_compile(quiet=quiet)
    from dataclasses import replace

    from gazelive.errors import ConfigError
    from gazelive.identification.enrolment import enrol as enrol_viewers
    from gazelive.identification.model_file import load_model, save_model, trial_patterns_of
    from gazelive.identification.stimuli import image_problems
    from gazelive.offline.identification import check_fits, check_kind
    from gazelive.offline.scanpaths import gather, source_kind
    from gazelive.offline.training import detector_of, usable

    model = seeing(load_model(model_path), stimuli)
    check_kind(model, source_kind(source))
    patterns = trial_patterns(trial_start, trial_stop, trial_patterns_of(model))
    with progress(f"Reading {source.name}", quiet=quiet) as report:
        gathered = gather(
            source,
            detector=detector_of(model),
            flags=geometry_flags(screen, size_mm, distance_mm),
            trial_patterns=patterns,
            sessions=names_of(sessions),
            progress=report,
        )
    chosen = set(names_of(viewers))
    missing = chosen - {probe.viewer for probe in gathered.probes}
    if missing:
        absent = f"{listed(sorted(missing))} {'is' if len(missing) == 1 else 'are'}"
        raise ConfigError(f"{absent} not in {source}", key="--viewers")
    if chosen:
        kept = tuple(probe for probe in gathered.probes if probe.viewer in chosen)
        gathered = replace(gathered, probes=kept)
    check_fits(model, gathered)
    added, warnings = usable(gathered, source)
    shown = (path.image for path in added.scanpaths)
    for warning in (*gathered.warnings, *warnings, *image_problems(model.identifier, shown)):
        warn(warning)
    changed = enrol_viewers(model, added)
    target = target or model_path
    save_model(changed, target)
    say(
        f"Enrolled {', '.join(added.viewer_ids[:10])}: "
        f"{counted(len(changed.identifier.viewer_ids), 'viewer')} in {target}. After many changes: "
        f"gazelive model refit {quoted(target)}",
        quiet=quiet,
    )


@app.command()
def forget(
    model_path: ModelPath,
    viewers: Annotated[list[str], typer.Argument(metavar="VIEWER…", help="Whom to forget.")],
    target: Output = None,
    quiet: Quiet = False,
) -> None:
    """Remove viewers and everything that is kept of them.

    The pooled densities were fitted to their data too, among everybody's: to be rid of that, refit.
    """
    from gazelive.identification.enrolment import forget as forget_viewers
    from gazelive.identification.model_file import load_model, save_model

    changed = forget_viewers(load_model(model_path), viewers)
    target = target or model_path
    save_model(changed, target)
    say(
        f"Forgot {', '.join(viewers)}: {counted(len(changed.identifier.viewer_ids), 'viewer')} "
        f"left in {target}. To take them out of the pooled densities too: gazelive model refit "
        f"{quoted(target)}",
        quiet=quiet,
    )


@app.command()
def refit(model_path: ModelPath, target: Output = None, quiet: Quiet = False) -> None:
    """Train again from what the model keeps: densities, whitening, machines, calibration."""
    announce_first_compile(quiet=quiet)
    from gazelive.identification.model_file import load_model, save_model
    from gazelive.offline.training import refit as refit_model

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
    first: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")],
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="One with the same base.")],
    target: Annotated[Path, typer.Option(*OUT, help="Where to write.")],
    quiet: Quiet = False,
) -> None:
    """Put the viewers of two models with the same base into one."""
    from gazelive.identification.enrolment import merge as merge_models
    from gazelive.identification.model_file import load_model, save_model

    merged = merge_models(load_model(first), load_model(second))
    save_model(merged, target)
    say(f"{counted(len(merged.identifier.viewer_ids), 'viewer')} in {target}.", quiet=quiet)
