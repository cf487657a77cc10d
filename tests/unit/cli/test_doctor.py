"""`gazelive doctor` as a user runs it, here without a display."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gazelive.experiment.doctor.finding import Finding, Situation

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gazelive.system.has_screen", lambda: False)
    monkeypatch.setattr("gazelive.experiment.doctor.display.has_screen", lambda: False)


def test_every_line_has_a_status(gazelive: Run) -> None:
    ended = gazelive("doctor")
    *lines, _blank, verdict = ended.out.splitlines()
    found = [line for line in lines if not line.startswith(" ")]
    assert {line.split()[0] for line in found} <= {"ok", "warn", "fail"}
    assert any(line.startswith("warn  display ") for line in found)
    assert any(line.startswith("ok    EDF files ") for line in found)
    assert ended.exit_code == any(line.startswith("fail") for line in found)
    assert "warning" in verdict


def test_a_failure_is_in_the_exit_code(gazelive: Run, tmp_path: Path) -> None:
    toml = tmp_path / "lab.toml"
    toml.write_text('[trial]\nimage_ms = 3\n[tracker]\ndevice = "simulated"\n')
    ended = gazelive("doctor", toml, "--json")
    assert ended.exit_code == 1
    facts = json.loads(ended.out)
    assert not facts["ok"]
    first = facts["findings"][0]
    assert (first["what"], first["level"]) == ("configuration", "fail")
    assert first["text"].startswith("trial.image_ms: unknown key")


def test_a_missing_toml_is_a_usage_error(gazelive: Run, tmp_path: Path) -> None:
    ended = gazelive("doctor", tmp_path / "none.toml")
    assert ended.exit_code == 2
    assert "gazelive config init" in ended.err


@pytest.mark.parametrize(
    ("level", "exit_code", "verdict"),
    [
        ("ok", 0, "All well."),
        ("warn", 0, "Nothing failed, 1 warning."),
        ("fail", 1, "Not ready: 1 failure, 0 warnings."),
    ],
)
def test_verdict(
    gazelive: Run, monkeypatch: pytest.MonkeyPatch, level: Any, exit_code: int, verdict: str
) -> None:
    def examine(_situation: Situation) -> list[Finding]:
        return [Finding("thing", level, "is [so]", "do [that]")]

    monkeypatch.setattr("gazelive.experiment.examine", examine)
    ended = gazelive("doctor")
    assert ended.exit_code == exit_code
    assert ended.out == (f"{level:<6}{'thing':<18}is [so]\n{'':24}→ do [that]\n\n{verdict}\n")
    quiet = gazelive("doctor", "-q")
    assert (quiet.out == "") == (level == "ok")
