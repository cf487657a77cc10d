"""`train`, `identify` and `model enrol` with messages of a lab's own, and with damaged files."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gazelive.identification import load_model, trial_patterns_of
from gazelive.recordings.conventions import PATTERNS_NAME
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns

from ...support.people import small_corpus
from .lab_recordings import N_TRIALS, OWN_TRIALS, SCREEN, damage, lab_corpus, lab_recording

Gazelive = Callable[..., Any]
OWN = TrialPatterns(start=OWN_TRIALS[1], stop=OWN_TRIALS[3])


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lab_corpus(tmp_path_factory.mktemp("lab"), ("1", "2"))


@pytest.fixture
def model(gazelive: Gazelive, lab: Path, tmp_path: Path) -> Path:
    path = tmp_path / "lab.model"
    ended = gazelive("train", lab, "-o", path, "--sessions", "1", *SCREEN, *OWN_TRIALS, "-q")
    assert ended.exit_code == 0, ended.err
    return path


def n_scanpaths(ended: Any) -> list[int]:
    assert ended.exit_code == 0, ended.err
    return [probe["n_scanpaths"] for probe in json.loads(ended.out)["probes"]]


class TestMessagesOfOnesOwn:
    def test_training_is_trial_by_trial(self, gazelive: Gazelive, lab: Path, model: Path) -> None:
        assert len(load_model(model).training) == 2 * N_TRIALS
        whole = model.with_name("whole.model")
        assert gazelive("train", lab, "-o", whole, "--sessions", "1", *SCREEN).exit_code == 0
        assert len(load_model(whole).training) == 2
        assert trial_patterns_of(load_model(whole)) == DEFAULT_PATTERNS

    def test_the_model_knows_them_from_then_on(
        self, gazelive: Gazelive, lab: Path, model: Path
    ) -> None:
        assert trial_patterns_of(load_model(model)) == OWN
        arguments = ("identify", model, lab, "--session", "2", *SCREEN, "--json", "-q")
        ended = gazelive(*arguments)
        assert n_scanpaths(ended) == [N_TRIALS, N_TRIALS]
        assert ended.err == ""
        shown = gazelive("model", "show", model).out
        assert r"start PIC (?P<name>\d+), stop DONE" in shown

    def test_a_flag_goes_before_the_model(self, gazelive: Gazelive, lab: Path, model: Path) -> None:
        recording = lab / "v001_s2.asc"
        arguments = ("identify", model, recording, *SCREEN, "--json", "-q")
        ended = gazelive(*arguments, "--trial-start", "GO")
        assert n_scanpaths(ended) == [1]
        assert f"{recording}: no message starts a trial with 'GO'; there are messages" in ended.err
        assert "'PIC 1'" in ended.err

    def test_enrolling_finds_the_same_trials(
        self, gazelive: Gazelive, model: Path, tmp_path: Path
    ) -> None:
        lab_recording(tmp_path / "new.asc", "v003", "1")
        (tmp_path / "corpus.csv").write_text("recording,viewer,session\nnew.asc,zoe,1\n")
        ended = gazelive("model", "enrol", model, tmp_path, *SCREEN, "-q")
        assert ended.exit_code == 0, ended.err
        assert len(load_model(model).training) == 3 * N_TRIALS
        assert trial_patterns_of(load_model(model)) == OWN

    def test_a_replay_finds_them_too(
        self, gazelive: Gazelive, lab: Path, model: Path, tmp_path: Path
    ) -> None:
        ended = gazelive(
            *("replay", lab / "v002_s2.asc", "--model", model, "--speed", "max"),
            *("--no-dashboard", "--out", tmp_path / "replayed", *SCREEN, "--json", "-q"),
        )
        assert ended.exit_code == 0, ended.err
        assert json.loads(ended.out)["intervals"] == N_TRIALS

    def test_patterns_that_do_not_fit_a_default_session_are_reported(
        self, gazelive: Gazelive, model: Path
    ) -> None:
        ended = gazelive("identify", model, small_corpus() / "v001_s2", "-q")
        assert ended.exit_code == 0
        assert "no message starts a trial with 'PIC" in ended.err
        assert "'TRIALID 1'" in ended.err

    def test_an_invalid_pattern_is_refused(
        self, gazelive: Gazelive, lab: Path, model: Path
    ) -> None:
        for command in (("train", lab, "-o", "x.model"), ("identify", model, lab)):
            ended = gazelive(*command, "--trial-start", "PIC (")
            assert (ended.exit_code, "--trial-start: 'PIC ('" in ended.err) == (
                2,
                True,
            )


class TestDamage:
    TOLD = r"(:\d+: not a line of an ASC file: skipped \(and 1 more line"

    def test_identify_warns_like_detect(
        self, gazelive: Gazelive, model: Path, tmp_path: Path
    ) -> None:
        broken = damage(lab_recording(tmp_path / "broken.asc", "v001", "2"))
        detected = gazelive("detect", broken, *SCREEN, *OWN_TRIALS, "-q").err
        identified = gazelive("identify", model, broken, *SCREEN, "-q").err
        assert re.search(re.escape(str(broken)) + self.TOLD + r"\))", identified)
        assert identified == detected

    def test_train_and_enrol_tell_it_once_for_all(
        self, gazelive: Gazelive, model: Path, tmp_path: Path
    ) -> None:
        corpus = lab_corpus(tmp_path)
        for name in ("v001_s1.asc", "v002_s1.asc"):
            damage(corpus / name)
        told = "v001_s1.asc" + self.TOLD + r" and 1 more recording\))"
        arguments = (*SCREEN, *OWN_TRIALS, "-q")
        ended = gazelive("train", corpus, "-o", tmp_path / "b.model", *arguments)
        assert ended.exit_code == 0
        assert len(re.findall(told, ended.err)) == 1
        assert "v002_s1.asc" not in ended.err
        ended = gazelive("model", "forget", model, "v001", "-q")
        ended = gazelive("model", "enrol", model, corpus, "--viewers", "v001", *arguments)
        assert ended.exit_code == 0
        assert len(re.findall(told, ended.err)) == 1


def test_viewers_who_cannot_be_enrolled_are_named(
    gazelive: Gazelive, lab: Path, model: Path
) -> None:
    enrol = ("model", "enrol", model, lab, *SCREEN)
    for more, named in (((), ("v001", "v002")), (("--viewers", "v001"), ("v001",))):
        told = gazelive(*enrol, *more).err
        assert "enrolled already" in told
        assert all(name in told for name in named)
    assert "yan, zoe" in gazelive(*enrol, "--viewers", "zoe,yan").err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on file sizes")
def test_a_disk_that_takes_no_more_is_a_failure_and_no_mistake(
    gazelive: Gazelive, lab: Path, tmp_path: Path
) -> None:
    import resource

    convert = ("convert", lab / "v001_s1.asc", tmp_path / "session", *SCREEN, "-q", "--replace")
    train = ("train", lab, "-o", tmp_path / "a.model", *SCREEN, *OWN_TRIALS, "-q")
    for arguments in (convert, train):
        assert gazelive(*arguments).exit_code == 0  # what must be compiled is, from here on
    before = (tmp_path / "a.model").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        ended = [gazelive(*arguments) for arguments in (convert, train)]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    for exit_code, _, err in ended:
        assert exit_code == 1
        assert err.splitlines()[-1].endswith("cannot be written (File too large)")
    assert (tmp_path / "a.model").read_bytes() == before


def test_a_size_that_cannot_be_is_called_as_it_was_given(
    gazelive: Gazelive, lab: Path, model: Path
) -> None:
    wrong = ("--screen", "1920x1080", "--size-mm", "0x301", "--distance-mm", "600")
    commands = (
        ("train", lab, "-o", model),
        ("identify", model, lab),
        ("detect", lab / "v001_s1.asc"),
        ("run", "--session", lab / "none"),
    )
    for command in commands:
        ended = gazelive(*command, *wrong)
        assert ended.exit_code == 2, command
        assert "--size-mm: must be a positive number, not 0" in ended.err
        assert "width_mm" not in ended.err


class TestFileOfPatterns:
    """`gazelive-trials.toml` beside the recordings serves every command."""

    @pytest.fixture
    def saved(self, lab: Path, tmp_path: Path) -> Path:
        for path in lab.iterdir():
            shutil.copy(path, tmp_path / path.name)
        file = tmp_path / PATTERNS_NAME
        file.write_text("trial_start = 'PIC (?P<name>\\d+)'\ntrial_stop = 'DONE'\n")
        return tmp_path

    def test_all_commands(self, gazelive: Gazelive, saved: Path, tmp_path: Path) -> None:
        said = f"Trials as in {saved / PATTERNS_NAME}."
        recording, model = saved / "v001_s2.asc", tmp_path / "lab.model"
        ended = gazelive("info", recording, "--json")
        assert json.loads(ended.out)["trials"] == N_TRIALS
        assert said in ended.err
        ended = gazelive("detect", recording, *SCREEN, "-o", tmp_path / "s.csv")
        assert f"in {N_TRIALS} intervals" in ended.err
        assert said in ended.err
        ended = gazelive("train", saved, "-o", model, "--sessions", "1", *SCREEN)
        assert said in ended.err
        assert trial_patterns_of(load_model(model)) == OWN
        ended = gazelive("identify", model, recording, *SCREEN, "--json")
        assert n_scanpaths(ended) == [N_TRIALS]
        assert said in ended.err
        ended = gazelive("convert", recording, tmp_path / "session")
        assert f"{N_TRIALS} trials" in ended.err

    def test_quiet(self, gazelive: Gazelive, saved: Path) -> None:
        assert gazelive("info", saved / "v001_s2.asc", "-q").err == ""

    def test_a_named_convention_goes_first(self, gazelive: Gazelive, saved: Path) -> None:
        recording = saved / "v001_s2.asc"
        ended = gazelive("info", recording, "--json", "--trials", "opensesame")
        assert json.loads(ended.out)["trials"] == 0
        assert "no message starts a trial with '(?i:start_trial)" in ended.err
        assert "Trials as in" not in ended.err

    def test_an_onset_that_no_message_has(self, gazelive: Gazelive, saved: Path) -> None:
        ended = gazelive("info", saved / "v001_s2.asc", "--image-onset", "SHOWN")
        assert "no message in a trial starts with the image onset 'SHOWN'" in ended.err
