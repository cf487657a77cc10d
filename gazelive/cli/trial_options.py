"""The flags that say which messages start and stop a trial; the same on every command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.cli.console import warn

if TYPE_CHECKING:
    from gazelive.recordings.recording import Recording
    from gazelive.recordings.trials import TrialPatterns

_PANEL = "Trials"


def _start(default: str) -> Any:
    return typer.Option(
        "--trial-start",
        metavar="PATTERN",
        help="How messages begin that start a trial, as a regular expression "
        f"(default: {default}); what follows is the trial's name.",
        rich_help_panel=_PANEL,
        show_default=False,
    )


def _stop(default: str) -> Any:
    return typer.Option(
        "--trial-stop",
        metavar="PATTERN",
        help=f"How messages begin that stop it (default: {default}); a trial that is not stopped "
        "ends where the next one starts.",
        rich_help_panel=_PANEL,
        show_default=False,
    )


TrialStart = Annotated[str | None, _start("TRIALID or start_trial")]
TrialStop = Annotated[str | None, _stop("TRIAL_RESULT or stop_trial")]
ModelTrialStart = Annotated[str | None, _start("as in the model's training")]
"""For commands whose model says how trials are found, unless they are told otherwise."""
ModelTrialStop = Annotated[str | None, _stop("as in the model's training")]


def trial_patterns(
    start: str | None, stop: str | None, usual: TrialPatterns | None = None
) -> TrialPatterns:
    """Return the patterns, or say what is wrong with one; `usual` holds where none is given."""
    import re

    import msgspec

    from gazelive.errors import ConfigError
    from gazelive.recordings.trials import DEFAULT_PATTERNS

    given = {}
    for flag, field, pattern in (("--trial-start", "start", start), ("--trial-stop", "stop", stop)):
        if pattern is None:
            continue
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(
                f"{pattern!r} is no regular expression ({error}); put \\ before signs such as ( "
                "that are meant as they are",
                key=flag,
            ) from error
        given[field] = pattern
    return msgspec.structs.replace(usual or DEFAULT_PATTERNS, **given)


def patterns_of_model(path: Path | None) -> TrialPatterns | None:
    """Return the patterns of the recordings that a model was made from; None without a model."""
    if path is None:
        return None
    from gazelive.identification.model_file import load_model, trial_patterns_of

    return trial_patterns_of(load_model(path))


def warn_of_no_trials(recording: Recording, patterns: TrialPatterns) -> None:
    """Say so where patterns of one's own find no trial, with messages to look at."""
    from gazelive.recordings.doubts import trials_not_found

    sentence = trials_not_found(recording, patterns)
    if sentence is not None:
        warn(f"{recording.path}: {sentence}")
