"""One file of named arrays and a JSON manifest, checked to the last byte; nothing is pickled.

    gazelive model 1\\n                 magic and container version
    8 bytes, little-endian             length of the head
    the head, JSON                     {"manifest": …, "arrays": [{name, dtype, shape, offset}]}
    the arrays, little-endian          each at a multiple of 64 bytes
    32 bytes                           BLAKE2b of everything before

A model that was copied badly, cut off or edited is refused.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError, ModelFormatError
from gazelive.system import UNDECODABLE, replacing, storage_error

Array = npt.NDArray[Any]

MAGIC = b"gazelive model "
VERSION = 1
ALIGNMENT = 64
DIGEST_BYTES = 32
DTYPES = frozenset(
    np.dtype(name).str
    for name in ("?", "u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8")
)
"""Types of numbers that a file may hold: no objects, no text."""
MOST_DIMENSIONS, MOST_ROWS = 8, 1 << 32
LARGEST = 1e15
"""Largest size of a number that `StoredArrays` accepts: sums of products stay finite."""


class _ArrayPlace(msgspec.Struct, frozen=True):
    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    """Bytes from the beginning of the file's array part."""


class _Head(msgspec.Struct, frozen=True):
    manifest: dict[str, Any]
    arrays: tuple[_ArrayPlace, ...]


def write_arrays(path: Path, manifest: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write the file, whole or not at all."""
    places, parts, offset = [], [], 0
    for name, array in arrays.items():
        content = np.asarray(array, order="C")  # ascontiguousarray would give a number a dimension
        content = content.astype(content.dtype.newbyteorder("<"), copy=False)
        if content.dtype.str not in DTYPES:
            raise ModelError(f"array {name} of {content.dtype} cannot be stored")
        places.append(_ArrayPlace(name, content.dtype.str, content.shape, offset))
        parts.append(content)
        offset = _aligned(offset + content.nbytes)
    head = msgspec.json.encode(_Head(dict(manifest), tuple(places)))
    start = b"%s%d\n" % (MAGIC, VERSION) + len(head).to_bytes(8, "little") + head
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    try:
        with replacing(path, private=True) as aside, aside.open("wb") as file:
            for piece in (start, bytes(_aligned(len(start)) - len(start))):
                digest.update(piece)
                file.write(piece)
            for part in parts:
                for piece in (
                    part.tobytes(),
                    bytes(_aligned(part.nbytes) - part.nbytes),
                ):
                    digest.update(piece)
                    file.write(piece)
            file.write(digest.digest())
    except OSError as error:
        raise storage_error(error, path) from error


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the manifest and the arrays, or raise `ModelFormatError`.

    Each array has memory of its own: who keeps one does not keep the file. They can be written to
    like any other: of read-only ones numba would compile every kernel a second time.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"{path}: there is no such model: make one with gazelive train") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from error
    head, start = _read_head(path, content)
    arrays: dict[str, Array] = {}
    for place in head.arrays:
        if place.name in arrays or not _fits(place, len(content) - DIGEST_BYTES - start):
            raise ModelFormatError(f"{path}: array {place.name} is not in the file: train again")
        n = math.prod(place.shape)
        array = np.frombuffer(content, place.dtype, n, start + place.offset)
        arrays[place.name] = array.reshape(place.shape).copy()
    return head.manifest, arrays


def _fits(place: _ArrayPlace, room: int) -> bool:
    """Return whether an array of numbers is where its place says, within `room` bytes."""
    if place.dtype not in DTYPES or not 0 <= place.offset <= room:
        return False
    if len(place.shape) > MOST_DIMENSIONS or any(not 0 <= n <= MOST_ROWS for n in place.shape):
        return False
    return place.offset + math.prod(place.shape) * np.dtype(place.dtype).itemsize <= room


def _read_head(path: Path, content: bytes) -> tuple[_Head, int]:
    """Check the file as a whole; return its head and where its arrays begin."""
    if not content.startswith(MAGIC):
        raise ModelFormatError(f"{path}: is no model of gazelive (they are made by gazelive train)")
    first_line, _, _ = content[: len(MAGIC) + 12].partition(b"\n")
    version = first_line[len(MAGIC) :]
    if not version.isdigit():
        raise ModelFormatError(f"{path}: is damaged (its first line is): copy it again")
    if version != b"%d" % VERSION:
        raise ModelFormatError(
            f"{path}: is a model file of version {version.decode('ascii')}, and this "
            f"gazelive reads version {VERSION}: update gazelive, or train again"
        )
    body, stored = memoryview(content)[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() != stored:
        raise ModelFormatError(
            f"{path}: is damaged (its checksum is wrong): copy it again, or train again"
        )
    at = len(first_line) + 1
    stop = at + 8 + int.from_bytes(content[at : at + 8], "little")
    try:
        head = msgspec.json.decode(content[at + 8 : stop], type=_Head)
    except UNDECODABLE as error:
        raise ModelFormatError(f"{path}: has a head that cannot be read ({error})") from error
    return head, _aligned(stop)


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


class StoredArrays:
    """Arrays of a file, each checked when it is taken: no kernel checks any bounds."""

    def __init__(self, arrays: Mapping[str, Array], **sizes: int) -> None:
        """`sizes` are lengths that are known, by name."""
        self._arrays = arrays
        self._sizes = sizes

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def take(
        self,
        name: str,
        *shape: str | int,
        least: float = -LARGEST,
        most: float = LARGEST,
        whole: bool = False,
        holes: bool = False,
    ) -> Array:
        """Return an array, or raise `ModelFormatError` unless it is as it must be.

        A length in `shape` is a number or a name: one that was not known yet is from then on. All
        values lie between `least` and `most`; `whole` ones are integers, and NaN is one only with
        `holes`.
        """
        array = self._arrays.get(name)
        if array is None:
            raise ModelFormatError(f"it has no array {name}")
        if len(shape) == array.ndim:
            for length, n in zip(shape, array.shape, strict=True):
                self._sizes.setdefault(str(length), n)
        wanted = tuple(self._sizes.get(n, n) if isinstance(n, str) else n for n in shape)
        if array.shape != wanted:
            raise ModelFormatError(f"array {name} has the shape {array.shape}, not {wanted}")
        if array.dtype.kind not in ("iu" if whole else "f"):
            raise ModelFormatError(f"array {name} has the type {array.dtype}")
        fits = (array >= least) & (array <= most)
        if not (fits | np.isnan(array) if holes else fits).all():
            raise ModelFormatError(f"array {name} has values outside {least:g} to {most:g}")
        return array


def stored_number(
    content: Mapping[str, Any], name: str, least: float = -LARGEST, most: float = LARGEST
) -> float:
    """Return a number of a manifest, or raise `ModelFormatError` unless it is in a range."""
    number = content.get(name)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise ModelFormatError(f"{name} is not a number")
    if not least <= number <= most:
        raise ModelFormatError(f"{name} is {number:g}, outside {least:g} to {most:g}")
    return float(number)
