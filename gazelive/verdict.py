"""Verdict of an identification in words: who, how sure, and whether that is enough.

Terminal, JSON, Python, session reports and dashboard all take their words from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gazelive.errors import ConfigError
from gazelive.wording import bounded_percent

LEAST_RATE, LARGEST_RATE = 0.0001, 0.5
"""Range of a false-acceptance rate."""
STRANGER_PRIOR = 0.1
"""Probability of a stranger before any evidence, unless said otherwise."""
FEWEST_VIEWERS = 4
"""With fewer enrolled viewers strangers cannot be detected."""
STRANGER = 0.5
"""Above this probability of a stranger nobody enrolled is named first."""
NO_RESULT = "no saccades, no result"

Status = Literal[
    "accepted", "undecided", "not accepted", "stranger", "undetectable", "not judged", "nothing"
]
"""`undecided`: more viewing will probably do. `not judged`: written before gazelive judged."""


@dataclass(frozen=True)
class Verdict:
    """An identification in words."""

    status: Status
    who: str
    """Name of the best match and what is said of it; empty without evidence."""
    probability: float | None
    """Of the best match, p·(1 − unknown); of a stranger if that is more probable."""
    enough: str
    """Whether that is enough, or why it cannot be said; may be empty."""
    headline: str
    """All of it in one line."""
    details: str = ""
    """More about it; may be empty."""


NOTHING_SEEN = Verdict("nothing", "", None, "", NO_RESULT)


def verdict_of(
    best: str | None,
    probability: float,
    *,
    unknown: float | None,
    accepted: bool | None,
    more_s: float | None = None,
    false_acceptance_rate: float | None = None,
    n_enrolled: int | None = None,
) -> Verdict:
    """Return the verdict on the best match, whose `probability` is p·(1 − unknown).

    `best` is None without a saccade. `accepted` is None if strangers cannot be detected, or if it
    was not judged; `more_s` is None if no more viewing will help. The rate is None if not known.
    """
    if best is None:
        return NOTHING_SEEN
    at = "" if false_acceptance_rate is None else f" at {rate_words(false_acceptance_rate)}"
    if accepted:
        return _plain("accepted", best, probability, f"accepted{at}")
    if unknown is not None and unknown > STRANGER:
        return _stranger(best, unknown)
    if accepted is None:
        return _not_judged(best, probability, unknown, n_enrolled)
    status: Status = "not accepted"
    enough = f"not accepted{at}"
    if more_s is not None:
        status, enough = "undecided", f"not enough evidence yet: {more_words(more_s)}"
    who = f"most likely {best}"
    headline = f"{who} ({bounded_percent(probability)}), {enough}"
    return Verdict(status, who, probability, enough, headline)


def _stranger(best: str, unknown: float) -> Verdict:
    who, closest = "probably nobody enrolled", f"the closest match is {best}"
    headline = f"{who} ({bounded_percent(unknown)})"
    return Verdict("stranger", who, unknown, closest, headline, closest)


def _not_judged(
    best: str, probability: float, unknown: float | None, n_enrolled: int | None
) -> Verdict:
    if unknown is not None:  # in documents of 0.1
        return _plain("not judged", best, probability, "")
    why = f"strangers cannot be detected with fewer than {FEWEST_VIEWERS} enrolled people"
    if n_enrolled is not None and n_enrolled >= FEWEST_VIEWERS:
        why = "strangers cannot be detected with this model"
    if n_enrolled == 1:
        who = f"{best}, the only one enrolled"
        return Verdict("undetectable", who, probability, why, f"{who} · {why}")
    return _plain("undetectable", best, probability, why)


def _plain(status: Status, best: str, probability: float, enough: str) -> Verdict:
    sure = f"{best} {bounded_percent(probability)}"
    return Verdict(status, best, probability, enough, f"{sure} · {enough}" if enough else sure)


def check_rate(value: float | None, key: str) -> None:
    """Raise `ConfigError` for a false-acceptance rate out of range; `key` is what it is called."""
    if value is not None and not LEAST_RATE <= value <= LARGEST_RATE:
        raise ConfigError(
            f"must be from {LEAST_RATE:g} to {LARGEST_RATE:g}, such as 0.01, not {value:g}", key=key
        )


def check_prior(value: float | None, key: str) -> None:
    """Raise `ConfigError` for a prior of strangers that is no probability."""
    if value is not None and not 0 < value < 1:
        raise ConfigError(f"must be above 0 and below 1, such as 0.1, not {value:g}", key=key)


def rate_words(false_acceptance_rate: float) -> str:
    """Return `1 % false acceptance`."""
    return f"{100 * false_acceptance_rate:g} % false acceptance"


def more_words(seconds: float) -> str:
    """Return `about 12 s more`, `about 3 min more` or `more than an hour more`."""
    if seconds < 90:
        return f"about {max(round(seconds), 1)} s more"
    if seconds <= 3600:
        return f"about {round(seconds / 60)} min more"
    return "more than an hour more"
