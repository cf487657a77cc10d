"""`gazelive info`: what is in a recording, a fixation table or a corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gazelive.cli.console import Json, Quiet, announce_first_compile, progress
from gazelive.cli.trial_options import TrialStart, TrialStop, trial_patterns, warn_of_no_trials


def info(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="RECORDING|TABLE|CORPUS",
            help="A recording (.asc, .edf, .csv, .parquet, session folder), a fixation table or a "
            "corpus folder.",
            show_default=False,
        ),
    ],
    trial_start: TrialStart = None,
    trial_stop: TrialStop = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what is in a recording: blocks, events, trials, calibration, problems."""
    announce_first_compile(quiet=quiet)
    from gazelive.cli import info_facts, info_summary
    from gazelive.recordings.corpus import read_corpus
    from gazelive.recordings.opening import kind_of, read_recording

    kind = kind_of(file)
    with progress(f"Reading {file.resolve().name}", quiet=quiet) as report:
        if kind == "corpus":
            corpus = read_corpus(file)
            facts, summary = info_facts.of_corpus(corpus), info_summary.of_corpus(corpus)
        elif kind == "fixation table":
            from gazelive.recordings.fixation_table import read_fixation_table

            table = read_fixation_table(file, progress=report)
            facts, summary = info_facts.of_fixations(table), info_summary.of_fixations(table)
        else:
            patterns = trial_patterns(trial_start, trial_stop)
            recording = read_recording(file, trial_patterns=patterns, progress=report)
            warn_of_no_trials(recording, patterns)
            facts, summary = (
                info_facts.of_recording(recording),
                info_summary.of_recording(recording),
            )
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        info_summary.show(summary, quiet=quiet)
