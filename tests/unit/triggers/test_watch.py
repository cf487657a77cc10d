from __future__ import annotations

import threading

import numpy as np
import pytest

from gazelive.gaze import PAPER_SCREEN
from gazelive.triggers import Circle, Trigger, Triggers

from ...support.manual_clock import ManualClock
from .made import chunks_of, new_triggers, read, samples_of, still, stream_of

MOST_UNREAD = 64


def take(triggers: Triggers, *, x_deg: float = 0.0, arrival_s: float = 0.0) -> None:
    """Take 50 ms of gaze that rests, in a block of its own."""
    take.block += 1
    for chunk in chunks_of(samples_of(still(0.05, x_deg)), block=take.block):
        object.__setattr__(chunk, "arrival_s", arrival_s)
        triggers.take(chunk, stream_of())


take.block = 0
HERE = Circle(0, 0, 1)


def test_poll_never_waits_and_returns_each_trigger_once() -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    assert watch.poll() is None
    take(triggers)
    assert watch.poll() is not None
    assert watch.poll() is None


def test_wait_returns_at_once_what_is_there_and_none_after_its_time() -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    assert watch.wait(0.0) is None
    take(triggers)
    assert watch.wait() is not None
    assert watch.wait(0.0) is None


def test_wait_wakes_when_the_trigger_fires() -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    device = threading.Thread(target=take, args=(triggers,))
    device.start()
    assert watch.wait() is not None
    device.join()


def test_wait_ends_when_the_computer_has_slept_over_its_time() -> None:
    class SleepsAfterEachLook(ManualClock):
        def now_s(self) -> float:
            self.advance_s(3600.0)
            return super().now_s()

    watch = Triggers(PAPER_SCREEN, SleepsAfterEachLook()).enter(HERE)
    assert watch.wait(10.0) is None


@pytest.mark.parametrize("what", ["watch", "triggers"])
def test_closing_wakes_who_waits(what: str) -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    closing = threading.Thread(target=(watch if what == "watch" else triggers).close)
    closing.start()
    assert watch.wait() is None
    closing.join()
    take(triggers)
    assert watch.poll() is None
    assert not triggers.is_watched


def test_after_the_device_has_stopped_nobody_waits() -> None:
    triggers = new_triggers()
    triggers.close()
    assert triggers.blink().wait() is None


def test_a_closed_watch_keeps_what_was_not_read() -> None:
    triggers = new_triggers()
    with triggers.enter(HERE) as watch:
        take(triggers)
    assert watch.wait() is not None


def test_a_watch_that_is_not_read_keeps_the_newest_triggers() -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    gaze = still(0.4)
    gaze.x_deg[np.arange(400) // 2 % 2 == 0] += 5  # in and out a hundred times
    for chunk in chunks_of(samples_of(gaze)):
        triggers.take(chunk, stream_of())
    assert watch.n_dropped == 100 - MOST_UNREAD
    unread = read(watch)
    assert len(unread) == MOST_UNREAD
    assert unread[-1].tracker_time_us == 398_000


def test_clear_forgets_what_was_not_read() -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    take(triggers)
    watch.clear()
    assert watch.poll() is None


def test_a_callback_gets_the_triggers_in_the_thread_of_the_device() -> None:
    triggers = new_triggers()
    watch = triggers.enter(HERE)
    got: list[tuple[Trigger, str]] = []
    watch.callback = lambda trigger: got.append((trigger, threading.current_thread().name))
    device = threading.Thread(target=take, args=(triggers,), name="device")
    device.start()
    device.join()
    ((trigger, name),) = got
    assert trigger.kind == "enter"
    assert name == "device"
    assert watch.poll() is None


@pytest.mark.parametrize("error", [ValueError("oops"), SystemExit(0)])
def test_a_callback_that_raises_is_reported_and_harms_nobody_else(error: BaseException) -> None:
    triggers = new_triggers()
    bad, good = triggers.enter(HERE), triggers.enter(HERE)
    calls = []

    def fail(trigger: Trigger) -> None:
        calls.append(trigger)
        raise error

    bad.callback = fail
    take(triggers)
    assert good.poll() is not None
    with pytest.raises(type(error)):
        triggers.check()
    triggers.check()
    take(triggers)
    assert good.poll() is not None
    assert len(calls) == 1


def test_the_delay_is_from_the_hand_over_to_the_delivery() -> None:
    clock = ManualClock(10.0)
    triggers = Triggers(PAPER_SCREEN, clock)
    watch = triggers.enter(HERE)
    take(triggers, arrival_s=9.999)
    clock.advance_s(0.015)
    trigger = watch.poll()
    assert trigger is not None
    assert trigger.delay_ms == pytest.approx(16.0)
    assert np.isnan(trigger.sample_delay_ms)


def test_the_delay_of_the_sample_is_known_where_the_clocks_are_compared() -> None:
    clock = ManualClock(10.0)
    triggers = Triggers(PAPER_SCREEN, clock)
    triggers.host_time_s = lambda tracker_us: 9.99 + tracker_us / 1e6
    watch = triggers.enter(HERE)
    take(triggers, arrival_s=9.995)
    trigger = watch.poll()
    assert trigger is not None
    assert trigger.sample_s == 9.99
    assert trigger.sample_delay_ms == pytest.approx(10.0)
