"""Problems of recordings are reported once, in few words."""

from __future__ import annotations

from pathlib import Path

from gazelive.gaze.stream import Message
from gazelive.recordings.problems import (
    MAX_KINDS,
    Caveat,
    damage,
    sentences,
    some_damage,
    trials_not_found,
)
from gazelive.recordings.recording import Problem, Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns


def recording(*problems: Problem, messages: tuple[str, ...] = ()) -> Recording:
    return Recording(
        Path("lab/a.asc"),
        "asc",
        (),
        tuple(Message(n, text) for n, text in enumerate(messages)),
        problems=problems,
    )


def test_intact_recordings_have_no_caveats() -> None:
    assert sentences(damage(recording())) == []


def test_problems_in_the_same_words_are_one() -> None:
    broken = recording(Problem(3, "torn"), Problem(None, "cut off"), *[Problem(9, "torn")] * 2)
    assert sentences(damage(broken)) == [
        f"{Path('lab/a.asc')}:3: torn (and 2 more lines)",
        f"{Path('lab/a.asc')}: cut off",
    ]


def test_recordings_with_the_same_problem_are_counted() -> None:
    doubts = [
        Caveat("a.asc", "torn", 3, 2),
        Caveat("b.asc", "torn", 5, 1),
        Caveat("b.asc", "cut off"),
        Caveat("c.asc", "torn", 1, 1),
    ]
    assert sentences(doubts) == [
        "a.asc:3: torn (and 1 more line and 2 more recordings)",
        "b.asc: cut off",
    ]


def test_one_recording_does_not_fill_the_screen() -> None:
    broken = recording(*(Problem(n, f"torn {n}") for n in range(MAX_KINDS + 2)))
    told = sentences(some_damage(broken, "a.asc"))
    assert len(told) == MAX_KINDS + 1
    assert told[-1] == "a.asc: 2 more kinds of damage: see gazelive info"
    assert len(damage(broken)) == MAX_KINDS + 2


def test_patterns_that_find_no_trial() -> None:
    assert trials_not_found(recording(), DEFAULT_PATTERNS) is None
    own = TrialPatterns(start="PIC")
    assert trials_not_found(recording(), own) == (
        "no message starts a trial with 'PIC'; it has no messages"
    )
    told = trials_not_found(recording(messages=("go 1", "go 1", "go 2")), own)
    assert told == (
        "no message starts a trial with 'PIC'; there are messages such as 'go 1', 'go 2'"
    )
    told = trials_not_found(recording(), TrialPatterns(stop="DONE"))
    assert told == "no message starts a trial; it has no messages"
