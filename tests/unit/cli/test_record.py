"""`gazelive record` refuses what cannot work before anything is started."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from PIL import Image
from typer.testing import CliRunner

from gazelive.cli.app import app
from gazelive.cli.record import identified
from gazelive.errors import ConfigError, ModelError
from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.launch import RunSpec
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.live.session import SessionResult
from gazelive.live.summary import RunSummary
from gazelive.live.wire.addresses import free_addresses
from gazelive.recordings.session.manifest import SessionManifest
from gazelive.recordings.session.writer import SessionWriter


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DISPLAY", raising=False)
    path = tmp_path / "lab.toml"
    path.write_text('[tracker]\ndevice = "simulated"\n[output]\nfolder = "sessions"\n')
    return path


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--device", "simulatd"], 'tracker.device: .* did you mean "simulated"'),
        (["--device", "replay:"], "tracker.device"),
        (["--seconds", "5000"], "trial.image_s: 5000 s"),
        (["--viewer", "a/b"], "--viewer: Use letters"),
        (["--viewer", "anna", "--eye", "both"], "--eye: must be L, R or LR, not 'BOTH'"),
        ([], "--viewer"),
        (["--device", "replay:a.asc"], "--viewer: Enter the viewer's id"),
        (["--mode", "identify"], "--model: identification needs a model"),
        (
            ["--viewer", "anna", "--session", "1"],
            "--session: Session 1 of anna is there already; 2",
        ),
        (
            ["--viewer", "x", "--device", "replay:a.asc", "--simulate-as", "y"],
            "--simulate-as: needs",
        ),
    ],
)
def test_impossible_settings_are_refused(toml: Path, options: list[str], told: str) -> None:
    manifest = SessionManifest(
        viewer="anna", session="1", device="d", mode="enrol", started_at="2026-01-01T00:00:00+00:00"
    )
    SessionWriter.create(toml.parent / "sessions" / "anna-01", manifest).close()
    with pytest.raises(ConfigError, match=told):
        CliRunner().invoke(app, ["record", str(toml), *options], catch_exceptions=False)
    assert [path.name for path in (toml.parent / "sessions").iterdir()] == ["anna-01"]


@pytest.mark.skipif("sys.platform != 'linux'")
def test_without_a_screen_the_error_says_what_to_do(toml: Path) -> None:
    with pytest.raises(ConfigError, match=r"xvfb-run|PsychoPy is not"):
        CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna"], catch_exceptions=False)
    assert not (toml.parent / "sessions").exists()


def test_a_file_that_is_wrong_or_missing(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="config init"):
        CliRunner().invoke(app, ["record", str(tmp_path / "no.toml")], catch_exceptions=False)


def with_psychopy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a screen; nothing is opened on it."""
    pytest.importorskip("psychopy")
    monkeypatch.setenv("DISPLAY", ":0")


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "stimuli.folder: .*no images"), (b"hello", "a.png: not a readable image")],
)
def test_unreadable_images_are_reported_before_the_start(
    toml: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, told: str
) -> None:
    with_psychopy(monkeypatch)
    stimuli = toml.parent / "stimuli"
    stimuli.mkdir()
    if content is not None:
        (stimuli / "a.png").write_bytes(content)
    toml.write_text(toml.read_text() + '[stimuli]\nfolder = "stimuli"\n')
    with pytest.raises(ConfigError, match=told):
        CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna"], catch_exceptions=False)


@pytest.mark.parametrize("windowed", [True, False])
def test_a_window_with_a_real_tracker_warns(
    toml: Path, monkeypatch: pytest.MonkeyPatch, windowed: bool
) -> None:
    with_psychopy(monkeypatch)
    Image.new("RGB", (30, 20)).save(toml.parent / "a.png")
    toml.write_text('[tracker]\ndevice = "eyelink"\n[stimuli]\nfolder = "."\n')

    def launch(spec: RunSpec, *_arguments: object, **_options: object) -> SessionResult:
        assert spec.windowed == windowed
        return SessionResult(exit_code=1, manifest=None, summary=None)

    monkeypatch.setattr("gazelive.experiment.launch", launch)
    options = ["--windowed"] if windowed else []
    done = CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna", *options])
    assert done.exit_code == 1
    assert ("gaze is measured on the whole screen" in " ".join(done.output.split())) == windowed


