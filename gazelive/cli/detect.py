"""`gazelive detect`: table of the saccades of a recording."""

from __future__ import annotations

import enum
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gazelive.cli.detect_batch import detect_into_folder
from gazelive.cli.terminal.console import Quiet, Terminal, announce_first_compile, say, warn
from gazelive.cli.terminal.options import (
    OUT,
    DistanceMm,
    ImageOnset,
    Screen,
    SizeMm,
    Trials,
    TrialStart,
    TrialStop,
    check_table_target,
    geometry_flags,
    trial_patterns,
)
from gazelive.wording import counted, quoted

if TYPE_CHECKING:
    from gazelive.analysis import Analysis
    from gazelive.detection import DetectorParameters, EngbertKlieglParameters
    from gazelive.recordings import TrialPatterns

_EK_PANEL = "Engbert-Kliegl"


class MethodName(enum.StrEnum):
    """Detection methods."""

    SETTLED = "settled"
    ONLINE = "online"
    ENGBERT_KLIEGL = "engbert-kliegl"


class PresetName(enum.StrEnum):
    """Presets of `settled` and `online`."""

    SCENE_VIEWING = "scene-viewing"
    MICROSACCADES = "microsaccades"
    NOISY = "noisy"


class EyeName(enum.StrEnum):
    """Eyes to analyse."""

    LEFT = "L"
    RIGHT = "R"
    BOTH = "both"


