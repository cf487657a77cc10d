"""Facts of a session: quality per trial, calibrations, identification, notes."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gazelive.gaze.documents import encode_line
from gazelive.gaze.quality_messages import quality_message
from gazelive.recordings.recording import Recording
from gazelive.recordings.session.conversion import write_session
from gazelive.recordings.session.manifest import DOCUMENTS_NAME
from gazelive.recordings.session.writer import SessionWriter
from gazelive.reporting.session_facts import SessionFacts, gather
from gazelive.reporting.tables import check_columns, crossing_rows, summary_rows, trial_columns

from .sessions import N_LOST, documents, manifest, simulated, write_documents


@pytest.fixture(scope="module")
def facts(made: Path) -> SessionFacts:
    return gather(made / "identified")


def test_each_trial_has_its_quality(facts: SessionFacts) -> None:
    assert [trial.name for trial in facts.trials] == ["1", "2", "3", "4"]
    assert [trial.outcome for trial in facts.trials] == ["shown", "repeated", "skipped", "shown"]
    assert [trial.n_lost_samples for trial in facts.trials] == [0, N_LOST, 0, 0]
    assert [trial.dropped_frames for trial in facts.trials] == [0, 0, 0, 2]
    assert [trial.gate for trial in facts.trials] == [
        "passed",
        "passed after 1 time-out",
        "passed",
        "passed",
    ]
    for trial in facts.trials:
        assert trial.viewing_s == pytest.approx(2.0, abs=0.005)
        assert trial.n_saccades is not None
        assert trial.n_saccades > 0
        assert trial.rms_s2s_deg is not None
        assert 0.001 < trial.rms_s2s_deg < 0.1
    assert facts.n_lost_samples == N_LOST


def test_missing_is_a_fraction_of_received_samples(
    facts: SessionFacts, recording: Recording
) -> None:
    trial, told = recording.trials[1], facts.trials[1]
    samples = recording.blocks[1].samples
    times_us = samples["tracker_time_us"]
    assert trial.image_onset_us is not None
    assert trial.image_offset_us is not None
    viewed = samples[(times_us >= trial.image_onset_us) & (times_us < trial.image_offset_us)]
    assert told.n_samples == len(viewed)
    assert told.missing_fraction == pytest.approx(np.isnan(viewed["right_x"]).mean())


def test_the_calibration_history_is_in_order_and_names_the_next_trial(facts: SessionFacts) -> None:
    kinds = [(check.kind, check.before_trial) for check in facts.checks]
    assert kinds[:2] == [("calibration", "1"), ("validation", "1")]
    assert kinds[2:] == [("drift check", trial) for trial in "1234"]
    assert facts.checks[1].mean_error_deg is not None
    assert facts.checks[2].mean_error_deg == pytest.approx(0.44)
    assert all(a.at_s <= b.at_s for a, b in zip(facts.checks, facts.checks[1:], strict=False))


def test_posteriors_include_the_unknown_viewer(facts: SessionFacts) -> None:
    assert facts.findings is not None
    course = facts.findings.course
    assert course is not None
    assert course.viewers == ("v001", "v000", "v002")
    np.testing.assert_allclose(course.p[0], np.array([0.3, 0.7, 0.95, 0.995]) * 0.999)
    assert course.unknown is not None
    np.testing.assert_allclose(course.unknown, 0.001)
    assert summary_rows(facts)["identified as"].startswith("v001 99.4 % · accepted at 1 %")
    assert crossing_rows(facts) == (
        "v001 reached 50 % after 4.0 s of viewing, 6 saccades",
        "v001 reached 90 % after 6.0 s of viewing, 9 saccades",
        "v001 reached 99 % after 8.0 s of viewing, 12 saccades",
    )


def test_notes_name_the_problems(facts: SessionFacts) -> None:
    texts = [note.text for note in facts.notes]
    assert "trial 2 (attempt 1) was repeated" in texts
    assert "trial 3 (attempt 1) was skipped" in texts
    assert "trial 2: the fixation gate passed after 1 time-out" in texts
    assert f"trial 2: {N_LOST} samples never arrived" in texts
    assert "trial 4: 2 dropped frames" in texts
    assert "the model is old" in texts
    assert "missing for 50 ms" in texts
    assert "not worth a note" not in texts


def test_it_is_json(facts: SessionFacts) -> None:
    told = json.loads(json.dumps(facts.as_json()))
    assert told["said_to_be"] == told["identification"]["headline"]
    assert told["said_to_be"].startswith("v001 99.4 % · accepted")
    assert told["identification"]["accepted"] is True
    assert told["identification"]["crossed_saccades"] == {"0.5": 6, "0.9": 9, "0.99": 12}
    assert told["clock_drift_ppm"] == pytest.approx(20)
    assert len(told["trials"]) == 4
    assert told["n_lost_samples"] == N_LOST


def test_without_an_engine_all_other_facts_exist(made: Path) -> None:
    facts = gather(made / "enrolled")
    assert facts.findings is None
    assert "identified as" not in summary_rows(facts)
    assert crossing_rows(facts) == ()
    assert facts.analysis is not None
    assert facts.as_json()["identification"] is None


def test_without_a_model_there_is_no_identification(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(made / "enrolled", folder)
    write_documents(folder, documents(simulated(), with_model=False))
    facts = gather(folder)
    assert facts.findings is not None
    assert facts.findings.course is None
    assert facts.as_json()["said_to_be"] is None


def test_unreadable_lines_are_counted(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(made / "identified", folder)
    path = folder / DOCUMENTS_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"type":"Unheard"}\n'
    path.write_bytes(b"".join(lines) + b'{"type":"Posterior","tra')
    facts = gather(folder)
    assert facts.findings is not None
    assert facts.findings.n_damaged == 2
    assert any("2 unreadable lines" in note.text for note in facts.notes)


def test_a_posterior_without_names_is_ignored(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    shutil.copytree(made / "identified", folder)
    said = [d for d in documents(simulated()) if type(d).__name__ != "ModelLoaded"]
    (folder / DOCUMENTS_NAME).write_bytes(b"".join(map(encode_line, said)))
    facts = gather(folder)
    assert facts.findings is not None
    assert facts.findings.course is None


def test_without_geometry_there_is_quality_but_no_saccades(tmp_path: Path) -> None:
    recording = simulated()
    without = msgspec.structs.replace(manifest(), screen=None)
    blocks = tuple(
        replace(block, stream=msgspec.structs.replace(block.stream, screen=None))
        for block in recording.blocks
    )
    write_session(replace(recording, blocks=blocks, screen=None), tmp_path / "s", without)
    facts = gather(tmp_path / "s")
    assert facts.analysis is None
    assert facts.why_no_events is not None
    assert "--distance-mm" in facts.why_no_events
    assert facts.trials[1].n_lost_samples == N_LOST
    assert facts.trials[1].n_saccades is None
    assert "saccades" not in [column.name for column in trial_columns(facts.trials)]


def test_device_problems_are_notes_without_an_engine(tmp_path: Path) -> None:
    recording = simulated()
    at_us = int(recording.blocks[0].samples["tracker_time_us"][0]) + 2_000_000
    told = quality_message(at_us, "lost_samples", "the link dropped 3 samples")
    made = replace(recording, messages=(*recording.messages, told))
    write_session(made, tmp_path / "s", manifest())
    notes = gather(tmp_path / "s").notes
    assert (2.0, "the link dropped 3 samples") in [(note.at_s, note.text) for note in notes]


def test_a_session_without_samples_has_facts(tmp_path: Path) -> None:
    SessionWriter.create(tmp_path / "s", manifest()).close()
    facts = gather(tmp_path / "s")
    assert facts.trials == ()
    assert facts.why_no_events is not None
    assert summary_rows(facts)["missing"] == "–"


def test_tables_have_a_cell_for_every_row(facts: SessionFacts) -> None:
    for columns, n in (
        (trial_columns(facts.trials), len(facts.trials)),
        (check_columns(facts.checks), len(facts.checks)),
    ):
        assert all(len(column.cells) == n for column in columns)
    names = [column.name for column in trial_columns(facts.trials)]
    assert {"missing", "lost", "saccades", "RMS-S2S", "seconds", "outcome"} <= set(names)
