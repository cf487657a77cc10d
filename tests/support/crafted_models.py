"""Model files with a valid checksum and one part that is not as it must be."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.models.storage import read_arrays, write_arrays

DROP = object()
VALUES: list[Any] = [
    DROP,
    None,
    True,
    0,
    -1,
    7,
    2**62,
    0.5,
    1e14,
    1e308,
    -1e308,
    "",
    "nan",
    "inf",
    "other",
    [],
    [0.0],
    [[]],
    {},
    {"kind": "turn"},
]
"""Put in place of each field of a manifest."""


def _filled(value: float) -> Callable[[Any], Any]:
    return lambda array: np.full_like(array, value)


def _one(value: float) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        changed = array.copy()
        if array.size:
            changed.flat[array.size // 2] = value
        return changed

    return change


ARRAYS: dict[str, Callable[[Any], Any]] = {
    "empty": lambda array: array[:0] if array.ndim else np.zeros(0),
    "shorter": lambda array: array[:-1] if array.ndim else array,
    "longer": lambda array: np.concatenate((array, array[-1:])) if array.ndim else array,
    "flat": lambda array: array.reshape(-1),
    "turned": lambda array: array.T,
    "narrower": lambda array: array[..., :-1] if array.ndim else array,
    "wider": lambda array: np.concatenate((array, array), axis=-1) if array.ndim else array,
    "deeper": lambda array: array[None],
    "one": lambda array: array.reshape(-1)[:1].reshape(()) if array.size else array,
    "whole": lambda array: np.nan_to_num(array).astype(np.int64),
    "single": lambda array: array.astype(np.float32),
    "double": lambda array: array.astype(np.float64),
    "flags": lambda array: array.astype(bool),
    "bytes": lambda array: np.nan_to_num(array).astype(np.uint8),
    "zeros": _filled(0),
    "negative": lambda array: -array if array.dtype.kind == "f" else array - 2,
    "large": lambda array: array * array.dtype.type(1000),
    "huge": lambda array: np.full_like(
        array, 1e14 if array.dtype.kind == "f" else min(2**31 - 1, np.iinfo(array.dtype).max)
    ),
    "tiny": lambda array: np.full_like(array, 1e-300) if array.dtype.kind == "f" else array,
    "backwards": lambda array: array[::-1] if array.ndim else array,
    "one NaN": lambda array: _one(np.nan)(array) if array.dtype.kind == "f" else array,
    "one infinite": lambda array: _one(np.inf)(array) if array.dtype.kind == "f" else array,
    "one negative": lambda array: _one(-1)(array) if array.dtype.kind != "u" else array,
    "one large": _one(200),
}
"""Changes of an array, by name."""


@dataclasses.dataclass(frozen=True)
class Source:
    """The parts of a valid model file."""

    manifest: dict[str, Any]
    arrays: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> Source:
        """Read a model file."""
        return cls(*read_arrays(path))

    def places(self) -> list[tuple[str | int, ...]]:
        """Return the path of each field of the manifest, of lists the first two entries."""
        return list(_places(self.manifest))

    def with_field(self, place: tuple[str | int, ...], value: Any) -> Source:
        """Return the parts with another value of a field."""
        manifest = copy.deepcopy(self.manifest)
        parent: Any = manifest
        for key in place[:-1]:
            parent = parent[key]
        if value is DROP:
            del parent[place[-1]]
        else:
            parent[place[-1]] = value
        return Source(manifest, self.arrays)

    def with_array(self, name: str, change: str) -> Source:
        """Return the parts with an array changed (`ARRAYS`), or without it."""
        if change == "missing":
            return Source(self.manifest, {n: a for n, a in self.arrays.items() if n != name})
        with np.errstate(all="ignore"):
            return Source(self.manifest, {**self.arrays, name: ARRAYS[change](self.arrays[name])})

    def write(self, path: Path) -> None:
        """Write them as a model file."""
        write_arrays(path, self.manifest, self.arrays)


def _places(node: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    children = node.items() if isinstance(node, dict) else ()
    if isinstance(node, list):
        children = enumerate(node[:2])
    for key, child in children:
        yield from _places(child, (*at, key))
