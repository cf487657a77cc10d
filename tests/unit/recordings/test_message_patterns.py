"""Patterns of messages, and proposals of those that mark trials and images."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from gazelive.gaze.samples import empty_samples
from gazelive.gaze.stream import Message
from gazelive.recordings.conventions import CONVENTIONS
from gazelive.recordings.message_patterns import Proposal, group_messages, propose
from gazelive.recordings.recording import Block, Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS

from ...support.recordings import make_stream

N_TRIALS = 8
TRIAL_S = 5


def recording(messages: Iterable[tuple[float, str]]) -> Recording:
    """A block of `N_TRIALS` trials with these messages, in seconds."""
    end_us = N_TRIALS * TRIAL_S * 1_000_000
    samples = empty_samples(2)
    samples["tracker_time_us"] = [0, end_us]
    return Recording(
        path=Path("lab.asc"),
        format="asc",
        blocks=(Block(make_stream(), samples, 0, end_us),),
        messages=tuple(Message(round(t * 1e6), text) for t, text in messages),
    )


def trials(*texts: tuple[float, str]) -> Recording:
    """Every trial has these messages at these times; {k} is its number, {t} its time in ms."""
    return recording(
        (TRIAL_S * k + t, text.format(k=k + 1, t=round(1000 * (TRIAL_S * k + t))))
        for k in range(N_TRIALS)
        for t, text in texts
    )


def proposal(of: Recording) -> Proposal:
    found = propose(of, group_messages(of.messages))
    assert found is not None
    assert len(found.trials) == N_TRIALS
    return found


class TestPatterns:
    def test_numbers_and_files_are_placeholders(self) -> None:
        texts = ("trial 1 shows a_1.jpg", "trial 2 shows pics/b.png", "gain -1.5", "id_07")
        patterns = group_messages(Message(k, text) for k, text in enumerate(texts))
        assert [(p.text, p.n, p.example) for p in patterns] == [
            ("trial <n> shows <file>", 2, texts[0]),
            ("gain <n>", 1, "gain -1.5"),
            ("id_<n>", 1, "id_07"),
        ]

    def test_the_most_frequent_first(self) -> None:
        patterns = group_messages(Message(k, "abb"[k % 3]) for k in range(9))
        assert [(p.text, p.n) for p in patterns] == [("b", 6), ("a", 3)]

    def test_variables_and_the_trackers_own_are_one_each(self) -> None:
        texts = ("!CAL VALIDATION HV9", "!CAL", "var a b", "var c d", "!V TRIAL_VAR x y")
        patterns = group_messages(Message(k, text) for k, text in enumerate(texts))
        assert {p.text: p.role for p in patterns} == {
            "var …": "variable",
            "!V TRIAL_VAR x y": "variable",
            "!CAL VALIDATION HV<n>": "tracker",
            "!CAL": "tracker",
        }

    def test_free_text_after_a_word_is_one(self) -> None:
        patterns = group_messages(
            Message(k, f"word {word}") for k, word in enumerate("abcdefghijklmn")
        )
        assert [(p.text, p.n, p.example) for p in patterns] == [("word …", 14, "word a")]

    def test_none(self) -> None:
        assert group_messages(()) == []


class TestProposals:
    def test_onset_and_offset_with_numbers(self) -> None:
        found = proposal(
            trials(
                (0.2, "sequence 1 trial {k} onset at {t}"),
                (4.5, "sequence 1 trial {k} offset at {t}"),
            )
        )
        assert found.patterns.start == r"sequence \d+ trial (?P<name>\d+) onset at \d+"
        assert found.patterns.stop == r"sequence \d+ trial \d+ offset at \d+"
        assert [trial.name for trial in found.trials[:2]] == ["1", "2"]
        assert found.durations_s == pytest.approx([4.3] * N_TRIALS)

    def test_start_stop_and_image(self) -> None:
        found = proposal(
            trials((0, "BEGIN {k}"), (1, "cross"), (2, "SHOW face_{k}.jpg"), (4.8, "FINISH {k}"))
        )
        assert found.patterns.start == r"BEGIN (?P<name>\d+)"
        assert found.patterns.stop == r"FINISH \d+"
        assert found.patterns.image_onset == r"SHOW \S+"
        assert found.n_onsets == N_TRIALS

    @pytest.mark.parametrize("text", ["Play_Movie_Start", "TRIGGER onset", "start_phase target"])
    def test_only_the_onset_is_new(self, text: str) -> None:
        found = proposal(trials((0, "TRIALID {k}"), (1, text), (4.9, "TRIAL_RESULT 0")))
        assert found.n_onsets == N_TRIALS
        if found.convention is None:
            assert (found.patterns.start, found.patterns.stop) == (
                DEFAULT_PATTERNS.start,
                DEFAULT_PATTERNS.stop,
            )

    def test_what_is_usual_needs_no_option(self) -> None:
        found = proposal(trials((0, "TRIALID {k}"), (1, "SYNCTIME"), (4.9, "TRIAL_RESULT 0")))
        assert found.patterns == DEFAULT_PATTERNS

    @pytest.mark.parametrize(
        ("name", "texts"),
        [
            ("opensesame", ((0, "start_trial {k}"), (1, "start_phase target"), (4, "stop_trial"))),
            ("psychopy", ((0, "TRIALID {k}"), (1, "face_ONSET"), (4, "TRIAL_RESULT 0"))),
            (
                "experiment-builder",
                ((0, "TRIALID {k}"), (1, "DISPLAY_VIDEO"), (4, "TRIAL_RESULT 0")),
            ),
        ],
    )
    def test_conventions_by_name(self, name: str, texts: tuple[tuple[float, str], ...]) -> None:
        found = proposal(trials(*texts))
        assert found.convention == name
        assert found.patterns == CONVENTIONS[name]

    def test_starts_alone_where_they_are_regular(self) -> None:
        found = proposal(trials((0.5, "trigger: {k}")))
        assert found.patterns.start == r"trigger: (?P<name>\d+)"
        assert found.patterns.stop == DEFAULT_PATTERNS.stop

    def test_nothing_where_nothing_is_regular(self) -> None:
        of = recording((k**3 / 10, f"trigger: {k}") for k in range(7))
        assert propose(of, group_messages(of.messages)) is None
        assert propose(recording(()), []) is None

    def test_a_pattern_takes_no_longer_message(self) -> None:
        found = proposal(trials((0, "trial {k}"), (3, "trial {k} picture"), (4.8, "trial {k} end")))
        assert found.patterns.start == r"trial (?P<name>\d+)\s*$"
        assert found.patterns.image_onset == r"trial \d+ picture"
        assert found.patterns.stop == r"trial \d+ end"

    def test_special_characters(self) -> None:
        found = proposal(trials((0, "[go] #{k} (a+b)"), (4.8, "[stop] #{k}")))
        assert [trial.name for trial in found.trials[:2]] == ["1", "2"]
