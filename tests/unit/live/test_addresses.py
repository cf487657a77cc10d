"""Addresses that are chosen: free, neighbouring, and not those of outgoing connections."""

from __future__ import annotations

import socket

import pytest
import zmq

from gazelive.errors import ConfigError
from gazelive.live.wire import addresses
from gazelive.live.wire.addresses import FREE_PORTS, N_PORTS, Addresses, free_addresses


def test_free_addresses_can_be_bound() -> None:
    chosen = free_addresses()
    assert chosen.is_loopback
    ports = range(chosen.port, chosen.port + N_PORTS)
    assert FREE_PORTS.start <= ports.start < ports.stop <= FREE_PORTS.stop
    for port in ports:  # as ZeroMQ binds them: ports of a run that has just ended are free
        with zmq.Context() as context, context.socket(zmq.PULL) as one:
            one.bind(f"tcp://{chosen.host}:{port}")


def test_ports_in_use_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        first = taken.getsockname()[1]
        monkeypatch.setattr(addresses, "FREE_PORTS", range(first, first + N_PORTS + 1))
        with pytest.raises(ConfigError, match="4 neighbouring ports"):
            free_addresses()


@pytest.mark.parametrize("everywhere", ["*:6000", "tcp://0.0.0.0:6000", "[::]:6000"])
def test_a_wildcard_address_is_reached_locally(everywhere: str) -> None:
    assert Addresses.parse(everywhere).here == Addresses("127.0.0.1", 6000)
    assert not Addresses.parse(everywhere).is_loopback


def test_other_addresses_stay_as_they_are() -> None:
    assert Addresses.parse("lab-pc").here == Addresses.parse("lab-pc")


def test_a_port_of_thousands_of_digits_is_none() -> None:
    with pytest.raises(ConfigError, match="must be an address"):
        Addresses.parse("127.0.0.1:" + "9" * 5000)


@pytest.mark.parametrize("port", [0, 65533, 99999])
def test_there_must_be_room_for_all_ports(port: int) -> None:
    with pytest.raises(ConfigError, match="4 ports"):
        Addresses.parse(f"127.0.0.1:{port}")
