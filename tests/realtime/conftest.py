"""Fixtures: a run, the owner of its device and its engine, each ended with the test."""

from __future__ import annotations

import pytest

from gazelive.live.wire.addresses import free_addresses
from gazelive.live.wire.runs import hold_run

from .engine_process import EngineProcess
from .owner import Owner


@pytest.fixture
def run(folder):
    """The keys and addresses that all processes of a test share."""
    with hold_run(free_addresses(), folder) as holder:
        yield holder.run


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "session"


@pytest.fixture
def start_owner(folder, run):
    owners = []

    def start(**options) -> Owner:
        owners.append(Owner(folder, run, **options))
        return owners[-1]

    yield start
    for owner in owners:
        owner.close()


@pytest.fixture
def start_engine(folder, run):
    engines = []

    def start(run=run, *, waits=True, **options) -> EngineProcess:
        engine = EngineProcess(folder, run, **options)
        engines.append(engine)
        if waits:
            engine.wait_for(lambda status: True)
        return engine

    yield start
    for engine in engines:
        engine.kill()
