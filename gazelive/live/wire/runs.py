"""Run files: address, id and keys of every live run of this user on this computer.

The process that starts a run writes `HOST-PORT.json` to the folder of runs and holds
`HOST-PORT.lock` until the run is over. The processes of the session, dashboards and subscribers
read the keys from the file, so secrets never appear on a command line. A run file whose lock is
free belongs to a dead process: it is ignored and removed.

Only the owner can read a run file: folder and file are made with modes 0700 and 0600. On Windows
both inherit the access list of the user's profile (%LOCALAPPDATA%): the user, SYSTEM and
Administrators.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import time
import uuid
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec
import platformdirs
import zmq

from gazelive.errors import ConfigError, RecordingError, StorageError, TransportError
from gazelive.live.wire.addresses import DEFAULT_ADDRESS, Addresses, free_addresses
from gazelive.live.wire.keys import ClientKeys, ServerKeys, is_key, load_server_keys
from gazelive.system import UNDECODABLE, WriterLock, storage_error, write_private

RUNS_VARIABLE = "GAZELIVE_RUNS"
"""Environment variable with another folder for the run files."""


def _check_keys(*keys: str) -> None:
    if not all(is_key(key.encode()) for key in keys):
        raise ValueError("these are no keys")


class KeyPair(msgspec.Struct, frozen=True):
    """A CurveZMQ key pair, in Z85."""

    public: str
    secret: str

    def __post_init__(self) -> None:
        _check_keys(self.public, self.secret)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A live run, as in its run file."""

    id: str
    """Random; new for every run."""
    address: str
    """As this computer reaches the engine."""
    folder: str
    """The session folder."""
    started_s: float
    """Start of the run, seconds since 1970."""
    server: KeyPair
    """Of the sockets that this run binds."""
    client: KeyPair
    """With which this user's processes connect."""
    engine_public: str
    """The engine's key for documents and requests: that of `--keys`, else `server`."""

    def __post_init__(self) -> None:
        _check_keys(self.engine_public)
        Addresses.parse(self.address)

    @property
    def addresses(self) -> Addresses:
        """The sockets' addresses."""
        return Addresses.parse(self.address)

    @property
    def watching(self) -> ClientKeys:
        """The keys for documents and for requests to the engine."""
        return self._client_keys(self.engine_public)

    @property
    def recording(self) -> ClientKeys:
        """The keys for chunks and for requests to the owner of the device."""
        return self._client_keys(self.server.public)

    @property
    def binding(self) -> ServerKeys:
        """The keys of the sockets that only this run's processes may use."""
        mine = frozenset({self.client.public.encode()})
        return ServerKeys(self.server.public.encode(), self.server.secret.encode(), mine)

    def serving(self, keys: Path | None) -> ServerKeys:
        """The keys of the engine's sockets for documents and requests; with `keys` for others."""
        if keys is None:
            return self.binding
        others = load_server_keys(keys)
        return replace(others, allowed=self.binding.allowed | others.allowed)

    def _client_keys(self, server_public: str) -> ClientKeys:
        public, secret = self.client.public.encode(), self.client.secret.encode()
        return ClientKeys(public, secret, server_public.encode())


_decoder = msgspec.json.Decoder(Run)


def runs_folder() -> Path:
    """Return the folder of this user's run files."""
    chosen = os.environ.get(RUNS_VARIABLE)
    if chosen:
        return Path(chosen)
    return Path(platformdirs.user_state_dir("gazelive", appauthor=False)) / "runs"


class Place(NamedTuple):
    """Ports that this process has for a run."""

    lock: WriterLock
    """Keeps this user's other processes away."""
    claim: tuple[socket.socket, ...] = ()
    """Keep all users' processes away from ports that were chosen because they were free."""

    def leave(self) -> None:
        """Give the ports back."""
        for one in self.claim:
            one.close()
        self.lock.release()


class RunHolder:
    """Holds a run until `close` or the end of the process."""

    def __init__(self, run: Run, place: Place | None) -> None:
        self.run = run
        self._place = place

    def close(self) -> None:
        """Remove the run file, unless another process holds the run; may be called twice."""
        if self._place is not None:
            _run_file(self.run.addresses.port).unlink(missing_ok=True)
            self._place.leave()
            self._place = None

    def __enter__(self) -> RunHolder:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()


