"""The tracker's own events, derived from the truth."""

from __future__ import annotations

import numpy as np
import pytest

from gazelive.gaze.samples import Samples, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.simulation.tracker_parser import parse_block
from gazelive.simulation.truth import TrueBlink, TrueSaccade

N = 1000
START_US = 2_000_000


def block() -> Samples:
    samples = empty_samples(N)
    samples["tracker_time_us"] = START_US + 1000 * np.arange(N)
    samples["right_x"] = np.where(np.arange(N) < 300, 400.0, 900.0)
    samples["right_y"] = 500.0
    samples["right_pupil"] = 1000.0
    return samples


def a_saccade(onset_ms: float, offset_ms: float, **changes: object) -> TrueSaccade:
    values: dict[str, object] = {
        "eye": "R",
        "kind": "main",
        "onset_us": START_US + 1000 * onset_ms,
        "offset_us": START_US + 1000 * offset_ms,
        "oscillation_end_us": START_US + 1000 * offset_ms,
        "first_sample": 0,
        "last_sample": 0,
        "start_x_deg": 0.0,
        "start_y_deg": 0.0,
        "end_x_deg": 1.0,
        "end_y_deg": 0.0,
        "amplitude_deg": 1.0,
        "direction_deg": 0.0,
        "peak_velocity_deg_s": 300.0,
        "peak_us": START_US + 500 * (onset_ms + offset_ms),
        "oscillation_deg": 0.0,
        "lost": False,
    }
    return TrueSaccade(**(values | changes))  # type: ignore[arg-type]


def a_blink(onset_ms: float, offset_ms: float, margin_ms: float) -> TrueBlink:
    return TrueBlink(
        eye="R",
        cause="blink",
        onset_us=START_US + 1000 * onset_ms,
        offset_us=START_US + 1000 * offset_ms,
        loss_onset_us=START_US + 1000 * (onset_ms + margin_ms),
        loss_offset_us=START_US + 1000 * (offset_ms - margin_ms),
    )


def test_fixations_fill_the_time_between_saccades() -> None:
    events = parse_block(block(), "R", [a_saccade(289.4, 320.7)], [], PAPER_SCREEN)
    assert [event.kind for event in events] == ["fixation", "saccade", "fixation"]
    spans_ms = [((e.start_us - START_US) / 1000, (e.end_us - START_US) / 1000) for e in events]
    assert spans_ms == [(0, 289), (290, 320), (321, 999)]
    first, saccade, last = events
    assert (first.mean_x, last.mean_x) == (400.0, 900.0)
    assert first.mean_pupil == 1000.0
    assert (saccade.start_x, saccade.end_x) == (400.0, 900.0)
    x_deg, _ = PAPER_SCREEN.px_to_deg([400.0, 900.0], [500.0, 500.0])
    assert saccade.amplitude_deg == pytest.approx(x_deg[1] - x_deg[0])
    assert saccade.peak_velocity_deg_s == 300.0


def test_a_blink_lies_in_a_saccade() -> None:
    samples = block()
    samples["right_x"][530:570] = np.nan
    events = parse_block(samples, "R", [], [a_blink(500, 600, 30)], PAPER_SCREEN)
    assert [event.kind for event in events] == ["fixation", "blink", "saccade", "fixation"]
    blink, saccade = events[1:3]
    assert saccade.start_us < blink.start_us < blink.end_us < saccade.end_us
    assert saccade.peak_velocity_deg_s is None
    assert events[-1].mean_x == pytest.approx(900)


def test_adjacent_intervals_are_one_saccade() -> None:
    saccades = [a_saccade(480, 505), a_saccade(590, 640, peak_velocity_deg_s=100.0)]
    events = parse_block(block(), "R", saccades, [a_blink(500, 600, 30)], PAPER_SCREEN)
    assert [event.kind for event in events] == ["fixation", "blink", "saccade", "fixation"]
    assert events[2].peak_velocity_deg_s == 300.0
    assert events[2].end_us == START_US + 640_000


def test_a_start_in_a_loss_has_no_amplitude() -> None:
    samples = block()
    samples["right_x"][500:520] = np.nan
    events = parse_block(samples, "R", [a_saccade(510, 540)], [], PAPER_SCREEN)
    assert events[1].start_x is None
    assert events[1].amplitude_deg is None
    assert events[1].end_x == 900.0


def test_microsaccades_other_blocks_and_the_other_eye_are_ignored() -> None:
    saccades = [
        a_saccade(100, 120, kind="microsaccade"),
        a_saccade(200, 230, eye="L"),
        a_saccade(-500, -470),
        a_saccade(2000, 2030),
    ]
    events = parse_block(block(), "R", saccades, [], PAPER_SCREEN)
    assert [event.kind for event in events] == ["fixation"]
    assert (events[0].start_us, events[0].end_us) == (START_US, START_US + 999_000)


def test_an_event_across_the_blocks_end_is_cut() -> None:
    events = parse_block(block(), "R", [a_saccade(-10, 15), a_saccade(985, 1015)], [], PAPER_SCREEN)
    assert [event.kind for event in events] == ["saccade", "fixation", "saccade"]
    assert events[0].start_us == START_US
    assert events[-1].end_us == START_US + 999_000
