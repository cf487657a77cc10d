"""One thread for numbers: in a live process, two BLAS threads make the slowest chunk far slower."""

from __future__ import annotations

import os
import sys

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def one_thread_environment() -> dict[str, str]:
    """Return the environment for a process that is to compute with one thread."""
    return {**os.environ, **dict.fromkeys(VARIABLES, "1")}


def hold_to_one_thread() -> None:
    """Compute with one thread from here on; best before numpy is imported."""
    late = {"NUMBA_NUM_THREADS"} if "numba" in sys.modules else set()  # it would complain
    os.environ.update({name: "1" for name in VARIABLES if name not in late})
    if "numpy" in sys.modules:  # too late for the variables
        import threadpoolctl  # type: ignore[import-untyped]

        threadpoolctl.threadpool_limits(1)