def detect(
    recordings: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORDING...",
            help="ASC or EDF file, session folder or sample table; several with -o FOLDER.",
        ),
    ],
    method: Annotated[
        MethodName,
        typer.Option(
            help="settled: each interval as a whole (most accurate). online: as detected live. "
            "engbert-kliegl: the algorithm of 2003."
        ),
    ] = MethodName.SETTLED,
    preset: Annotated[
        PresetName, typer.Option(help="Preset for settled and online.")
    ] = PresetName.SCENE_VIEWING,
    output: Annotated[
        Path | None,
        typer.Option(
            *OUT,
            help="Table of saccades, .csv or .parquet, or a folder for several; by default CSV to "
            "standard output.",
        ),
    ] = None,
    fixations: Annotated[
        Path | None,
        typer.Option(help="Table of fixations, .csv or .parquet, or a folder for several."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Figure of traces, events and main sequence, .png, .pdf or .svg."),
    ] = None,
    plot_trial: Annotated[
        str | None, typer.Option(help="Trial to draw; by default the one with most saccades.")
    ] = None,
    eye: Annotated[
        EyeName | None, typer.Option(help="L, R or both; by default all recorded eyes.")
    ] = None,
    whole_blocks: Annotated[
        bool, typer.Option("--whole-blocks", help="Search whole blocks, not only trials.")
    ] = False,
    keep_overshoots: Annotated[
        bool,
        typer.Option(
            "--keep-overshoots", help="Count a movement back within 6 ms as a saccade of its own."
        ),
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
            "--sigma", help="centred, or 2003 as in the paper.", rich_help_panel=_EK_PANEL
        ),
    ] = "centred",
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Model file for the rate b of vigor; by default 7°."),
    ] = None,
    screen: Screen = None,
    size_mm: SizeMm = None,
    distance_mm: DistanceMm = None,
    trials: Trials = None,
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    image_onset: ImageOnset = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Processes for several recordings.", show_default="one per processor"
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Detect the saccades of recordings and write a table of each, one row per saccade.

    Trials are searched from image onset to image offset (or from start to end); a recording
    without trials is searched block by block. Several recordings write their tables and
    summary.csv into the folder -o; one that fails does not stop the others.
    """
    announce_first_compile(quiet=quiet)
    from gazelive.recordings import PatternOptions
    from gazelive.workflows import BatchSettings, analyse_source, outcome_warnings

    is_batch = len(recordings) > 1 or (output is not None and output.is_dir())
    recording = recordings[0]
    if is_batch:
        _refuse_plots(plot, plot_trial)
    else:
        _check_targets(recording, output, fixations, plot)
    settings = BatchSettings(
        method=method.value,
        parameters=_parameters(
            method, preset, threshold, shortest_ms, sigma, keep_overshoots=keep_overshoots
        ),
        eye=None if eye is None else eye.value,
        flags=geometry_flags(screen, size_mm, distance_mm),
        trials=PatternOptions(trials, trial_start, trial_stop, image_onset),
        whole_blocks=whole_blocks,
        vigor_rate_deg=_vigor_rate_deg(model),
    )
    if is_batch:
        jobs = jobs or os.cpu_count() or 1
        detect_into_folder(recordings, output, fixations, settings, jobs=jobs, quiet=quiet)
        return
    patterns = trial_patterns(recording, trials, trial_start, trial_stop, image_onset, quiet=quiet)
    analysis = analyse_source(
        recording,
        Terminal(quiet=quiet),
        method=settings.method,
        parameters=settings.parameters,
        eye=settings.eye,
        flags=settings.flags,
        trial_patterns=patterns,
        whole_blocks=settings.whole_blocks,
    )
    _check_plot_trial(analysis, plot_trial)
    for sentence in outcome_warnings(analysis):
        warn(sentence)
    written = _write(
        analysis, settings.vigor_rate_deg, patterns, output, fixations, plot, plot_trial
    )
    say(_summary(analysis), quiet=quiet)
    if written:
        files = ", ".join(map(str, written))
        beside = "it" if len(written) == 1 else "each"
        say(f"Wrote {files}, with the settings beside {beside} (.meta.json).", quiet=quiet)
    if output is not None and any(e.kind == "saccade" for e in analysis.recording.tracker_events):
        say(
            "Compare with the tracker's own events: gazelive compare "
            f"{quoted(output)} {quoted(recording)}",
            quiet=quiet,
        )


def _summary(analysis: Analysis) -> str:
    """Return what was found in one sentence."""
    found = [i.gaze.detection for i in analysis.intervals]
    others = [
        counted(n, noun)
        for n, noun in (
            (sum(len(d.artefacts) for d in found), "artefact"),
            (sum(len(d.pursuits) for d in found), "pursuit"),
        )
        if n
    ]
    beside = f", {' and '.join(others)}" if others else ""
    return (
        f"{counted(analysis.n_saccades, 'saccade')}{beside} in "
        f"{counted(len(found), 'interval')} ({analysis.method})."
    )


def _check_targets(recording: Path, *targets: Path | None) -> None:
    """Raise if a target cannot or must not be written."""
    from gazelive.errors import ConfigError
    from gazelive.recordings import sidecar_path

    output, fixations, plot = targets
    for option, target in (("-o", output), ("--fixations", fixations)):
        check_table_target(target, option)
    if plot is not None and plot.suffix.lower() not in {".png", ".pdf", ".svg"}:
        raise ConfigError(f"must end in .png, .pdf or .svg, not {plot.name!r}", key="--plot")
    taken = {recording.resolve()}
    if not recording.is_dir():
        taken.add(sidecar_path(recording).resolve())
    for target in targets:
        if target is None:
            continue
        if not target.absolute().parent.is_dir():
            raise ConfigError("there is no such folder; create it first", path=target.parent)
        if {target.resolve(), sidecar_path(target).resolve()} & taken:
            raise ConfigError(
                "would overwrite the recording or another output; choose another name",
                path=target,
            )
        taken |= {target.resolve(), sidecar_path(target).resolve()}


def _refuse_plots(plot: Path | None, plot_trial: str | None) -> None:
    from gazelive.errors import ConfigError

    for given, option in ((plot, "--plot"), (plot_trial, "--plot-trial")):
        if given is not None:
            raise ConfigError("draws one recording, not several", key=option)


def _check_plot_trial(analysis: Analysis, plot_trial: str | None) -> None:
    """Raise if the trial to draw does not exist."""
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
    method: MethodName,
    preset_name: PresetName,
    threshold: float,
    shortest_ms: float,
    sigma: str,
    *,
    keep_overshoots: bool,
) -> DetectorParameters | EngbertKlieglParameters:
    import msgspec

    from gazelive.detection import EngbertKlieglParameters, preset
    from gazelive.errors import ConfigError

    given = {
        "--lambda": threshold != EngbertKlieglParameters().threshold_noise,
        "--min-duration-ms": shortest_ms != EngbertKlieglParameters().shortest_saccade_ms,
        "--sigma": sigma != EngbertKlieglParameters().threshold_form,
    }
    if method is not MethodName.ENGBERT_KLIEGL:
        for flag in (flag for flag, is_given in given.items() if is_given):
            warn(f"{flag} is not used by {method.value}, only by --method engbert-kliegl")
        chosen = preset(preset_name.value)
        return msgspec.structs.replace(chosen, overshoot_ms=0.0) if keep_overshoots else chosen
    if keep_overshoots:
        warn("--keep-overshoots is not used by engbert-kliegl, which keeps them")
    if preset_name is not PresetName.SCENE_VIEWING:
        warn(f"--preset {preset_name.value} is not used by engbert-kliegl")
    for flag, value in (("--lambda", threshold), ("--min-duration-ms", shortest_ms)):
        if not 0 < value < math.inf:
            raise ConfigError(f"must be a number above 0, not {value:g}", key=flag)
    if sigma not in ("centred", "2003"):
        raise ConfigError(f"must be centred or 2003, not {sigma}", key="--sigma")
    form: Literal["centred", "2003"] = "2003" if sigma == "2003" else "centred"
    return EngbertKlieglParameters(
        threshold_noise=threshold, shortest_saccade_ms=shortest_ms, threshold_form=form
    )


def _vigor_rate_deg(model: Path | None) -> float:
    """Return the rate b of a model that knows one, else the default."""
    from gazelive.features import DEFAULT_RATE_DEG

    if model is None:
        return DEFAULT_RATE_DEG
    from gazelive.errors import ConfigError
    from gazelive.identification import load_model

    loaded = load_model(model)
    rate_deg = loaded.fitted.vigor_rate_deg
    if loaded.kind != "samples" or rate_deg is None:
        raise ConfigError(
            f"{model} was trained without recordings and has no vigor rate; omit it",
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
    """Write the requested files, and the settings beside each."""
    from gazelive.workflows import write_detection

    if output is None:
        from gazelive.recordings import write_csv
        from gazelive.workflows import saccade_table

        write_csv(saccade_table(analysis, vigor_rate_deg), sys.stdout.buffer)
    return write_detection(
        analysis,
        saccades=output,
        fixations=fixations,
        plot=plot,
        plot_trial=plot_trial,
        vigor_rate_deg=vigor_rate_deg,
        trial_patterns=patterns,
    )
