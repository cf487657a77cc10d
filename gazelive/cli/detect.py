"""`gazelive detect`: the saccades of a recording as a table."""

from __future__ import annotations

import enum
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gazelive.cli.console import Quiet, announce_first_compile, progress, say, warn
from gazelive.cli.geometry_options import DistanceMm, Screen, SizeMm, geometry_flags
from gazelive.cli.options import OUT
from gazelive.cli.trial_options import TrialStart, TrialStop, trial_patterns, warn_of_no_trials
from gazelive.cli.wording import counted, quoted

if TYPE_CHECKING:
    from gazelive.detection import DetectorParameters, EngbertKlieglParameters
    from gazelive.offline.analysis import Analysis
    from gazelive.recordings.trials import TrialPatterns

_EK_PANEL = "Engbert-Kliegl"


class MethodName(enum.StrEnum):
    """How saccades are found."""

    SETTLED = "settled"
    ONLINE = "online"
    ENGBERT_KLIEGL = "engbert-kliegl"


class PresetName(enum.StrEnum):
    """Settings of `settled` and `online` that make sense together."""

    SCENE_VIEWING = "scene-viewing"
    MICROSACCADES = "microsaccades"
    NOISY = "noisy"


class EyeName(enum.StrEnum):
    """Whose gaze."""

    LEFT = "L"
    RIGHT = "R"
    BOTH = "both"


