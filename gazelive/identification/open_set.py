"""Open-set identification: is it somebody enrolled at all?

Three things are kept apart. The *posterior* is over the enrolled. The *probability of a stranger*
weighs a prior against the best match. The *decision* accepts the best viewer if only a share of
strangers equal to the false-acceptance rate would match as well.

A best match is judged by its standing z among strangers: their median and upper spread at the same
amount of evidence. These come from the lab's own viewers, left out in turn. How far the match of an
enrolled person stands above them on another day cannot be seen in one session: that ships with
gazelive (`Genuine`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from scipy import special

from gazelive.gaze import Floats
from gazelive.identification.contract import Match, Terms
from gazelive.models import LARGEST

LEAST_SHARE = 0.25
"""Amounts of evidence that a smaller share of the impostors reach are ignored: one person alone
does not show how impostor scores spread."""
LEAST_DISTANCE = 0.05
USUAL_STRANGERS = 20.0
"""Weight of the usual spread, in impostors of one's own."""
USUAL_MIDDLES = 4.0
"""Weight of the usual median, in impostors of one's own."""
UNSURE = 12.0
"""Variance of an estimated median, in squared spreads times the number of impostors."""
LARGEST_LOG_RATIO = 40.0
UNLIMITED = 1e9
"""Evidence of an enrolment of which nothing is known."""
_TAIL_OF_0_1 = 1.2
"""Spreads from median to threshold in models of 0.1, by the normal quantile."""


class Genuine(msgspec.Struct, frozen=True, kw_only=True):
    """How the best match of an enrolled person stands among strangers', in their spreads.

    At an effective amount of evidence n (that of the probe and that of the enrolment, in parallel)
    it is about normal around the distance d = `distance` + `per_log`·ln(n / `amount`), where
    strangers are around 0. So the log likelihood ratio for a stranger is d·(d/2 − z), here times a
    `weight`.
    """

    distance: float
    per_log: float
    amount: float
    weight: float
    changed: float
    """Share of enrolled people who match like strangers, because they differ so much that day."""
    alike: float
    """Share of strangers who match like an enrolled person."""
    once: float
    repeated: float
    """Factors on the normal quantile that give the threshold of z for a false-acceptance rate: of
    one decision at the end, and of one after every saccade."""
    spread: float = 0.0
    spread_power: float = 0.0
    """Usual spread of strangers' best matches: `spread`·amount^`spread_power`; none if 0."""
    middle: float = 0.0
    middle_per_log: float = 0.0
    per_log_viewers: float = 0.0
    """Usual median of strangers' best matches, in usual spreads: `middle` + `middle_per_log`·
    ln(amount) + `per_log_viewers`·ln(enrolled viewers); none if the last is 0."""

    def __post_init__(self) -> None:
        check_finite(self)
        if not (self.amount > 0 and 0 <= self.changed <= 1 and 0 <= self.alike <= 1):
            raise ValueError("the numbers of enrolled people make no sense")
        if self.spread < 0 or self.once < 0 or self.repeated < 0:
            raise ValueError("the numbers of strangers make no sense")

    def for_gallery(self, n_viewers: int) -> Genuine:
        """Return the same for a number of enrolled viewers.

        Nobody can know of n people that fewer than one in n + 1 has changed.
        """
        changed = max(self.changed, 1 / (n_viewers + 1)) if self.changed else 0.0
        return msgspec.structs.replace(self, changed=changed)

    def distance_at(self, amount: float, enrolled: float) -> float:
        """Return d for the evidence of a probe and of the enrolment."""
        effective = 1 / (1 / amount + 1 / enrolled)
        return max(self.distance + self.per_log * math.log(effective / self.amount), LEAST_DISTANCE)

    def log_ratio(self, standing: float, distance: float) -> float:
        """Return ln p(standing | stranger) − ln p(standing | enrolled)."""
        log_ratio = self.weight * distance * (distance / 2 - standing)
        ratio = math.exp(min(max(log_ratio, -LARGEST_LOG_RATIO), LARGEST_LOG_RATIO))
        return math.log((1 - self.alike) * ratio + self.alike) - math.log(
            (1 - self.changed) + self.changed * ratio
        )

    def usual_spread(self, amount: float) -> float:
        """Return the spread of other labs' strangers; 0 if unknown."""
        return float(self.spread * amount**self.spread_power)

    def shrunken_spread(self, own: float, amount: float, n_strangers: int) -> float:
        """Return a spread of n strangers, shrunken towards the usual one.

        Where the usual median is known, it covers how unsure the median of n strangers is.
        Elsewhere it is at least their own: the usual spread is that of larger galleries, and
        strangers to a handful of people differ far more.
        """
        if not self.spread:
            return own
        share = n_strangers / (n_strangers + USUAL_STRANGERS)
        shrunken = float(own**share * self.usual_spread(amount) ** (1 - share))
        if not self.per_log_viewers:
            return max(own, shrunken)
        return shrunken * math.sqrt(1 + UNSURE / (n_strangers + USUAL_MIDDLES))

    def shrunken_middle(
        self, own: float, amount: float, n_strangers: int, n_compared: float
    ) -> float:
        """Return the median of n strangers to all n viewers, shrunken towards the usual one.

        Each was left out and compared with `n_compared` of the viewers. The best match among more
        viewers is better.
        """
        if not self.per_log_viewers:
            return own
        unit, per_log = self.usual_spread(amount), self.per_log_viewers
        grown = own + unit * per_log * math.log(n_strangers / n_compared)
        usual = self.middle + self.middle_per_log * math.log(amount)
        usual = unit * (usual + per_log * math.log(n_strangers))
        share = n_strangers / (n_strangers + USUAL_MIDDLES)
        return share * grown + (1 - share) * usual

    def threshold(self, terms: Terms, false_acceptance_rate: float) -> float:
        """Return the least standing that is accepted."""
        return (self.repeated if terms.repeated else self.once) * -float(
            special.ndtri(false_acceptance_rate)
        )

    def growth(self, missing: float, amount: float, enrolled: float) -> float | None:
        """Return by what factor the evidence must grow for a standing higher by `missing`.

        None if no amount of evidence will do with this enrolment.
        """
        effective = 1 / (1 / amount + 1 / enrolled)
        wanted = effective * math.exp(min(missing / max(self.per_log, 1e-3), 700.0))
        return None if wanted >= enrolled else 1 / ((1 / wanted - 1 / enrolled) * amount)


