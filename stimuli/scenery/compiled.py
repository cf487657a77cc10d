"""How the kernels here are compiled: fast, since nothing is decided by their last bits."""

from __future__ import annotations

import numba

kernel = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