def hold_run(addresses: Addresses, folder: Path, keys: Path | None = None) -> RunHolder:
    """Start a run at an address, or join the one that another process holds there.

    `keys` is the folder of the keys for other users and computers, if they may connect.
    """
    port = addresses.port
    place = _reserved.pop(port, None) or _try_hold(port)
    if place is None:
        run = run_at(addresses)
        if run is None:
            raise TransportError(
                f"{addresses}: another run is starting there (choose another port with --bind)"
            )
        return RunHolder(run, None)
    server, client = _new_pair(), _new_pair()
    public = server.public if keys is None else load_server_keys(keys).public.decode()
    run = Run(
        id=uuid.uuid4().hex,
        address=str(addresses.here),
        folder=str(folder.absolute()),
        started_s=time.time(),
        server=server,
        client=client,
        engine_public=public,
    )
    try:
        write_private(_run_file(port), msgspec.json.encode(run))
    except OSError as error:
        place.leave()
        raise storage_error(error, _run_file(port)) from error
    return RunHolder(run, place)


def run_at(addresses: Addresses) -> Run | None:
    """Return this user's run at a port of this computer; None if there is none."""
    path = _run_file(addresses.port)
    run = _read(path)
    return run if run is not None and _is_held(path) else None


def live_runs() -> list[Run]:
    """Return this user's live runs on this computer, newest first; remove stale run files."""
    found = [
        run
        for path in sorted(runs_folder().glob(f"{_host()}-*.json"))
        if _is_held(path) and (run := _read(path)) is not None
    ]
    return sorted(found, key=lambda run: run.started_s, reverse=True)


def find_run(name: str | None = None) -> Run:
    """Return the newest live run, or the one with this address, id or session folder.

    Raises `TransportError` if there is none.
    """
    runs = live_runs()
    if name is not None:
        runs = [run for run in runs if _is_called(run, name)]
    if not runs:
        which = "run" if name is None else f"run called {name!r}"
        raise TransportError(
            f"no {which} of yours is live on this computer: start one (gazelive record, replay or "
            "run), or give its address and your keys with --connect and --keys"
        )
    return runs[0]


_reserved: dict[int, Place] = {}
"""Ports that this process will use for its next run."""


@atexit.register
def _leave_reserved() -> None:
    """Give back the ports of runs that did not come about."""
    while _reserved:
        _reserved.popitem()[1].leave()


def reserve_addresses(default: str = DEFAULT_ADDRESS) -> Addresses:
    """Return the default address if it and the ports that follow it are free, else others.

    They are kept for `hold_run` in this process, so that no other run takes them meanwhile.
    """
    addresses = Addresses.parse(default)
    while (place := _try_reserve(addresses)) is None:
        addresses = free_addresses()
    _reserved[addresses.port] = place
    return addresses


def _try_reserve(addresses: Addresses) -> Place | None:
    place = _try_hold(addresses.port)
    if place is None:
        return None
    claim = addresses.claim()
    if claim and addresses.are_free():
        return Place(place.lock, tuple(claim))
    Place(place.lock, tuple(claim)).leave()
    return None


def _is_called(run: Run, name: str) -> bool:
    if name == run.id or Path(name).absolute() == Path(run.folder):
        return True
    if name == Path(run.folder).name:
        return True
    with contextlib.suppress(ConfigError):
        return Addresses.parse(name).here == run.addresses
    return False


def _host() -> str:
    """Return this computer's name: a home folder may be shared by several."""
    return socket.gethostname() or "localhost"


def _run_file(port: int) -> Path:
    return runs_folder() / f"{_host()}-{port}.json"


def _try_hold(port: int) -> Place | None:
    """Return the place of a port; None if a live process of this user has it."""
    path = _run_file(port)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = WriterLock(path.parent, path.with_suffix(".lock").name, "running an engine there")
        return Place(lock)
    except StorageError:
        raise
    except RecordingError:
        return None
    except OSError as error:
        raise storage_error(error, path.parent) from error


def _is_held(path: Path) -> bool:
    """Return whether a live process holds a run; remove the file of a dead one."""
    try:
        lock = WriterLock(path.parent, path.with_suffix(".lock").name)
    except StorageError:
        return False
    except RecordingError:
        return True
    path.unlink(missing_ok=True)
    lock.release()
    return False


def _read(path: Path) -> Run | None:
    try:
        return _decoder.decode(path.read_bytes())
    except (OSError, *UNDECODABLE):
        return None


def _new_pair() -> KeyPair:
    public, secret = zmq.curve_keypair()
    return KeyPair(public.decode(), secret.decode())
