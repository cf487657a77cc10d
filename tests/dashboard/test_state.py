import math

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.dashboard.state.connection import Playback
from gazelive.dashboard.state.gaze_scene import MOST_EVENTS
from gazelive.dashboard.state.main_sequence import MOST_POINTS
from gazelive.dashboard.state.notices import MOST_NOTICES
from gazelive.dashboard.state.session_facts import session_facts
from gazelive.dashboard.state.state import DashboardState
from gazelive.gaze import documents as d
from gazelive.gaze.screen import ScreenGeometry

from .sent import (
    a_whole_run,
    blink,
    fixation,
    model,
    posterior,
    run,
    saccade,
    summary,
    trace,
    trial,
    validated,
)

st.register_type_strategy(
    ScreenGeometry,
    st.just(
        ScreenGeometry(
            width_px=1920, height_px=1080, width_mm=535.0, height_mm=301.0, eye_distance_mm=600.0
        )
    ),
)


def any_document():
    """Return documents that are decodable but may make no sense."""
    kinds = [kind for kind in d.Document.__args__ if kind is not d.RunStarted]
    anything = st.one_of([st.from_type(kind) for kind in kinds])
    return st.one_of(anything, st.sampled_from([run(), run("other"), *a_whole_run()]))


def after(*documents, connected=True):
    state = DashboardState("tcp://engine")
    state.set_connection(connected, 0.0)
    state.apply_all(documents)
    return state


@settings(max_examples=60)
@given(st.lists(any_document(), max_size=40))
def test_no_sequence_of_documents_breaks_it(documents):
    state = after(*documents)
    assert state.gauges
    assert session_facts(state, hide_viewer=False)
    assert state.connection.text
    if state.ranking is not None:
        assert all(0 <= c.probability <= 1 for c in state.ranking.candidates)
    state.scene.turned_saccades()
    state.main_sequence.points()
    for position in state.history.leading(5):
        state.history.line(position, "saccades")


def test_a_whole_run_is_shown():
    state = after(*a_whole_run())
    assert state.ranking is not None
    assert state.ranking.leader is not None
    assert state.ranking.leader.name == "Ada"
    assert not state.ranking.settled
    assert len(state.history.boundaries) == 2
    assert len(state.scene.fixations) == len(state.scene.saccades) == 12, "of the second image only"
    assert len(state.main_sequence.points().amplitude_deg) == 24
    assert state.main_sequence.points().current.sum() == 12
    assert state.elapsed_s == pytest.approx(7.61), "up to the last posterior"
    assert state.connection.text == "Live"


def test_facts_of_the_session():
    state = after(*a_whole_run())
    facts = session_facts(state, hide_viewer=False)
    assert facts == {
        "Session": "s01",
        "Viewer": "Ada",
        "Trial": "2 of 9",
        "Image": "cat.jpg",
        "Elapsed": "0:07",
        "Device": "EyeLink 1000, 1000\u202fHz, right eye",
        "Model": "lab.model, 10 viewers, fisher-svm",
    }
    assert session_facts(state, hide_viewer=True)["Viewer"] == "hidden"
    named = after(model(2, method_kind="Fisher SVM"))
    shown = session_facts(named, hide_viewer=False)["Model"]
    assert shown == "lab.model, 2 viewers, fisher-svm (Fisher SVM)"
    state.set_playback(Playback(position_s=2.0, duration_s=8.0))
    assert session_facts(state, hide_viewer=True)["Elapsed"] == "0:07, 25\u202f% of the replay"
    state.apply_all([d.RunStopped(reason="over")])
    assert session_facts(state, hide_viewer=True)["Elapsed"] == "0:07", "no share that never grows"
    state.apply(d.TrialStopped(trial="trial 2", tracker_time_us=8_000_000))
    assert session_facts(state, hide_viewer=False)["Trial"] == "2 of 9, ended"


def test_facts_before_anything_is_known():
    facts = session_facts(after(), hide_viewer=False)
    assert set(facts.values()) == {"–", "0:00", "none"}
    named_only = after(run(), d.TrialStarted(trial="practice", tracker_time_us=0))
    facts = session_facts(named_only, hide_viewer=False)
    assert (facts["Viewer"], facts["Trial"], facts["Image"]) == (
        "not given",
        "practice",
        "not given",
    )


