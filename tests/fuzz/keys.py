"""Keys of the engine and of its clients, and run files.

The first byte of an input chooses the file that has the rest as its content.
"""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import msgspec
import zmq
from zmq.utils import z85

from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.keys import (
    Context,
    Socket,
    load_client_keys,
    load_server_keys,
    make_keys,
)
from gazelive.live.wire.runs import (
    RUNS_VARIABLE,
    KeyPair,
    Run,
    find_run,
    hold_run,
    live_runs,
)

from .target import Target

FILES = ("server/server.key_secret", "allowed/ann.key", "ann/ann.key_secret", "ann/server.key")
RUN = len(FILES)


@functools.cache
def _folder() -> Path:
    """Return a folder of keys, and of run files: one, of a run that this process holds."""
    folder = Path(_kept.enter_context(tempfile.TemporaryDirectory(prefix="gazelive-fuzz-")))
    make_keys(folder, "ann")
    shutil.copytree(folder, folder / "whole")
    before = os.environ.get(RUNS_VARIABLE)
    _kept.callback(_set_runs, before)
    _set_runs(str(folder / "runs"))
    _kept.enter_context(hold_run(free_addresses(), folder))
    return folder


@functools.cache
def _socket() -> Socket:
    """Return a socket that refuses impossible keys."""
    context: Context = zmq.Context()
    _kept.callback(context.destroy, linger=0)
    return _kept.enter_context(context.socket(zmq.DEALER))


_kept = ExitStack()


def close() -> None:
    """Remove the folder and close the context."""
    for cached in (_folder, _run_file, _socket):
        cached.cache_clear()
    _kept.close()


def _set_runs(folder: str | None) -> None:
    if folder is None:
        os.environ.pop(RUNS_VARIABLE, None)
    else:
        os.environ[RUNS_VARIABLE] = folder


def seeds(_unused: Path) -> list[bytes]:
    """Return one file of each kind."""
    secret = z85.encode(bytes(range(32)))
    pair = KeyPair(zmq.curve_public(secret).decode(), secret.decode())
    key = f'#   made up\n\nmetadata\ncurve\n    public-key = "{pair.public}"\n'
    secret_key = f'{key}    secret-key = "{pair.secret}"\n'
    run = Run(
        id="5" * 32,
        address="tcp://127.0.0.1:5870",
        folder="sessions/a",
        started_s=1e9,
        server=pair,
        client=pair,
        engine_public=pair.public,
    )
    contents = [(secret_key if "secret" in name else key).encode() for name in FILES]
    return [
        bytes([number]) + content
        for number, content in enumerate([*contents, msgspec.json.encode(run)])
    ]


@functools.cache
def _run_file() -> Path:
    return next((_folder() / "runs").glob("*.json"))


def read(data: bytes, _unused: Path) -> None:
    """Read a file, and use what was read to secure a socket."""
    folder = _folder()
    which = data[0] if data else 0
    if which == RUN:
        _run_file().write_bytes(data[1:])
        for run in live_runs():
            run.watching.secure(_socket())
            run.serving(folder).secure(_socket())
            assert find_run(run.id or None) == run
        return
    name = FILES[which % len(FILES)]
    (folder / name).write_bytes(data[1:])
    try:
        load_client_keys(folder / "ann").secure(_socket())
        keys = load_server_keys(folder)
        assert len(keys.allowed) + len(keys.damaged) == 1
        keys.secure(_socket())
    finally:
        shutil.copy(folder / "whole" / name, folder / name)


TARGET = Target(
    read=read,
    seeds=seeds,
    close=close,
    tokens=(b"public-key", b"secret-key", b"curve", b"metadata", b'"', b"=", b'"address":"tcp://'),
    longest=1024,
)
