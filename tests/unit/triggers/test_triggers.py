from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze import PAPER_SCREEN, Chunk, Coordinates, Message, empty_samples
from gazelive.triggers import Circle, Rectangle, Trigger, Triggers, Watch

from ...support.manual_clock import ManualClock
from ...support.traces import Trace, make_trace
from .made import chunks_of, found_in, new_triggers, read, samples_of, still, stream_of

Make = Callable[[Triggers], Watch]

KINDS: dict[str, Make] = {
    "saccade_onset": lambda t: t.saccade_onset(),
    "onset to the right": lambda t: t.saccade_onset(direction_deg=0),
    "large onset to the left": lambda t: t.saccade_onset(direction_deg=180, min_amplitude_deg=2),
    "saccade_end": lambda t: t.saccade_end(),
    "large end": lambda t: t.saccade_end(min_amplitude_deg=3),
    "fixation": lambda t: t.fixation(100),
    "fixation in an area": lambda t: t.fixation(60, Circle(0, 0, 3)),
    "enter": lambda t: t.enter(Circle(5, 0, 2)),
    "enter for a while": lambda t: t.enter(Rectangle(960, 540, 300, 300, "px"), for_ms=30),
    "leave": lambda t: t.leave(Circle(0, 0, 2), for_ms=10),
    "blink": lambda t: t.blink(),
}


def spoiled_gaze() -> Trace:
    """Return gaze with losses, gaps in time and samples out of order."""
    gaze = make_trace(seconds=3.0, amplitudes_deg=(0.7, 5.0, 12.0))
    for start, n in ((350, 3), (600, 15), (1000, 60), (1430, 300), (2450, 7)):
        gaze.x_deg[start : start + n] = np.nan
    gaze.times_us[2100:] += 45_000
    gaze.times_us[2500:] += 9_000
    gaze.times_us[2600] -= 5000
    gaze.times_us[2700] = gaze.times_us[2699]
    return gaze


SPOILED = samples_of(spoiled_gaze(), "LR")
SPOILED["left_x"][800:1200] = np.nan


def found_by_all(edges: list[int]) -> dict[str, list[Trigger]]:
    triggers = new_triggers()
    watches = {name: make(triggers) for name, make in KINDS.items()}
    for chunk in chunks_of(SPOILED, edges):
        triggers.take(chunk, stream_of("LR"))
    triggers.check()
    return {name: [replace(t, delivered_s=0.0) for t in read(w)] for name, w in watches.items()}


@given(st.lists(st.integers(0, len(SPOILED)), max_size=40))
@settings(max_examples=30, deadline=None)
def test_triggers_do_not_depend_on_the_chunks(edges: list[int]) -> None:
    expected = found_by_all([])
    assert all(expected.values())  # every kind fires
    # text, since NaN does not equal itself
    assert repr(found_by_all(edges)) == repr(expected)


# saccades


def test_a_saccade_fires_within_milliseconds_of_its_onset() -> None:
    gaze = make_trace(amplitudes_deg=(8.0,))
    found = found_in(gaze, KINDS["saccade_onset"], chunk=1)
    assert len(found) == len(gaze.saccades)
    for trigger, (start, end) in zip(found, gaze.saccades, strict=True):
        onset_us = gaze.times_us[start]
        assert trigger.kind == "saccade_onset"
        assert onset_us <= trigger.tracker_time_us <= onset_us + 12_000
        assert abs(trigger.event_us - onset_us) <= 8000
        dx = gaze.x_deg[end] - gaze.x_deg[start]
        assert (abs(trigger.direction_deg) < 90) == (dx > 0)
        assert 0 < trigger.amplitude_deg < 1
        at = gaze.times_us == trigger.tracker_time_us
        assert trigger.x_deg == pytest.approx(gaze.x_deg[at][0], abs=1e-4)
        x_px, y_px = PAPER_SCREEN.deg_to_px(trigger.x_deg, trigger.y_deg)
        assert (trigger.x_px, trigger.y_px) == (pytest.approx(x_px), pytest.approx(y_px))


