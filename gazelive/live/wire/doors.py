"""The way to an engine: its addresses and keys, from a run file or from a folder of keys."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gazelive.errors import TransportError
from gazelive.live.wire.addresses import DEFAULT_ADDRESS, Addresses
from gazelive.live.wire.control import Prepare
from gazelive.live.wire.keys import load_client_keys, require_keys
from gazelive.live.wire.runs import find_run, live_runs


@dataclass(frozen=True)
class Way:
    """Addresses of an engine, and the keys to them."""

    addresses: Addresses
    prepare: Prepare
    run: str | None = None
    """Id of the run; None for the run of another user or computer."""

    @property
    def is_over(self) -> bool:
        """True if the run is known to have ended; the end of another user's is not known."""
        return self.run is not None and all(run.id != self.run for run in live_runs())


class Door:
    """Finds the way to an engine, also to one that is not there yet.

    `name` is an address, an id or a session folder; None is the newest run of this user. With
    `keys`, the folder of a client's keys, it is an address on any computer.
    """

    def __init__(self, name: str | None = None, keys: Path | None = None) -> None:
        self._name = name
        self._way: Way | None = None
        if keys is not None:
            addresses = Addresses.parse(name or DEFAULT_ADDRESS)
            self._way = Way(addresses, load_client_keys(keys).secure)
        elif name is not None and self.way_if_any() is None and not Path(name).exists():
            _refuse_others(name)

    def __str__(self) -> str:
        return self._name or "the newest run on this computer"

    def way(self) -> Way:
        """Return the way; raises `TransportError` if there is no such run yet."""
        if self._way is not None:
            return self._way
        run = find_run(self._name)
        return Way(run.addresses, run.watching.secure, run.id)

    def way_if_any(self) -> Way | None:
        """Return the way; None if there is no such run yet."""
        try:
            return self.way()
        except TransportError:
            return None


def _refuse_others(name: str) -> None:
    """Raise if `name` is no address, or one of another computer, which needs keys."""
    addresses = Addresses.parse(name)
    require_keys(f"--connect {addresses}", is_loopback=addresses.is_loopback, has_keys=False)
