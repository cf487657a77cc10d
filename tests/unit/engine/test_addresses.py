"""Addresses that are chosen: free, neighbouring, and not those of outgoing connections."""

from __future__ import annotations

import socket

import pytest

from gazelive.engine import addresses
from gazelive.engine.addresses import FREE_PORTS, N_PORTS, free_addresses
from gazelive.errors import ConfigError


def test_free_addresses_can_be_bound() -> None:
    chosen = free_addresses()
    assert chosen.is_loopback
    ports = range(chosen.port, chosen.port + N_PORTS)
    assert FREE_PORTS.start <= ports.start < ports.stop <= FREE_PORTS.stop
    for port in ports:
        with socket.socket() as one:
            one.bind((chosen.host, port))


def test_ports_in_use_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    first = free_addresses().port
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        monkeypatch.setattr(addresses, "FREE_PORTS", range(first, first + N_PORTS + 1))
        with pytest.raises(ConfigError, match="no 4 neighbouring ports are free"):
            free_addresses()
