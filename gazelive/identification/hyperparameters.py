"""Hyper-parameters: a grid in each method's file, searched inside the training set."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

N_SEARCH_FOLDS = 3
"""Folds of the cross-validation that chooses, as in the paper."""

Hyperparameters = dict[str, float]
Loss = Callable[[Hyperparameters], float]
"""Mean of −ln p(right viewer) over units held out in `N_SEARCH_FOLDS` folds along images; infinite
where no unit can be held out."""


@dataclass(frozen=True)
class Grid:
    """The values that a method tries, and what it takes without a search.

    Defaults are the votes of docs/study.md where there are any.
    """

    values: Mapping[str, tuple[float, ...]]
    defaults: Mapping[str, float]

    def choose(self, loss: Loss, *, search: bool) -> Hyperparameters:
        """Return the point of least loss (the first of equals).

        Without a search, or if every loss is infinite, these are the defaults.
        """
        if not search:
            return dict(self.defaults)
        names = list(self.values)
        values = itertools.product(*(self.values[name] for name in names))
        points = [dict(zip(names, point, strict=True)) for point in values]
        losses = [loss(point) for point in points]
        least = min(losses)
        return points[losses.index(least)] if math.isfinite(least) else dict(self.defaults)
