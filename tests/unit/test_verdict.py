"""The verdict in words: who, how sure, and whether that is enough."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from gazelive.verdict import Verdict, more_words, verdict_of

CERTAIN = re.compile(r"(?<![\d.])(100|100\.0|0|0\.0)\s?%")
P = st.floats(0, 1)


def ben(p: float, unknown: float | None, accepted: bool | None, more_s: float | None) -> Verdict:
    return verdict_of(
        "Ben", p, unknown=unknown, accepted=accepted, more_s=more_s, false_acceptance_rate=0.01
    )


@pytest.mark.parametrize(
    ("found", "status", "headline"),
    [
        (ben(0.99, 0.002, True, None), "accepted", "Ben 99.0 % · accepted at 1 % false acceptance"),
        (
            ben(0.72, 0.1, False, 12.3),
            "undecided",
            "most likely Ben (72.0 %), not enough evidence yet: about 12 s more",
        ),
        (
            ben(0.72, 0.1, False, None),
            "not accepted",
            "most likely Ben (72.0 %), not accepted at 1 % false acceptance",
        ),
        (ben(0.1, 0.873, False, 3.0), "stranger", "probably nobody enrolled (87.3 %)"),
        (ben(0.4, 0.6, True, None), "accepted", "Ben 40.0 % · accepted at 1 % false acceptance"),
        (
            ben(0.994, None, None, None),
            "undetectable",
            "Ben 99.4 % · strangers cannot be detected with fewer than 4 enrolled people",
        ),
        (ben(0.9, 0.05, None, None), "not judged", "Ben 90.0 %"),
        (ben(0.1, 0.9, None, None), "stranger", "probably nobody enrolled (90.0 %)"),
    ],
)  # fmt: skip
def test_headline(found: Verdict, status: str, headline: str) -> None:
    assert (found.status, found.headline) == (status, headline)


def test_the_closest_match_of_a_stranger_is_in_the_details() -> None:
    found = ben(0.1, 0.873, False, None)
    assert found.details == "the closest match is Ben"
    assert found.probability == 0.873
    assert ben(0.994, 0.002, True, None).details == ""


def test_without_a_saccade_there_is_no_result() -> None:
    found = verdict_of(None, 0.5, unknown=0.1, accepted=False)
    assert (found.status, found.headline) == ("nothing", "no saccades, no result")


def test_the_only_viewer_has_no_percentage() -> None:
    found = verdict_of("Ben", 1.0, unknown=None, accepted=None, n_enrolled=1)
    assert found.status == "undetectable"
    assert "%" not in found.headline


def test_many_viewers_and_no_strangers_to_learn_from() -> None:
    found = verdict_of("Ben", 0.9, unknown=None, accepted=None, n_enrolled=7)
    assert "fewer" not in found.headline
    assert "cannot be detected" in found.headline


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "about 1 s more"),
        (11.6, "about 12 s more"),
        (89.4, "about 89 s more"),
        (180.0, "about 3 min more"),
        (1e300, "more than an hour more"),
    ],
)
def test_seconds_to_go(seconds: float, words: str) -> None:
    assert more_words(seconds) == words


@given(
    P,
    st.none() | P,
    st.none() | st.booleans(),
    st.none() | st.floats(0, 1e9),
    st.none() | st.floats(0.0001, 0.5),
    st.integers(1, 50),
)
def test_nothing_is_certain(
    p: float,
    unknown: float | None,
    accepted: bool | None,
    more_s: float | None,
    rate: float | None,
    n_enrolled: int,
) -> None:
    found = verdict_of(
        "Ben",
        p,
        unknown=unknown,
        accepted=accepted,
        more_s=more_s,
        false_acceptance_rate=rate,
        n_enrolled=n_enrolled,
    )
    words = f"{found.headline} | {found.enough} | {found.details}"
    assert not CERTAIN.search(words)
    assert "Ben" in words
    assert found.who
    assert (found.status == "accepted") == bool(accepted)
