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
    tail: float = TAIL,
    least_threshold: float = -np.inf,
    least_spread: float = 1e-6,
) -> MatchThreshold:
    """Return the threshold for strangers' best matches, given by amount of evidence.

    A quantile far out in the tail cannot be read off the few who play strangers: the best of ten
    is passed by every eleventh. So their median and upper spread are taken, and the threshold
    lies as many spreads above as a normal tail asks for, times `tail`.

    With `usual` the spread is drawn towards what is usual; both are smoothed by a straight line
    over the logarithm of the amount, which goes on beyond what was seen. That is for cosines.
    Without, they are taken as they are: log ratios bend upwards with the amount, and a line would
    let in most strangers in between.
    `growth` is how much better real strangers fit than those who play them, who meet fewer people.
    """
    most = max(map(len, matches.values()), default=0)
    fewest = max(3, LEAST_SHARE * most)
    amounts = sorted(amount for amount, found in matches.items() if len(found) >= fewest)
    if not amounts:
        return no_threshold(source)
    logs = np.log(amounts)
    middles = growth * np.array([np.median(matches[amount]) for amount in amounts])
    spreads = np.array([upper_spread(matches[amount]) for amount in amounts])
    if usual is not None:
        seen_logs, logs = logs, np.append(logs, logs[-1] + np.log(REACH))
        counts = np.array([len(matches[amount]) for amount in amounts])
        middles = _line(seen_logs, middles, counts, logs)
        spreads = np.maximum(_line(seen_logs, spreads, counts, logs), 0.5 * spreads.min())
        elsewhere = usual.spread + usual.spread_per_log * logs
        share = n_strangers / (n_strangers + usual.n_strangers)
        spreads = np.sqrt(share * spreads**2 + (1 - share) * elsewhere**2)
    spreads = np.maximum(spreads, least_spread)
    reach = -tail * float(special.ndtri(false_acceptance_rate))
    thresholds = np.maximum(middles + reach * spreads, least_threshold)
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
    """Return the standard deviation that the upper half of the values shows around the median.

    Only these come near the viewers'.
    """
    above = np.maximum(values - np.median(values), 0.0)
    return float(np.sqrt(np.sum(above**2) / max(len(values) // 2, 1)))