@dataclass(frozen=True)
class Finding:
    """What is said about strangers; nothing (None) without a model of them."""

    log_unknown: float | None = None
    accepted: bool | None = None
    growth: float | None = None
    """Factor by which the evidence must grow until acceptance is likely; None if accepted."""


class _Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """What models of 0.1 have instead of `Strangers`."""

    false_acceptance_rate: float
    log_amounts: tuple[float, ...]
    thresholds: tuple[float, ...]
    spreads: tuple[float, ...]
    source: str


class Strangers(msgspec.Struct, frozen=True, kw_only=True):
    """Strangers' best matches by amount of evidence."""

    false_acceptance_rate: float
    log_amounts: tuple[float, ...]
    """ln of the amounts of evidence, ascending; empty if nothing is known of strangers."""
    middles: tuple[float, ...]
    spreads: tuple[float, ...]
    """Median and `upper_spread` of strangers' best matches at each amount."""
    enrolled: float
    """Usual evidence of an enrolled viewer."""
    genuine: Genuine
    source: str
    """Source of the impostor scores."""

    def __post_init__(self) -> None:
        check_finite(self)
        amounts, spreads = np.array(self.log_amounts), np.array(self.spreads)
        if not len(amounts) == len(self.middles) == len(spreads):
            raise ValueError("strangers have amounts, middles and spreads of different lengths")
        if (np.diff(amounts) <= 0).any() or (spreads <= 0).any():
            raise ValueError("strangers' amounts ascend and their spreads are above 0")
        if not (0 < self.false_acceptance_rate < 1 and self.enrolled > 0):
            raise ValueError("strangers' false-acceptance rate is between 0 and 1")

    def standing(self, match: Match) -> float:
        """Return z: how many spreads a match is above strangers' median."""
        at = math.log(match.amount)
        middle = float(np.interp(at, self.log_amounts, self.middles))
        return (match.value - middle) / float(np.interp(at, self.log_amounts, self.spreads))

    def judge(self, match: Match | None, terms: Terms) -> Finding:
        """Judge the best match; without one the prior stays."""
        if not self.log_amounts:
            return Finding()
        prior = math.log(terms.stranger_prior) - math.log1p(-terms.stranger_prior)
        if match is None or not match.amount > 0:
            return Finding(-float(np.log1p(np.exp(-prior))), False)
        genuine, standing = self.genuine, self.standing(match)
        distance = genuine.distance_at(match.amount, self.enrolled)
        log_odds = prior + genuine.log_ratio(standing, distance)
        rate = terms.false_acceptance_rate or self.false_acceptance_rate
        missing = genuine.threshold(terms, rate) - standing
        growth = None
        if missing > 0:
            growth = genuine.growth(missing, match.amount, self.enrolled)
        return Finding(-float(np.log1p(np.exp(-log_odds))), missing <= 0, growth)

    def enrolment_growth(self, false_acceptance_rate: float) -> float | None:
        """Return by what factor enrolment must grow to be accepted after endless viewing.

        That is on another day, and more often than not; up to 1 if it is long enough. None if it is
        not known.
        """
        genuine = self.genuine
        if not self.log_amounts or self.enrolled >= UNLIMITED or not genuine.per_log > 0:
            return None
        missing = genuine.threshold(Terms(), false_acceptance_rate) - genuine.distance
        log_wanted = math.log(genuine.amount) + missing / genuine.per_log
        return math.exp(min(log_wanted - math.log(self.enrolled), 700.0))

    @classmethod
    def from_content(cls, content: Mapping[str, Any], genuine: Genuine) -> Strangers:
        """Return the strangers of a state; `genuine` is for models of 0.1."""
        if "strangers" in content:
            return msgspec.convert(content["strangers"], cls)
        old = msgspec.convert(content["threshold"], _Threshold)
        reach = -_TAIL_OF_0_1 * float(special.ndtri(old.false_acceptance_rate))
        pairs = zip(old.thresholds, old.spreads, strict=True)
        return cls(
            false_acceptance_rate=old.false_acceptance_rate,
            log_amounts=old.log_amounts,
            middles=tuple(threshold - reach * spread for threshold, spread in pairs),
            spreads=old.spreads,
            enrolled=UNLIMITED,
            genuine=genuine,
            source=old.source,
        )