@pytest.mark.parametrize(
    ("viewer", "mode", "simulate_as", "expected"),
    [("anna", "enrol", None, 2), ("ben", "enrol", None, 1), (None, "identify", "anna", 4),
     (None, "identify", "carla", 4), ("ben", "enrol", "anna", 2)],
)  # fmt: skip
def test_sessions_are_numbered_for_each_person(
    tmp_path: Path, viewer: str | None, mode: str, simulate_as: str | None, expected: int
) -> None:
    from gazelive.experiment.config.schema import ExperimentConfig, Tracker
    from gazelive.experiment.process.preparation import participant

    for name, session in (("anna", 1), (None, 3)):
        manifest = SessionManifest(
            viewer=name,
            session=str(session),
            device="d",
            mode="identify" if name is None else "enrol",
            started_at="2026-01-01T00:00:00+00:00",
        )
        SessionWriter.create(tmp_path / f"{name}", manifest).close()
    config = ExperimentConfig(tracker=Tracker(device="simulated"))
    who = participant(config, tmp_path, viewer, None, None, mode, simulate_as)  # type: ignore[arg-type]
    assert who is not None
    assert who.session == expected


def settled(p: float, unknown: float | None, accepted: bool | None) -> RunSummary:
    return RunSummary(
        best="ben",
        p=p,
        unknown=unknown,
        accepted=accepted,
        n_saccades=85,
        n_enrolled=3 if unknown is None else 9,
        false_acceptance_rate=0.01,
    )


@pytest.mark.parametrize(
    ("summary", "told"),
    [
        (settled(0.9, 0.05, True), ["ben 90.0 % · accepted", "85 saccades", "5.0 %"]),
        (settled(0.9, 0.05, False), ["most likely ben (90.0 %), not accepted", "85 saccades"]),
        (settled(0.9, None, None), ["ben 90.0 %", "85 saccades", "fewer than 4 enrolled"]),
        (settled(0.0, 0.9996, False), ["nobody enrolled (> 99.9 %)", "closest match is ben"]),
    ],
)  # fmt: skip
def test_a_stranger_is_called_one(summary: RunSummary, told: list[str]) -> None:
    (line,) = identified(summary)
    assert [words for words in told if words not in line] == []
    assert ("probably nobody" in line) == told[0].startswith("nobody")


def with_images(toml: Path, more: str = "") -> None:
    """Complete the experiment of the fixture."""
    Image.new("RGB", (30, 20)).save(toml.parent / "a.png")
    toml.write_text(toml.read_text() + f'[stimuli]\nfolder = "."\n{more}')


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[RunSpec, Path | None]]:
    """Runs that `record` would start, with their models."""
    with_psychopy(monkeypatch)
    calls: list[tuple[RunSpec, Path | None]] = []

    def launch(spec: RunSpec, *_arguments: object) -> SessionResult:
        calls.append((spec, spec.live.model))
        return SessionResult(exit_code=0, manifest=None, summary=None)

    monkeypatch.setattr("gazelive.experiment.launch", launch)
    return calls