@pytest.mark.parametrize("direction_deg", [0.0, 90.0, 180.0, -90.0, 270.0, -180.0])
def test_only_saccades_in_the_wanted_direction_fire(direction_deg: float) -> None:
    gaze = make_trace(amplitudes_deg=(5.0,), seconds=2.0)
    angle = math.radians(direction_deg)
    along = gaze.x_deg.copy()  # there and back
    gaze.x_deg, gaze.y_deg = along * math.cos(angle), -along * math.sin(angle)
    forth, back = gaze.saccades[::2, 0], gaze.saccades[1::2, 0]
    for wanted, starts in ((direction_deg, forth), (direction_deg + 180, back)):
        for kind in ("saccade_onset", "saccade_end"):
            found = found_in(
                gaze, lambda t, k=kind, w=wanted: getattr(t, k)(direction_deg=w, within_deg=30)
            )
            assert len(found) == len(starts)
            for trigger, start in zip(found, starts, strict=True):
                assert 0 <= trigger.tracker_time_us - gaze.times_us[start] < 80_000
                off_deg = (trigger.direction_deg - wanted + 180) % 360 - 180
                assert abs(off_deg) <= 30


def test_an_amplitude_that_is_wanted_is_waited_for() -> None:
    gaze = make_trace(amplitudes_deg=(2.0, 6.0), seconds=2.0)
    early = found_in(gaze, lambda t: t.saccade_onset(), chunk=1)
    late = found_in(gaze, lambda t: t.saccade_onset(min_amplitude_deg=3), chunk=1)
    assert len(early) == len(gaze.saccades)
    large = [t for t in early if any(abs(t.event_us - u.event_us) == 0 for u in late)]
    assert len(large) == len(late) == len(gaze.saccades[1::2])
    for first, second in zip(large, late, strict=True):
        assert second.tracker_time_us > first.tracker_time_us
        assert 3 <= second.amplitude_deg < 4
    whole = found_in(gaze, lambda t: t.saccade_end(min_amplitude_deg=3))
    assert [t.amplitude_deg for t in whole] == pytest.approx([6.0] * len(late), abs=0.3)


def test_a_saccade_end_comes_after_its_saccade() -> None:
    gaze = make_trace()
    found = found_in(gaze, KINDS["saccade_end"], chunk=1)
    for trigger, (_, end) in zip(found, gaze.saccades, strict=True):
        assert abs(trigger.event_us - gaze.times_us[end]) <= 8000
        assert trigger.event_us < trigger.tracker_time_us <= trigger.event_us + 12_000


def test_a_shift_of_gaze_over_a_blink_is_no_saccade() -> None:
    gaze = still(1.0)
    gaze.x_deg[500:580] = np.nan
    gaze.x_deg[580:] += 6.0
    for name in ("saccade_onset", "onset to the right", "saccade_end"):
        assert found_in(gaze, KINDS[name]) == []


def test_a_watch_made_during_a_saccade_does_not_fire_for_it() -> None:
    gaze = make_trace(amplitudes_deg=(12.0,), seconds=1.0)
    triggers = new_triggers()
    middle = int(gaze.saccades[0].mean())
    before, after, _ = chunks_of(samples_of(gaze), (middle, middle + 100))
    triggers.take(before, stream_of())
    watch = triggers.saccade_onset(min_amplitude_deg=8)
    triggers.take(after, stream_of())
    assert watch.poll() is None


# fixations, areas, blinks


def test_a_fixation_fires_once_after_its_time() -> None:
    gaze = make_trace(seconds=1.0)
    gaze.x_deg[300:305] = np.nan  # short losses do not interrupt it
    first, *others = found_in(gaze, lambda t: t.fixation(80))
    assert (first.event_us, first.tracker_time_us) == (0, 80_000)
    assert len(others) == len(gaze.saccades)
    for trigger, (_, end) in zip(others, gaze.saccades, strict=True):
        assert abs(trigger.event_us - gaze.times_us[end]) <= 8000
        assert trigger.tracker_time_us == trigger.event_us + 80_000