def check_finite(of_file: msgspec.Struct) -> None:
    """Raise `ValueError` unless all numbers of a file's struct are of a usable size."""
    for name in of_file.__struct_fields__:
        value = getattr(of_file, name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float) and not abs(number) <= LARGEST:
                raise ValueError(f"{name} is {number:g}")


NO_GENUINE = Genuine(
    distance=0.0,
    per_log=0.0,
    amount=1.0,
    weight=0.0,
    changed=0.0,
    alike=0.0,
    once=1.0,
    repeated=1.0,
)


def no_strangers(why: str) -> Strangers:
    """Return that nothing is known of strangers, for too few viewers."""
    return Strangers(
        false_acceptance_rate=0.5,
        log_amounts=(),
        middles=(),
        spreads=(),
        enrolled=UNLIMITED,
        genuine=NO_GENUINE,
        source=why,
    )


NO_STRANGERS: Strangers = no_strangers("nobody was left out")


def strangers_of_matches(
    matches: Mapping[float, Floats],
    false_acceptance_rate: float,
    source: str,
    genuine: Genuine,
    enrolled: float,
    *,
    n_strangers: int,
    n_compared: float | None = None,
    least_spread: float = 1e-6,
) -> Strangers:
    """Return the strangers of the best matches of n impostors, given by amount of evidence.

    Each impostor is a viewer who was left out and compared with `n_compared` others (one less than
    all, if not given). A quantile far out in the tail cannot be estimated from a few impostors.
    Their median and upper spread can, with the help of other people's.
    """
    most = max(map(len, matches.values()), default=0)
    fewest = max(3, LEAST_SHARE * most)
    amounts = sorted(amount for amount, found in matches.items() if len(found) >= fewest)
    if not amounts:
        return no_strangers(source)
    spreads = [max(upper_spread(matches[amount]), least_spread) for amount in amounts]
    genuine = genuine.for_gallery(n_strangers)
    return Strangers(
        false_acceptance_rate=false_acceptance_rate,
        log_amounts=tuple(math.log(amount) for amount in amounts),
        middles=tuple(
            genuine.shrunken_middle(
                float(np.median(matches[amount])),
                amount,
                n_strangers,
                n_compared or n_strangers - 1,
            )
            for amount in amounts
        ),
        spreads=tuple(
            genuine.shrunken_spread(spread, amount, n_strangers)
            for spread, amount in zip(spreads, amounts, strict=True)
        ),
        enrolled=enrolled,
        genuine=genuine,
        source=source,
    )


def upper_spread(values: Floats) -> float:
    """Return the standard deviation of the upper half of the values around the median."""
    above = np.maximum(values - np.median(values), 0.0)
    return float(np.sqrt(np.sum(above**2) / max(len(values) // 2, 1)))
