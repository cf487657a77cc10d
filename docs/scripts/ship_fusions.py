"""Learn the fusions that ship with the similarity methods, and write `shipped/fusions.json`.

    python docs/scripts/ship_fusions.py DATA/identity CORPORA [--reuse FOLDER] [--kinds …]

Recordings: BioEye 2015, random dots and reading; every other person learns, the rest are for
figures. Weights come from pairs within a session (each session and task, all pairs together).
Temperature and floor are those of a grid with the smallest calibration error of the same people:
the mean over both tasks, within a session (held-out windows) and across sessions (enrolled in one,
20 s of the other, both ways). Likelihood across sessions alone is ruled by the few people who
changed, and leaves the others underconfident.
Fixation tables: the same people of BioEye 2015 (24 of them, pieces of 5 s, each session and task)
and all 24 of SAVAM (clips), as fixation tables would give them; pairs within each session. CORPORA
is the output of `study_corpora.py`. `--reuse` keeps the detected scanpaths in a folder; `--kinds`
(samples, fixations) renews only these.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pickle
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special
from ship_profiles import read
from ship_strangers import TABLE_PIECE_S, as_tables

from gazelive.gaze.arrays import Floats, Integers
from gazelive.identification.comparison.conditional_logit import Fusion, Pairs, fit_weights
from gazelive.identification.comparison.similarity_training import (
    RIDGES,
    DescribedUnits,
    fit_similarity,
    pairs_by_size,
)
from gazelive.identification.fitted import Options
from gazelive.identification.hyperparameters import Grid
from gazelive.identification.methods import cem_b, holland
from gazelive.identification.shipped import fusions as shipped_fusions
from gazelive.identification.training_data import TrainingSet, training_set
from gazelive.recordings.corpus import CorpusEntry, write_corpus_csv
from gazelive.workflows.gathering import gather
from gazelive.workflows.probes import Gathered

TASKS = ("RAN", "TEX")
SESSIONS = ("1", "2")
RATE_HZ, LOST = 250, -32768
PIECE_S = 20
OUT = Path(shipped_fusions.__file__).with_name(shipped_fusions.FILE)
RIDGE = 0.5
"""Of all fits here; `train` has a default for each method, chosen with the shipped weights."""
GRID = Grid(RIDGES, {"ridge": RIDGE})
TEMPERATURES = (0.7, 0.8, 0.9, 1.0)
FLOORS = (0.01, 0.02, 0.05, 0.1)
FIRST_WEIGHTS = {"cem-b": 3.0, "cem-b-dynamics": 3.0, "holland-2011": 0.3}
"""Even weights that the shipped ones start from."""
Describe = Callable[[TrainingSet, Options], DescribedUnits]
DESCRIBE: dict[str, Describe] = {
    "cem-b": partial(cem_b.describe_cem_b, dynamics=False),
    "cem-b-dynamics": partial(cem_b.describe_cem_b, dynamics=True),
    "holland-2011": holland.describe_holland,
}
IDENTIFIERS = {
    "cem-b": cem_b.CemBIdentifier,
    "cem-b-dynamics": cem_b.CemBIdentifier,
    "holland-2011": holland.HollandIdentifier,
}


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--reuse", type=Path)
    parser.add_argument("--kinds", default="samples,fixations")
    arguments = parser.parse_args()
    content = json.loads(OUT.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.reuse or Path(folder)
        if "samples" in arguments.kinds:
            content |= of_recordings(arguments.data, kept)
        if "fixations" in arguments.kinds:
            content |= of_tables(arguments.corpora, kept)
    OUT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def of_recordings(data: Path, kept: Path) -> dict[str, Any]:
    """Return the fusions of recordings."""
    whole = {task: bioeye(data, task, None, kept) for task in TASKS}
    pieces = {task: bioeye(data, task, PIECE_S, kept) for task in TASKS}
    content = {}
    for method in DESCRIBE:
        enrolments = [enrolment(whole[task], s) for task in TASKS for s in SESSIONS]
        fusion, parts = learn(method, enrolments)
        fusion = with_mixture(method, fusion, whole, pieces)
        content[f"{method} on samples"] = to_json(fusion, parts)
    return content


def of_tables(corpora: Path, kept: Path) -> dict[str, Any]:
    """Return the fusions of fixation tables."""
    clips = as_tables(read(corpora, "savam", kept).whole)
    tables = [clips]
    for task in TASKS:
        pieces = as_tables(read(corpora, task.lower(), kept).pieces[TABLE_PIECE_S])
        people = np.arange(0, pieces.n_viewers, 2)[: clips.n_viewers]
        for name in SESSIONS:
            own = np.array([session == name for session in pieces.sessions])
            tables.append(pieces.subset(own).select(people))
    content = {}
    for method in (method for method in DESCRIBE if method != "cem-b-dynamics"):
        fusion, parts = learn(method, tables)
        content[f"{method} on fixations"] = to_json(fusion, parts)
    return content


def learning_people(gathered: Gathered) -> list[str]:
    """Return every other person with two sessions."""
    seen: dict[str, set[str]] = {}
    for probe in gathered.probes:
        seen.setdefault(str(probe.viewer), set()).add(probe.session)
    return sorted(v for v, sessions in seen.items() if sessions >= set(SESSIONS))[::2]


def enrolment(gathered: Gathered, session: str) -> TrainingSet:
    """Return one session of the people who learn."""
    people = learning_people(gathered)
    return training_set(
        gathered.kind,
        [
            (str(probe.viewer), session, path)
            for probe in gathered.probes
            if probe.session == session and probe.viewer in people
            for path in probe.scanpaths
        ],
    )


def learn(method: str, enrolments: Iterable[TrainingSet]) -> tuple[Fusion, tuple[str, ...]]:
    """Fit the weights to the pairs of all enrolments together."""
    found: dict[float, list[Pairs]] = {}
    parts: tuple[str, ...] = ()
    for training in enrolments:
        described = DESCRIBE[method](training, Options())
        parts = described.comparison.parts
        for size, pairs in pairs_by_size(described).items():
            found.setdefault(size, []).append(pairs)
    even = np.full(len(parts), FIRST_WEIGHTS[method])
    sizes = sorted(found)
    weights = [fit_weights(joined(found[size]), even, RIDGE) for size in sizes]
    return Fusion.of(np.array(sizes, np.float64), weights), parts


def joined(pairs: list[Pairs]) -> Pairs:
    """Return the pairs of several galleries of the same number of people."""
    return Pairs(
        np.concatenate([p.distances for p in pairs]),
        np.concatenate([p.of_population for p in pairs]),
        np.concatenate([p.owners for p in pairs]),
        np.concatenate([p.folds for p in pairs]),
    )


Probes = tuple[Floats, Floats, Integers]
"""Scores (probes, viewers), background and owners (probes,)."""


def with_mixture(
    method: str, start: Fusion, whole: dict[str, Gathered], pieces: dict[str, Gathered]
) -> Fusion:
    """Return the fusion with the temperature and the floor of least calibration error."""
    probes = [
        some
        for task in TASKS
        for some in (
            within_sessions(method, start, whole[task]),
            across_sessions(method, start, whole[task], pieces[task]),
        )
    ]
    errors = {}
    for temperature, floor in itertools.product(TEMPERATURES, FLOORS):
        tried = replace(start, temperature=temperature, floor=floor)
        found = [calibration_error(tried, *some) for some in probes]
        errors[float(np.mean(found))] = tried, found
    best, found = errors[min(errors)]
    told = ", ".join(f"{value:.3f}" for value in found)
    print(
        f"{method}: temperature {best.temperature}, floor {best.floor}; ECE {told} "
        "(RAN within and across sessions, TEX within and across)"
    )
    return best


def within_sessions(method: str, start: Fusion, whole: Gathered) -> Probes:
    """Return held-out windows of both sessions."""
    found = []
    for session in SESSIONS:
        pairs = pairs_by_size(DESCRIBE[method](enrolment(whole, session), Options()))[1]
        fitted = fit_weights(pairs, start.at(1).weights, RIDGE)
        scores, at = fitted.scores(pairs.distances), fitted.background_score(pairs.of_population)
        found.append((scores, at, pairs.owners))
    scores, background, owners = (np.concatenate(each) for each in zip(*found, strict=True))
    return scores, background, owners


def across_sessions(method: str, start: Fusion, whole: Gathered, pieces: Gathered) -> Probes:
    """Return 20 s probes of the other session, both ways."""
    scores: list[Floats] = []
    background: list[float] = []
    owners: list[int] = []
    for enrolled, probed in (SESSIONS, SESSIONS[::-1]):
        training = enrolment(whole, enrolled)
        described = DESCRIBE[method](training, Options())
        made = fit_similarity(
            IDENTIFIERS[method], method, training, Options(), described, start, GRID
        ).identifier
        assert isinstance(made, cem_b.CemBIdentifier | holland.HollandIdentifier)
        for probe in pieces.probes:
            if probe.session != probed or probe.viewer not in training.viewer_ids:
                continue
            judged = made.judge(made.describe(probe.scanpaths))
            if judged is not None:
                scores.append(judged.scores)
                background.append(judged.background)
                owners.append(training.viewer_ids.index(str(probe.viewer)))
    return np.array(scores), np.array(background), np.array(owners)


def calibration_error(
    fusion: Fusion, scores: Floats, background: Floats, owners: Integers
) -> float:
    """Return the expected calibration error of the best viewer's probability, in ten bins."""
    pairs = zip(scores, background.tolist(), strict=True)
    logs = special.log_softmax([fusion.evidence(own, at) for own, at in pairs], axis=1)
    confidence, right = np.exp(logs.max(axis=1)), logs.argmax(axis=1) == owners
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [abs(float(np.sum(confidence[bins == b]) - np.sum(right[bins == b]))) for b in range(10)]
    return sum(gaps) / len(owners)


