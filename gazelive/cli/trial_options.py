"""The flags that say which messages start and stop a trial; the same on every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gazelive.cli.console import warn

if TYPE_CHECKING:
    from gazelive.recordings.recording import Recording
    from gazelive.recordings.trials import TrialPatterns

_PANEL = "Trials"
N_EXAMPLES = 3

TrialStart = Annotated[
    str | None,
    typer.Option(
        "--trial-start",
        metavar="PATTERN",
        help="How messages begin that start a trial, as a regular expression "
        "(default: TRIALID or start_trial); what follows is the trial's name.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]
TrialStop = Annotated[
    str | None,
    typer.Option(
        "--trial-stop",
        metavar="PATTERN",
        help="How messages begin that stop it (default: TRIAL_RESULT or stop_trial); a trial that "
        "is not stopped ends where the next one starts.",
        rich_help_panel=_PANEL,
        show_default=False,
    ),
]


def trial_patterns(start: str | None, stop: str | None) -> TrialPatterns:
    """Return the patterns, or say what is wrong with one."""
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
    return msgspec.structs.replace(DEFAULT_PATTERNS, **given)


def warn_of_no_trials(recording: Recording, start: str | None, stop: str | None) -> None:
    """Say so where the patterns that were given find no trial, with messages to look at."""
    if (start is None and stop is None) or recording.trials:
        return
    texts = dict.fromkeys(message.text.split("\n")[0][:60] for message in recording.messages)
    examples = ", ".join(map(repr, list(texts)[:N_EXAMPLES]))
    warn(
        f"{recording.path}: no message starts a trial"
        + (f" with {start!r}" if start is not None else "")
        + (f"; there are messages such as {examples}" if examples else "; it has no messages")
    )
