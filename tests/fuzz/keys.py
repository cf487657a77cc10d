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

import zmq

from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.control import connected_socket
from gazelive.live.wire.keys import (
    ClientKeys,
    Context,
    ServerKeys,
    load_client_keys,
    load_server_keys,
    make_keys,
)
from gazelive.live.wire.runs import RUNS_VARIABLE, find_run, hold_run, live_runs

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
def _context() -> Context:
    context: Context = zmq.Context()
    _kept.callback(context.destroy, linger=0)
    return context


_kept = ExitStack()


def close() -> None:
    """Remove the folder and close the context."""
    for cached in (_folder, _run_file, _context):
        cached.cache_clear()
    _kept.close()


def _set_runs(folder: str | None) -> None:
    if folder is None:
        os.environ.pop(RUNS_VARIABLE, None)
    else:
        os.environ[RUNS_VARIABLE] = folder


def seeds(_unused: Path) -> list[bytes]:
    """Return one file of each kind."""
    folder = _folder()
    contents = [(folder / "whole" / name).read_bytes() for name in FILES]
    return [bytes([n]) + one for n, one in enumerate([*contents, _run_file().read_bytes()])]


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
            _use(run.watching)
            _use(run.serving(folder))
            assert find_run(run.id or None) == run
        return
    name = FILES[which % len(FILES)]
    (folder / name).write_bytes(data[1:])
    try:
        _use(load_client_keys(folder / "ann"))
        keys = load_server_keys(folder)
        assert len(keys.allowed) + len(keys.damaged) == 1
        _use(keys)
    finally:
        shutil.copy(folder / "whole" / name, folder / name)


def _use(keys: ClientKeys | ServerKeys) -> None:
    connected_socket(_context(), zmq.DEALER, "inproc://nobody", prepare=keys.secure).close()


TARGET = Target(
    read=read,
    seeds=seeds,
    close=close,
    tokens=(b"public-key", b"secret-key", b"curve", b"metadata", b'"', b"=", b'"address":"tcp://'),
    longest=1024,
)
