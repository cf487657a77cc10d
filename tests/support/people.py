"""Made-up people who differ clearly, as scanpaths that are quick to draw.

A person prefers some turns, and has individual amplitudes and durations for each; in recordings
also a level of every column of a saccade's dynamics. The variances between and within people are
known, and therefore how well they can be identified.
"""

from __future__ import annotations

import atexit
import functools
import itertools
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gazelive.features.kinematics_kernels import MIN_COMPONENT_DEG
from gazelive.features.scanpath import (
    MOVEMENT_AT,
    N_COLUMNS,
    Column,
    Scanpath,
    scanpath_of_fixations,
)
from gazelive.features.schema import AFTER, MOVEMENT, TEXTURE
from gazelive.identification.training_data import SourceKind, TrainingSet, training_set
from gazelive.simulation.corpus import CorpusPlan, write_corpus

SIGNED = np.array([feature.signed for feature in (*MOVEMENT, *AFTER, *TEXTURE)])
DYNAMICS = slice(Column.MEAN_VELOCITY_DEG_S, MOVEMENT_AT)
N_DYNAMICS = DYNAMICS.stop - DYNAMICS.start
WITHIN_SD = 0.5
OF_AXIS = {
    Column.DX_DEG: [Column.PEAK_VELOCITY_X_DEG_S, Column.RATIO_X],
    Column.DY_DEG: [Column.PEAK_VELOCITY_Y_DEG_S, Column.RATIO_Y],
}


@dataclass(frozen=True)
class Person:
    """A viewer: `number` determines all traits, `spread` the differences between viewers."""

    number: int
    spread: float = 0.5

    @property
    def name(self) -> str:
        """A name that sorts by number."""
        return f"p{self.number:04}"

    @functools.lru_cache(maxsize=8192)  # noqa: B019 - people live as long as the tests
    def looks(
        self,
        kind: SourceKind,
        n_saccades: int,
        seed: int = 0,
        image: str | None = None,
        rate_hz: float = 1000.0,
    ) -> Scanpath:
        """Return a scanpath of `n_saccades` saccades, which all tests share: do not change it."""
        traits = np.random.default_rng((7, self.number)).normal(0, self.spread, 16 + N_COLUMNS)
        rng = np.random.default_rng((11, self.number, seed))
        n = n_saccades + 1 if n_saccades else 0
        shares = np.exp(2 * traits[:4]) / np.exp(2 * traits[:4]).sum()
        turns = rng.choice(4, n, p=shares)
        angles = np.cumsum(turns * np.pi / 2 + rng.normal(0, 0.3, n)) + traits[12]
        sizes = rng.gamma(4, 0.8 * np.exp(traits[4:8])[turns])
        durations_s = rng.gamma(5, 0.05 * np.exp(0.6 * traits[8:12])[turns])
        x, y = np.cumsum(sizes * np.cos(angles)), np.cumsum(sizes * np.sin(angles))
        path = scanpath_of_fixations(x, y, durations_s, image)
        if kind == "fixations":
            return path
        rows = path.saccades.copy()
        rows[:, [Column.BACK_DEG, Column.NEAREST_DEG]] = np.nan
        level = traits[16:]
        shape = (len(rows), N_DYNAMICS)
        rows[:, DYNAMICS] = np.exp(level[DYNAMICS] + rng.normal(0, WITHIN_SD, shape))
        for axis, columns in OF_AXIS.items():
            rows[np.ix_(np.abs(rows[:, axis]) < MIN_COMPONENT_DEG, columns)] = np.nan
        own = level[MOVEMENT_AT:] + rng.normal(0, WITHIN_SD, (len(rows), len(SIGNED)))
        rows[:, MOVEMENT_AT:] = np.where(SIGNED, own, np.exp(own))
        return replace(path, saccades=rows, sampling_rate_hz=rate_hz)


def people(n: int, spread: float = 0.5, first: int = 0) -> list[Person]:
    """Return `n` viewers."""
    return [Person(number, spread) for number in range(first, first + n)]


def labelled_looks(
    persons: list[Person],
    kind: SourceKind,
    n_scanpaths: int,
    n_saccades: int,
    seed: int = 0,
    sessions: tuple[str, ...] = ("1",),
) -> list[tuple[str, str, Scanpath]]:
    """Return (viewer, session, scanpath) of all viewers on the same images."""
    return [
        (
            person.name,
            session,
            person.looks(kind, n_saccades, seed + 1000 * s + i, f"image{i}.jpg"),
        )
        for person in persons
        for s, session in enumerate(sessions)
        for i in range(n_scanpaths)
    ]


def training_of(
    persons: list[Person],
    kind: SourceKind,
    n_scanpaths: int = 8,
    n_saccades: int = 15,
    seed: int = 0,
    sessions: tuple[str, ...] = ("1",),
) -> TrainingSet:
    """Return what `labelled_looks` gives as a training set."""
    return training_set(
        kind, labelled_looks(persons, kind, n_scanpaths, n_saccades, seed, sessions)
    )


def identified(identifier, scanpaths, log_prior=None):
    """Return the estimate after whole scanpaths."""
    probe = identifier.probe(log_prior)
    for path in scanpaths:
        probe.begin(path.image)
        probe.settle(path)
    return probe.estimate()


def write_table(path, persons, n_images, n_saccades, *, unit="deg", sessions=("",), seed=0):
    """Write the fixation table of people who look at images, and return its path."""
    has_sessions = sessions != ("",)
    lines = [f"viewer,image,fixation,x_{unit},y_{unit},duration_ms" + ",session" * has_sessions]
    for person, (s, session), i in itertools.product(persons, enumerate(sessions), range(n_images)):
        fixations = person.looks("fixations", n_saccades, seed + 1000 * s + i).fixations
        for k, (x, y, duration_s) in enumerate(fixations):
            cells = [person.name, f"im{i}.jpg", k + 1, f"{x:.4f}", f"{y:.4f}"]
            cells += [f"{1000 * duration_s:.2f}", *([session] if has_sessions else [])]
            lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@functools.cache
def small_corpus() -> Path:
    """Return a corpus of four simulated viewers in two sessions; tests must not change it."""
    kept = tempfile.TemporaryDirectory(prefix="gazelive-test-")
    atexit.register(kept.cleanup)
    folder = Path(kept.name) / "corpus"
    plan = CorpusPlan(
        n_viewers=4, n_images=6, n_pool=6, n_sessions=2, seconds=3.0, sampling_rate_hz=250.0
    )
    write_corpus(plan, folder)
    return folder
