"""Documents of the pipeline and their order."""

from dataclasses import replace

import numpy as np
import pytest

from gazelive.errors import IncompatibleModelError, RecordingError
from gazelive.gaze.documents import (
    GazeTrace,
    IntervalSettled,
    ModelLoaded,
    Notice,
    Posterior,
    Quality,
    QualitySummary,
    RunStarted,
    RunStopped,
    Saccade,
    TrialStarted,
    TrialStopped,
    Validated,
)
from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import Chunk, Message
from gazelive.live.pipeline import block as kept_block
from gazelive.live.pipeline.pipeline import Pipeline, RunFacts, RunningModel
from gazelive.recordings.geometry import FoundGeometry

from ...support.recordings import make_block, make_recording, make_stream
from ...support.streams import (
    IDENTIFIER,
    MODEL,
    Cuts,
    chunks_of,
    paper_geometry,
    run,
    settled_live,
    settled_offline,
)

EVERY_10_MS = Cuts(tuple(np.linspace(0, 1, 401)))
BLOCK = make_block(0, 4.0, 1_000_000)
SHOWN = (
    Message(900_000, "TRIALID 1"),
    Message(1_500_000, "image_onset"),
    Message(1_500_000, "!V IMGLOAD CENTER lake.png 960 540 800 600"),
    Message(4_500_000, "image_offset"),
    Message(4_600_000, "TRIAL_RESULT 0"),
)


def of_kind(documents, *kinds):
    return [document for document in documents if isinstance(document, kinds)]


def names(documents, *kinds):
    return [type(document).__name__ for document in of_kind(documents, *kinds)]


def test_a_run_from_beginning_to_end():
    facts = RunFacts("s1", viewer="v003", folder="here", n_trials=1)
    documents = run(make_recording([BLOCK], SHOWN), EVERY_10_MS, facts=facts)
    assert documents[0] == RunStarted(
        session="s1", stream=BLOCK.stream, viewer="v003", folder="here"
    )
    assert documents[1] == ModelLoaded(
        model="test",
        method="amplitude",
        viewer_ids=IDENTIFIER.viewer_ids,
        stranger_prior=0.1,
    )
    assert documents[-1] == RunStopped(reason="over")
    marks = (TrialStarted, TrialStopped, IntervalSettled)
    assert names(documents, *marks) == [
        "TrialStarted",
        "TrialStarted",  # once more: its image has come
        "TrialStarted",  # and has a name
        "TrialStopped",
        "IntervalSettled",
    ]
    shown = of_kind(documents, TrialStarted)[-1]
    assert (shown.trial, shown.tracker_time_us, shown.image) == ("1", 1_500_000, "lake.png")
    assert shown.image_rectangle_px == (560.0, 240.0, 800.0, 600.0)
    assert (shown.index, shown.n_trials) == (1, 1)
    running = [p for p in of_kind(documents, Posterior) if not p.settled]
    assert [p.n_saccades for p in running[-3:]] == [
        running[-1].n_saccades - 2,
        running[-1].n_saccades - 1,
        running[-1].n_saccades,
    ]
    assert all(p.seconds <= 3.0 for p in running)
    (settled,) = [p for p in of_kind(documents, Posterior) if p.settled]
    assert settled.seconds == pytest.approx(3.0)
    assert documents.index(settled) > documents.index(of_kind(documents, IntervalSettled)[0])


def test_without_a_model_there_are_events_but_no_posteriors():
    documents = run(make_recording([BLOCK], SHOWN), EVERY_10_MS, model=None)
    assert not of_kind(documents, Posterior, ModelLoaded)
    assert of_kind(documents, Saccade)
    assert of_kind(documents, IntervalSettled)[0].saccades


def test_the_settled_posterior_comes_with_the_first_sample_after_the_image():
    pipeline = Pipeline(paper_geometry, model=MODEL)
    before, after = [], []
    for chunk, stream in chunks_of(make_recording([BLOCK], SHOWN), EVERY_10_MS):
        said = pipeline.push(chunk, stream)
        last_us = int(chunk.samples["tracker_time_us"][-1]) if len(chunk.samples) else 0
        (before if last_us < 4_500_000 else after).append(said)
    assert not any(of_kind(said, IntervalSettled) for said in before)
    assert of_kind(after[0], IntervalSettled)


