"""Numba kernels: compiled once per machine, cached in the user's own folder, announced.

The package folder may be read-only (a lab's shared installation), and a silent pause of many
seconds looks like a hang; so the cache lives in the user's cache folder, and whoever asked for it
(`compiling.when_compiling`) is told before anything is compiled. Who lets other processes compile
asks `is_first_compile` beforehand. A new version begins a new folder, and lets go of those that
nobody has used for a month.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba
import platformdirs
from numba.core import event
from numba.core.caching import _CacheLocator

from gazelive import __version__, compiling
from gazelive.keeping import let_go_unused, mark_used

KERNEL_SOURCES = ("_kernels", "_state")
"""How the names of files end whose functions or constants are compiled."""
F = TypeVar("F", bound=Callable[..., Any])
_numba_config: Any = numba.config
_subfolder_of: Any = _CacheLocator.get_suitable_cache_subpath


@functools.cache
def cache_directory() -> Path:
    """Return the folder that holds the kernels of this version, compiled from these sources.

    Numba looks only at the file that a kernel stands in, not at the kernels that it calls; so the
    sources of all of them are part of the folder's name.
    """
    package = Path(__file__).parent
    sources = hashlib.blake2b(digest_size=6)
    for path in sorted(package.rglob("*.py")):
        if path.stem.endswith(KERNEL_SOURCES):
            sources.update(path.read_bytes())
    tag = f"{__version__}-{sources.hexdigest()}-numba-{numba.__version__}"
    return Path(platformdirs.user_cache_dir("gazelive", appauthor=False)) / "kernels" / tag


@functools.cache
def _used_cache() -> str:
    """Return the folder, marked as used by this process; a new one takes the place of old ones."""
    folder = cache_directory()
    with contextlib.suppress(OSError):  # numba looks for another place if it may not write here
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            folder.mkdir()
        except FileExistsError:
            mark_used(folder)
        else:
            let_go_unused(folder.parent)
    return str(folder)


def is_first_compile(module: str = "*") -> bool:
    """Say whether nothing (of the module of that name) has been compiled for this installation.

    Another one of the same version, elsewhere on this machine, has kernels of its own beside ours.
    """
    for path in Path(__file__).parent.rglob(f"{module}.py"):
        ours = cache_directory() / _subfolder_of(str(path))
        if any(ours.glob(f"{path.stem}.*.nbi")):
            return False
    return True


class _Notice(event.Listener):
    """Hears of everything that is compiled and not found in the cache."""

    def on_start(self, event: Any) -> None:
        """Pass it on."""
        compiling.tell()

    def on_end(self, event: Any) -> None:
        """Nobody asked."""


_register: Any = event.register
_register("numba:compile", _Notice())


def kernel(function: F) -> F:
    """Compile `function` to machine code without the GIL, cached in the user's folder."""
    return _compiled(function, error_model="python")


def unchecked_kernel(function: F) -> F:
    """Compile as `kernel` does, but let a division by 0 give inf or NaN instead of raising.

    For what divides only by numbers it knows: the check costs a third of a short kernel's time.
    """
    return _compiled(function, error_model="numpy")


def _compiled(function: F, error_model: Literal["python", "numpy"]) -> F:
    others_cache = _numba_config.CACHE_DIR
    _numba_config.CACHE_DIR = _used_cache()  # read when the decorator runs
    try:
        return cast("F", numba.njit(cache=True, nogil=True, error_model=error_model)(function))
    finally:
        _numba_config.CACHE_DIR = others_cache
