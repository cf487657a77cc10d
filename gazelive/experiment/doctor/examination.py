"""Examination: runs all checks in order; a check that fails itself becomes a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gazelive.experiment.doctor import display, experiment_files, machine, software, tracker
from gazelive.experiment.doctor.finding import Check, Finding, Situation

CHECKS: tuple[Check, ...] = (
    experiment_files.configuration,
    experiment_files.stimuli,
    experiment_files.fonts,
    experiment_files.model,
    experiment_files.recording,
    software.python,
    software.packages,
    software.edf,
    software.kernels,
    machine.timer,
    machine.disk,
    display.display,
    display.screen_size,
    tracker.pylink,
    tracker.answers,
)


def examine(situation: Situation, checks: Sequence[Check] = CHECKS) -> Iterator[Finding]:
    """Yield findings as soon as they are known."""
    for check in checks:
        try:
            yield from check(situation)
        except Exception as error:  # one failing check must not stop the others
            yield Finding(
                check.__name__.replace("_", " "),
                "fail",
                f"the check failed ({type(error).__name__}: {error})",
                "this is a bug in gazelive: please report it with this line",
            )
