import json

import pytest
from typer.testing import CliRunner

from gazelive.cli.app import app
from gazelive.errors import ConfigError
from gazelive.recordings.session_folder import read_session


def run(*arguments):
    return CliRunner().invoke(app, ["demo", *map(str, arguments)], catch_exceptions=False)


def test_the_demo_walks_the_whole_path(tmp_path):
    result = run("--out", tmp_path, "--speed", 0, "--json", "-q")
    facts = json.loads(result.stdout)
    recording = read_session(tmp_path / "session")
    assert recording.n_samples == facts["n_samples"] > 48_000
    assert len(recording.trials) == 6
    assert not recording.problems
    assert facts["n_saccades"] > 60
    with (tmp_path / "saccades.csv").open() as file:
        assert sum(1 for _ in file) == facts["n_saccades"] + 1
    for figure in facts["figures"]:
        with open(figure, "rb") as file:  # noqa: PTH123  the path is a string of the user's
            assert file.read(4) == b"\x89PNG"

    with pytest.raises(ConfigError, match="holds session already"):
        run("--out", tmp_path, "-q")
    told = run("--out", tmp_path, "--speed", 0, "--replace")
    assert "looked at 6 images" in told.stdout
    assert "Try next" in told.stdout
