"""`gazelive session list`, `show` and `report` as a user runs them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gazelive.recordings.session.conversion import manifest_of, write_session
from gazelive.simulation.lab_session import TrialImage, simulate_session
from gazelive.stimuli.saliency import generated_saliency

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two sessions of one viewer, one of them in a folder of its own."""
    root = tmp_path_factory.mktemp("lab")
    for name, number in (("v001_s1", 1), ("v001/2", 2)):
        simulated = simulate_session(
            "v001",
            seed=1,
            session=number,
            images=[TrialImage("cat.jpg", generated_saliency("cat.jpg", 0))],
            seconds=2.0,
            sampling_rate_hz=500.0,
            eyes="R",
            path=root / name,
        )
        recording = simulated.recording
        manifest = manifest_of(recording, started_at="2024-05-06T07:08:09+02:00")
        write_session(recording, root / name, manifest)
    return root


def test_list_shows_every_session(gazelive: Run, sessions: Path) -> None:
    exit_code, out, err = gazelive("session", "list", sessions)
    assert exit_code == 0
    header, *lines = out.splitlines()
    assert header.split() == [
        *("folder", "viewer", "session", "mode", "device", "started", "trials", "min"),
        *("missing", "validation", "identified", "as"),
    ]
    assert [line.split()[0] for line in lines] == ["v001/2", "v001_s1"]
    assert "2 sessions." in err
    assert "gazelive session show" in err


def test_list_names_damaged_sessions(gazelive: Run, sessions: Path, tmp_path: Path) -> None:
    shutil.copytree(sessions / "v001_s1", tmp_path / "good")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "session.json").write_text("{")
    exit_code, out, _ = gazelive("session", "list", tmp_path)
    assert exit_code == 0
    assert "1 session with a problem" in out
    assert "broken: " in out
    exit_code, out, _ = gazelive("session", "list", tmp_path, "--json")
    rows = json.loads(out)
    assert [row["damage"] is None for row in rows] == [False, True]


def test_damage_in_a_journal_is_named(gazelive: Run, sessions: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sessions / "v001_s1", tmp_path / "damaged")
    journal = folder / "gaze.journal"
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 1
    journal.write_bytes(content)
    for command in (["info"], ["session", "show"], ["session", "list"]):
        where = tmp_path if "list" in command else folder
        exit_code, out, _ = gazelive(*command, where, "--json")
        assert exit_code == 0
        assert "are damaged; chunk" in out
        assert "on the tracker's clock" in out


def test_list_of_nothing_is_one_sentence(gazelive: Run, tmp_path: Path) -> None:
    exit_code, out, err = gazelive("session", "list", tmp_path)
    assert (exit_code, out) == (2, "")
    assert err.startswith("error: ")
    assert "no session" in err
    assert "Traceback" not in err


def test_show_prints_quality_and_calibration(gazelive: Run, sessions: Path) -> None:
    exit_code, out, err = gazelive("session", "show", sessions / "v001_s1")
    assert exit_code == 0
    assert "Quality per trial" in out
    assert "Calibration history" in out
    assert "RMS-S2S" in out
    assert "gazelive session report" in out
    assert err == ""


def test_show_as_json(gazelive: Run, sessions: Path) -> None:
    exit_code, out, err = gazelive("session", "show", sessions / "v001_s1", "--json")
    assert (exit_code, err) == (0, "")
    told = json.loads(out)
    assert told["viewer"] == "v001"
    assert len(told["trials"]) == 1
    assert {"missing_fraction", "n_lost_samples", "n_saccades", "rms_s2s_deg"} <= set(
        told["trials"][0]
    )


def test_show_of_no_session_is_one_sentence(gazelive: Run, tmp_path: Path) -> None:
    exit_code, _, err = gazelive("session", "show", tmp_path)
    assert exit_code == 2
    assert "not a session folder" in err


def test_report_writes_one_page_and_prints_its_path(
    gazelive: Run, sessions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in sessions.rglob("*")}
    exit_code, out, err = gazelive("session", "report", sessions / "v001" / "2")
    assert (exit_code, out) == (0, "")
    assert "Wrote v001_2-report.html: 1 trial" in err
    assert [path.name for path in tmp_path.iterdir()] == ["v001_2-report.html"]
    assert (tmp_path / "v001_2-report.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert {p: p.stat().st_mtime_ns for p in sessions.rglob("*")} == before


def test_report_refuses_targets_that_make_no_sense(
    gazelive: Run, sessions: Path, tmp_path: Path
) -> None:
    session = sessions / "v001_s1"
    for target, word in (
        (session / "report.html", "inside the session"),
        (tmp_path / "report.pdf", "must end in .html"),
        (tmp_path / "nowhere" / "report.html", "create it first"),
    ):
        exit_code, _, err = gazelive("session", "report", session, "-o", target)
        assert exit_code == 2
        assert word in err
    exit_code, _, err = gazelive("session", "report", session, "--images", tmp_path / "nowhere")
    assert exit_code == 2
    assert "--images" in err
    assert not (session / "report.html").exists()