def test_an_announced_block_end_settles_at_once():
    cut = replace(BLOCK, samples=BLOCK.samples[:1700])  # no sample at or after the offset
    pipeline = Pipeline(paper_geometry, model=MODEL)
    for chunk, stream in chunks_of(make_recording([cut], SHOWN), EVERY_10_MS):
        assert not of_kind(pipeline.push(chunk, stream), IntervalSettled)
    (settled,) = of_kind(pipeline.end_block(), IntervalSettled)
    assert settled.image == "lake.png"
    late = Chunk(99, 0, BLOCK.samples[1700:], (), 0.0)
    (quality,) = of_kind(pipeline.push(late, BLOCK.stream), Quality)
    assert "after the end of their block" in quality.text
    assert names(pipeline.finish("over"), IntervalSettled, RunStopped) == ["RunStopped"]
    assert pipeline.finish("again") == []


def test_an_onset_once_seen_is_waited_for():
    second = [Message(m.tracker_time_us + 5_000_000, m.text) for m in SHOWN]
    blocks = [BLOCK, make_block(1, 4.0, 6_000_000)]
    documents = run(make_recording(blocks, [*SHOWN, *second]), EVERY_10_MS)
    started = of_kind(documents, TrialStarted)
    assert [s.tracker_time_us for s in started if s.tracker_time_us > 5_000_000] == [6_500_000] * 2
    assert started[-1].index == 2


def test_evidence_of_a_false_start_is_withdrawn():
    """Saccades before the image or the first trial are not in the settled posterior."""
    messages = [Message(3_000_000, "TRIALID 1"), Message(4_000_000, "image_onset")]
    recording = make_recording([BLOCK], messages)
    documents = run(recording, EVERY_10_MS)
    running = [p for p in of_kind(documents, Posterior) if not p.settled]
    times_us = [p.tracker_time_us for p in running]
    n_saccades = {time_us: p.n_saccades for time_us, p in zip(times_us, running, strict=True)}
    assert n_saccades[max(t for t in times_us if t < 3_000_000)] > 3
    assert n_saccades[min(t for t in times_us if t > 3_100_000)] == 1
    assert n_saccades[min(t for t in times_us if t > 4_100_000)] == 1
    assert settled_live(documents) == settled_offline(recording)
    stopped = of_kind(documents, TrialStopped)
    assert [s.trial for s in stopped] == ["block 1", "1"]


def test_an_image_without_a_name_waits_for_one_until_its_trial_ends():
    messages = [m for m in SHOWN if "IMGLOAD" not in m.text]
    named_late = [*messages[:-1], Message(4_550_000, "!V IMGLOAD FILL x.png"), messages[-1]]
    for told, end_us, image in ((messages, 4_600_000, None), (named_late, 4_550_000, "x.png")):
        pipeline = Pipeline(paper_geometry)
        at_us = []
        for chunk, stream in chunks_of(make_recording([BLOCK], told), EVERY_10_MS):
            for settled in of_kind(pipeline.push(chunk, stream), IntervalSettled):
                at_us.append(int(chunk.samples["tracker_time_us"][-1]))
                assert settled.image == image
        assert len(at_us) == 1
        assert end_us <= at_us[0] < end_us + 20_000


def test_validations_are_published():
    text = "!CAL VALIDATION HV9 R RIGHT GOOD ERROR 0.31 avg. 0.62 max  OFFSET 0.1 deg. 1.0,2.0 pix."
    documents = run(make_recording([BLOCK], [Message(500_000, text)]), EVERY_10_MS)
    assert of_kind(documents, Validated) == [
        Validated(eye="R", mean_error_deg=0.31, max_error_deg=0.62)
    ]


