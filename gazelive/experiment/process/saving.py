"""Saving at the end of a session, whatever fails."""

from __future__ import annotations

import contextlib
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from rich.console import Console
from rich.progress import Progress

from gazelive.devices import ControlsPlayback, HasHostFile
from gazelive.experiment.display.display import Display, Words
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.experiment.session import Session
from gazelive.recordings import SessionWriter


def save(
    session: Session,
    device_thread: DeviceThread,
    display: Display,
    writer: SessionWriter,
    say: Callable[[str], None],
) -> list[Exception]:
    """Stop, write the outcome, close the session and fetch the tracker's own file.

    Whatever fails, all of it is tried; return what failed.
    """
    report, frames = session.report, session.stage.frames.session
    outcome_of_session = {
        "trials": [list(outcome) for outcome in report.outcomes],
        "frames": {**msgspec.to_builtins(frames), "synced": display.is_synced},
        "image_ms": _range(report.image_ms),
        "onset_delay_ms": _range(report.onset_delays_ms),
        "gate_timeouts": report.n_gate_timeouts,
        "recognition": {"right": report.n_right_answers, "of": report.n_answers},
    }
    steps: list[Callable[[], object]] = [
        lambda: writer.update(config=writer.manifest.config | {"outcome": outcome_of_session}),
        lambda: device_thread.close(report.reason),
    ]
    device = device_thread.device
    if isinstance(device, HasHostFile) and not isinstance(device, ControlsPlayback):
        steps.append(lambda: _fetch_host_file(device, display, writer.folder, say))
    failures: list[Exception] = []
    for step in steps:
        try:
            step()
        except Exception as error:  # also a bug: the recording comes first
            failures.append(error)
    return failures


def _fetch_host_file(
    device: HasHostFile, display: Display, folder: Path, say: Callable[[str], None]
) -> None:
    """Fetch the tracker's own file and show the progress, if the window is still there."""
    shown = -1

    def show(fraction: float) -> None:
        nonlocal shown
        if int(fraction * 20) > shown:
            shown = int(fraction * 20)
            with contextlib.suppress(Exception):
                display.show(Words(f"Saving the recording … {fraction:.0%}"))
                display.flip()

    show(0.0)
    bar = Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty())
    with bar:
        task = bar.add_task("Fetching the tracker's own file", total=1.0)

        def progress(fraction: float) -> None:
            bar.update(task, completed=fraction)
            show(fraction)

        path = device.receive_host_file(folder, folder.name, progress)
    say(f"The tracker's own file: {path}")


def _range(values: list[float]) -> dict[str, float] | None:
    """Return minimum, median and maximum."""
    if not values:
        return None
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}
