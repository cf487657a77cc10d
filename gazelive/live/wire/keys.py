"""Keys for other computers: CurveZMQ, encrypted both ways, only for allowed clients.

A folder of keys, made once on the computer that runs the engine::

    server/server.key_secret   the engine's own; never leaves this computer
    server/server.key          its public half
    allowed/NAME.key           public halves of those who may connect
    NAME/                      to be taken to the computer of NAME: its secret, the engine's public
"""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from gazelive.errors import ConfigError, TransportError

Socket = zmq.Socket[bytes]
Context = zmq.Context[Socket]

SERVER = "server"
ALLOWED = "allowed"
THIS_COMPUTER = "this-computer"


def keys_folder() -> Path:
    """Return the default folder of keys."""
    return Path(platformdirs.user_config_dir("gazelive", appauthor=False)) / "keys"


@dataclass(frozen=True)
class ServerKeys:
    """The engine's keys, and who may connect."""

    public: bytes
    secret: bytes
    allowed: Path

    def secure(self, socket: Socket) -> None:
        """Restrict a socket to authorised keys; call it before the socket is bound."""
        socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
        socket.curve_server = True


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
    if re.fullmatch(r"[\w-][\w.-]*", client) is None or client in (SERVER, ALLOWED):
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


def own_keys(folder: Path) -> Path:
    """Return the folder of the keys with which this computer asks its own engine."""
    own = folder / THIS_COMPUTER
    return own if own.is_dir() else make_keys(folder, THIS_COMPUTER)


def load_server_keys(folder: Path) -> ServerKeys:
    """Return the engine's keys."""
    public, secret = _load(folder / SERVER / f"{SERVER}.key_secret", folder)
    if secret is None:
        raise ConfigError("holds no secret key", path=folder)
    return ServerKeys(public, secret, folder / ALLOWED)


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
    assert secret is not None
    return ClientKeys(public, secret, server_public)


def _load(path: Path, folder: Path) -> tuple[bytes, bytes | None]:
    try:
        return zmq.auth.load_certificate(path)
    except OSError as error:
        raise ConfigError(
            f"has no {path.name}: make keys with `gazelive keys`", path=folder
        ) from error
    except ValueError as error:
        raise ConfigError(f"is no key: {error}", path=path) from error


def require_keys(where: str, *, is_loopback: bool, has_keys: bool) -> None:
    """Refuse to talk to other computers without keys."""
    if not is_loopback and not has_keys:
        raise TransportError(
            f"{where} can be reached from other computers and needs keys: make them with "
            "`gazelive keys` and give their folder with --keys"
        )


class Doorkeeper:
    """The thread that admits clients to the secured sockets of a context."""

    def __init__(self, context: Context, keys: ServerKeys) -> None:
        self._thread: ThreadAuthenticator | None = ThreadAuthenticator(context)
        self._thread.start()
        self._thread.configure_curve(domain="*", location=str(keys.allowed))

    def close(self) -> None:
        """End the thread; a second call does nothing."""
        thread, self._thread = self._thread, None
        if thread is not None:
            with contextlib.suppress(zmq.ZMQError):
                thread.stop()
