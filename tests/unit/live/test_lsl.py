"""Streams of the lab streaming layer arrive with data and description."""

import os
import uuid

import numpy as np
import pytest

from gazelive.errors import TransportError
from gazelive.gaze.documents import ModelLoaded, Notice, Posterior, RunStarted
from gazelive.gaze.stream import Chunk
from gazelive.live import lsl
from gazelive.live.engine.sinks import DocumentSink, RecallsDocuments
from gazelive.live.lsl import ArrivalClock, GazeOutlet, PosteriorOutlet

from ...support.manual_clock import ManualClock
from ...support.recordings import gaze_samples, make_stream

PATIENCE_S = 30.0


@pytest.fixture(scope="module")
def pylsl(tmp_path_factory):
    """pylsl, restricted to this computer."""
    settings = tmp_path_factory.mktemp("lsl") / "lsl_api.cfg"
    settings.write_text("[multicast]\nResolveScope = machine\n[log]\nlevel = -2\n")
    os.environ["LSLAPICFG"] = str(settings)
    yield pytest.importorskip("pylsl")
    del os.environ["LSLAPICFG"]


@pytest.fixture
def session():
    return uuid.uuid4().hex


def inlet(pylsl, source_id, outlet):
    """Return a reader to whom everything is sent from now on.

    `open_stream` returns when the outlet has greeted, shortly before it begins to queue samples.
    """
    (info,) = pylsl.resolve_byprop("source_id", source_id, timeout=PATIENCE_S)
    inlet = pylsl.StreamInlet(info)
    inlet.open_stream(timeout=PATIENCE_S)
    assert outlet._outlet.wait_for_consumers(PATIENCE_S)
    return inlet


def children(element, name):
    found, child = [], element.child(name)
    while not child.empty():
        found.append(child)
        child = child.next_sibling(name)
    return found


def test_gaze_comes_back_with_its_description(pylsl, session):
    stream = make_stream(rate_hz=500.0, eyes="LR")
    samples = gaze_samples(0, 1.0, 7_000_000, eyes="LR")
    outlet = GazeOutlet(session, clock=ManualClock())
    outlet(Chunk(0, 0, samples[:0]), stream)  # opens the stream
    reader = inlet(pylsl, f"gazelive-gaze-{session}", outlet)
    info = reader.info(timeout=PATIENCE_S)
    assert (info.type(), info.nominal_srate(), info.channel_count()) == ("Gaze", 500.0, 6)
    channels = children(info.desc().child("channels"), "channel")
    told = [
        tuple(channel.child_value(name) for name in ("label", "eye", "type", "unit"))
        for channel in channels
    ]
    assert told == [
        ("left_x", "left", "ScreenX", "pixels"),
        ("left_y", "left", "ScreenY", "pixels"),
        ("left_pupil", "left", "Area", "arbitrary"),
        ("right_x", "right", "ScreenX", "pixels"),
        ("right_y", "right", "ScreenY", "pixels"),
        ("right_pupil", "right", "Area", "arbitrary"),
    ]
    assert info.desc().child("display").child_value("width_px") == "1920"
    for first in range(0, 500, 10):
        outlet(Chunk(1 + first, 0, samples[first : first + 10]), stream)
    values, stamps = [], []
    while len(values) < 500:
        more, at = reader.pull_chunk(timeout=PATIENCE_S, max_samples=500)
        assert more
        values += more
        stamps += at
    np.testing.assert_array_equal(np.array(values, np.float32)[:, 3], samples["right_x"])
    steps_s = np.diff(np.reshape(stamps, (50, 10)), axis=1)  # all chunks came at once
    np.testing.assert_allclose(steps_s, 0.002, atol=1e-6)
    outlet.close()
    outlet.close()


