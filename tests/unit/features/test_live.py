"""The law: live equals offline, whatever the chunks and whatever is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gazelive.features.interval import analyse_gaze, even_gaze
from gazelive.features.live import LiveFeatures
from gazelive.features.stream import Stage
from gazelive.gaze.documents import Retraction
from gazelive.gaze.events import Saccade
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


@settings(max_examples=15)
@given(fractions=st.lists(st.floats(0, 1), max_size=200), gap=st.floats(0, 0.9))
def test_live_equals_offline(viewing, fractions, gap):
    rate_hz, times, x, y = viewing
    missing = slice(int(gap * len(times)), int(gap * len(times)) + round(0.03 * rate_hz))
    times, x, y = (np.delete(a, missing) for a in (times, x, y))
    cuts = sorted(int(f * len(times)) for f in fractions)
    outputs, updates = live(rate_hz, times, x, y, cuts)
    whole = analyse_gaze(even_gaze(times, {"R": (x, y)}, rate_hz), "online")

    retracted = {output.onset_us for output in outputs if isinstance(output, Retraction)}
    found = [o for o in outputs if isinstance(o, Saccade) and o.onset_us not in retracted]
    assert found == list(whole.detection.saccades)
    rows = {row.onset: row for stage, row in updates if stage is Stage.SHAPED}
    assert sorted(rows) == whole.features.onset.tolist()
    for i, onset in enumerate(whole.features.onset):
        for name in ("kinematics", "movement", "after", "texture"):
            np.testing.assert_array_equal(
                getattr(rows[onset], name), getattr(whole.features, name)[i]
            )
        assert rows[onset].turn == whole.features.turn[i]


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
