"""Open-set identification: the probability that a person is not enrolled.

A `MatchThreshold` is the quantile of impostors' best matches for an amount of evidence: a share of
strangers equal to the false-acceptance rate matches better. The probability of being unknown is ½
at that threshold, and falls as the match gets better than impostors' are.

Impostor scores come from leave-one-viewer-out: each enrolled viewer is removed in turn. With few
viewers, their spread is shrunken towards that of a larger corpus (`UsualStrangers`).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from scipy import special

from gazelive.gaze import Floats, Integers

NOTHING_KNOWN = float(np.log(0.5))
"""ln p(unknown) where there is no model of strangers."""
STEEPNESS = 4.0
"""Log odds per `upper_spread` of strangers' best matches."""
TAIL = 1.2
"""Strangers' best matches have a heavier tail than a normal distribution."""
LARGEST_LOG_ODDS = 30.0
LEAST_SHARE = 0.25
"""Amounts of evidence that a smaller share of the impostors reach are ignored: one person alone
does not show how impostor scores spread."""
REACH = 4.0
"""The threshold is extrapolated to this many times the evidence of any impostor."""


@dataclass(frozen=True)
class UsualStrangers:
    """Spread of impostors' best matches in a large corpus."""

    spread: float
    spread_per_log: float
    """`upper_spread` at an amount of 1, and its slope over the logarithm of the amount."""
    n_strangers: float
    """Weight, in impostors of one's own."""


class MatchThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """Quantile and spread of impostors' best matches by amount of evidence."""

    false_acceptance_rate: float
    log_amounts: tuple[float, ...]
    """ln of the amounts of evidence, ascending."""
    thresholds: tuple[float, ...]
    spreads: tuple[float, ...]
    """Quantile and `upper_spread` of impostors' best matches at each amount."""
    source: str
    """Source of the impostor scores."""

    def log_unknown(self, match: float, amount: float) -> float:
        """Return ln p(unknown) for the best match in an amount of evidence."""
        if not self.log_amounts or not amount > 0:
            return NOTHING_KNOWN
        at = np.log(amount)
        threshold = float(np.interp(at, self.log_amounts, self.thresholds))
        spread = float(np.interp(at, self.log_amounts, self.spreads))
        log_odds = STEEPNESS * (threshold - match) / spread
        log_odds = min(max(log_odds, -LARGEST_LOG_ODDS), LARGEST_LOG_ODDS)
        return float(-np.log1p(np.exp(-log_odds)))


def no_threshold(why: str) -> MatchThreshold:
    """Return the threshold without information, for too few viewers: p(unknown) is ½."""
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
    """Return the threshold for impostors' best matches, given by amount of evidence.

    A quantile far out in the tail cannot be estimated from a few impostors. The threshold is their
    median plus the number of upper spreads that a normal tail has at that rate, times `tail`.

    With `usual` the spread is shrunken towards the usual one, and both are smoothed by a straight
    line over the logarithm of the amount, which is extrapolated. That is for cosines. Without it
    they are not smoothed: log ratios bend upwards with the amount, and a line would accept most
    strangers in between. `growth` is how much better real strangers match than the impostors, who
    are compared with fewer viewers.
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
    """Return the values of the straight line through points with `counts` as weights."""
    if len(x) < 2:
        return np.full(len(at), y[0])
    return np.asarray(np.polyval(np.polyfit(x, y, 1, w=np.sqrt(counts)), at), np.float64)


def upper_spread(values: Floats) -> float:
    """Return the standard deviation of the upper half of the values around the median."""
    above = np.maximum(values - np.median(values), 0.0)
    return float(np.sqrt(np.sum(above**2) / max(len(values) // 2, 1)))
