"""Results of tasks by the content of what went into them: a study goes on where it was stopped."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

import msgspec

import gazelive
from gazelive.system import write_bytes


def key_of(*parts: object) -> str:
    """Return the name of a result: a hash of everything it depends on."""
    encoded = msgspec.msgpack.encode(parts, enc_hook=str)
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()


@lru_cache
def code_key(*parts: str) -> str:
    """Return a hash of the source of some of gazelive's packages and modules."""
    digest = hashlib.blake2b(digest_size=16)
    root = Path(gazelive.__file__).parent
    for part in parts:
        whole = root / part
        for path in sorted(whole.rglob("*.py")) if whole.is_dir() else [whole]:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def content_key(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder."""
    digest = hashlib.blake2b(digest_size=16)
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        digest.update(file.relative_to(path.parent).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
    return digest.hexdigest()


class Cache:
    """A folder of results; every file is whole or absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """Return the file of a result."""
        return self.folder / key

    def get(self, key: str) -> bytes | None:
        """Return a result; None if it is not there yet."""
        try:
            return self.path(key).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, key: str, content: bytes) -> None:
        """Keep a result."""
        write_bytes(self.path(key), content)
