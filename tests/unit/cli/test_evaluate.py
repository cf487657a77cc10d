"""`gazelive evaluate`: output, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from gazelive.cli.app import app
from gazelive.errors import ConfigError

from ...support.people import people
from ..evaluation.test_study import HEAD, fixation_lines

run = CliRunner().invoke


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "fixations.csv"
    path.write_text("\n".join([HEAD, *fixation_lines(people(4), 8, ("1",))]) + "\n")
    return path


def test_the_command_prints_accuracies_and_says_what_to_do_next(
    table: Path, tmp_path: Path
) -> None:
    arguments = ["--methods", "markov", "--splits", "2", "--no-open-set", "--no-timing", "-j", "1"]
    result = run(app, ["evaluate", str(table), "-o", str(tmp_path / "out"), *arguments])
    assert result.exit_code == 0, result.output
    (row,) = (line for line in result.stdout.splitlines() if line.startswith("markov  "))
    assert row.count("±") == 3  # of 1, 2 and 3 images, in one line
    assert "report.html" in result.stderr
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--methods", "astrology"], "no method astrology"),
        (["--methods", "gazelive,markov-dynamics"], "no method markov-dynamics"),
        (["--protocol", "sessions"], "one session only"),
        (["--seconds", "soon"], "lengths in seconds"),
    ],
)
def test_mistakes_have_one_sentence(
    table: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    result = run(app, ["evaluate", str(table), "-o", str(tmp_path / "out"), *arguments])
    assert isinstance(result.exception, ConfigError)
    assert words in str(result.exception)
