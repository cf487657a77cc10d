"""Settings of a process: its BLAS threads, the encoding of its console, the end of its parent."""

from __future__ import annotations

import io
import os
import sys
import threading

_STANDARD_INPUT = 0


def parent_exit() -> threading.Event:
    """Return an event that is set when standard input, a pipe from the parent, closes."""
    ended = threading.Event()

    def listen() -> None:
        # not sys.stdin: a thread that waits in it would break the interpreter's exit
        while os.read(_STANDARD_INPUT, 64):
            pass
        ended.set()

    threading.Thread(target=listen, name="parent", daemon=True).start()
    return ended


VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def one_thread_environment() -> dict[str, str]:
    """Return the environment of a process that computes with one thread.

    In a live process, two BLAS threads make the slowest chunk far slower.
    """
    return {**os.environ, **dict.fromkeys(VARIABLES, "1")}


def limit_to_one_thread() -> None:
    """Compute with one thread from here on; best before numpy is imported."""
    late = {"NUMBA_NUM_THREADS"} if "numba" in sys.modules else set()  # it would complain
    os.environ.update({name: "1" for name in VARIABLES if name not in late})
    if "numpy" in sys.modules:  # too late for the variables
        import threadpoolctl  # type: ignore[import-untyped]

        threadpoolctl.threadpool_limits(1)


def replace_unencodable() -> None:
    """Make standard output and error write `?` for characters they cannot encode.

    An old Windows code page has no κ, and the name of an image may contain any character.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