def test_a_new_run_starts_empty():
    state = after(*a_whole_run(), d.RunStopped(reason="finished"))
    assert state.connection.text == "Run ended: finished"
    state.apply(run("s02"))
    assert state.posterior is None
    assert state.trial is None
    assert not state.scene.saccades
    assert not state.history.points
    assert not state.summaries
    assert len(state.traces) == 0
    assert state.connection.phase == "running"
    assert state.model is not None, "the model goes on until another is loaded"


def test_the_same_run_continues_and_starts_over_after_its_end():
    state = after(*a_whole_run())
    state.apply(run(viewer="Ada"))
    assert state.posterior is not None, "an engine that was restarted goes on"
    state.apply_all([d.RunStopped(reason="over"), run(viewer="Ada")])
    assert state.posterior is None


def test_a_replay_from_an_earlier_point_starts_over():
    state = after(*a_whole_run())
    state.apply(trial(1, 0))
    assert state.posterior is None
    assert len(state.history.boundaries) == 1
    state.apply(posterior(time_ms=300, n_saccades=1))
    assert state.ranking is not None
    assert state.ranking.n_saccades == 1


def test_an_update_of_a_trial_is_the_same_trial():
    state = after(run(), trial(1, 0), saccade(100), saccade(900), posterior(time_ms=950))
    state.apply(trial(1, 500_000, image="cat.jpg"))
    assert state.trial is not None
    assert state.trial.image == "cat.jpg"
    assert [s.onset_us for s in state.scene.saccades] == [900_000], "the image came at 500 ms"
    assert len(state.history.boundaries) == 1
    assert state.posterior is not None


def test_a_settled_interval_replaces_preliminary_events():
    state = after(run(), trial(1, 0), saccade(100), fixation(150, 400), saccade(420))
    state.apply(
        d.IntervalSettled(
            trial="trial 1",
            start_us=0,
            end_us=4_000_000,
            saccades=(saccade(102),),
            fixations=(fixation(150, 1000),),
            blinks=(blink(1100, 1200),),
        )
    )
    assert [s.onset_us for s in state.scene.saccades] == [102_000]
    assert len(state.scene.fixations) == 1
    assert len(state.main_sequence.points().amplitude_deg) == 1
    assert {b.kind for b in state.bands.between(0, 10**7)} == {"saccade", "blink"}


def test_a_late_settled_interval_leaves_the_current_image_alone():
    state = after(run(), trial(1, 0), trial(2, 5_000_000), saccade(5100))
    state.apply(
        d.IntervalSettled(trial="trial 1", start_us=0, end_us=4_000_000, saccades=(saccade(90),))
    )
    assert [s.onset_us for s in state.scene.saccades] == [5_100_000]
    assert len(state.main_sequence.points().amplitude_deg) == 2


def test_a_retracted_saccade_is_removed_everywhere():
    state = after(run(), trial(), saccade(100))
    state.apply(d.Retraction(eye="R", onset_us=100_000, reason="a blink"))
    assert not state.scene.saccades
    assert not state.bands.between(0, 10**7)
    assert len(state.main_sequence.points().amplitude_deg) == 0


def test_an_onset_is_shaded_at_once():
    state = after(run(), d.SaccadeOnset(eye="R", onset_us=50_000, detection_delay_ms=8.0))
    assert state.bands.between(0, 70_000)[0].kind == "saccade begun"


class TestSnapshot:
    def test_fills_missed_documents(self):
        state = after()
        state.fill([run(), model(), trial(4), posterior(), summary(), validated()])
        assert state.run == run()
        assert state.ranking is not None
        assert state.ranking.leader is not None
        assert state.ranking.leader.name == "Ada"
        assert state.validations
        assert state.summaries
        assert (state.screen.width_px, state.screen.height_px) == (1920, 1080)

    def test_comes_before_later_documents(self):
        shared = posterior(n_saccades=28, time_ms=8500)
        since = [trace(8_000_000, [1.0]), shared, posterior(n_saccades=30, time_ms=9000)]
        state = after(*since)
        history = [posterior(n_saccades=n, time_ms=n, settled=True) for n in (10, 20)]
        state.fill([run(), model(), trial(4, 5_000_000), *history, shared], since)
        assert [point.n_saccades for point in state.history.points] == [10, 20, 28, 30]
        assert state.posterior is not None
        assert state.posterior.n_saccades == 30
        assert len(state.traces) == 1
        assert state.elapsed_s == pytest.approx(9 - 0.01), "from the first posterior to the last"

    def test_of_an_earlier_run_is_ignored(self):
        state = after(run("new"))
        state.fill([run("old"), trial(4), posterior()], [run("new")])
        assert state.run == run("new")
        assert state.trial is None
        assert state.posterior is None

    def test_of_a_new_run_replaces_the_old_one(self):
        state = after(*a_whole_run())
        state.fill([run("new"), trial(1, 0), posterior({3: 1.0})])
        assert state.run == run("new")
        assert len(state.history.points) == 1

    def test_of_the_same_run_keeps_traces_and_does_not_log_twice(self):
        notice = d.Notice(level="info", text="calibrated")
        state = after(*a_whole_run(), notice)
        n_samples, bands = len(state.traces), state.bands.between(0, 10**7)
        state.fill([run(viewer="Ada"), notice, trial(1, 0), trial(2, 4_000_000), posterior()])
        assert len(state.traces) == n_samples
        assert state.bands.between(0, 10**7) == bands
        assert [line.text for line in state.log.lines].count("calibrated") == 1
        assert state.log.lines[-1].times == 1

    def test_without_a_run_is_ignored(self):
        state = after()
        state.fill([])
        assert state.connection.phase == "idle"
        state = after(*a_whole_run())
        state.fill([d.Notice(level="info", text="ready")])
        assert state.posterior is not None


