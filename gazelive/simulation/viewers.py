"""Simulated persons: the same name and seed is the same person everywhere.

A person is drawn from two populations, one of scanpath habits and one of eye movements; a session
of the person is drawn around the person. What is drawn depends on the name, the seed and the
session's number only, not on who else was drawn before, nor on the machine.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache

import numpy as np

from gazelive.simulation.oculomotor import OculomotorTraits
from gazelive.simulation.oculomotor_population import OculomotorPopulation
from gazelive.simulation.scanpath_population import ScanpathPopulation
from gazelive.simulation.scanpaths import LookingHabits


@dataclass(frozen=True, slots=True)
class SessionTraits:
    """How a person looks around and moves the eyes on one day."""

    habits: LookingHabits
    oculomotor: OculomotorTraits


def random_stream(*names: str | int) -> np.random.Generator:
    """Return the random numbers that belong to a list of names, the same on every machine."""
    digest = hashlib.blake2b(json.dumps(names).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "little"))


@cache
def _populations() -> tuple[ScanpathPopulation, OculomotorPopulation]:
    return ScanpathPopulation(), OculomotorPopulation()


def session_traits(viewer_id: str, *, seed: int, session: int) -> SessionTraits:
    """Return what the person `viewer_id` of the population `seed` is like in a session."""
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
