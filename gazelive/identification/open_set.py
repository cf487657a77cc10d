"""Whether it is somebody else: how well the best match must fit before it is believed.

A `MatchThreshold` says, for an amount of evidence, how well strangers' best matches fit at most:
with the false-acceptance rate as the share of strangers that still pass. The probability of being
unknown is ½ at that threshold, and falls off as the match gets better than strangers' are.

Strangers are not in training; so each viewer in turn is left out and plays one.
"""

from __future__ import annotations

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
LARGEST_LOG_ODDS = 30.0


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
    matches: dict[float, Floats], false_acceptance_rate: float, source: str
) -> MatchThreshold:
    """Return the threshold for strangers' best matches, given by amount of evidence."""
    amounts = sorted(amount for amount, found in matches.items() if len(found) >= 3)
    return MatchThreshold(
        false_acceptance_rate=false_acceptance_rate,
        log_amounts=tuple(float(np.log(amount)) for amount in amounts),
        thresholds=tuple(
            upper_quantile(matches[amount], false_acceptance_rate) for amount in amounts
        ),
        spreads=tuple(upper_spread(matches[amount]) + 1e-6 for amount in amounts),
        source=source,
    )


def upper_quantile(values: Floats, share_above: float) -> float:
    """Return what only `share_above` of strangers pass.

    A quantile far out in the tail of few values is taken from the normal distribution that has
    their median and upper spread, if that is higher.
    """
    normal = float(np.median(values) - special.ndtri(share_above) * upper_spread(values))
    seen = float(np.quantile(values, 1 - share_above))
    return max(normal, seen) if len(values) * share_above < 5 else seen


def upper_spread(values: Floats) -> float:
    """Return the standard deviation that values above the median show around it.

    Only these come near the viewers'. Log ratios have a long tail of strangers who are like
    nobody, which says nothing of how well the others may fit.
    """
    above = values - np.median(values)
    above = above[above > 0]
    return float(np.sqrt(np.mean(above**2))) if len(above) else 0.0
