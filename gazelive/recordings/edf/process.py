"""Run the EDF worker: a crash or hang of native code becomes an error message."""

from __future__ import annotations

import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from gazelive.errors import RecordingError
from gazelive.recordings.edf.dump import EXIT_NO_LIBRARY, EXIT_REFUSED
from gazelive.system import one_thread_environment, python_module

STALL_S = 120.0
"""A worker that reports nothing for this long is considered dead.

It reports every 50 000 records; the library's scan before the first takes seconds even for a
file of a gigabyte.
"""
LIBRARY_LOG = "library.txt"


class NotAnEdfError(RecordingError):
    """The library refuses the file."""


def dump_edf(
    path: Path, folder: Path, *, progress: Callable[[float], None] | None = None
) -> tuple[str, ...]:
    """Dump the EDF file at `path` into `folder`; return the library's complaints."""
    files = (str(path.resolve()), str(folder.resolve()))
    worker = python_module("gazelive.recordings.edf.worker", *files)
    log = folder / LIBRARY_LOG
    exit_code, last_words = run_supervised(worker, log, path=path, progress=progress)
    if exit_code == EXIT_REFUSED:
        raise NotAnEdfError(
            "not an EyeLink EDF file, or too damaged to read: copy it again from "
            "the tracker's host PC",
            path=path,
        )
    if exit_code == EXIT_NO_LIBRARY:
        raise RecordingError(
            f"EDF files cannot be read on this machine ({last_words}): convert the file to "
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
    process is left behind.
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
            env=one_thread_environment(),  # idle threads of BLAS take processor time
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
            f"SR Research's EDF library did not respond for {stall_s:.0f} s and was stopped: the "
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
    """Return the distinct, relevant lines of the library's output."""
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = (line.strip() for line in text.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and "loadEvents" not in line))
