"""`gazelive train`: from recordings of known viewers to a model that recognises them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.model_text import summary, tell
from gazelive.cli.options import OUT, Sessions, check_stimuli, names_of
from gazelive.cli.trial_options import TrialStart, TrialStop, trial_patterns
from gazelive.cli.wording import quoted

if TYPE_CHECKING:
    from gazelive.identification.model_file import TrainedModel


def train(
    source: Annotated[
        Path,
        typer.Argument(metavar="CORPUS|TABLE", help="A corpus folder, or a fixation table."),
    ],
    output: Annotated[Path, typer.Option(*OUT, help="The model to write.")],
    method: Annotated[
        str,
        typer.Option(
            help="gazelive (best), or the paper's: fisher-markov-dynamics, fisher-markov, "
            "fisher-scenewalk, markov-dynamics, markov, scenewalk."
        ),
    ] = "gazelive",
    sessions: Sessions = None,
    images: Annotated[
        Path | None,
        typer.Option(help="Only these images: a text file with one name per line."),
    ] = None,
    stimuli: Annotated[
        Path | None,
        typer.Option(help="Folder of the images, for the saliency that scenewalk needs."),
    ] = None,
    exclude_viewers: Annotated[
        str | None, typer.Option(help="Leave these viewers out, such as anna,ben.")
    ] = None,
    far: Annotated[
        float,
        typer.Option(min=0.0001, max=0.5, help="Share of strangers that may pass for somebody."),
    ] = 0.01,
    texture: Annotated[
        bool,
        typer.Option(
            "--texture/--no-texture",
            help="gazelive: use the fixation before each saccade, whose noise may be the "
            "tracker's rather than the person's.",
        ),
    ] = True,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn to recognise the viewers of a corpus or of a fixation table.

    Says how accurate the model seems by cross-validation, what was left out and why.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.identification.methods import Options
    from gazelive.identification.model_file import save_model
    from gazelive.offline.probes import Detector
    from gazelive.offline.scanpaths import gather
    from gazelive.offline.training import train as train_model

    _check(output, method, source)
    check_stimuli(stimuli)
    flags = geometry_flags(screen, size_mm, distance_mm)
    patterns = trial_patterns(trial_start, trial_stop)
    excluded = names_of(exclude_viewers)
    with progress(f"Reading {source.name}", quiet=quiet) as report:
        gathered = gather(
            source,
            flags=flags,
            trial_patterns=patterns,
            sessions=names_of(sessions),
            images=_image_names(images),
            exclude_viewers=excluded,
            progress=report,
        )
    for warning in gathered.warnings:
        warn(warning)
    left_out = tuple(f"viewer {name}: asked for" for name in excluded)
    with progress(f"Training {method}", quiet=quiet) as report:
        trained = train_model(
            gathered,
            source,
            method,
            Options(false_acceptance_rate=far, texture=texture, stimuli=stimuli, report=report),
            Detector(),
            left_out,
        )
    for warning in trained.warnings:
        warn(warning)
    save_model(trained.model, output)
    if as_json:
        typer.echo(json.dumps(summary(trained.model), indent=2))
        return
    tell(trained.model, quiet=quiet)
    flags_given = (("--screen", screen), ("--size-mm", size_mm), ("--distance-mm", distance_mm))
    following = _next_command(trained.model, output, source, names_of(sessions), flags_given)
    say(f"Wrote {output}. Next: {following}", quiet=quiet)


def _next_command(
    model: TrainedModel,
    output: Path,
    source: Path,
    sessions: tuple[str, ...],
    flags: tuple[tuple[str, str | None], ...],
) -> str:
    """Return how to use the model: on the sessions that were kept back, if there are any."""
    from gazelive.recordings.corpus import read_corpus

    what = "TABLE" if model.kind == "fixations" else "RECORDING"
    if sessions and model.kind == "samples":
        others = sorted({entry.session for entry in read_corpus(source).entries} - set(sessions))
        if others:
            what = f"{quoted(source)} --session {quoted(','.join(others))}"
    screen = "".join(f" {name} {value}" for name, value in flags if value)
    return f"gazelive identify {quoted(output)} {what}{screen}"


def _check(output: Path, method: str, source: Path) -> None:
    """Refuse before anything takes time."""
    from gazelive.errors import ConfigError
    from gazelive.identification.methods import METHODS

    if method not in METHODS:
        raise ConfigError(f"must be one of {', '.join(METHODS)}, not {method}", key="--method")
    if output.is_dir():
        raise ConfigError("is a folder: name a file", path=output)
    if output.exists() and source.exists() and output.samefile(source):
        raise ConfigError("is what is learned from: name another file", path=output)
    if not output.absolute().parent.is_dir():
        raise ConfigError("there is no such folder: make it first", path=output.parent)


def _image_names(path: Path | None) -> tuple[str, ...]:
    from gazelive.errors import ConfigError

    if path is None:
        return ()
    try:
        names = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read as a list of images ({error})", path=path) from error
    found = tuple(name.strip() for name in names if name.strip())
    if not found:
        raise ConfigError("names no image", path=path)
    return found
