"""Saving at the end of a session, whatever fails."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from gazelive.devices import ControlsPlayback, HasHostFile
from gazelive.experiment.process.device_thread import DeviceThread
from gazelive.recordings import SessionWriter


def save(
    device_thread: DeviceThread,
    writer: SessionWriter,
    reason: str,
    outcome: dict[str, Any],
    *,
    show: Callable[[float], None],
    say: Callable[[str], None],
) -> list[Exception]:
    """Stop, write the outcome, close the session and fetch the tracker's own file.

    Whatever fails, all of it is tried; return what failed. `show` takes the fraction of the file
    that was fetched.
    """
    steps: list[Callable[[], object]] = [
        lambda: writer.update(config=writer.manifest.config | {"outcome": outcome}),
        lambda: device_thread.close(reason),
    ]
    device = device_thread.device
    if isinstance(device, HasHostFile) and not isinstance(device, ControlsPlayback):
        steps.append(lambda: _fetch_host_file(device, writer.folder, show, say))
    failures: list[Exception] = []
    for step in steps:
        try:
            step()
        except Exception as error:  # also a bug: the recording comes first
            failures.append(error)
    return failures


def _fetch_host_file(
    device: HasHostFile,
    folder: Path,
    show: Callable[[float], None],
    say: Callable[[str], None],
) -> None:
    """Fetch the tracker's own file and show the progress on the console too."""
    show(0.0)
    console = Console(stderr=True)
    # no thread of its own: this may run while the interpreter exits
    bar = Progress(
        console=console, transient=True, disable=not console.is_terminal, auto_refresh=False
    )
    with bar:
        task = bar.add_task("Fetching the tracker's own file", total=1.0)

        def progress(fraction: float) -> None:
            bar.update(task, completed=fraction, refresh=True)
            show(fraction)

        path = device.receive_host_file(folder, folder.name, progress)
    say(f"The tracker's own file: {path}")


def value_range(values: list[float]) -> dict[str, float] | None:
    """Return minimum, median and maximum."""
    if not values:
        return None
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}
