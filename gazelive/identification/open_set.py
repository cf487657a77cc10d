"""Whether it is somebody else: how well the best match must fit before it is believed.

A `MatchThreshold` says, for an amount of evidence, how well strangers' best matches fit at most:
with the false-acceptance rate as the share of strangers that still pass. The probability of being
unknown is ½ at that threshold, and falls off as the match gets better than strangers' are.

Strangers are not in training; so each viewer in turn is left out and plays one. Where few can, what
is known of strangers elsewhere helps (`UsualStrangers`).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
from scipy import special

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

NOTHING_KNOWN = float(np.log(0.5))
"""ln of the probability of being unknown where nothing tells strangers from viewers."""
STEEPNESS = 4.0
"""Log odds per `upper_spread` of strangers' best matches."""
TAIL = 1.2
"""Strangers' best matches have a heavier tail than a normal distribution."""
LARGEST_LOG_ODDS = 30.0
LEAST_SHARE = 0.25
"""Amounts of evidence that fewer of the strangers reach, compared with the least, do not count:
what a single person looks like says nothing of how strangers spread."""
REACH = 4.0
"""How many times more evidence than any stranger gave the threshold is still extended to."""


@dataclass(frozen=True)
class UsualStrangers:
    """What strangers' best matches are like in a corpus that was large enough to see it."""

    spread: float
    spread_per_log: float
    """Of `upper_spread`: at an amount of 1, and more with each unit of its logarithm."""
    n_strangers: float
    """How many strangers of one's own it counts as much as."""


class MatchThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """The best matches of strangers, by how much of them was seen."""

    false_acceptance_rate: float
    log_amounts: tuple[float, ...]
    """ln of the amounts of evidence (ascending) at which strangers were looked at."""
    thresholds: tuple[float, ...]
    spreads: tuple[float, ...]
    """Of strangers' best matches at each amount: the quantile, and `upper_spread`."""
    source: str
    """Who played the strangers."""

    def log_unknown(self, match: float, amount: float) -> float:
        """Return ln p(unknown) for the best match found in so much evidence."""
        if not self.log_amounts or not amount > 0:
            return NOTHING_KNOWN
        at = np.log(amount)
        threshold = float(np.interp(at, self.log_amounts, self.thresholds))
        spread = float(np.interp(at, self.log_amounts, self.spreads))
        log_odds = STEEPNESS * (threshold - match) / spread
        log_odds = min(max(log_odds, -LARGEST_LOG_ODDS), LARGEST_LOG_ODDS)
        return float(-np.log1p(np.exp(-log_odds)))


def no_threshold(why: str) -> MatchThreshold:
    """Return what says nothing: with so few viewers, nobody knows what strangers are like."""
    return MatchThreshold(
        false_acceptance_rate=0.5, log_amounts=(), thresholds=(), spreads=(), source=why
    )


def threshold_of_matches(
    matches: dict[float, Floats],
    false_acceptance_rate: float,
    source: str,
    *,
    n_strangers: int = 0,
    usual: UsualStrangers | None = None,
    growth: float = 1.0,
    at_most_seen: bool = False,
) -> MatchThreshold:
    """Return the threshold for strangers' best matches, given by amount of evidence.

    A quantile far out in the tail cannot be read off the few who play strangers. So their median
    and upper spread are taken, each smoothed by a straight line over the logarithm of the amount,
    and the threshold lies as many spreads above as a normal tail asks for, times `TAIL`. With
    `usual` the spread is drawn towards what is usual, and the lines go on beyond what was seen.
    `growth` is how much better real strangers fit than those who play them, who meet fewer people.

    With `at_most_seen` it is no higher than the quantile that was seen. Log ratios need that: they
    spread ever wider below with the amount, and hardly any above, where a normal tail would then
    call every viewer a stranger.
    """
    most = max(map(len, matches.values()), default=0)
    fewest = max(3, LEAST_SHARE * most)
    amounts = sorted(amount for amount, found in matches.items() if len(found) >= fewest)
    if not amounts:
        return no_threshold(source)
    seen_logs = logs = np.log(amounts)
    if usual is not None:
        logs = np.append(seen_logs, seen_logs[-1] + np.log(REACH))
    counts = np.array([len(matches[amount]) for amount in amounts])
    medians = np.array([np.median(matches[amount]) for amount in amounts])
    middles = growth * _line(seen_logs, medians, counts, logs)
    own = np.array([upper_spread(matches[amount]) for amount in amounts])
    spreads = np.maximum(_line(seen_logs, own, counts, logs), 0.5 * own.min()) + 1e-6
    if usual is not None:
        elsewhere = usual.spread + usual.spread_per_log * logs
        share = n_strangers / (n_strangers + usual.n_strangers)
        spreads = np.sqrt(share * spreads**2 + (1 - share) * elsewhere**2)
    reach = -TAIL * float(special.ndtri(false_acceptance_rate))
    thresholds = middles + reach * spreads
    if at_most_seen:
        seen = [np.quantile(matches[amount], 1 - false_acceptance_rate) for amount in amounts]
        thresholds = np.minimum(thresholds, seen)
    return MatchThreshold(
        false_acceptance_rate=false_acceptance_rate,
        log_amounts=tuple(logs.tolist()),
        thresholds=tuple(thresholds.tolist()),
        spreads=tuple(spreads.tolist()),
        source=source,
    )


def _line(x: Floats, y: Floats, counts: Integers, at: Floats) -> Floats:
    """Return the values of the straight line through points that stand for so many each."""
    if len(x) < 2:
        return np.full(len(at), y[0])
    return np.asarray(np.polyval(np.polyfit(x, y, 1, w=np.sqrt(counts)), at), np.float64)


def upper_spread(values: Floats) -> float:
    """Return the standard deviation that values above the median show around it.

    Only these come near the viewers'. Log ratios have a long tail of strangers who are like
    nobody, which says nothing of how well the others may fit.
    """
    above = values - np.median(values)
    above = above[above > 0]
    return float(np.sqrt(np.mean(above**2))) if len(above) else 0.0