def test_a_run_whose_samples_were_not_all_analysed_fails(
    toml: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_psychopy(monkeypatch)
    with_images(toml)
    manifest = SessionManifest(
        session="1", device="simulated", mode="enrol", started_at="", screen=PAPER_SCREEN
    )
    ended = SessionResult(exit_code=0, manifest=manifest, summary=None, is_analysed=False)
    monkeypatch.setattr("gazelive.experiment.launch", lambda *_arguments: ended)
    done = CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna"])
    assert done.exit_code == 1
    assert "not all samples were analysed; all are on disk" in " ".join(done.output.split())


def test_the_address_keys_and_lsl_reach_the_engine(
    toml: Path, launched: list[tuple[RunSpec, Path | None]]
) -> None:
    with_images(toml)
    address = str(free_addresses())
    CliRunner().invoke(
        app, ["record", str(toml), "--viewer", "anna", "--bind", address, "--lsl"],
        catch_exceptions=False,
    )  # fmt: skip
    ((spec, _),) = launched
    assert (spec.live.address, spec.live.lsl, spec.live.keys) == (address, True, None)


def test_the_first_are_enrolled_before_there_is_a_model(
    toml: Path, launched: list[tuple[RunSpec, Path | None]]
) -> None:
    with_images(toml, '[identify]\nmodel = "lab.model"\n')
    done = CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna"])
    assert "enrolling without a model" in done.output
    assert [model for _, model in launched] == [None]
    with pytest.raises(ModelError, match=r"lab\.model: .*no such"):
        CliRunner().invoke(
            app, ["record", str(toml), "--viewer", "anna", "--mode", "identify"],
            catch_exceptions=False,
        )  # fmt: skip


def test_a_folder_that_cannot_hold_sessions_is_refused_before_anything_is_started(
    toml: Path, launched: list[tuple[RunSpec, Path | None]]
) -> None:
    with_images(toml)
    (toml.parent / "sessions").write_text("a file")
    command = ["record", str(toml), "--viewer", "anna"]
    with pytest.raises(ConfigError, match=r"sessions: output\.folder: .*written"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    (toml.parent / "sessions").unlink()
    snapshots = ["--snapshots", str(toml / "pictures")]
    with pytest.raises(ConfigError, match=r"pictures: --snapshots: .*written"):
        CliRunner().invoke(app, [*command, *snapshots], catch_exceptions=False)
    assert not launched


def test_options_that_a_replay_ignores_are_reported(
    toml: Path, launched: list[tuple[RunSpec, Path | None]]
) -> None:
    with_images(toml)
    (toml.parent / "r.asc").write_text("")
    options = ["--device", f"replay:{toml.parent / 'r.asc'}", "--viewer", "anna", "--trials", "2"]
    done = CliRunner().invoke(app, ["record", str(toml), *options])
    assert "--trials has no effect" in done.output
    assert "--seconds" not in done.output
    assert len(launched) == 1


def test_the_dialogue_asks_before_a_simulated_tracker_too(
    toml: Path, launched: list[tuple[RunSpec, Path | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_images(toml)

    def ask(proposed: Participant, *, folder: Path) -> Participant:
        return msgspec.structs.replace(proposed, viewer="anna")

    monkeypatch.setattr("gazelive.experiment.process.preparation.ask_participant", ask)
    CliRunner().invoke(app, ["record", str(toml)])
    assert [(spec.participant.viewer, spec.simulate_as) for spec, _ in launched] == [
        ("anna", "anna")
    ]


@pytest.mark.parametrize(
    ("keys", "options", "prior", "rate"),
    [
        ("", [], 0.1, None),
        ("false_acceptance_rate = 0.02\nstranger_prior = 0.3", [], 0.3, 0.02),
        ("stranger_prior = 0.3", ["--far", "0.05"], 0.3, 0.05),
        ("false_acceptance_rate = 0.02", ["--far", "0.05", "--stranger-prior", "0.4"], 0.4, 0.05),
    ],
)
def test_the_terms_come_from_the_file_or_the_options(
    toml: Path,
    launched: list[tuple[RunSpec, Path | None]],
    keys: str,
    options: list[str],
    prior: float,
    rate: float | None,
) -> None:
    with_images(toml, f"[identify]\n{keys}\n")
    CliRunner().invoke(app, ["record", str(toml), "--viewer", "anna", *options])
    ((spec, _),) = launched
    assert (spec.live.stranger_prior, spec.live.false_acceptance_rate) == (prior, rate)
