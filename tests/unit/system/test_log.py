"""The log on standard error and in files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gazelive.system import get_logger, log_to_file


def test_a_file_gets_the_log_of_the_block(tmp_path: Path) -> None:
    path = tmp_path / "engine.log"
    log = get_logger("gazelive.test")
    with log_to_file(path):
        log.info("inside")
    log.info("outside")
    text = path.read_text("utf-8")
    assert "inside" in text
    assert "outside" not in text


def test_a_folder_that_vanishes_disturbs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with log_to_file(tmp_path / "gone" / "engine.log"):
        get_logger("gazelive.test").warning("nowhere to go")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "variable", "is_logged"),
    [((), "", False), (("--log-level", "info"), "", True), ((), "INFO", True)],
)
def test_the_command_logs_on_request(
    options: tuple[str, ...], variable: str, is_logged: bool, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "gazelive", *options, "config", "init", str(tmp_path / "lab")]
    environment = os.environ | {"GAZELIVE_LOG": variable}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ("config init" in ended.stderr and "INFO" in ended.stderr) == is_logged


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gazelive", "--log-level", "loud", "info", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "--log-level" in ended.stderr
    assert "Traceback" not in ended.stderr
