"""How profiles of people vary: ships with gazelive, learned from other people's recordings.

`profiles.npz` has three covariances of tempered scores: of one saccade around its person
(noise), of people's means (between) and of one person's sessions. `docs/scripts/ship_profiles.py`
learns them from BioEye 2015 (77 people, random dots and reading, two sessions) and writes them in a
low-rank form; its README says how. `train --no-shipped` does without.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np

from gazelive.gaze import Floats, Integers

FILE = "profiles.npz"
PARTS = ("noise", "between", "session")


@dataclass(frozen=True, eq=False)
class Variation:
    """Covariances (scores, scores) of tempered scores."""

    noise: Floats
    """Of one saccade."""
    between: Floats
    """Of people's means."""
    session: Floats
    """Of the means of one person's sessions."""

    def select(self, scores: Integers) -> Variation:
        """Return it for some of the scores."""
        at = np.ix_(scores, scores)
        return Variation(self.noise[at], self.between[at], self.session[at])


def shipped_variation(names: Sequence[str]) -> Variation:
    """Return the shipped variation of scores by their names (`Block.dimension_names`).

    Names repeat, once for each type: the shipped ones are in the same order, and some features may
    be left out.
    """
    shipped_names, variation = _content()
    if list(names) == shipped_names:
        return variation
    wanted = set(names)
    kept = [i for i, name in enumerate(shipped_names) if name in wanted]
    assert [shipped_names[i] for i in kept] == list(names), "features that were not shipped"
    return variation.select(np.array(kept, np.int64))


@functools.cache
def _content() -> tuple[list[str], Variation]:
    with resources.files(__package__).joinpath(FILE).open("rb") as file:
        content = dict(np.load(file))
    covariances = []
    for part in PARTS:
        factor = content[f"{part}_factor"].astype(np.float64) * content[f"{part}_scale"]
        covariance = (factor * content[f"{part}_signs"]) @ factor.T
        covariances.append(covariance + np.diag(content[f"{part}_rest"].astype(np.float64)))
    return [str(name) for name in content["names"]], Variation(*covariances)
