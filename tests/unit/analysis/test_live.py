"""The law: live equals offline, whatever the chunks and whatever is lost."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from gazelive.analysis.grid import even_gaze
from gazelive.analysis.interval import analyse_gaze
from gazelive.analysis.live import LiveGaze
from gazelive.detection import NoiseMemory
from gazelive.features.saccades import FeatureSettings
from gazelive.features.stream import RETRACTABLE_MS
from gazelive.gaze.documents import Retraction
from gazelive.gaze.events import Blink, Fixation, Saccade
from gazelive.simulation.lab_session import TrialImage, simulate_session


@pytest.fixture(scope="module", params=[250.0, 1000.0])
def viewing(request, tmp_path_factory):
    """Times and degrees of a simulated person, blinks and losses included."""
    from gazelive.stimuli.saliency import generated_saliency

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


def live(rate_hz, times, eyes, cuts):
    """Return the events and rows of gaze that arrives in chunks."""
    gaze = LiveGaze(rate_hz, "".join(sorted(eyes)))
    outputs, rows = [], []
    for start, stop in zip([0, *cuts], [*cuts, len(times)], strict=True):
        part = slice(start, stop)
        found = gaze.push(times[part], {eye: (x[part], y[part]) for eye, (x, y) in eyes.items()})
        outputs += found.outputs
        rows += found.rows
    return outputs + gaze.flush(), rows


def assert_same(outputs, rows, whole):
    """The live results, retractions applied, equal those of the whole."""
    retracted = {output.onset_us for output in outputs if isinstance(output, Retraction)}
    said = [o for o in outputs if not (isinstance(o, Saccade) and o.onset_us in retracted)]
    detection, features = whole.detection, whole.features
    for kind, events in (
        (Saccade, detection.saccades),
        (Fixation, detection.fixations),
        (Blink, detection.blinks),
    ):
        assert [output for output in said if isinstance(output, kind)] == list(events)
    # the last saccades have no rows: too few samples follow them
    assert [row.onset for row in rows] == features.onset[: len(rows)].tolist()
    bridged = FeatureSettings.at(features.sampling_rate_hz).bridged_loss
    retractable = RETRACTABLE_MS * features.sampling_rate_hz / 1000
    latest = len(whole.times_us) - 1 - retractable - bridged
    assert (features.offset[len(rows) :] >= latest).all()
    for i, row in enumerate(rows):
        assert row.saccade == detection.saccades[i]
        for name in ("kinematics", "movement", "after", "texture"):
            np.testing.assert_array_equal(getattr(row, name), getattr(features, name)[i])
        assert row.turn == features.turn[i]
        np.testing.assert_equal(row.previous_fixation_ms, features.previous_fixation_ms[i])
        assert row.lost_before == features.lost_before[i]


GAPS = st.lists(
    st.tuples(st.floats(0, 0.99), st.one_of(st.integers(1, 12), st.integers(1, 1500))), max_size=12
)
"""Missing samples: position as a fraction of the whole, and number."""


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
    eyes = {"R": (x, y)}
    whole = analyse_gaze(even_gaze(times, eyes, rate_hz), "online")
    assert_same(*live(rate_hz, times, eyes, cuts), whole)


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
    cuts = sorted(int(f * len(times)) for f in fractions)
    assert_same(*live(rate_hz, times, both, cuts), whole)


def test_noise_is_carried_from_trial_to_trial_as_live(viewing):
    rate_hz, times, x, y = viewing
    cuts = np.linspace(0, len(times), 5).astype(int)
    live_gaze, memory = LiveGaze(rate_hz, "R"), NoiseMemory()
    fresh = []
    for first, last in itertools.pairwise(cuts):
        part = slice(first, last)
        eyes = {"R": (x[part], y[part])}
        found = live_gaze.push(times[part], eyes)
        outputs = found.outputs + live_gaze.flush()
        gaze = even_gaze(times[part], eyes, rate_hz)
        whole = analyse_gaze(gaze, "online", memory=memory)
        assert_same(outputs, found.rows, whole)
        assert whole.detection.thresholds_deg_s == live_gaze.thresholds_deg_s
        fresh.append(analyse_gaze(gaze, "online").detection.thresholds_deg_s)
    assert whole.detection.thresholds_deg_s != fresh[-1]
    memory.forget()
    assert analyse_gaze(gaze, "online", memory=memory).detection.thresholds_deg_s == fresh[-1]