def test_traces_hold_every_sample_once_and_evenly():
    documents = run(make_recording([BLOCK], []), EVERY_10_MS)
    traces = of_kind(documents, GazeTrace)
    assert 45 * 4 <= len(traces) <= 60 * 4
    x_deg = np.concatenate([np.frombuffer(trace.x_deg, "<f4") for trace in traces])
    speed = np.concatenate([np.frombuffer(trace.speed_deg_s, "<f4") for trace in traces])
    assert len(x_deg) == len(speed) > 1950
    firsts = np.array([trace.first_us for trace in traces])
    sizes = np.array([len(trace.x_deg) // 4 for trace in traces])
    np.testing.assert_array_equal(firsts[1:], firsts[:-1] + sizes[:-1] * 2000)
    assert {trace.interval_us for trace in traces} == {2000.0}
    assert all(trace.threshold_deg_s >= 15 for trace in traces)
    assert np.nanmax(speed) > 100


def test_traces_can_be_left_out_and_nothing_else_changes():
    recording = make_recording([BLOCK], SHOWN)
    with_traces, without = (run(recording, EVERY_10_MS, traces=t) for t in (True, False))
    assert without == [d for d in with_traces if not isinstance(d, GazeTrace)]


def test_quality_once_per_second_of_samples():
    documents = run(make_recording([BLOCK], SHOWN), EVERY_10_MS)
    summaries = of_kind(documents, QualitySummary)
    assert len(summaries) == 4
    for summary in summaries:
        assert summary.rate_asked_hz == 500
        assert summary.rate_received_hz == pytest.approx(500, rel=0.01)
        assert summary.n_lost_samples == 0
        assert 0 <= summary.missing_fraction < 0.3
        assert summary.rms_s2s_deg == pytest.approx(0.01 * np.sqrt(4), rel=0.3)
    assert not of_kind(documents, Quality, Notice)


def test_lost_samples_are_reported_once_per_second():
    samples = np.delete(BLOCK.samples, slice(100, 2000, 10))
    documents = run(make_recording([replace(BLOCK, samples=samples)], []), EVERY_10_MS)
    assert of_kind(documents, QualitySummary)[-1].n_lost_samples == 156
    gaps = [quality for quality in of_kind(documents, Quality) if quality.kind == "time_gap"]
    assert len(gaps) <= 8
    assert any("gaps in the last second" in quality.text for quality in gaps)
    assert any(quality.kind == "rate" for quality in of_kind(documents, Quality))


def test_the_wrong_eye():
    samples = BLOCK.samples.copy()
    samples["left_x"], samples["left_y"] = samples["right_x"], samples["right_y"]
    samples["right_x"] = samples["right_y"] = np.nan
    documents = run(make_recording([replace(BLOCK, samples=samples)], []), EVERY_10_MS)
    told = of_kind(documents, Quality)
    assert told
    assert all("the other eye is seen" in quality.text for quality in told)
    documents = run(make_recording([BLOCK], []), EVERY_10_MS, eye="both")
    assert "R is recorded and taken" in of_kind(documents, Notice)[0].text


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, 1e30])
def test_nonsense_positions_are_survived(value):
    samples = BLOCK.samples.copy()
    samples["right_x"][300:900] = value
    samples["right_y"][500:1400] = value
    recording = make_recording([replace(BLOCK, samples=samples)], SHOWN)
    assert settled_live(run(recording, EVERY_10_MS)) == settled_offline(recording)


def test_a_wild_time_and_a_clock_set_back_do_not_stop_the_run():
    samples = BLOCK.samples.copy()
    samples["tracker_time_us"][400] += 10**15
    samples["tracker_time_us"][1000:] -= 1_500_000
    documents = run(make_recording([replace(BLOCK, samples=samples)], []), EVERY_10_MS)
    saccades_us = [saccade.onset_us for saccade in of_kind(documents, Saccade)]
    assert max(saccades_us) > 3_000_000
    assert sum(time_us < 3_000_000 for time_us in saccades_us) > 5
    texts = [quality.text for quality in of_kind(documents, Quality)]
    assert any("set back" in text for text in texts)


