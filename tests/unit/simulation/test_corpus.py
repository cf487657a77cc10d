"""Simulated corpora: contents of a lab session, round trips and reproducibility."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
import pytest
from pyarrow import csv

from gazelive.errors import ConfigError, RecordingError
from gazelive.recordings.corpus import read_corpus
from gazelive.recordings.open import read_recording
from gazelive.recordings.trials import find_trials
from gazelive.simulation.corpus import CorpusPlan, write_corpus
from gazelive.simulation.image_pool import ImagePool, images_for_session
from gazelive.simulation.lab_session import (
    TRIALS_PER_CALIBRATION,
    SimulatedSession,
    TrialImage,
    simulate_session,
)
from gazelive.simulation.truth_table import truth_table
from gazelive.stimuli.image_files import images_in
from gazelive.stimuli.saliency import generated_saliency

PLAN = CorpusPlan(
    n_viewers=2, n_images=2, n_pool=3, n_sessions=2, seconds=1.5, sampling_rate_hz=500, seed=7
)


@pytest.fixture(scope="module")
def session() -> SimulatedSession:
    images = [
        TrialImage(f"generated_{i:04}", generated_saliency(f"generated_{i:04}", 0, (24, 32)))
        for i in range(TRIALS_PER_CALIBRATION + 1)
    ]
    return simulate_session(
        "v001",
        seed=0,
        session=1,
        images=images,
        seconds=2.0,
        sampling_rate_hz=500.0,
        eyes="LR",
        path=Path("v001_s1.asc"),
    )


def test_every_trial_follows_the_labs_protocol(session: SimulatedSession) -> None:
    recording = session.recording
    trials = find_trials(recording.messages, recording.blocks)
    assert len(trials) == len(recording.blocks) == len(session.trials) == 15
    assert [trial.name for trial in trials] == [str(k) for k in range(1, 16)]
    for trial, times, block in zip(trials, session.trials, recording.blocks, strict=True):
        assert trial.image == times.image
        assert trial.result == "0"
        assert trial.start_us < block.start_us <= times.cross_us
        assert trial.image_onset_us == times.image_onset_us
        assert trial.image_offset_us == times.image_offset_us
        assert times.image_offset_us - times.image_onset_us == 2_000_000
        assert 0.75e6 < times.image_onset_us - times.cross_us < 1.25e6
        assert block.end_us > times.image_offset_us
        assert trial.end_us > block.end_us
        assert (np.diff(block.samples["tracker_time_us"]) == 2000).all()


def test_it_is_calibrated_again_after_fourteen_trials(session: SimulatedSession) -> None:
    validations = [c for c in session.recording.calibrations if c.kind == "validation"]
    assert [c.eye for c in validations] == ["L", "R", "L", "R"]
    for validation in validations:
        assert validation.mean_error_deg is not None
        assert validation.max_error_deg is not None
        assert 0 < validation.mean_error_deg < validation.max_error_deg < 5


def test_a_cross_is_looked_at_when_the_image_comes(session: SimulatedSession) -> None:
    crosses = [m.text.split()[1:] for m in session.recording.messages if m.text[:5] == "cross"]
    assert len({tuple(cross) for cross in crosses}) == 15
    errors_px = []
    for (x, y), times, block in zip(crosses, session.trials, session.recording.blocks, strict=True):
        before = block.samples["tracker_time_us"] < times.image_onset_us
        seen = block.samples[before][-100:]
        errors_px.append(
            np.hypot(
                np.nanmedian(seen["right_x"]) - float(x), np.nanmedian(seen["right_y"]) - float(y)
            )
        )
    assert np.median(errors_px) < 70


def test_tracker_events_tile_each_block(session: SimulatedSession) -> None:
    recording = session.recording
    for block in recording.blocks:
        events = [
            event
            for event in recording.tracker_events
            if event.eye == "R"
            and event.kind != "blink"
            and block.start_us <= event.start_us <= block.end_us
        ]
        assert events[0].start_us == block.start_us
        assert events[-1].end_us == block.end_us
        for before, after in pairwise(events):
            assert after.start_us - before.end_us == 2000


def test_the_truth_names_trial_and_phase(session: SimulatedSession) -> None:
    table = truth_table(session)
    rows = table.to_pylist()
    assert [row["onset_us"] for row in rows] == sorted(row["onset_us"] for row in rows)
    assert {row["kind"] for row in rows} >= {"fixation", "saccade"}
    assert {row["eye"] for row in rows} == {"L", "R"}
    for row in rows:
        if row["phase"] is None:
            assert row["trial"] is None
            continue
        times = session.trials[row["trial"] - 1]
        assert times.image == row["image"]
        began = times.image_onset_us if row["phase"] == "image" else times.cross_us
        assert began <= row["onset_us"] < times.image_offset_us


@pytest.mark.parametrize("format_", ["session", "asc"])
def test_a_corpus_survives_a_round_trip(format_: str, tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, format=format_)
    reported: list[float] = []
    written = write_corpus(plan, tmp_path / "out", progress=reported.append)
    assert reported == sorted(reported)
    assert reported[-1] == 1.0
    corpus = read_corpus(tmp_path / "out")
    assert [(entry.viewer, entry.session) for entry in corpus.entries] == [
        ("v001", "1"),
        ("v001", "2"),
        ("v002", "1"),
        ("v002", "2"),
    ]
    for entry, each in zip(corpus.entries, written, strict=True):
        recording = read_recording(entry.recording)
        assert not recording.problems
        assert len(recording.trials) == each.n_trials == 2
        assert recording.duration_s == pytest.approx(each.duration_s)
        assert len(recording.calibrations) == 2
        assert recording.tracker_events
        truth = csv.read_csv(tmp_path / "out" / "truth" / f"{each.viewer}_s{each.session}.csv")
        assert truth.num_rows > 10
        assert each.n_bytes > 1000


def test_the_same_plan_is_the_same_corpus(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, n_sessions=1, n_images=1, format="asc")
    for name in ("one", "two"):
        write_corpus(plan, tmp_path / name)
    more = msgspec.structs.replace(plan, n_viewers=3)
    write_corpus(more, tmp_path / "more")
    for viewer in ("v001", "v002"):
        contents = {
            (tmp_path / name / f"{viewer}_s1.asc").read_bytes() for name in ("one", "two", "more")
        }
        assert len(contents) == 1, "a viewer is the same among more viewers"
    other = msgspec.structs.replace(plan, seed=8, n_viewers=1)
    write_corpus(other, tmp_path / "other")
    one = (tmp_path / "one" / "v001_s1.asc").read_bytes()
    assert (tmp_path / "other" / "v001_s1.asc").read_bytes() != one


def test_processes_make_the_same_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gazelive.simulation.corpus.SMALLEST_PARALLEL_S", 0.0)
    plan = msgspec.structs.replace(PLAN, n_sessions=1, n_images=1, format="asc")
    write_corpus(plan, tmp_path / "alone")
    write_corpus(plan, tmp_path / "together", n_processes=2)
    for path in (tmp_path / "alone").rglob("*.*"):
        twin = tmp_path / "together" / path.relative_to(tmp_path / "alone")
        assert twin.read_bytes() == path.read_bytes()


def test_no_image_comes_again_before_the_pool_has_run_out() -> None:
    names = [f"generated_{i:04}" for i in range(10)]
    seen = [
        images_for_session(names, 4, viewer_id="v001", seed=0, session=session)
        for session in (1, 2, 3)
    ]
    assert all(len(set(images)) == 4 for images in seen)
    assert not set(seen[0]) & set(seen[1])
    assert len({*seen[0], *seen[1], *seen[2]}) == 10
    other = images_for_session(names, 4, viewer_id="v002", seed=0, session=1)
    assert other != seen[0]


def test_real_images_come_first(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "stimuli"
    folder.mkdir()
    for name in ("b.png", "a.jpg", "notes.txt"):
        if name.endswith("txt"):
            (folder / name).write_text("no image")
        else:
            pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), np.uint8)
            Image.fromarray(pixels).save(folder / name)
    assert [path.name for path in images_in(folder)] == ["a.jpg", "b.png"]
    pool = ImagePool(4, folder)
    assert pool.names == ["stimuli/a.jpg", "stimuli/b.png", "generated_0000", "generated_0001"]
    assert pool.n_generated == 2
    assert "Boolean" in pool.image("stimuli/a.jpg").saliency.source
    assert "generated" in pool.image("generated_0001").saliency.source
    assert ImagePool(1, folder).names == ["stimuli/a.jpg"]


def test_impossible_plans_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pool of 3"):
        msgspec.structs.replace(PLAN, n_images=4)
    with pytest.raises(ConfigError, match="above 0"):
        msgspec.structs.replace(PLAN, n_viewers=0)
    with pytest.raises(ConfigError, match="250 to 2000"):
        msgspec.structs.replace(PLAN, sampling_rate_hz=100)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("do not lose")
    with pytest.raises(RecordingError, match="not empty"):
        write_corpus(PLAN, tmp_path / "full")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigError, match="no images"):
        write_corpus(msgspec.structs.replace(PLAN, stimuli=empty), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_interrupted_corpus_lists_complete_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gazelive.simulation import corpus as module

    made = module.write_recording

    def breaks_at_the_third(*arguments: object) -> object:
        if arguments[2:4] == ("v002", 1):
            raise RecordingError("no space left on the disk")
        return made(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "write_recording", breaks_at_the_third)
    with pytest.raises(RecordingError, match="no space"):
        write_corpus(PLAN, tmp_path / "out")
    assert [entry.session for entry in read_corpus(tmp_path / "out").entries] == ["1", "2"]