def test_posteriors_come_back_with_the_names_of_the_enrolled(pylsl, session):
    outlet = PosteriorOutlet(session)
    assert isinstance(outlet, DocumentSink)
    outlet.write(RunStarted(session="s", stream=make_stream()))
    outlet.write(
        ModelLoaded(model="m", method="x", viewer_ids=("anna", "ben"), false_acceptance_rate=0.01)
    )
    reader = inlet(pylsl, f"gazelive-posterior-{session}", outlet)
    description = reader.info(timeout=PATIENCE_S).desc()
    assert description.child_value("false_acceptance_rate") == "0.01"
    viewers = children(description.child("enrolled"), "viewer")
    assert [viewer.child_value() for viewer in viewers] == ["anna", "ben"]
    assert len(children(description.child("channels"), "channel")) == len(lsl.POSTERIOR_CHANNELS)
    outlet.write(Notice(level="info", text="not for LSL"))
    outlet.write(
        Posterior(
            tracker_time_us=1,
            leading=(1, 0),
            log_probabilities=(np.log(0.75), np.log(0.25)),
            log_unknown=float(np.log(0.5)),
            n_saccades=7,
            n_images=2,
            seconds=3.5,
            settled=True,
            accepted=False,
        )
    )
    values, _stamp = reader.pull_sample(timeout=PATIENCE_S)
    np.testing.assert_allclose(values, [1, 0.75, 0.5, 7, 2, 3.5, 1, 0])
    outlet.close()
    outlet.close()
    with pytest.raises(ValueError, match="closed"):
        outlet.write(Notice(level="info", text="too late"))


def test_an_engine_that_was_started_again_goes_on_sending(pylsl, session):
    """Earlier posteriors are not sent twice; the stream and its names are there."""
    outlet = PosteriorOutlet(session)
    assert isinstance(outlet, RecallsDocuments)
    outlet.recall(RunStarted(session="s", stream=make_stream()))
    outlet.recall(ModelLoaded(model="m", method="x", viewer_ids=("anna", "ben")))
    reader = inlet(pylsl, f"gazelive-posterior-{session}", outlet)
    outlet.recall(posterior(1))
    outlet.write(posterior(2))
    values, _stamp = reader.pull_sample(timeout=PATIENCE_S)
    assert values[lsl_channel("saccades")] == 2
    outlet.close()


def posterior(n_saccades: int) -> Posterior:
    """Return one with so much evidence."""
    return Posterior(
        tracker_time_us=1,
        leading=(0,),
        log_probabilities=(0.0,),
        n_saccades=n_saccades,
        n_images=1,
        seconds=1.0,
        settled=False,
    )


def lsl_channel(label: str) -> int:
    """Return the number of a channel."""
    return list(lsl.POSTERIOR_CHANNELS).index(label)


def test_time_stamps_do_not_shake_with_the_chunks():
    rng = np.random.default_rng(0)
    clock = ArrivalClock()
    stamps = []
    for first in range(0, 20_000, 10):
        times_us = 5_000_000 + 1000 * np.arange(first, first + 10)
        arrival_s = 100 + times_us[-1] / 1e6 + rng.exponential(0.003)
        stamps.append(clock.time_stamps(times_us, arrival_s))
    errors_s = np.concatenate(stamps)[1000:] - 105 - np.arange(1000, 20_000) / 1000
    assert (errors_s >= 0).all()
    assert errors_s.max() < 0.001


def test_without_pylsl_the_error_says_how_to_install_it(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pylsl", None)
    with pytest.raises(TransportError, match="gazelive\\[lsl\\]"):
        lsl.load_pylsl()


@pytest.mark.parametrize(("accepted", "value"), [(True, 1.0), (False, 0.0), (None, np.nan)])
def test_whether_it_is_accepted_is_a_channel(accepted, value):
    posterior = Posterior(
        tracker_time_us=1,
        leading=(0,),
        log_probabilities=(0.0,),
        log_unknown=None,
        n_saccades=1,
        n_images=1,
        seconds=1.0,
        settled=False,
        accepted=accepted,
    )
    values = dict(zip(lsl.POSTERIOR_CHANNELS, lsl.posterior_values(posterior), strict=True))
    np.testing.assert_equal(values["accepted"], value)
    assert np.isnan(values["unknown"])
