"""Which trial patterns apply: options, conventions, a lab's file, a model's, the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from gazelive.errors import ConfigError
from gazelive.gaze.stream import Message
from gazelive.recordings.conventions import (
    CONVENTIONS,
    N_FOLDERS,
    PATTERNS_NAME,
    PatternOptions,
    find_patterns,
    patterns_text,
    read_patterns,
)
from gazelive.recordings.messages import message_at
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns, find_trials

NO_OPTIONS = PatternOptions()


def messages(*texts: str) -> list[Message]:
    """One message per second, as a tracker's file stores them."""
    return [message_at(1_000_000 * (k + 1), text) for k, text in enumerate(texts)]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "monday" / "anna.asc"
    path.parent.mkdir()
    path.touch()
    return path


class TestOrder:
    def test_defaults(self, recording: Path) -> None:
        assert find_patterns(NO_OPTIONS, recording).patterns == DEFAULT_PATTERNS

    def test_a_model_goes_before_the_defaults(self, recording: Path) -> None:
        own = TrialPatterns(start="PIC")
        assert find_patterns(NO_OPTIONS, recording, own).patterns == own

    @pytest.mark.parametrize("folder", [".", ".."])
    def test_a_file_near_the_recording_goes_before_the_model(
        self, recording: Path, folder: str
    ) -> None:
        file = recording.parent.joinpath(folder).resolve() / PATTERNS_NAME
        file.write_text(r"trial_start = 'PIC (?P<name>\d+)'")
        found = find_patterns(NO_OPTIONS, recording, TrialPatterns(start="other", stop="end"))
        assert found.patterns == TrialPatterns(start=r"PIC (?P<name>\d+)")
        assert found.file == file

    def test_of_a_corpus_or_session_in_the_folder_itself(self, recording: Path) -> None:
        (recording.parent / PATTERNS_NAME).write_text("trial_stop = 'DONE'")
        assert find_patterns(NO_OPTIONS, recording.parent).patterns.stop == "DONE"

    def test_not_from_far_above(self, tmp_path: Path) -> None:
        (tmp_path / PATTERNS_NAME).write_text("trial_stop = 'DONE'")
        near = tmp_path.joinpath(*"a" * (N_FOLDERS - 1), "gaze.asc")
        assert find_patterns(NO_OPTIONS, near).file is not None
        far = tmp_path.joinpath(*"a" * N_FOLDERS, "gaze.asc")
        assert find_patterns(NO_OPTIONS, far).file is None

    def test_a_convention_goes_before_the_file(self, recording: Path) -> None:
        (recording.parent / PATTERNS_NAME).write_text("trial_stop = 'DONE'")
        found = find_patterns(PatternOptions(trials="OpenSesame"), recording)
        assert found.patterns == CONVENTIONS["opensesame"]
        assert found.file is None

    def test_a_file_may_be_named(self, recording: Path, tmp_path: Path) -> None:
        file = tmp_path / "lab.toml"
        file.write_text("convention = 'psychopy'\nimage_onset = 'face'\n")
        found = find_patterns(PatternOptions(trials=str(file)), recording)
        assert found.patterns.image_onset == "face"
        assert found.patterns.start == CONVENTIONS["psychopy"].start

    def test_options_change_single_patterns(self, recording: Path) -> None:
        (recording.parent / PATTERNS_NAME).write_text("trial_start = 'A'\ntrial_stop = 'B'\n")
        options = PatternOptions(trial_start="C", image_onset="D")
        found = find_patterns(options, recording)
        assert found.patterns == TrialPatterns(start="C", stop="B", image_onset="D")


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ('trial_start = "PIC \\d"', "is not TOML .*single quotes"),
            ("trial_start = 'PIC ('", r"trial_start: 'PIC \('.* is not a regular expression"),
            ("trial_start = 'a{99999999999999999999}'", "is not a regular expression"),
            (f"trial_start = '{'(' * 2000}'", "is not a regular expression"),
            (f"trial_start = {'[' * 2000}", "is not TOML"),
            (f"trial_start = {'9' * 5000}", "is not TOML"),
            ("trial_begin = 'PIC'", "trial_begin: unknown key; there are convention, trial_start"),
            ("trial_start = 3", "trial_start: must be a text in quotes, not 3"),
            ("convention = 'eprime'", "convention: must be opensesame, psychopy, .*not 'eprime'"),
        ],
    )
    def test_in_a_file(self, tmp_path: Path, text: str, says: str) -> None:
        file = tmp_path / PATTERNS_NAME
        file.write_text(text)
        with pytest.raises(ConfigError, match=says) as error:
            read_patterns(file)
        assert str(file) in str(error.value)

    def test_an_unknown_convention(self, recording: Path) -> None:
        with pytest.raises(ConfigError, match=r"--trials: must be opensesame, .* not 'eprime'"):
            find_patterns(PatternOptions(trials="eprime"), recording)

    @pytest.mark.parametrize("key", ["trial_start", "trial_stop", "image_onset"])
    def test_in_an_option(self, recording: Path, key: str) -> None:
        flag = "--" + key.replace("_", "-")
        with pytest.raises(ConfigError, match=rf"{flag}: 'a \(' is not a regular expression"):
            find_patterns(PatternOptions(**{key: "a ("}), recording)


def test_a_file_holds_what_differs_from_the_defaults(tmp_path: Path) -> None:
    own = TrialPatterns(start=r"PIC (?P<name>\d+)", stop="it's over", image_onset='"on"\\b')
    file = tmp_path / PATTERNS_NAME
    file.write_text(patterns_text(own))
    assert read_patterns(file) == own
    assert patterns_text(DEFAULT_PATTERNS) == ""


class TestConventions:
    """Messages as these programs write them; a number before the text is an offset in ms."""

    @pytest.mark.parametrize(
        ("name", "texts"),
        [
            ("opensesame", ("start_trial 3", "start_phase fixation", "start_phase target")),
            ("opensesame", ("start_trial 3", "var side left", "phase stimulus")),
            ("psychopy", ("TRIALID 3", "-4 fixation_ONSET", "1000 image_ONSET")),
            ("psychopy", ("TRIALID 3", "fix_cross_onset", "1000 image_onset")),
            ("experiment-builder", ("TRIALID 3", "drift_correction", "1000 SYNCTIME")),
            ("experiment-builder", ("TRIALID 3", "Prepare", "1000 SHOW_CENTER")),
            ("experiment-builder", ("TRIALID 3", "Prepare", "1000 DISPLAY_VIDEO")),
            ("experiment-builder", ("TRIALID 3", "Prepare", "1000 !V DRAW_LIST a/VC_1.vcl")),
        ],
    )
    def test_image_onset(self, name: str, texts: tuple[str, ...]) -> None:
        stop = "stop_trial" if name == "opensesame" else "TRIAL_RESULT 0"
        (trial,) = find_trials(messages(*texts, stop), [], CONVENTIONS[name])
        assert trial.name == "3"
        offset_us = 1_000_000 if texts[2].startswith("1000") else 0
        assert trial.image_onset_us == 3_000_000 - offset_us
        assert trial.end_us == 4_000_000
