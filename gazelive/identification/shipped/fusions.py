"""Fusions that ship with gazelive: where the fit of a similarity method starts.

With few viewers, weights centred on those of other people are more accurate
than weights centred on equal ones. `docs/scripts/ship_fusions.py` learns them and writes
`fusions.json`: for recordings from every other person of BioEye 2015 (random dots and
reading, 39 of 77), for fixation tables from 24 of these people and from SAVAM (24 people, clips).
Weights come from pairs within a session. Temperature τ and floor ε, of recordings only, have the
least calibration error of these people within and across sessions. Figures of accuracy and
calibration that are to hold for new people must leave out those who learned.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np

from gazelive.gaze import Floats
from gazelive.identification.comparison.conditional_logit import Fusion
from gazelive.identification.training_data import SourceKind

FILE = "fusions.json"


def shipped_fusion(method: str, kind: SourceKind, parts: Sequence[str]) -> Fusion:
    """Return the shipped fusion of a method's distances; some features may be left out."""
    entry = _content()[f"{method} on {kind}"]
    wanted = set(parts)
    kept = [i for i, name in enumerate(entry["parts"]) if name in wanted]
    assert [entry["parts"][i] for i in kept] == list(parts), "features that were not shipped"
    fusion = Fusion(
        np.array(entry["sizes"]),
        np.array(entry["weights"]),
        np.array(entry["usual"]),
        np.array(entry["background"]),
        float(entry["temperature"]),
        float(entry["floor"]),
    )
    return fusion.select(np.array(kept, np.int64))


def fixed_fusion(weights: Floats) -> Fusion:
    """Return a fusion with the same weights for every size of the probe."""
    return Fusion(np.ones(1), weights[None], np.zeros((1, len(weights))), np.zeros((1, 2)))


@functools.cache
def _content() -> Any:
    return json.loads(resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
