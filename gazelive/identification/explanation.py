"""Explanation of a posterior: the features that spoke for and against the leader.

Evidence is a sum over the entries of a score, so each feature has a share of it: what it added
to the leader's log odds against the other viewers, weighted by how close they came.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from gazelive.features import Scanpath
from gazelive.gaze import Floats
from gazelive.identification.contract import Identifier

N_SHOWN = 12
THE_REST = "everything else"


def explain_probe(
    identifier: Identifier, scanpaths: Sequence[Scanpath], leader: int | None = None
) -> list[tuple[str, float]]:
    """Return features with their evidence (natural-log odds for the leader), strongest first.

    The sum is the leader's log odds against the others, without the prior; the weakest features
    come last, together. The leader is who has most evidence, unless a prior made it another.
    Empty where a method's evidence is no sum over features (`scenewalk`).
    """
    parts = identifier.contributions(scanpaths)
    if not parts:
        return []
    total = sum((part for _, part in parts), np.zeros(len(identifier.viewer_ids)))
    if leader is None:
        leader = int(np.argmax(total))
    others = np.delete(np.arange(len(total)), leader)
    share = special.softmax(total[others]) if len(others) else np.empty(0)
    summed: dict[str, Floats] = {}
    for name, part in parts:
        summed[name] = summed[name] + part if name in summed else part
    odds = [(name, float(part[leader] - part[others] @ share)) for name, part in summed.items()]
    odds.sort(key=lambda item: -abs(item[1]))
    strongest, rest = odds[:N_SHOWN], odds[N_SHOWN:]
    if rest:
        strongest.append((THE_REST, sum(value for _, value in rest)))
    return strongest
