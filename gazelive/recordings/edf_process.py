"""Run the EDF worker and outlive it: a crash or a hang of native code becomes one sentence."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from gazelive.errors import RecordingError
from gazelive.recordings.edf_dump import EXIT_NO_LIBRARY, EXIT_REFUSED

STALL_S = 120.0
"""A worker that shows no sign of life for this long is taken for dead.

It reports every 50 000 records; the library's scan before the first takes seconds even for a
file of a gigabyte.
"""
LIBRARY_LOG = "library.txt"


def dump_edf(
    path: Path, folder: Path, *, progress: Callable[[float], None] | None = None
) -> tuple[str, ...]:
    """Dump the EDF file at `path` into `folder`; return what the library complained of."""
    worker = [sys.executable, "-P", "-m", "gazelive.recordings.edf_worker"]
    log = folder / LIBRARY_LOG
    exit_code, last_words = run_supervised(
        [*worker, str(path.resolve()), str(folder.resolve())], log, path=path, progress=progress
    )
    if exit_code == EXIT_REFUSED:
        raise RecordingError(
            "this is no EyeLink EDF file, or it is damaged beyond reading: copy it again from "
            "the tracker's host PC",
            path=path,
        )
    if exit_code == EXIT_NO_LIBRARY:
        raise RecordingError(
            f"EDF files cannot be read on this machine, since {last_words}: convert the file to "
            "ASC with SR Research's edf2asc",
            path=path,
        )
    if exit_code != 0:
        raise RecordingError(
            f"SR Research's EDF library failed on this file (exit code {exit_code}"
            f"{': ' + last_words if last_words else ''}): it is probably damaged, copy it again "
            "from the tracker's host PC",
            path=path,
        )
    return _complaints(log)


def run_supervised(
    command: Sequence[str],
    log: Path,
    *,
    path: Path,
    progress: Callable[[float], None] | None = None,
    stall_s: float = STALL_S,
) -> tuple[int, str]:
    """Run `command` for the file at `path`, its standard output into `log`.

    Return its exit code and the last line of its standard error that is not progress. No
    process is left behind, whatever happens.
    """
    last_words = ""
    with log.open("wb") as library_output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=library_output,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    assert process.stderr is not None
    listener = threading.Thread(target=_listen, args=(process.stderr, lines), daemon=True)
    listener.start()
    try:
        while (line := lines.get(timeout=stall_s)) is not None:
            word, _, number = line.partition(" ")
            if word != "progress":
                last_words = line.strip() or last_words
            elif progress is not None:
                progress(float(number))
        return process.wait(timeout=stall_s), last_words
    except (queue.Empty, subprocess.TimeoutExpired):
        raise RecordingError(
            f"SR Research's EDF library gave no answer for {stall_s:.0f} s and was stopped: the "
            "file is probably damaged",
            path=path,
        ) from None
    finally:
        process.kill()
        process.wait()
        listener.join()
        process.stderr.close()


def _listen(stream: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _complaints(log: Path) -> tuple[str, ...]:
    """Return the distinct lines of the library's output that are more than chatter."""
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and "loadEvents" not in line))
