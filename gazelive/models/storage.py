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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelError, ModelFormatError
from gazelive.system import replacing, storage_error

Array = npt.NDArray[Any]

MAGIC = b"gazelive model "
VERSION = 1
ALIGNMENT = 64
DIGEST_BYTES = 32
KINDS = "biuf"
"""Kinds of numbers that a file may hold: no objects, no text."""


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
        if content.dtype.kind not in KINDS:
            raise ModelError(f"array {name} of {content.dtype} cannot be stored")
        content = content.astype(content.dtype.newbyteorder("<"), copy=False)
        places.append(_ArrayPlace(name, content.dtype.str, content.shape, offset))
        parts.append(content)
        offset = _aligned(offset + content.nbytes)
    head = msgspec.json.encode(_Head(dict(manifest), tuple(places)))
    start = b"%s%d\n" % (MAGIC, VERSION) + len(head).to_bytes(8, "little") + head
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    try:
        with replacing(path) as aside, aside.open("wb") as file:
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

    The arrays can be written to like any other: of read-only ones numba would compile every kernel
    a second time.
    """
    try:
        content = bytearray(path.read_bytes())
    except FileNotFoundError as error:
        raise ModelError(f"{path}: there is no such model: make one with gazelive train") from error
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from error
    head, start = _read_head(path, content)
    arrays = {}
    for place in head.arrays:
        dtype = np.dtype(place.dtype)
        n = int(np.prod(place.shape, dtype=np.int64))
        array = np.frombuffer(content, dtype, n, start + place.offset)
        arrays[place.name] = array.reshape(place.shape)
    return head.manifest, arrays


def _read_head(path: Path, content: bytearray) -> tuple[_Head, int]:
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
    body, stored = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest() != stored:
        raise ModelFormatError(
            f"{path}: is damaged (its checksum is wrong): copy it again, or train again"
        )
    at = len(first_line) + 1
    stop = at + 8 + int.from_bytes(content[at : at + 8], "little")
    try:
        head = msgspec.json.decode(content[at + 8 : stop], type=_Head)
    except msgspec.MsgspecError as error:
        raise ModelFormatError(f"{path}: has a head that cannot be read ({error})") from error
    return head, _aligned(stop)


def _aligned(n_bytes: int) -> int:
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT
