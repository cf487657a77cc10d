"""Keys: every socket is encrypted both ways (CurveZMQ) and admits only known clients.

A run makes keys for the processes of its own user (`gazelive.live.wire.runs`). Other users and
other computers need a folder of keys, made once on the computer that runs the engine::

    server/server.key_secret   the engine's own; never leaves this computer
    server/server.key          its public half
    allowed/NAME.key           public halves of those who may connect
    NAME/                      to be taken to the computer of NAME: its secret, the engine's public
"""

from __future__ import annotations

import re
import shutil
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import zmq
import zmq.auth
from zmq.utils import z85

from gazelive.errors import ConfigError, TransportError
from gazelive.system import name_problem

Socket = zmq.Socket[bytes]
Context = zmq.Context[Socket]

SERVER = "server"
ALLOWED = "allowed"
_ZAP_ADDRESS = "inproc://zeromq.zap.01"
_STOP_ADDRESS = "inproc://gazelive.doorkeeper"


def keys_folder() -> Path:
    """Return the default folder of keys."""
    return Path(platformdirs.user_config_dir("gazelive", appauthor=False)) / "keys"


@dataclass(frozen=True)
class ServerKeys:
    """The keys of sockets that are bound, and who may connect to them."""

    public: bytes
    secret: bytes
    allowed: frozenset[bytes]
    """Public keys of the clients, in Z85."""
    damaged: tuple[str, ...] = ()
    """A sentence for each client's key that cannot be read."""

    def secure(self, socket: Socket) -> None:
        """Restrict a socket to allowed keys; call it before the socket is bound."""
        socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
        socket.curve_server = True
        socket.zap_domain = self.public  # by which the doorkeeper knows who may connect


@dataclass(frozen=True)
class ClientKeys:
    """The keys of a client."""

    public: bytes
    secret: bytes
    server_public: bytes

    def secure(self, socket: Socket) -> None:
        """Prove who we are and know whom we talk to; before the socket is connected."""
        socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
        socket.curve_serverkey = self.server_public


def make_keys(folder: Path, client: str) -> Path:
    """Make the keys of `client` (and the engine's, the first time); return its folder."""
    is_name = re.fullmatch(r"[\w-][\w.-]*", client) is not None and name_problem(client) is None
    if not is_name or client.lower() in (SERVER, ALLOWED):
        raise ConfigError(f"{client!r} is no name for keys: use letters and digits")
    if (folder / client).exists():
        raise ConfigError("there are such keys already: choose another name", path=folder / client)
    server = folder / SERVER
    if not (server / f"{SERVER}.key_secret").is_file():
        server.mkdir(parents=True, exist_ok=True)
        zmq.auth.create_certificates(server, SERVER)
    (folder / ALLOWED).mkdir(exist_ok=True)
    (folder / client).mkdir()
    public, _ = zmq.auth.create_certificates(folder / client, client)
    shutil.copy(public, folder / ALLOWED)
    shutil.copy(server / f"{SERVER}.key", folder / client)
    for secret in (server / f"{SERVER}.key_secret", folder / client / f"{client}.key_secret"):
        secret.chmod(0o600)
    return folder / client


def load_server_keys(folder: Path) -> ServerKeys:
    """Return the engine's keys."""
    public, secret = _load(folder / SERVER / f"{SERVER}.key_secret", folder)
    if secret is None:
        raise ConfigError("holds no secret key", path=folder)
    allowed, damaged = set(), []
    for path in sorted((folder / ALLOWED).glob("*.key")):
        try:
            allowed.add(_load(path, folder)[0])
        except ConfigError as error:
            damaged.append(f"{error}: its owner cannot connect")
    return ServerKeys(public, secret, frozenset(allowed), tuple(damaged))


def load_client_keys(folder: Path) -> ClientKeys:
    """Return the keys in a client's folder made by `make_keys`."""
    secrets = sorted(folder.glob("*.key_secret")) if folder.is_dir() else []
    if len(secrets) != 1:
        raise ConfigError(
            "is no folder with the keys of one client: make them with `gazelive keys` on the "
            "engine's computer and bring the folder here",
            path=folder,
        )
    public, secret = _load(secrets[0], folder)
    server_public, _ = _load(folder / f"{SERVER}.key", folder)
    if secret is None:
        raise ConfigError("holds no secret key", path=secrets[0])
    return ClientKeys(public, secret, server_public)


def _load(path: Path, folder: Path) -> tuple[bytes, bytes | None]:
    try:
        public, secret = zmq.auth.load_certificate(path)
    except OSError as error:
        raise ConfigError(
            f"has no {path.name}: make keys with `gazelive keys`", path=folder
        ) from error
    except (ValueError, IndexError) as error:  # the latter: a line without =
        raise ConfigError(f"is no key: {error}", path=path) from error
    if not (is_key(public) and (secret is None or is_key(secret))):
        raise ConfigError("is no key: it has other characters, or more or fewer", path=path)
    return public, secret


def is_key(text: bytes) -> bool:
    """Return whether a text is a key: 32 bytes in Z85."""
    try:
        return len(z85.decode(text)) == 32
    except (KeyError, ValueError, struct.error):  # five characters may stand for too much
        return False


def require_keys(where: str, *, is_loopback: bool, has_keys: bool) -> None:
    """Refuse to talk to other computers without keys."""
    if not is_loopback and not has_keys:
        raise TransportError(
            f"{where} can be reached from other computers and needs keys: make them with "
            "`gazelive keys` and give their folder with --keys"
        )


class Doorkeeper:
    """The thread that admits clients to the secured sockets of a context (ZAP, ZeroMQ RFC 27).

    Make it before those sockets are bound: without it they would admit any key.
    """

    def __init__(self, context: Context, *keys: ServerKeys) -> None:
        self._context = context
        socket, stop = context.socket(zmq.REP), context.socket(zmq.PAIR)
        stop.bind(_STOP_ADDRESS)
        socket.bind(_ZAP_ADDRESS)
        allowed = {one.public: one.allowed for one in keys}
        self._thread: threading.Thread | None = threading.Thread(
            target=_admit, args=(socket, stop, allowed), name="doorkeeper", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """End the thread; a second call does nothing."""
        thread, self._thread = self._thread, None
        if thread is not None:
            with self._context.socket(zmq.PAIR) as stop:
                stop.connect(_STOP_ADDRESS)
                stop.send(b"")
                thread.join()


def _admit(socket: Socket, stop: Socket, allowed: Mapping[bytes, frozenset[bytes]]) -> None:
    """Answer whether a client's key is allowed in a domain, until `stop` receives anything."""
    with socket, stop:
        poller = zmq.Poller()
        poller.register(socket, zmq.POLLIN)
        poller.register(stop, zmq.POLLIN)
        while stop not in dict(poller.poll()):
            version, sequence, domain, _address, _identity, mechanism, *credentials = (
                socket.recv_multipart()
            )
            key = z85.encode(credentials[0]) if mechanism == b"CURVE" else b""
            is_allowed = key in allowed.get(domain, ())
            code, text = (b"200", b"OK") if is_allowed else (b"400", b"unknown key")
            socket.send_multipart([version, sequence, code, text, b"", b""])
