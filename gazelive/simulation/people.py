"""Simulated people: the same name and seed give the same person everywhere.

A person is drawn from two populations, one of scanpath habits and one of eye movements; a session
is drawn around the person. The draws depend only on the name, the seed and the session's number,
not on earlier draws or the machine.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache

import numpy as np

from gazelive.simulation.eye.traits import OculomotorPopulation, OculomotorTraits
from gazelive.simulation.scanpath.scanpaths import LookingHabits
from gazelive.simulation.scanpath.traits import ScanpathPopulation


@dataclass(frozen=True, slots=True)
class SessionTraits:
    """A person's scanpath habits and eye movements in one session."""

    habits: LookingHabits
    oculomotor: OculomotorTraits


def random_stream(*names: str | int) -> np.random.Generator:
    """Return the random generator of a list of names, the same on every machine."""
    digest = hashlib.blake2b(json.dumps(names).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@cache
def _populations() -> tuple[ScanpathPopulation, OculomotorPopulation]:
    return ScanpathPopulation(), OculomotorPopulation()


def session_traits(viewer_id: str, *, seed: int, session: int) -> SessionTraits:
    """Return the traits of the person `viewer_id` of the population `seed` in a session."""
    scanpaths, oculomotor = _populations()
    person = (seed, viewer_id)
    looker = scanpaths.draw_person(random_stream(*person, "scanpath"))
    mover = oculomotor.draw_person(random_stream(*person, "oculomotor"))
    today = (*person, session)
    return SessionTraits(
        habits=LookingHabits(
            scanpaths.draw_session(looker, random_stream(*today, "scanpath")), scanpaths.table
        ),
        oculomotor=oculomotor.draw_session(mover, random_stream(*today, "oculomotor")),
    )
