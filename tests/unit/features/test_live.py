"""The law: live equals offline, whatever the chunks and whatever is lost."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gazelive.detection import CyclopeanGaze, NoiseMemory
from gazelive.features.interval import analyse_gaze, even_gaze
from gazelive.features.live import LiveFeatures
from gazelive.features.stream import Stage
from gazelive.gaze.documents import Retraction
from gazelive.gaze.events import Blink, Fixation, Saccade
from gazelive.simulation.lab_session import TrialImage, simulate_session


@pytest.fixture(scope="module", params=[250.0, 1000.0])
def viewing(request, tmp_path_factory):
    """Times and degrees of a simulated person, blinks and losses included."""
    from gazelive.models.saliency import generated_saliency

    rate_hz = request.param
    image = TrialImage("generated_0001", generated_saliency("generated_0001", 0))
    recording = simulate_session(
        "v003",
        seed=3,
        session=1,
        images=[image],
        seconds=20.0,
        sampling_rate_hz=rate_hz,
        eyes="R",
        path=tmp_path_factory.mktemp("x") / "s",
    ).recording
    samples = recording.blocks[0].samples
    x, y = recording.screen.px_to_deg(samples["right_x"], samples["right_y"])
    return rate_hz, samples["tracker_time_us"].copy(), x, y


def live(rate_hz, times, x, y, cuts):
    features = LiveFeatures(rate_hz, eye="R")
    outputs, updates = [], []
    for first, last in zip([0, *cuts], [*cuts, len(times)], strict=True):
        out, up = features.push(times[first:last], x[first:last], y[first:last])
        outputs += out
        updates += up
    out, up = features.flush()
    return outputs + out, updates + up


def assert_same(outputs, updates, whole):
    """What was said live, retractions applied, is what is said of the whole."""
    retracted = {output.onset_us for output in outputs if isinstance(output, Retraction)}
    said = [o for o in outputs if not (isinstance(o, Saccade) and o.onset_us in retracted)]
    detection = whole.detection
    for kind, events in (
        (Saccade, detection.saccades),
        (Fixation, detection.fixations),
        (Blink, detection.blinks),
    ):
        assert [output for output in said if isinstance(output, kind)] == list(events)
    rows = {row.onset: row for stage, row in updates if stage is Stage.SHAPED}
    assert sorted(rows) == whole.features.onset.tolist()
    for i, onset in enumerate(whole.features.onset):
        for name in ("kinematics", "movement", "after", "texture"):
            np.testing.assert_array_equal(
                getattr(rows[onset], name), getattr(whole.features, name)[i]
            )
        assert rows[onset].turn == whole.features.turn[i]


GAPS = st.lists(
    st.tuples(st.floats(0, 0.99), st.one_of(st.integers(1, 12), st.integers(1, 1500))), max_size=12
)
"""Where samples are missing, as a share of the whole, and how many."""


def without(gaps, times, *columns):
    """Leave samples out, so that times have gaps."""
    missing = np.zeros(len(times), bool)
    for share, n in gaps:
        first = int(share * len(times))
        missing[first : first + n] = True
    return [a[~missing] for a in (times, *columns)]


@settings(max_examples=25)
@given(fractions=st.lists(st.floats(0, 1), max_size=200), gaps=GAPS)
@example(fractions=[], gaps=[(k / 40, 1 + k % 9) for k in range(40)])
def test_live_equals_offline(viewing, fractions, gaps):
    rate_hz, *columns = viewing
    times, x, y = without(gaps, *columns)
    cuts = sorted(int(f * len(times)) for f in fractions)
    outputs, updates = live(rate_hz, times, x, y, cuts)
    assert_same(outputs, updates, analyse_gaze(even_gaze(times, {"R": (x, y)}, rate_hz), "online"))


@settings(max_examples=15)
@given(fractions=st.lists(st.floats(0, 1), max_size=50), gaps=GAPS, lost=GAPS)
def test_two_eyes_live_equal_two_eyes_offline(viewing, fractions, gaps, lost):
    rate_hz, times, x, y = viewing
    right_x, right_y = x + 0.7, y - 0.2
    for share, n in lost:
        first = int(share * len(times))
        right_x[first : first + n] = np.nan
    times, x, y, right_x, right_y = without(gaps, times, x, y, right_x, right_y)
    both = {"L": (x, y), "R": (right_x, right_y)}
    whole = analyse_gaze(even_gaze(times, both, rate_hz), "online")
    eyes = CyclopeanGaze(rate_hz)
    cuts = sorted(int(f * len(times)) for f in fractions)
    parts = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(times)], strict=True)]
    gaze = [
        eyes.push(*(a[part] for a in (x, y, right_x, right_y)), times_us=times[part])
        for part in parts
    ]
    one_x, one_y = (np.concatenate(axis) for axis in zip(*gaze, strict=True))
    features = LiveFeatures(rate_hz)
    outputs, updates = features.push(times, one_x, one_y)
    more_outputs, more_updates = features.flush()
    assert_same(outputs + more_outputs, updates + more_updates, whole)


def test_noise_is_carried_from_trial_to_trial_as_live(viewing):
    rate_hz, times, x, y = viewing
    cuts = np.linspace(0, len(times), 5).astype(int)
    detector, memory = LiveFeatures(rate_hz, eye="R"), NoiseMemory()
    fresh = []
    for first, last in itertools.pairwise(cuts):
        part = slice(first, last)
        outputs, updates = detector.push(times[part], x[part], y[part])
        more_outputs, more_updates = detector.flush()
        gaze = even_gaze(times[part], {"R": (x[part], y[part])}, rate_hz)
        whole = analyse_gaze(gaze, "online", memory=memory)
        assert_same(outputs + more_outputs, updates + more_updates, whole)
        assert whole.detection.thresholds_deg_s == detector.detector.thresholds_deg_s
        fresh.append(analyse_gaze(gaze, "online").detection.thresholds_deg_s)
    assert whole.detection.thresholds_deg_s != fresh[-1]
    memory.forget()
    assert analyse_gaze(gaze, "online", memory=memory).detection.thresholds_deg_s == fresh[-1]


def test_samples_out_of_order_change_nothing(viewing):
    rate_hz, times, x, y = viewing
    outputs, updates = live(rate_hz, times, x, y, [])
    again = np.sort(np.concatenate((np.arange(len(times)), np.arange(100, len(times), 777))))
    doubled, more = live(rate_hz, times[again], x[again], y[again], [])
    assert [o for o in doubled if isinstance(o, Saccade)] == [
        o for o in outputs if isinstance(o, Saccade)
    ]
    shaped, shaped_again = (
        [row.onset for stage, row in rows if stage is Stage.SHAPED] for rows in (updates, more)
    )
    assert shaped_again == shaped