class TestConnection:
    def test_waiting_connected_lost_and_back(self):
        state = DashboardState("tcp://engine")
        state.set_connection(False, 0.0)
        assert state.connection.text == "Waiting for engine at tcp://engine…"
        state.set_connection(True, 1.0)
        assert state.connection.phase == "idle"
        state.apply_all(a_whole_run())
        state.set_connection(False, 2.0)
        assert state.connection.phase == "lost"
        assert "Waiting for engine" in state.connection.text
        assert state.posterior is not None, "what was known stays to be seen"
        state.set_connection(True, 3.0)
        assert state.connection.phase == "running"
        assert [line.text for line in state.log.lines][-2:] == [
            "Engine lost",
            "Engine reconnected",
        ]

    def test_an_engine_that_ends_with_its_run_is_not_lost(self):
        state = after(*a_whole_run(), d.RunStopped(reason="finished"))
        state.set_connection(False, 2.0)
        assert state.connection.text == "Run ended: finished"
        assert state.log.lines[-1].text == "Run ended: finished"

    def test_an_engine_without_documents_is_silent(self):
        state = after(run())
        state.set_connection(True, 10.0)
        assert state.connection.phase == "silent"
        state.apply(trace(0, [1.0]))
        assert state.connection.phase == "running"

    def test_a_paused_replay_is_not_silent(self):
        state = after(run())
        state.set_playback(Playback(paused=True))
        state.set_connection(True, 10.0)
        assert state.connection.phase == "paused"
        state.set_playback(None)
        assert state.connection.phase == "silent"


def test_notices_validations_and_errors_are_logged():
    state = after(
        run(),
        d.Notice(level="error", text="disk full"),
        d.Quality(tracker_time_us=0, kind="time_gap", text="a gap"),
        d.Quality(tracker_time_us=0, kind="summary", text="a summary"),
        msgspec.structs.replace(trace(0, [1.0]), y_deg=b""),
    )
    logged = [(line.level, line.text) for line in state.log.lines]
    assert logged[0] == ("info", "Run started: s01")
    assert logged[1:4] == [("error", "disk full"), ("warning", "a gap"), ("info", "a summary")]
    assert logged[4][0] == "error"


def test_another_protocol_version_is_reported():
    state = after(run(protocol_version=99))
    assert "version 99" in state.log.lines[-1].text


def test_memory_is_bounded_over_a_long_session():
    state = after(run(), model(), trial())
    for i in range(2 * MOST_POINTS):
        state.apply_all(
            [
                saccade(300 * i),
                fixation(300 * i + 50, 300 * i + 250),
                posterior(time_ms=300 * i, n_saccades=i),
                summary(300 * i),
                d.Notice(level="info", text=str(i)),
            ]
        )
    assert len(state.main_sequence.points().amplitude_deg) == MOST_POINTS
    assert len(state.scene.saccades) == MOST_EVENTS
    assert len(state.log.lines) == MOST_NOTICES
    assert len(state.summaries) == 10


def test_lost_gaze_is_nan_and_the_threshold_is_kept():
    state = after(run(), trace(0, [1.0, math.nan], threshold_deg_s=42.0))
    assert state.threshold_deg_s == 42.0
    assert np.isnan(state.traces.newest(1)[1][0, -1])
