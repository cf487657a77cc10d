"""`gazelive train`: a model from recordings of known viewers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.model import summary, tell
from gazelive.cli.terminal.console import Json, Quiet, Terminal, announce_first_compile, say
from gazelive.cli.terminal.expectation import expectation_lines
from gazelive.cli.terminal.options import (
    OUT,
    DistanceMm,
    ImageList,
    ImageOnset,
    Screen,
    Sessions,
    SizeMm,
    TrainedFar,
    Trials,
    TrialStart,
    TrialStop,
    geometry_flags,
    image_names,
    names_of,
    trial_patterns,
)
from gazelive.wording import quoted

if TYPE_CHECKING:
    from gazelive.identification import TrainedModel


def train(
    source: Annotated[
        Path,
        typer.Argument(metavar="CORPUS|TABLE", help="Corpus folder or fixation table."),
    ],
    output: Annotated[Path, typer.Option(*OUT, help="Model file to write.")],
    method: Annotated[
        str,
        typer.Option(
            help="gazelive (most accurate), or from the paper: fisher-markov-dynamics, "
            "fisher-markov, fisher-scenewalk, markov-dynamics, markov, scenewalk. Its reference "
            "methods: abdelwahab, cem-b-dynamics, cem-b, holland-2011. These as published: "
            "abdelwahab-literal, cem-b-dynamics-literal, cem-b-literal, holland-2011-literal. "
            "Extensions: fisher-abdelwahab-dynamics, fisher-abdelwahab, abdelwahab-dynamics."
        ),
    ] = "gazelive",
    sessions: Sessions = None,
    images: ImageList = None,
    stimuli: Annotated[
        Path | None,
        typer.Option(help="Folder of the images, for the saliency of scenewalk."),
    ] = None,
    exclude_viewers: Annotated[
        str | None, typer.Option(help="Viewers to leave out, such as anna,ben.")
    ] = None,
    far: TrainedFar = 0.01,
    texture: Annotated[
        bool,
        typer.Option(
            "--texture/--no-texture",
            help="gazelive: use the fixation before each saccade; its noise may be the tracker's "
            "rather than the person's.",
        ),
    ] = True,
    shipped: Annotated[
        bool,
        typer.Option(
            "--shipped/--no-shipped",
            help="gazelive: use what was learned from other people's recordings.",
        ),
    ] = True,
    force: Annotated[
        bool, typer.Option("--force", help="Write a model that is no better than chance.")
    ] = False,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a model on the viewers of a corpus or a fixation table.

    Prints the cross-validated accuracy, what was left out and why, and how many viewers to expect
    to be recognised and accepted. A model that is no better than chance is not written.
    """
    from gazelive.system import limit_to_one_thread

    limit_to_one_thread()  # BLAS threads wait for each other by spinning
    announce_first_compile(quiet=quiet)
    from gazelive.identification import Options, save_model
    from gazelive.workflows import check_folder, train_source

    _check(output, method, source)
    check_folder(stimuli, "--stimuli")
    model = train_source(
        source,
        Terminal(quiet=quiet),
        method=method,
        options=Options(
            false_acceptance_rate=far, texture=texture, shipped=shipped, stimuli=stimuli
        ),
        sessions=names_of(sessions),
        images=image_names(images),
        exclude_viewers=names_of(exclude_viewers),
        flags=geometry_flags(screen, size_mm, distance_mm),
        trial_patterns=trial_patterns(
            source, trials, trial_start, trial_stop, image_onset, quiet=quiet
        ),
        force=force,
    )
    save_model(model, output)
    if as_json:
        typer.echo(json.dumps(summary(model), indent=2))
        return
    tell(model, quiet=quiet)
    if model.expectation is not None:
        for line in expectation_lines(model.expectation):
            say(line, quiet=quiet)
    flags_given = (("--screen", screen), ("--size-mm", size_mm), ("--distance-mm", distance_mm))
    following = _next_command(model, output, source, names_of(sessions), flags_given)
    say(f"Wrote {output}. Next: {following}", quiet=quiet)


def _next_command(
    model: TrainedModel,
    output: Path,
    source: Path,
    sessions: tuple[str, ...],
    flags: tuple[tuple[str, str | None], ...],
) -> str:
    """Return the command that tests the model, on held-out sessions if there are any."""
    from gazelive.recordings import read_corpus

    what = "TABLE" if model.kind == "fixations" else "RECORDING"
    if sessions and model.kind == "samples":
        others = sorted({entry.session for entry in read_corpus(source).entries} - set(sessions))
        if others:
            what = f"{quoted(source)} --session {quoted(','.join(others))}"
    screen = "".join(f" {name} {value}" for name, value in flags if value)
    return f"gazelive identify {quoted(output)} {what}{screen}"


def _check(output: Path, method: str, source: Path) -> None:
    """Raise if the options cannot work."""
    from gazelive.errors import ConfigError
    from gazelive.identification import method_names

    if method not in method_names():
        raise ConfigError(
            f"must be one of {', '.join(method_names())}, not {method}", key="--method"
        )
    if output.is_dir():
        raise ConfigError("is a folder; give a file", path=output)
    if output.exists() and source.exists() and output.samefile(source):
        raise ConfigError("is the training data; give another file", path=output)
    if not output.absolute().parent.is_dir():
        raise ConfigError("there is no such folder; create it first", path=output.parent)