def test_a_blink_interrupts_a_fixation() -> None:
    gaze = still(0.5)
    gaze.x_deg[100:150] = np.nan
    (trigger,) = found_in(gaze, lambda t: t.fixation(120))
    assert (trigger.event_us, trigger.tracker_time_us) == (150_000, 270_000)


def test_rest_before_the_watch_does_not_count() -> None:
    triggers = new_triggers()
    before, after = chunks_of(samples_of(still(0.5)), (200,))
    triggers.take(before, stream_of())
    watch = triggers.fixation(100)
    triggers.take(after, stream_of())
    (trigger,) = read(watch)
    assert (trigger.event_us, trigger.tracker_time_us) == (200_000, 300_000)


def test_a_fixation_counts_only_in_its_area() -> None:
    gaze = make_trace(seconds=0.7)  # from 0° to 5° and back
    found = found_in(gaze, lambda t: t.fixation(80, Circle(5, 0, 4)))
    assert len(found) == 1
    assert abs(found[0].x_deg) > 3


@pytest.mark.parametrize("unit", ["deg", "px"])
def test_gaze_enters_and_leaves_an_area(unit: str) -> None:
    gaze = still(0.5)
    gaze.x_deg[100:300] += 5.0
    x, y = (5.0, 0.0) if unit == "deg" else PAPER_SCREEN.deg_to_px(5.0, 0.0)
    radius = 1.0 if unit == "deg" else 36.0
    for area in (
        Circle(float(x), float(y), radius, unit),
        Rectangle(float(x), float(y), 2 * radius, 2 * radius, unit),
    ):
        (entered,) = found_in(gaze, lambda t, a=area: t.enter(a))
        assert entered.event_us == entered.tracker_time_us == 100_000
        (stayed,) = found_in(gaze, lambda t, a=area: t.enter(a, for_ms=50))
        assert (stayed.event_us, stayed.tracker_time_us) == (100_000, 150_000)
        outside, left = found_in(gaze, lambda t, a=area: t.leave(a))
        assert outside.tracker_time_us == 0
        assert left.tracker_time_us == 300_000
        assert math.isnan(left.direction_deg)


def test_lost_gaze_neither_leaves_nor_comes_again() -> None:
    gaze = still(0.5)
    gaze.x_deg[100:200] = np.nan
    assert found_in(gaze, lambda t: t.leave(Circle(0, 0, 1))) == []
    assert len(found_in(gaze, lambda t: t.enter(Circle(0, 0, 1)))) == 1


def test_an_area_needs_a_size_and_a_known_unit() -> None:
    with pytest.raises(ConfigError, match="radius"):
        Circle(0, 0, 0)
    with pytest.raises(ConfigError, match="deg or px"):
        Rectangle(0, 0, 1, 1, "cm")  # type: ignore[arg-type]


@pytest.mark.parametrize("how", ["lost samples", "no samples"])
def test_a_loss_as_long_as_a_blink_fires_while_it_lasts(how: str) -> None:
    gaze = still(0.5)
    gaze.x_deg[100:104] = np.nan  # too short
    if how == "lost samples":
        gaze.x_deg[200:300] = np.nan
    else:
        gone = np.r_[0:200, 300:500]
        gaze = replace(
            gaze, times_us=gaze.times_us[gone], x_deg=gaze.x_deg[gone], y_deg=gaze.y_deg[gone]
        )
    (trigger,) = found_in(gaze, KINDS["blink"])
    assert trigger.event_us == 200_000
    assert trigger.tracker_time_us == (224_000 if how == "lost samples" else 300_000)
    assert abs(trigger.x_deg) < 0.1  # where gaze was last seen


@pytest.mark.parametrize(
    "conditions",
    [
        {"within_deg": 0},
        {"within_deg": 181},
        {"direction_deg": math.nan},
        {"min_amplitude_deg": -1},
    ],
)
def test_impossible_conditions_are_refused(conditions: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(conditions))):
        new_triggers().saccade_onset(**conditions)


# eyes, blocks and bad data


