"""The demo: real processes and sockets, a smaller lab."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from gazelive.cli.app import app
from gazelive.demo import lab, population, session
from gazelive.errors import ConfigError
from gazelive.gaze.documents import ModelLoaded, decode_line
from gazelive.identification import load_model, registry
from gazelive.live.session import SessionResult
from gazelive.observer import Observer
from gazelive.recordings.session.manifest import read_manifest
from gazelive.recordings.session.reader import read_session


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def small_lab(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(population, "N_VIEWERS", 5)
    monkeypatch.setattr(population, "N_IMAGES", 3)
    monkeypatch.setattr(population, "SECONDS", 3.0)
    monkeypatch.setattr(lab, "VIEWER", "v002")
    monkeypatch.setattr(lab, "FOLDERS", {"v002": "viewer", lab.STRANGER: "stranger"})
    monkeypatch.setattr(lab, "N_IMAGES", {"v002": 2, lab.STRANGER: 2})
    monkeypatch.setattr(lab, "SECONDS", 1.5)
    monkeypatch.setattr(
        lab, "kept_model", lambda stimuli, method: kept / f"{stimuli.name}-{method}.model"
    )


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["demo", *map(str, arguments)], catch_exceptions=False)


def recorded(facts: dict[str, Any]) -> None:
    for folder in map(Path, facts["sessions"]):
        recording = read_session(folder)
        assert len(recording.trials) == 2
        assert recording.n_samples > 3500
        assert not recording.problems


@pytest.mark.slow
@pytest.mark.usefixtures("small_lab")
def test_the_demo_walks_the_whole_path(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    facts = json.loads(run("--out", out, "--no-dashboard", "--json", "-q").stdout)
    assert facts["viewer"] == "v002"
    assert facts["best"] in {f"v{i:03d}" for i in range(1, 6)}
    assert 0 <= facts["p"] <= 1
    assert set(facts["crossed_s"]) == {"0.5", "0.9", "0.99"}
    assert set(facts["stranger"]) >= {"best", "unknown"}
    # of the experiment, not of a dashboard
    assert [Path(path).name for path in facts["screenshots"]] == 2 * ["cross.png", "picture.png"]
    recorded(facts)

    with pytest.raises(ConfigError, match="holds viewer already"):
        run("--out", out, "-q")
    (out / "viewer" / "session.json").rename(out / "viewer" / "other.json")
    with pytest.raises(ConfigError, match="is no demo"):
        run("--out", out, "-q", "--replace")


@pytest.mark.slow
@pytest.mark.usefixtures("small_lab")
def test_the_demo_with_another_method(tmp_path: Path) -> None:
    options = ("--method", "fisher-markov-dynamics", "--no-dashboard", "--json", "-q")
    facts = json.loads(run("--out", tmp_path, *options).stdout)
    assert load_model(Path(facts["model"])).identifier.method == "fisher-markov-dynamics"
    lines = (Path(facts["session"]) / "events.jsonl").read_bytes().splitlines()
    documents = map(decode_line, lines)
    [loaded] = [document for document in documents if isinstance(document, ModelLoaded)]
    assert (loaded.method, loaded.method_kind) == ("fisher-markov-dynamics", "Fisher SVM")


@pytest.mark.parametrize(
    ("method", "message"), [("oracle", "is no method"), ("tables", "fixation tables only")]
)
def test_a_method_that_cannot_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, message: str
) -> None:
    on_tables = replace(registry.METHODS[1], name="tables")
    monkeypatch.setattr(registry, "METHODS", [*registry.METHODS, on_tables])
    with pytest.raises(ConfigError, match=f"--method: {method} .*{message}: choose one of gazeli"):
        run("--out", tmp_path / "demo", "--method", method)
    assert not (tmp_path / "demo").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("small_lab")
def test_without_window_or_photographs_the_result_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_spec = session.find_spec
    monkeypatch.setattr(
        session, "find_spec", lambda name: None if name == "psychopy" else find_spec(name)
    )
    monkeypatch.setattr(lab, "default_stimuli", lambda: None)
    ran = run("--out", tmp_path, "--no-dashboard", "--json", "-q")
    said = " ".join(ran.stderr.split())
    assert "not shown in a window: PsychoPy is not installed" in said
    assert "no folder stimuli" in said
    facts = json.loads(ran.stdout)
    recorded(facts)
    assert [Path(path).name for path in facts["screenshots"]] == 2 * ["cross.png", "picture.png"]
    for folder in map(Path, facts["sessions"]):
        config = read_manifest(folder).config
        assert config["windowless"] is True
        assert [what for _, _, what in config["outcome"]["trials"]] == ["shown", "shown"]


def test_ctrl_c_ends_the_demo_and_not_one_person_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched = SessionResult(exit_code=0, manifest=None, summary=None, was_interrupted=True)
    monkeypatch.setattr(session, "launch", lambda *_arguments, **_options: launched)
    with pytest.raises(KeyboardInterrupt):
        session.run_live_session(
            "v016", seed=1, session=2, n_images=1, seconds=1.0, stimuli=tmp_path,
            model=tmp_path / "m", folder=tmp_path / "s", pictures=tmp_path / "p",
            screenshot=None, window=True, observer=Observer(), report=lambda _part: None,
        )  # fmt: skip
