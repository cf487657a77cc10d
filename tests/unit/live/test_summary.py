import math

import msgspec
import pytest

from gazelive.gaze.documents import (
    IntervalSettled,
    ModelLoaded,
    Notice,
    Posterior,
    RunStarted,
    RunStopped,
)
from gazelive.gaze.events import Saccade
from gazelive.live.summary import shown_probability, summarise

from ...support.recordings import make_stream


def posterior(p, *, unknown=0.0, n=1, leading=(1, 0), settled=False):
    rest = (1 - p) / (len(leading) - 1)
    shares = [p, *([rest] * (len(leading) - 1))]
    return Posterior(
        tracker_time_us=n,
        leading=leading,
        log_probabilities=tuple(math.log(max(share, 1e-300)) for share in shares),
        log_unknown=math.log(unknown) if unknown else None,
        n_saccades=n,
        n_images=1,
        seconds=n / 2,
        settled=settled,
    )


def test_best_match_and_crossing_times():
    documents = [
        RunStarted(session="s", stream=make_stream(), viewer="ben"),
        ModelLoaded(model="m", method="x", viewer_ids=("anna", "ben")),
        posterior(0.6, n=1, leading=(0, 1)),
        posterior(0.4, n=2),
        posterior(0.95, n=3, unknown=0.5),  # 0.475 is shown
        posterior(0.95, n=4),
        posterior(0.97, n=5, settled=True),
        Notice(level="warning", text="the lamp"),
        RunStopped(reason="over"),
    ]
    summary = summarise(documents)
    assert (summary.best, summary.stop_reason, summary.warnings) == ("ben", "over", ["the lamp"])
    assert summary.p == pytest.approx(0.97)
    facts = summary.as_json()
    assert facts["crossed_s"] == {"0.5": 2.0, "0.9": 2.0, "0.99": None}
    assert facts["crossed_saccades"] == {"0.5": 4, "0.9": 4, "0.99": None}
    assert shown_probability(documents[2], 1) == pytest.approx(0.4)
    assert shown_probability(documents[2], 7) == 0.0


def test_the_summary_says_whether_that_is_enough():
    loaded = ModelLoaded(
        model="m", method="x", viewer_ids=tuple("abcd"), false_acceptance_rate=0.01
    )
    last = posterior(0.8, n=9, unknown=0.1)
    undecided = msgspec.structs.replace(last, accepted=False, more_s=7.0)
    summary = summarise([loaded, posterior(0.5), undecided])
    facts = summary.as_json()
    assert (facts["accepted"], facts["more_s"]) == (False, 7.0)
    assert facts["headline"] == summary.verdict.headline
    assert summary.verdict.status == "undecided"
    assert "72.0 %" in facts["headline"]
    accepted = summarise([loaded, msgspec.structs.replace(last, accepted=True)])
    assert accepted.verdict.status == "accepted"
    assert "1 %" in accepted.as_json()["headline"]


def test_a_run_of_0_1_was_not_judged():
    loaded = ModelLoaded(model="m", method="x", viewer_ids=("anna", "ben"))
    facts = summarise([loaded, posterior(0.8, unknown=0.1)]).as_json()
    assert (facts["accepted"], facts["headline"]) == (None, "ben 72.0 %")


def test_without_a_model_or_without_anything():
    summary = summarise([RunStarted(session="s", stream=make_stream()), RunStopped(reason="x")])
    assert summary.best is None
    assert summary.as_json()["crossed_s"] == {}
    assert summary.as_json()["headline"] is None
    assert summarise([]).session == ""


def test_saccades_without_a_model_are_those_detected():
    saccade = Saccade(
        eye="R",
        onset_us=0,
        offset_us=20_000,
        start_x_deg=0.0,
        start_y_deg=0.0,
        end_x_deg=5.0,
        end_y_deg=0.0,
        peak_velocity_deg_s=200.0,
    )
    interval = IntervalSettled(trial="1", start_us=0, end_us=9, saccades=(saccade, saccade))
    facts = summarise([interval]).as_json()
    assert facts["n_saccades"] == facts["saccades"] == 2
