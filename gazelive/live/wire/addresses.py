"""Addresses of a session's processes: one address, and the ports that follow it.

================  ========  ==================================================
port              socket    who binds, and what for
================  ========  ==================================================
base              PUB       the engine: documents
base + 1          ROUTER    the engine: requests of dashboards and commands
base + 2          PULL      the engine: chunks (always on this computer)
base + 3          ROUTER    the owner of the device: pause, resume, speed, mark, stop
                            (always on this computer)
================  ========  ==================================================
"""

from __future__ import annotations

import ipaddress
import os
import random
import re
import socket
from dataclasses import dataclass

from gazelive.errors import ConfigError

DEFAULT_ADDRESS = "tcp://127.0.0.1:5870"
N_PORTS = 4
HIGHEST_PORT = 65535 - N_PORTS + 1
FREE_PORTS = range(20_000, 30_000)
_LOOPBACK = "127.0.0.1"
_EVERYWHERE = ("*", "0.0.0.0", "[::]")
_CHANCE = random.SystemRandom()
"""Not the one that may have been seeded: two processes should not choose alike."""


@dataclass(frozen=True)
class Addresses:
    """The addresses of one session."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Addresses:
        """Read `tcp://host:port`, `host:port` or `host`."""
        match = re.fullmatch(
            r"(?:tcp://)?(\[[0-9a-fA-F:]+\]|[^:/\s]+)(?::(\d{1,9}))?/?", text.strip()
        )
        if match is None:
            raise ConfigError(f"must be an address such as {DEFAULT_ADDRESS}, not {text!r}")
        port = int(match[2] or DEFAULT_ADDRESS.rpartition(":")[2])
        if not 0 < port <= HIGHEST_PORT:
            raise ConfigError(
                f"port {port} is out of range: {N_PORTS} ports in a row are needed, the first from "
                f"1 to {HIGHEST_PORT}"
            )
        return cls(match[1], port)

    def __str__(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if only this computer can connect."""
        name = self.host.strip("[]")
        if name == "localhost":
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    @property
    def here(self) -> Addresses:
        """The same as this computer reaches it: one that listens everywhere listens here too."""
        return Addresses(_LOOPBACK, self.port) if self.host in _EVERYWHERE else self

    def are_free(self) -> bool:
        """Return whether nothing listens on these ports of this computer."""
        sockets = []
        try:
            for offset in range(N_PORTS):
                one = socket.socket()
                sockets.append(one)
                if os.name != "nt":  # ports of a run that has just ended; Windows would take any
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.bind((_LOOPBACK, self.port + offset))
        except OSError:
            return False
        finally:
            for one in sockets:
                one.close()
        return True

    def claim(self) -> list[socket.socket]:
        """Mark these ports as taken, for all users of this computer, until the sockets are closed.

        Returns no socket if another process has marked one. The marks are UDP sockets: they leave
        the TCP ports to the engine, and end with the process.
        """
        sockets = []
        try:
            for offset in range(N_PORTS):
                one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                sockets.append(one)
                one.bind((_LOOPBACK, self.port + offset))
        except OSError:
            for one in sockets:
                one.close()
            return []
        return sockets

    @property
    def documents(self) -> str:
        """Address at which documents are published."""
        return str(self)

    @property
    def control(self) -> str:
        """Address at which the engine answers requests."""
        return f"tcp://{self.host}:{self.port + 1}"

    @property
    def chunks(self) -> str:
        """Address at which the engine receives chunks."""
        return f"tcp://{_LOOPBACK}:{self.port + 2}"

    @property
    def device(self) -> str:
        """Address at which the device's process answers requests."""
        return f"tcp://{_LOOPBACK}:{self.port + 3}"


def free_addresses() -> Addresses:
    """Return unused addresses on this computer.

    They lie below the ports that systems give to outgoing connections, one of which could else
    take a port before it is bound.
    """
    for _ in range(100):
        port = _CHANCE.randrange(FREE_PORTS.start, FREE_PORTS.stop - N_PORTS)
        addresses = Addresses(_LOOPBACK, port)
        if addresses.are_free():
            return addresses
    raise ConfigError(f"no {N_PORTS} neighbouring ports are free on this computer")
