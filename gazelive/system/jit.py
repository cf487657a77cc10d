"""Numba kernels: compiled once per machine, cached in the user's folder, announced.

The package folder may be read-only (a lab's shared installation), and a silent pause of many
seconds looks like a hang. So the cache is in the user's cache folder, and a callback
(`compile_notice.on_compile`) runs before anything is compiled. Parents of processes that compile
call `is_first_compile` beforehand. A new version uses a new folder; cached kernels unused for 30
days are removed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba
import platformdirs
from numba.core import event
from numba.core.caching import FunctionCache, _CacheLocator
from numba.core.runtime.nrt import rtsys

from gazelive import __version__
from gazelive.system import compile_notice
from gazelive.system.cache import mark_used, prune

KERNEL_SOURCES = ("_kernels", "_state")
"""Suffixes of modules whose functions or constants are compiled."""
F = TypeVar("F", bound=Callable[..., Any])
_numba_config: Any = numba.config
_subfolder_of: Any = _CacheLocator.get_suitable_cache_subpath


@functools.cache
def cache_directory() -> Path:
    """Return the folder of the kernels of this version, compiled from these sources.

    Numba checks only the file of a kernel, not those of the kernels it calls; so a hash of all
    sources is part of the folder's name.
    """
    package = Path(__file__).parents[1]
    sources = hashlib.blake2b(digest_size=6)
    for path in sorted(package.rglob("*.py")):
        if path.stem.endswith(KERNEL_SOURCES):
            sources.update(path.read_bytes())
    tag = f"{__version__}-{sources.hexdigest()}-numba-{numba.__version__}"
    return Path(platformdirs.user_cache_dir("gazelive", appauthor=False)) / "kernels" / tag


@functools.cache
def _used_cache() -> str:
    """Return the folder, marked as used; creating a new one prunes old ones."""
    folder = cache_directory()
    with contextlib.suppress(OSError):  # numba uses another place if it cannot write here
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            mark_used(folder)
        else:
            prune(folder.parent)
    return str(folder)


def is_first_compile(module: str = "*") -> bool:
    """Return whether nothing (of the module of that name) has been compiled for this installation.

    Other installations of the same version have separate kernels.
    """
    for path in Path(__file__).parents[1].rglob(f"{module}.py"):
        ours = cache_directory() / _subfolder_of(str(path))
        if any(ours.glob(f"{path.stem}.*.nbi")):
            return False
    return True


class _Notice(event.Listener):
    """Listens for compilations, that is, kernels missing in the cache."""

    def on_start(self, event: Any) -> None:
        """Notify."""
        compile_notice.notify()

    def on_end(self, event: Any) -> None:
        """Do nothing."""


_register: Any = event.register
_register("numba:compile", _Notice())


class _KernelCache(FunctionCache):
    """Loads a compiled kernel without numba's declarations, which only compiling needs.

    Numba refreshes its context here too, which imports half of numba and scipy.linalg: half a
    second for every command. A compilation refreshes it in any case.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel of this signature, or None."""
        rtsys.initialize(target_context)  # kernels allocate arrays
        unrefreshed: Any = super()._load_overload
        with self._guard_against_spurious_io_errors():
            return unrefreshed(sig, target_context)


_new_cache: Any = _KernelCache


class _BlasOnDemand:
    """Keeps numba from importing scipy.linalg (0.2 s) as soon as a kernel has, say, np.mean.

    Numba does it to see whether np.dot can work, and again when a kernel calls it. As an import
    hook, this waits until numba's array functions are imported.
    """

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> None:
        if name == "numba.np.arraymath":
            sys.meta_path.remove(self)
            linalg: Any = importlib.import_module("numba.np.linalg")
            linalg.ensure_blas = lambda: None


sys.meta_path.insert(0, _BlasOnDemand())


def kernel(function: F) -> F:
    """Compile `function` to machine code without the GIL, cached in the user's folder."""
    return _compiled(function, error_model="python")


def unchecked_kernel(function: F) -> F:
    """Compile as `kernel` does, but a division by 0 gives inf or NaN instead of raising.

    For kernels with safe divisors: the check costs a third of a short kernel's time.
    """
    return _compiled(function, error_model="numpy")


def _compiled(function: F, error_model: Literal["python", "numpy"]) -> F:
    others_cache = _numba_config.CACHE_DIR
    _numba_config.CACHE_DIR = _used_cache()  # read when the decorator runs
    try:
        compiled: Any = numba.njit(nogil=True, error_model=error_model)(function)
        compiled._cache = _new_cache(function)
        return cast("F", compiled)
    finally:
        _numba_config.CACHE_DIR = others_cache