def test_two_eyes_are_one_gaze_and_one_may_be_lost() -> None:
    gaze = make_trace(seconds=2.0)
    samples = samples_of(gaze, "LR")
    samples["left_x"] += 40  # the eyes disagree about the place
    samples["left_x"][700:] = np.nan
    triggers = new_triggers()
    watch = triggers.saccade_onset()
    for chunk in chunks_of(samples, range(5, len(samples), 5)):
        triggers.take(chunk, stream_of("LR"))
    assert len(read(watch)) == len(gaze.saccades)


@pytest.mark.parametrize(("eye", "n"), [("R", 1), ("L", 0)])
def test_one_eye_can_be_chosen(eye: str, n: int) -> None:
    samples = samples_of(still(0.3), "LR")
    samples["right_x"][100:200] = np.nan
    triggers = Triggers(PAPER_SCREEN, ManualClock(), eye=eye)  # type: ignore[arg-type]
    watch = triggers.blink()
    for chunk in chunks_of(samples):
        triggers.take(chunk, stream_of("LR"))
    assert len(read(watch)) == n


def test_a_watch_goes_on_in_the_next_block() -> None:
    triggers = new_triggers()
    watch = triggers.saccade_onset(direction_deg=0)
    gaze = make_trace(seconds=0.7)
    for block in range(3):
        for chunk in chunks_of(samples_of(gaze), (300,), block=block):
            triggers.take(chunk, stream_of())
        gaze.times_us += 5_000_000
        assert len(read(watch)) == 1


def test_gaze_is_that_of_the_newest_sample() -> None:
    triggers = new_triggers()
    assert triggers.gaze is None
    gaze = still(0.3, 3.0, -2.0)
    gaze.x_deg[100:200] = np.nan
    seen, lost, again = chunks_of(samples_of(gaze), (100, 150))
    triggers.take(seen, stream_of())
    point = triggers.gaze
    assert point is not None
    assert (point.x_deg, point.y_deg) == (pytest.approx(3, abs=0.1), pytest.approx(-2, abs=0.1))
    assert point.tracker_time_us == 99_000
    assert PAPER_SCREEN.px_to_deg(point.x_px, point.y_px) == pytest.approx(point[:2])
    triggers.take(lost, stream_of())
    assert triggers.gaze is None
    triggers.take(again, stream_of())
    assert triggers.gaze is not None


def test_a_clock_that_was_set_back_does_not_end_the_triggers() -> None:
    gaze = make_trace(seconds=3.0)
    gaze.times_us[1000:] -= 60_000_000
    assert len(found_in(gaze, KINDS["saccade_onset"])) > 5


def test_a_block_that_cannot_be_understood_is_reported_and_the_next_one_is_taken() -> None:
    triggers = new_triggers()
    watch = triggers.blink()
    gaze = still(0.3)
    gaze.x_deg[100:200] = np.nan
    (chunk,) = chunks_of(samples_of(gaze))
    triggers.take(chunk, stream_of(coordinates=Coordinates.RAW))
    triggers.take(chunk, stream_of(coordinates=Coordinates.RAW))
    assert triggers.gaze is None
    with pytest.raises(RecordingError, match="raw"):
        triggers.check()
    triggers.check()  # once
    triggers.take(replace(chunk, block=1), stream_of())
    assert len(read(watch)) == 1


def test_chunks_without_samples_change_nothing() -> None:
    triggers = new_triggers()
    triggers.take(Chunk(0, 0, empty_samples(0), (Message(0, "hello"),), 0.0), stream_of())
    triggers.check()
    assert triggers.gaze is None


def test_a_calibration_ends_what_was_learned_of_the_noise() -> None:
    noisy, quiet = still(4.0, noise_deg=0.08), make_trace(seconds=1.0, amplitudes_deg=(1.0,))

    def first_after(*messages: Message) -> int:
        triggers = new_triggers()
        for chunk in chunks_of(samples_of(noisy)):
            triggers.take(chunk, stream_of())
        watch = triggers.saccade_onset()
        for chunk in chunks_of(samples_of(quiet), block=1, messages=messages):
            triggers.take(chunk, stream_of())
        return read(watch)[0].tracker_time_us

    calibrated = Message(0, "!CAL CALIBRATION HV9 R RIGHT GOOD")
    assert first_after(calibrated) < first_after()