def detect(
    recording: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING", help="An ASC or EDF file, a session folder, or a sample table."
        ),
    ],
    method: Annotated[
        MethodName,
        typer.Option(
            help="settled: all of an interval at once (best). online: as it was known live. "
            "engbert-kliegl: the algorithm of 2003."
        ),
    ] = MethodName.SETTLED,
    preset: Annotated[
        PresetName, typer.Option(help="Settings for settled and online.")
    ] = PresetName.SCENE_VIEWING,
    output: Annotated[
        Path | None,
        typer.Option(*OUT, help="Saccades, .csv or .parquet; without it CSV to standard output."),
    ] = None,
    fixations: Annotated[
        Path | None, typer.Option(help="Write the fixations too, .csv or .parquet.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw traces, events and main sequence, .png, .pdf or .svg.")
    ] = None,
    plot_trial: Annotated[
        str | None, typer.Option(help="The trial to draw (else the one with most saccades).")
    ] = None,
    eye: Annotated[
        EyeName | None, typer.Option(help="L, R or both; by default whatever was recorded.")
    ] = None,
    whole_blocks: Annotated[
        bool, typer.Option("--whole-blocks", help="Search everything, not only the trials.")
    ] = False,
    threshold: Annotated[
        float, typer.Option("--lambda", help="Threshold in σ.", rich_help_panel=_EK_PANEL)
    ] = 6.0,
    shortest_ms: Annotated[
        float,
        typer.Option("--min-duration-ms", help="Shortest saccade.", rich_help_panel=_EK_PANEL),
    ] = 6.0,
    sigma: Annotated[
        str,
        typer.Option(
            "--sigma", help="centred, or 2003 as it was printed then.", rich_help_panel=_EK_PANEL
        ),
    ] = "centred",
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="Take the rate b of vigor from this model, else it is 7°."
        ),
    ] = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    quiet: Quiet = False,
) -> None:
    """Find the saccades of a recording; one row each.

    Where the recording has trials, each is searched from image onset to image offset (or from its
    start to its end); else every block as a whole.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.offline.analysis import analyse
    from gazelive.recordings.corpus import screen_in_corpus
    from gazelive.recordings.doubts import damage, sentences
    from gazelive.recordings.opening import read_recording

    _check_targets(recording, output, fixations, plot)
    vigor_rate_deg = _vigor_rate_deg(model)
    flags = geometry_flags(screen, size_mm, distance_mm)
    parameters = _parameters(method, preset, threshold, shortest_ms, sigma)
    patterns = trial_patterns(trial_start, trial_stop)
    with progress(f"Reading {recording.resolve().name}", quiet=quiet) as report:
        read = read_recording(recording, trial_patterns=patterns, progress=report)
    warn_of_no_trials(read, patterns)
    for sentence in sentences(damage(read)):
        warn(sentence)
    with progress("Detecting", quiet=quiet) as report:
        analysis = analyse(
            read,
            method=method.value,
            parameters=parameters,
            eye=None if eye is None else eye.value,
            flags=flags,
            corpus_screen=screen_in_corpus(recording),
            whole_blocks=whole_blocks,
            progress=report,
        )
    _check_plot_trial(analysis, plot_trial)
    for warning in analysis.warnings:
        warn(f"{recording}: {warning}")
    _warn_of_outcomes(analysis)
    written = _write(analysis, vigor_rate_deg, patterns, output, fixations, plot, plot_trial)
    say(
        f"{counted(analysis.n_saccades, 'saccade')} in "
        f"{counted(len(analysis.intervals), 'interval')} ({method.value}).",
        quiet=quiet,
    )
    if written:
        files = ", ".join(map(str, written))
        beside = "it" if len(written) == 1 else "each"
        say(f"Wrote {files}, and beside {beside} the settings (.meta.json).", quiet=quiet)
    if output is not None and any(e.kind == "saccade" for e in read.tracker_events):
        say(
            "Compare it with the tracker's own: gazelive compare "
            f"{quoted(output)} {quoted(recording)}",
            quiet=quiet,
        )


def _check_targets(recording: Path, *targets: Path | None) -> None:
    """Refuse a target that cannot be written, or must not be, before anything takes time."""
    from gazelive.errors import ConfigError
    from gazelive.recordings.table_files import TABLE_SUFFIXES, has_table_suffix
    from gazelive.recordings.table_sidecar import sidecar_path

    output, fixations, plot = targets
    for option, target in (("-o", output), ("--fixations", fixations)):
        if target is not None and not has_table_suffix(target):
            raise ConfigError(
                f"must end in {', '.join(TABLE_SUFFIXES)}, not {target.name!r}", key=option
            )
    if plot is not None and plot.suffix.lower() not in {".png", ".pdf", ".svg"}:
        raise ConfigError(f"must end in .png, .pdf or .svg, not {plot.name!r}", key="--plot")
    taken = {recording.resolve()}
    if not recording.is_dir():
        taken.add(sidecar_path(recording).resolve())
    for target in targets:
        if target is None:
            continue
        if not target.absolute().parent.is_dir():
            raise ConfigError("there is no such folder: make it first", path=target.parent)
        if {target.resolve(), sidecar_path(target).resolve()} & taken:
            raise ConfigError(
                "would be written over the recording or another output: choose another name",
                path=target,
            )
        taken |= {target.resolve(), sidecar_path(target).resolve()}


def _check_plot_trial(analysis: Analysis, plot_trial: str | None) -> None:
    """Refuse a trial that is not there before anything is written."""
    from gazelive.errors import ConfigError

    names = [i.interval.trial for i in analysis.intervals if i.interval.trial is not None]
    if plot_trial is None or plot_trial in names:
        return
    shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    raise ConfigError(
        f"there is no trial {plot_trial!r}: "
        + (f"there are {shown}" if names else "there is none"),
        key="--plot-trial",
    )


def _parameters(
    method: MethodName, preset_name: PresetName, threshold: float, shortest_ms: float, sigma: str
) -> DetectorParameters | EngbertKlieglParameters:
    from gazelive.detection import EngbertKlieglParameters, preset
    from gazelive.errors import ConfigError

    given = {
        "--lambda": threshold != EngbertKlieglParameters().threshold_noise,
        "--min-duration-ms": shortest_ms != EngbertKlieglParameters().shortest_saccade_ms,
        "--sigma": sigma != EngbertKlieglParameters().threshold_form,
    }
    if method is not MethodName.ENGBERT_KLIEGL:
        for flag in (flag for flag, is_given in given.items() if is_given):
            warn(f"{flag} is for --method engbert-kliegl, and is not used by {method.value}")
        return preset(preset_name.value)
    if preset_name is not PresetName.SCENE_VIEWING:
        warn(f"--preset {preset_name.value} is for settled and online, and is not used here")
    for flag, value in (("--lambda", threshold), ("--min-duration-ms", shortest_ms)):
        if not 0 < value < math.inf:
            raise ConfigError(f"must be a number above 0, not {value:g}", key=flag)
    if sigma not in ("centred", "2003"):
        raise ConfigError(f"must be centred or 2003, not {sigma}", key="--sigma")
    form: Literal["centred", "2003"] = "2003" if sigma == "2003" else "centred"
    return EngbertKlieglParameters(
        threshold_noise=threshold, shortest_saccade_ms=shortest_ms, threshold_form=form
    )


def _warn_of_outcomes(analysis: Analysis) -> None:
    """Say why intervals without saccades are empty, each reason once."""
    reasons: dict[str, list[str]] = {}
    for analysed in analysis.intervals:
        if not analysed.gaze.detection.saccades:
            interval = analysed.interval
            name = f"block {interval.block + 1}"
            if interval.trial is not None:
                name = f"trial {interval.trial}"
            reasons.setdefault(analysed.gaze.detection.outcome.sentence, []).append(name)
    for sentence, names in reasons.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        warn(f"no saccades in {', '.join(names[:5])}{more}: {sentence}")


def _vigor_rate_deg(model: Path | None) -> float:
    """Return the rate b of a model that knows one, else the default."""
    from gazelive.features.vigor import DEFAULT_RATE_DEG

    if model is None:
        return DEFAULT_RATE_DEG
    from gazelive.errors import ConfigError
    from gazelive.identification.model_file import load_model

    loaded = load_model(model)
    rate_deg = loaded.fitted.vigor_rate_deg
    if loaded.kind != "samples" or rate_deg is None:
        raise ConfigError(
            f"{model} was made without recordings, so it knows no vigor: leave it out",
            key="--model",
        )
    return rate_deg


def _write(
    analysis: Analysis,
    vigor_rate_deg: float,
    patterns: TrialPatterns,
    output: Path | None,
    fixations: Path | None,
    plot: Path | None,
    plot_trial: str | None,
) -> list[Path]:
    """Write what was asked for, and beside each file everything that it rests on."""
    import msgspec

    from gazelive.atomic import write_bytes
    from gazelive.offline.event_tables import fixation_table, provenance, saccade_table
    from gazelive.recordings.table_files import write_csv, write_table_file
    from gazelive.recordings.table_sidecar import sidecar_path

    saccades = saccade_table(analysis, vigor_rate_deg)
    written = []
    if output is None:
        write_csv(saccades, sys.stdout.buffer)
    else:
        write_table_file(saccades, output)
        written.append(output)
    if fixations is not None:
        write_table_file(fixation_table(analysis), fixations)
        written.append(fixations)
    if plot is not None:
        from gazelive.offline.detection_figure import draw_detection

        draw_detection(analysis, plot, plot_trial)
        written.append(plot)
    used = msgspec.json.encode(provenance(analysis, vigor_rate_deg, patterns))
    for path in written:
        write_bytes(sidecar_path(path), msgspec.json.format(used, indent=2))
    return written
