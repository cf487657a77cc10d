"""Learn how profiles of people vary, and write `shipped/profiles.npz`.

    python docs/scripts/ship_profiles.py CORPORA [--cache FOLDER]

CORPORA is the output of `study_corpora.py`; BioEye 2015 (`ran` and `tex`: 77 people, two sessions)
is used. Each covariance is the mean of both tasks, kept as its 150 largest eigenvectors and a
diagonal. `--cache` keeps the detected scanpaths.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.evaluation.cache import Cache
from gazelive.evaluation.reading import Selection, StudyData, collect
from gazelive.evaluation.running import Runner
from gazelive.gaze.arrays import Floats, Integers
from gazelive.identification import TrainingSet
from gazelive.identification.methods.gazelive_samples import fit_block, pieces_of, variation_of
from gazelive.identification.shipped import profiles as shipped_profiles
from gazelive.identification.shipped.profiles import PARTS, Variation
from gazelive.observer import Observer

TASKS = ("ran", "tex")
RANK = 150
PIECES_S = (5.0, 10.0, 20.0)
OUT = Path(shipped_profiles.__file__).with_name(shipped_profiles.FILE)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--cache", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        whole = [read(arguments.corpora, task, cache).whole for task in TASKS]
    content: Any = packed(*learned(whole))
    np.savez_compressed(OUT, **content)
    print(f"Wrote {OUT}.")


def read(corpora: Path, name: str, cache: Path) -> StudyData:
    """Return the scanpaths of a corpus; of BioEye also of pieces of its recordings."""
    seconds = PIECES_S if name in TASKS else ()
    sessions = ("1",) if name == "savam" else ()
    source = corpora / name
    selection = Selection(source, sessions=sessions, seconds=seconds)
    return collect(selection, Cache(cache / name), Runner(1), Observer())[1]


def learned(
    tasks: list[TrainingSet], people: Integers | None = None
) -> tuple[list[str], Variation]:
    """Return names of the scores and their variation, from all people or some."""
    found = []
    names: list[str] = []
    for training in tasks:
        chosen = training if people is None else training.select(people)
        block = fit_block(chosen)
        names = block.dimension_names()
        found.append(variation_of(pieces_of(chosen, block), None))
    means = (np.mean([getattr(one, part) for one in found], axis=0) for part in PARTS)
    return names, Variation(*means)


def packed(names: list[str], variation: Variation) -> dict[str, npt.NDArray[Any]]:
    """Return the file's content (`shipped.profiles`)."""
    content: dict[str, npt.NDArray[Any]] = {"names": np.array(names)}
    for part in PARTS:
        covariance: Floats = getattr(variation, part)
        values, vectors = np.linalg.eigh(covariance)
        kept = np.argsort(-np.abs(values))[:RANK]
        factor = vectors[:, kept] * np.sqrt(np.abs(values[kept]))
        scale = np.abs(factor).max(axis=0)
        signs = np.sign(values[kept])
        content |= {
            f"{part}_factor": (factor / scale).astype(np.float16),
            f"{part}_scale": scale.astype(np.float32),
            f"{part}_signs": signs.astype(np.int8),
            f"{part}_rest": np.diag(covariance - (factor * signs) @ factor.T).astype(np.float32),
        }
    return content


if __name__ == "__main__":
    main()
