"""Contract of `SaccadeDetector`, run on every detector."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from gazelive.analysis.grid import even_gaze
from gazelive.detection import OnlineDetector
from gazelive.detection.online.detector import SaccadeDetector
from gazelive.detection.parameters import PRESETS
from gazelive.gaze.documents import Retraction, decode, encode
from gazelive.gaze.events import Blink, Fixation, Saccade

RATES_HZ = [250.0, 500.0, 1000.0, 2000.0]
Make = Callable[[float], SaccadeDetector]


def _maker(name: str) -> Make:
    return lambda rate_hz: OnlineDetector(PRESETS[name], rate_hz)


DETECTORS = {name: _maker(name) for name in PRESETS}


def gaze(seed: int, rate_hz: float, n: int, loss: float) -> tuple[np.ndarray, ...]:
    """Return times, x and y of noise with jumps, slopes, spikes and lost stretches."""
    random = np.random.default_rng(seed)
    steps = random.normal(0, 0.02, (2, n))
    for _ in range(n // 150):
        start, length = random.integers(n), random.integers(1, 40)
        steps[:, start : start + length] += random.normal(0, 0.3, (2, 1))
    x, y = np.cumsum(steps, axis=1) * 0.3 + random.normal(0, 0.02, (2, n))
    for _ in range(int(n * loss / 20)):
        start, length = random.integers(n), random.integers(1, 80)
        x[start : start + length] = np.nan
    interval_us = 1e6 / rate_hz
    times_us = np.round(np.arange(n) * interval_us).astype(np.int64)
    for gap in random.choice([0, 1, 3, 8, 40, 3000], 3):
        times_us[random.integers(n) :] += int(gap * interval_us)
    return times_us, x, y


def cut_at(
    detector: SaccadeDetector, samples: tuple[np.ndarray, ...], cuts: list[int]
) -> list[Any]:
    outputs: list[Any] = []
    for start, stop in zip([0, *cuts], [*cuts, len(samples[0])], strict=True):
        outputs += detector.push(*(column[start:stop] for column in samples))
    return outputs + detector.flush()


@pytest.mark.parametrize("make", DETECTORS.values(), ids=DETECTORS.keys())
class TestContract:
    def test_is_a_detector(self, make: Make) -> None:
        assert isinstance(make(500.0), SaccadeDetector)

    @settings(max_examples=25)
    @given(
        seed=st.integers(0, 2**16),
        rate_hz=st.sampled_from(RATES_HZ),
        loss=st.sampled_from([0.0, 0.05, 0.3]),
        cuts=st.lists(st.integers(0, 1200), max_size=30),
    )
    @example(seed=1, rate_hz=1000.0, loss=0.05, cuts=list(range(1, 1200)))
    def test_output_does_not_depend_on_how_samples_are_cut(
        self, make: Make, seed: int, rate_hz: float, loss: float, cuts: list[int]
    ) -> None:
        samples = gaze(seed, rate_hz, 1200, loss)
        whole = cut_at(make(rate_hz), samples, [])
        assert cut_at(make(rate_hz), samples, sorted(cuts)) == whole

    @settings(max_examples=25)
    @given(seed=st.integers(0, 2**16), rate_hz=st.sampled_from(RATES_HZ))
    def test_events_are_ordered_disjoint_finite_and_travel(
        self, make: Make, seed: int, rate_hz: float
    ) -> None:
        samples = gaze(seed, rate_hz, 1500, 0.1)
        outputs = cut_at(make(rate_hz), samples, [])
        for output in outputs:
            assert decode(encode(output)) == output
            for value in msgspec.to_builtins(output).values():
                if isinstance(value, float):
                    assert np.isfinite(value)
            if not isinstance(output, Retraction) and hasattr(output, "confidence"):
                assert 0.0 <= output.confidence <= 1.0
                assert output.detection_delay_ms >= 0.0
        retracted = {o.onset_us for o in outputs if isinstance(o, Retraction)}
        saccades = [o for o in outputs if isinstance(o, Saccade)]
        assert retracted <= {s.onset_us for s in saccades}
        resting = [o for o in outputs if isinstance(o, Fixation)]
        times = set(even_gaze(samples[0], {"L": samples[1:]}, rate_hz).times_us.tolist())
        for one_kind in (saccades, resting, [o for o in outputs if isinstance(o, Blink)]):
            for event in one_kind:
                assert event.onset_us <= event.offset_us
            for before, after in itertools.pairwise(one_kind):
                assert before.offset_us < after.onset_us
        for event in saccades + resting:
            assert {event.onset_us, event.offset_us} <= times
        both = sorted(saccades + resting, key=lambda e: e.onset_us)
        for before, after in itertools.pairwise(both):
            assert before.offset_us < after.onset_us

    def test_reset_makes_it_new(self, make: Make) -> None:
        samples = gaze(3, 500.0, 3000, 0.02)
        detector = make(500.0)
        first = cut_at(detector, samples, [])
        detector.reset()
        assert cut_at(detector, samples, []) == first

    def test_nothing_is_found_in_nothing(self, make: Make) -> None:
        detector = make(500.0)
        empty = np.empty(0)
        assert detector.push(np.empty(0, np.int64), empty, empty) == []
        assert detector.flush() == []