def to_json(fusion: Fusion, parts: tuple[str, ...]) -> dict[str, Any]:
    """Return the fusion with four significant digits."""

    def rounded(values: Floats) -> Any:
        if values.ndim > 1:
            return [rounded(row) for row in values]
        return [float(f"{value:.4g}") for value in values]

    return {
        "parts": list(parts),
        "sizes": fusion.sizes.tolist(),
        "weights": rounded(fusion.weights),
        "usual": rounded(fusion.usual),
        "background": rounded(fusion.background),
        "temperature": float(f"{fusion.temperature:.3g}"),
        "floor": float(f"{fusion.floor:.3g}"),
    }


def bioeye(data: Path, task: str, piece_s: int | None, kept: Path) -> Gathered:
    """Return the scanpaths of whole recordings, or of pieces that are detected anew."""
    name = task if piece_s is None else f"{task}{piece_s}"

    def make() -> Gathered:
        with (
            tempfile.TemporaryDirectory() as folder,
            np.load(data / f"bioeye2015_{task}.npz") as recordings,
        ):
            return gather(write_tables(recordings, Path(folder), piece_s))

    return remembered(kept / f"{name}.pkl", make)


def remembered(path: Path, make: Callable[[], Gathered]) -> Gathered:
    """Return what is in a file, or make it and write the file."""
    if not path.exists():
        path.write_bytes(pickle.dumps(make()))
    found: Gathered = pickle.loads(path.read_bytes())
    return found


def write_tables(recordings: Any, folder: Path, piece_s: int | None) -> Path:
    """Write each recording (or each of its pieces) as a sample table of a corpus."""
    entries = []
    for key in sorted(recordings.files):
        person, session = key.rsplit("_", 1)
        samples = recordings[key]
        n = len(samples) if piece_s is None else piece_s * RATE_HZ
        for number, first in enumerate(range(0, len(samples) - int(0.9 * n) + 1, n)):
            lines = ["t_ms,x_deg,y_deg"]
            for i, (x, y) in enumerate(samples[first : first + n]):
                gaze = "," if LOST in (x, y) else f"{x / 1000:.3f},{y / 1000:.3f}"
                lines.append(f"{i * 1000 // RATE_HZ},{gaze}")
            path = folder / f"{person}_{session}_{number}.csv"
            path.write_text("\n".join(lines) + "\n")
            entries.append(CorpusEntry(path, person, session))
    write_corpus_csv(entries, folder)
    return folder


if __name__ == "__main__":
    main()
