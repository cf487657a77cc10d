"""Model files with a right checksum.

An input chooses a method, and changes of its valid model one after the other: each takes a byte for
its kind, two for the place, one for the value. With the method 255 the rest of the input is the
file, with a new checksum.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gazelive.identification import load_model
from gazelive.models.storage import DIGEST_BYTES

from ..support.crafted_models import ARRAYS, DROP, VALUES, Source
from ..unit.identification.test_crafted_models import score
from .plans import ROOT
from .target import Target

WHOLE_FILE = 255
FIELD, ARRAY, BYTE = range(3)
CHANGE_BYTES = 4
MOST_CHANGES = 8
LARGEST_BYTES = 150_000
"""Larger models take too long."""


@functools.cache
def _sources() -> tuple[Source, ...]:
    """Return the models of simulated viewers that 0.1 trained, one of each method."""
    paths = sorted((ROOT / "tests/golden/v0_1/models").glob("*.model"))
    return tuple(Source.read(path) for path in paths if path.stat().st_size < LARGEST_BYTES)


def seeds(folder: Path) -> list[bytes]:
    """Return each model unchanged, some changes, and a small file."""
    n = len(_sources())
    kinds = (FIELD, ARRAY, BYTE)
    path = folder / "seed.model"
    smallest = min(_sources(), key=lambda source: len(str(source.manifest)))
    smallest.write(path)
    return [
        *(bytes([k]) for k in range(n)),
        *(bytes([k, kind, 0, 7 * k, k]) for k in range(n) for kind in kinds),
        bytes([WHOLE_FILE]) + path.read_bytes()[:-DIGEST_BYTES],
    ]


def read(data: bytes, folder: Path) -> None:
    """Load a crafted model, and identify somebody if it is not refused."""
    path = folder / "a.model"
    if data[:1] == bytes([WHOLE_FILE]):
        body = data[1:]
        path.write_bytes(body + hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest())
    else:
        source = _sources()[data[0] % len(_sources()) if data else 0]
        with suppress(ValueError, ArithmeticError):  # a change that an array cannot have
            for change in itertools.islice(_changes(data[1:]), MOST_CHANGES):
                source = _changed(source, *change)
        source.write(path)
    score(load_model(path))


def _changes(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield kind, place and value of each change."""
    for at in range(0, len(data) - CHANGE_BYTES + 1, CHANGE_BYTES):
        yield data[at] % 3, int.from_bytes(data[at + 1 : at + 3], "big"), data[at + 3]


def _changed(source: Source, kind: int, place: int, value: int) -> Source:
    names, places = sorted(source.arrays), source.places()
    if places and (kind == FIELD or not names):
        where = places[place % len(places)]
        what = VALUES[value % len(VALUES)]
        if what is DROP and isinstance(where[-1], int):
            return source
        return source.with_field(where, what)
    if not names:
        return source
    if kind == ARRAY:
        return source.with_array(names[place % len(names)], sorted(ARRAYS)[value % len(ARRAYS)])
    name = names[place % len(names)]
    array = source.arrays[name].copy()
    content = array.reshape(-1).view("u1")
    if content.size:
        content[place * 257 % content.size] = value
    return Source(source.manifest, source.arrays | {name: array})


TARGET = Target(read=read, seeds=seeds, longest=8192)
