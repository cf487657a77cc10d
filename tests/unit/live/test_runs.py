"""Run files: found while their process lives, and only then."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gazelive.errors import TransportError
from gazelive.live.wire.addresses import DEFAULT_ADDRESS, Addresses, free_addresses
from gazelive.live.wire.doors import Door
from gazelive.live.wire.runs import (
    RUNS_VARIABLE,
    RunHolder,
    find_run,
    hold_run,
    live_runs,
    reserve_addresses,
    run_at,
)


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "runs"
    monkeypatch.setenv(RUNS_VARIABLE, str(folder))
    return folder


@pytest.fixture
def held(tmp_path: Path) -> Iterator[RunHolder]:
    with hold_run(free_addresses(), tmp_path / "session") as holder:
        yield holder


def test_a_run_is_found_by_address_id_folder_or_as_the_newest(held: RunHolder) -> None:
    run = held.run
    for name in (None, run.id, run.address, run.folder, "session"):
        assert find_run(name) == run
    with pytest.raises(TransportError, match="no run called 'other'"):
        find_run("other")


def test_a_second_process_joins_the_run_and_does_not_end_it(held: RunHolder, runs: Path) -> None:
    joined = hold_run(held.run.addresses, runs)
    assert joined.run == held.run
    joined.close()
    assert live_runs() == [held.run]


def test_it_is_gone_when_closed(held: RunHolder, runs: Path) -> None:
    held.close()
    held.close()
    assert live_runs() == []
    assert not list(runs.glob("*.json"))


def test_the_file_of_a_process_that_died_is_ignored_and_removed(runs: Path, tmp_path: Path) -> None:
    code = (
        "import os; from pathlib import Path; from gazelive.live import free_addresses; "
        "from gazelive.live.wire.runs import hold_run; "
        f"holder = hold_run(free_addresses(), Path({str(tmp_path)!r})); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    (path,) = runs.glob("*.json")
    assert live_runs() == []
    assert not path.exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"id":"', b'"id":7,"'),
        (b'"id":"', b'"id":"\xff'),
        (b'"public":"', b'"public":"too long'),
        (b'"engine_public":"', b'"engine_public":"~'),
        (b'"address":"tcp://', b'"address":"tcp://:'),
    ],
)
def test_a_damaged_file_is_no_run(held: RunHolder, runs: Path, before: bytes, after: bytes) -> None:
    (path,) = runs.glob("*.json")
    assert live_runs() == [held.run]
    path.write_bytes(path.read_bytes().replace(before, after))
    assert live_runs() == []
    assert run_at(held.run.addresses) is None


def test_two_runs_at_once_have_ports_and_keys_of_their_own(tmp_path: Path) -> None:
    default = str(free_addresses())
    first = reserve_addresses(default)
    second = reserve_addresses(default)
    assert first == Addresses.parse(default)
    assert abs(first.port - second.port) >= 4
    with hold_run(first, tmp_path / "a") as one, hold_run(second, tmp_path / "b") as two:
        assert one.run.server != two.run.server
        assert {run.id for run in live_runs()} == {one.run.id, two.run.id}


def test_the_ports_of_a_run_that_starts_are_taken_for_other_users_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    default = str(free_addresses())
    first = reserve_addresses(default)
    monkeypatch.setenv(RUNS_VARIABLE, str(tmp_path / "another user"))
    second = reserve_addresses(default)
    assert abs(first.port - second.port) >= 4
    for addresses in (first, second):
        hold_run(addresses, tmp_path).close()
    third = reserve_addresses(default)
    hold_run(third, tmp_path).close()
    assert third == first


def test_the_default_port_is_the_one_that_is_documented() -> None:
    assert Addresses.parse(DEFAULT_ADDRESS).port == 5870


def test_a_door_opens_when_the_run_comes(tmp_path: Path) -> None:
    door = Door()
    assert door.way_if_any() is None
    with hold_run(free_addresses(), tmp_path) as holder:
        way = door.way()
        assert way.addresses == holder.run.addresses
        assert not way.is_over
    assert way.is_over


def test_another_computer_needs_keys() -> None:
    with pytest.raises(TransportError, match="needs keys"):
        Door("tcp://192.0.2.1:5870")
