"""How enrolled people stand out from strangers on another day, by method: ships with gazelive.

A lab with one session cannot see how much people change from day to day. `strangers.json`
has what other people showed (`Genuine`, by method and kind of data), with its origin;
`docs/scripts/ship_strangers.py` learns it.
"""

from __future__ import annotations

import functools
import json
from importlib import resources
from typing import Any

import msgspec

from gazelive.identification.open_set import Genuine
from gazelive.identification.training_data import SourceKind

FILE = "strangers.json"
USUAL = "markov"
"""Stands for methods that are not in the file."""

SAME_MATCH = ("fisher-abdelwahab", "fisher-markov")
"""The first is not in the file; its match is that of the second: a PLDA on scores of gammas."""


def shipped_genuine(method: str, kind: SourceKind = "samples") -> Genuine:
    """Return how enrolled people stand out; literal forms are like the others."""
    known = _content()["genuine"]
    of_kind = known[kind]
    name = method.removesuffix("-literal").replace(*SAME_MATCH)
    entry = of_kind.get(name) or known["fixations"].get(name) or of_kind[USUAL]
    return msgspec.convert(entry, Genuine)


@functools.cache
def _content() -> Any:
    return json.loads(resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8"))