def test_an_unusable_block_is_reported_and_the_next_analysed():
    def geometry(stream) -> FoundGeometry:
        if stream.eyes == "L":
            raise RecordingError("says nothing about the screen")
        return paper_geometry(stream)

    left = replace(make_block(1, 2.0, 6_000_000), stream=make_stream(eyes="L"))
    slow = replace(make_block(1, 2.0, 9_000_000), stream=make_stream(rate_hz=60.0))
    last = make_block(2, 2.0, 12_000_000)
    pipeline = Pipeline(geometry, model=MODEL)
    documents = []
    for chunk, stream in chunks_of(make_recording([BLOCK, left, slow, last], []), EVERY_10_MS):
        documents += pipeline.push(chunk, stream)
    documents += pipeline.finish("over")
    notices = of_kind(documents, Notice)
    assert "block 2 is recorded but not analysed: says nothing" in notices[0].text
    assert "block 3 is recorded but not analysed" in notices[1].text
    assert [s.trial for s in of_kind(documents, IntervalSettled)] == ["block 1", "block 4"]


def test_a_model_that_was_not_made_for_the_rate():
    def refuse(rate_hz: float) -> None:
        if rate_hz != 500:
            raise IncompatibleModelError("the model was made at 500 Hz")

    model = RunningModel("test", IDENTIFIER, check_rate=refuse)
    blocks = [make_block(1, 2.0, 1_000_000, rate_hz=1000.0), make_block(2, 3.0, 6_000_000)]
    documents = run(make_recording(blocks, []), EVERY_10_MS, model=model)
    assert of_kind(documents, Notice)[0].text == "the model was made at 500 Hz"
    assert [s.trial for s in of_kind(documents, IntervalSettled)] == ["block 1", "block 2"]
    assert [p.n_images for p in of_kind(documents, Posterior) if p.settled] == [1]


@pytest.fixture
def short_memory(monkeypatch):
    monkeypatch.setattr(kept_block, "LONGEST_INTERVAL_S", 2.5)


def test_an_interval_that_is_too_long_settles_on_its_beginning(short_memory):
    documents = run(make_recording([BLOCK], []), EVERY_10_MS)
    assert [q.kind for q in of_kind(documents, Quality)] == ["interval"]
    (settled,) = of_kind(documents, IntervalSettled)
    assert settled.end_us == pytest.approx(1_000_000 + 2_500_000, abs=2000)
    expected = make_recording([replace(BLOCK, samples=BLOCK.samples[:1250])], [])
    assert settled_live(documents) == settled_offline(expected)


def test_a_trial_late_in_a_long_block_has_room(short_memory):
    messages = [Message(4_000_000, "TRIALID 1"), Message(4_900_000, "TRIAL_RESULT 0")]
    recording = make_recording([BLOCK], messages)
    assert settled_live(run(recording, EVERY_10_MS)) == settled_offline(recording)


def test_unneeded_samples_are_dropped():
    block = make_block(0, 60.0, 1_000_000)
    messages = [
        Message(1_000_000 + 2_000_000 * k, text)
        for k, text in enumerate(["TRIALID 1", "TRIAL_RESULT 0"] * 12)
    ]
    recording = make_recording([block], messages)
    pipeline = Pipeline(paper_geometry)
    kept = []
    for chunk, stream in chunks_of(recording, Cuts(tuple(np.linspace(0, 1, 601)))):
        pipeline.push(chunk, stream)
        kept.append(len(pipeline._block.samples))
    assert max(kept[100:]) <= 500 * (2 + 2 + 1.2)


def test_a_message_out_of_order_is_reported():
    pipeline = Pipeline(paper_geometry)
    pipeline.push(
        Chunk(0, 0, BLOCK.samples[:1000], (Message(2_000_000, "TRIALID 1"),)), BLOCK.stream
    )
    said = pipeline.push(
        Chunk(1, 0, BLOCK.samples[1000:], (Message(1_500_000, "image_onset"),)), BLOCK.stream
    )
    assert "came after a later one" in of_kind(said, Quality)[0].text
    pipeline.finish("over")


def test_an_empty_run():
    assert names(Pipeline(paper_geometry).finish("nothing came"), object) == ["RunStopped"]
    pipeline = Pipeline(paper_geometry, model=MODEL)
    said = pipeline.push(Chunk(0, 0, empty_samples(0), SHOWN[:1]), BLOCK.stream)
    assert names(said, object) == ["RunStarted", "ModelLoaded"]
    assert names(pipeline.finish("over"), IntervalSettled, Posterior, RunStopped) == ["RunStopped"]
