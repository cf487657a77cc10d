"""Subscribers in Python and `gazelive watch`: late, reconnecting, choosing, ended by the run."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys

import pytest

from gazelive.errors import TransportError
from gazelive.gaze.documents import (
    GazeTrace,
    IntervalSettled,
    RunStarted,
    RunStopped,
    SaccadeOnset,
)
from gazelive.live.client import subscribe, subscribe_async
from gazelive.system import python_module

pytestmark = pytest.mark.slow


def receive_until(subscription, kind, n=1) -> list:
    """Return the documents up to the n-th of a kind, without traces."""
    found = []
    while n:
        document = subscription.receive(1.0)
        if document is not None and not isinstance(document, GazeTrace):
            found.append(document)
            n -= isinstance(document, kind)
        assert not (n and subscription.has_ended), found[-3:]
    return found


def play_to_the_end(owner) -> None:
    while owner.steps(100):
        pass
    owner.finish()


def test_a_latecomer_who_sees_the_engine_replaced_misses_and_repeats_nothing(
    start_owner, start_engine, run
):
    owner, engine = start_owner(), start_engine(stays=True)
    owner.steps(300)
    engine.wait_for(lambda status: status["next_chunk"] > 200)
    with subscribe(run.folder) as subscription:
        found = receive_until(subscription, RunStarted)
        assert isinstance(found[0], RunStarted)
        engine.kill()
        engine = start_engine(stays=True)
        engine.wait_for(lambda status: status["state"] == "live")
        play_to_the_end(owner)
        found += receive_until(subscription, RunStopped)
        assert subscription.has_ended
    kinds = [type(document) for document in found]
    assert (kinds.count(RunStarted), kinds.count(IntervalSettled)) == (1, 4)
    assert len(set(map(repr, found))) == len(found)


def test_only_the_kinds_that_were_asked_for(start_owner, start_engine, run):
    owner, _ = start_owner(), start_engine(stays=True)
    with subscribe(run.id, kinds=[IntervalSettled]) as subscription:
        play_to_the_end(owner)
        assert [type(document) for document in subscription] == [IntervalSettled] * 4


def test_marks_and_requests_of_a_subscriber(start_owner, start_engine, run):
    owner, _ = start_owner(), start_engine(stays=True)
    owner.steps(10)
    with subscribe(str(run.addresses)) as subscription:
        assert subscription.ask("status")["ok"]
        with pytest.raises(TransportError, match="unknown request"):
            subscription.ask("no such thing")


def test_the_async_variant(start_owner, start_engine, run):
    owner, _ = start_owner(), start_engine(stays=True)

    async def collected() -> list:
        found = []
        async for document in subscribe_async(run.folder, kinds=[RunStarted, IntervalSettled]):
            if not found:
                play_to_the_end(owner)
            found.append(document)
        return found

    owner.steps(1)
    assert [type(document) for document in asyncio.run(collected())] == [
        RunStarted,
        *[IntervalSettled] * 4,
    ]


def test_watch_prints_documents_until_the_run_is_over(start_owner, start_engine, run):
    owner, _ = start_owner(), start_engine(stays=True)
    command = python_module("gazelive", "watch", "--connect", run.folder, "--json")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            owner.steps(1)
            assert process.stdout is not None
            first = json.loads(process.stdout.readline())
            play_to_the_end(owner)
            lines = [json.loads(line) for line in process.stdout]
            assert process.wait(60) == 0
        finally:
            process.kill()
    kinds = [line["type"] for line in [first, *lines]]
    assert kinds[0] == "RunStarted"
    assert kinds[-1] == "RunStopped"
    assert kinds.count("IntervalSettled") == 4
    assert "GazeTrace" not in kinds
    assert SaccadeOnset.__name__ in kinds


@pytest.mark.skipif(sys.platform == "win32", reason="signals as in a POSIX terminal")
def test_ctrl_c_ends_watching_without_complaint(start_owner, start_engine, run):
    owner, _ = start_owner(), start_engine()
    command = python_module("gazelive", "watch", "--connect", run.folder)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        try:
            owner.steps(1)
            assert process.stdout is not None
            assert process.stdout.readline().startswith("RunStarted session=s1 ")
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, complaint) == (0, "")


def test_without_a_run_one_sentence_says_so(tmp_path):
    with pytest.raises(TransportError, match=r"no run called .* is live on this computer"):
        subscribe(tmp_path)
