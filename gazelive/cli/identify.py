"""`gazelive identify`: who is looking in a recording, a table or a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, output, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.options import ModelStimuli, names_of, seeing
from gazelive.cli.trial_options import ModelTrialStart, ModelTrialStop, trial_patterns
from gazelive.cli.wording import counted

if TYPE_CHECKING:
    from gazelive.identification.model_file import TrainedModel
    from gazelive.offline.identification import Floats, ProbeResult


def identify(
    model_path: Annotated[Path, typer.Argument(metavar="MODEL", help="Made by gazelive train.")],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING|TABLE|CORPUS",
            help="Each recording, or each viewer label of a fixation table, is one probe.",
        ),
    ],
    session: Annotated[
        str | None, typer.Option(help="Only this session (or several: 1,2).", show_default="all")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="How likely viewers are before anything is seen, such as anna=3,ben=1; all "
            "others count 1.",
            show_default="even",
        ),
    ] = None,
    stimuli: ModelStimuli = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which features spoke for and against the best.")
    ] = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: ModelTrialStart = None,
    trial_stop: ModelTrialStop = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say who it is: the posterior over the enrolled viewers, and whether it may be a stranger.

    A name that stands in the corpus or the table is never used for that.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.identification.model_file import load_model, trial_patterns_of
    from gazelive.identification.stimuli import image_problems
    from gazelive.offline.identification import check_fits, check_kind, results_json
    from gazelive.offline.identification import identify as identify_all
    from gazelive.offline.scanpaths import gather, source_kind
    from gazelive.offline.training import detector_of

    model = seeing(load_model(model_path), stimuli)
    check_kind(model, source_kind(source))
    log_prior = _log_prior(prior, model)
    patterns = trial_patterns(trial_start, trial_stop, trial_patterns_of(model))
    with progress(f"Reading {source.name}", quiet=quiet) as report:
        gathered = gather(
            source,
            detector=detector_of(model),
            flags=geometry_flags(screen, size_mm, distance_mm),
            trial_patterns=patterns,
            sessions=names_of(session),
            running=as_json,
            progress=report,
        )
    shown = (path.image for probe in gathered.probes for path in probe.scanpaths)
    for warning in (*gathered.warnings, *image_problems(model.identifier, shown)):
        warn(warning)
    check_fits(model, gathered)
    with progress("Identifying", quiet=quiet) as report:
        results = identify_all(model, gathered, log_prior, report)
    explanations = _explanations(model, results) if explain else None
    if as_json:
        content = results_json(model, results)
        for probe, explanation in zip(content["probes"], explanations or (), strict=False):
            probe["explanation"] = [{"feature": f, "evidence": value} for f, value in explanation]
        typer.echo(json.dumps(content))
        return
    names = model.identifier.viewer_ids
    for number, result in enumerate(results):
        _tell(model, result)
        if explanations is not None and result.estimate.n_saccades:
            _tell_why(names[result.estimate.best], explanations[number])
    say(f"{counted(len(results), 'probe')}. For everything: add --json.", quiet=quiet)


def _tell(model: TrainedModel, result: ProbeResult) -> None:
    import numpy as np

    estimate = result.estimate
    if not estimate.n_saccades:
        output.print(f"{result.probe.name}: no saccades, so nothing can be said", markup=False)
        return
    order = np.argsort(estimate.log_probabilities)[::-1][:3]
    names = model.identifier.viewer_ids
    leading = ", ".join(f"{names[i]} {np.exp(estimate.log_probabilities[i]):.1%}" for i in order)
    unknown = float(np.exp(estimate.log_unknown))
    verdict = "probably a stranger" if unknown > 0.5 else names[estimate.best]
    if len(names) == 1:
        verdict = f"{names[0]} or a stranger: with one viewer nothing tells"
    output.print(
        f"{result.probe.name}: {verdict}  ({leading}; unknown {unknown:.0%}; "
        f"{counted(estimate.n_saccades, 'saccade')}, {estimate.seconds:.0f} s)",
        markup=False,
    )


def _tell_why(best: str, explanation: list[tuple[str, float]]) -> None:
    if not explanation:
        output.print("    what this method says cannot be told apart by features", markup=False)
        return
    total = sum(evidence for _, evidence in explanation)
    output.print(
        f"    for {best} against the others, natural-log odds: {total:+.2f}, of which", markup=False
    )
    for feature, evidence in explanation:
        output.print(f"    {evidence:+8.2f}  {feature}", markup=False)


def _log_prior(text: str | None, model: TrainedModel) -> Floats | None:
    import numpy as np

    from gazelive.errors import ConfigError

    if text is None:
        return None
    names = model.identifier.viewer_ids
    weights = np.ones(len(names))
    for part in names_of(text):
        name, _, value = part.rpartition("=")
        try:
            weight = float(value)
        except ValueError:
            raise ConfigError(f"must be name=number, not {part}", key="--prior") from None
        if not name:
            raise ConfigError(f"must be name=number, not {part}", key="--prior")
        if name not in names:
            raise ConfigError(f"{name} is not in the model", key="--prior")
        weights[names.index(name)] = weight
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ConfigError("needs numbers above 0", key="--prior")
    logs = np.log(weights)
    return np.asarray(logs - np.logaddexp.reduce(logs), np.float64)


def _explanations(model: TrainedModel, results: list[ProbeResult]) -> list[list[tuple[str, float]]]:
    from gazelive.identification.explanation import explain_probe

    return [
        explain_probe(model.identifier, result.probe.scanpaths, result.estimate.best)
        for result in results
    ]
