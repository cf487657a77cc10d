"""`gazelive identify`: the viewer of a recording, of each label of a table, or of a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.terminal.console import Json, Quiet, Terminal, announce_first_compile, output, say
from gazelive.cli.terminal.options import (
    DistanceMm,
    Far,
    ImageList,
    ModelImageOnset,
    ModelStimuli,
    ModelTrialStart,
    ModelTrialStop,
    Screen,
    SizeMm,
    StrangerPrior,
    Trials,
    geometry_flags,
    image_names,
    names_of,
    trial_patterns,
)
from gazelive.errors import ConfigError
from gazelive.verdict import STRANGER_PRIOR
from gazelive.wording import bounded_percent, counted

if TYPE_CHECKING:
    from gazelive.identification import TrainedModel
    from gazelive.workflows import ProbeResult


def identify(
    model_path: Annotated[Path, typer.Argument(metavar="MODEL", help="Model file.")],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING|TABLE|CORPUS",
            help="Each recording, or each viewer label of a fixation table, is a probe.",
        ),
    ],
    session: Annotated[
        str | None, typer.Option(help="Only this session (or several: 1,2).", show_default="all")
    ] = None,
    images: ImageList = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="Prior weights, such as anna=3,ben=1; all others are 1.",
            show_default="even",
        ),
    ] = None,
    far: Far = None,
    stranger_prior: StrangerPrior = STRANGER_PRIOR,
    stimuli: ModelStimuli = None,
    course: Annotated[
        bool,
        typer.Option(
            "--course",
            help="With --json: the posterior after each saccade, and of each scanpath by itself.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show the evidence of each feature for the best match."),
    ] = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: ModelTrialStart = None,
    trial_stop: ModelTrialStop = None,
    image_onset: ModelImageOnset = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Identify viewers: who it is, how sure that is, and whether it is enough.

    Prints the verdict at the false-acceptance rate, the posterior over the enrolled and the
    probability of a stranger. Viewer names in the corpus or the table are not used.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.identification import load_model, trial_patterns_of
    from gazelive.workflows import (
        identify_source,
        judged_once,
        log_prior,
        results_json,
        with_images,
    )

    model = with_images(load_model(model_path), stimuli, "--stimuli")
    results = identify_source(
        model,
        source,
        Terminal(quiet=quiet),
        prior=None if prior is None else log_prior(model, _weights(prior), "--prior"),
        terms=judged_once(far, stranger_prior),
        sessions=names_of(session),
        images=image_names(images),
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
        details=as_json and course,
    )
    explanations = _explanations(model, results) if explain else None
    if as_json:
        content = results_json(model, results, details=course)
        for probe, explanation in zip(content["probes"], explanations or (), strict=False):
            probe["explanation"] = [{"feature": f, "evidence": value} for f, value in explanation]
        typer.echo(json.dumps(content))
        return
    names = model.identifier.viewer_ids
    for number, result in enumerate(results):
        _tell(model, result)
        if explanations is not None and result.estimate.n_saccades:
            _tell_why(names[result.estimate.best], explanations[number])
    say(f"{counted(len(results), 'probe')}. For all results: add --json.", quiet=quiet)


def _tell(model: TrainedModel, result: ProbeResult) -> None:
    import numpy as np

    estimate, verdict = result.estimate, result.verdict
    if verdict.status == "nothing":
        output.print(f"{result.probe.name}: {verdict.headline}", markup=False)
        return
    known = 1.0 - (result.unknown or 0.0)
    order = np.argsort(estimate.log_probabilities)[::-1][:3]
    shown = [
        (model.identifier.viewer_ids[i], known * float(np.exp(estimate.log_probabilities[i])))
        for i in order
    ]
    if result.unknown is not None:
        shown.append(("nobody enrolled", result.unknown))
    facts = (
        verdict.details,
        ", ".join(f"{name} {bounded_percent(p)}" for name, p in shown),
        f"{counted(estimate.n_saccades, 'saccade')}, {estimate.seconds:.0f} s",
    )
    output.print(
        f"{result.probe.name}: {verdict.headline}  ({'; '.join(filter(None, facts))})",
        markup=False,
    )


def _tell_why(best: str, explanation: list[tuple[str, float]]) -> None:
    if not explanation:
        output.print("    this method's evidence cannot be split by features", markup=False)
        return
    total = sum(evidence for _, evidence in explanation)
    output.print(
        f"    log odds (natural) for {best} against the others: {total:+.2f}, of which",
        markup=False,
    )
    for feature, evidence in explanation:
        output.print(f"    {evidence:+8.2f}  {feature}", markup=False)


def _weights(text: str) -> dict[str, float]:
    """Return the weights of viewers in a list such as anna=3,ben=1."""
    weights = {}
    for part in names_of(text):
        name, _, value = part.rpartition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise ConfigError(f"must be name=number, not {part}", key="--prior")
    return weights


def _explanations(model: TrainedModel, results: list[ProbeResult]) -> list[list[tuple[str, float]]]:
    from gazelive.identification import explain_probe

    return [
        explain_probe(model.identifier, result.probe.scanpaths, result.estimate.best)
        for result in results
    ]
