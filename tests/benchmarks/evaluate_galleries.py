"""Calibration of `gazelive` in galleries of a lab: strangers, few viewers, short enrolment.

    python tests/benchmarks/evaluate_galleries.py [--data DIR] [--json OUT] [--draws 4]
        [--far 0.01] [--only strangers|few]

BioEye 2015, enrolled in one session and probed in the other, both ways and both tasks. The shipped
defaults (how strangers usually spread, how τ depends on enrolment) were learned on half A of its
people. Random galleries are drawn from half B, whom nothing was learned from; those that are too
large for that from everybody.

Strangers: the share of the people outside the gallery who pass for somebody, and of those inside
who are refused. Few viewers: how sure the best is and how often right, and ECE (top label, ten
bins), by the number of saccades that each viewer was enrolled with.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from gazelive.evaluation.measures import calibration_error
from gazelive.features.scanpath import Scanpath
from gazelive.identification import Estimate, Identifier, Options, Probe, fit_method, training_set
from gazelive.recordings.corpus import CorpusEntry, write_corpus_csv
from gazelive.workflows.gathering import gather
from gazelive.workflows.probes import Gathered

TASKS = ("RAN", "TEX")
BOTH_WAYS = (("1", "2"), ("2", "1"))
N_LEARNED = 38
SIZES = {"half B": (5, 10, 20, 28), "everybody": (38, 60)}
FEW = {2: 24, 3: 16, 5: 10, 10: 4}
"""Sizes of small galleries, and how many are drawn for each."""
ENROLLED_SACCADES = (20, 30, 60, 120, 1000)
SHORT_PROBE = 5
LOST, RATE_HZ, PIECE_S = -32768, 250, 20


class Corpus:
    """One task: whole recordings, and pieces of 20 s that were detected anew."""

    def __init__(self, task: str, data: Path, folder: Path) -> None:
        recordings = np.load(data / f"bioeye2015_{task}.npz")
        self.whole = gather(write_tables(recordings, folder / task, None))
        self.pieces = gather(write_tables(recordings, folder / f"{task}-pieces", PIECE_S))
        names = sorted({probe.viewer for probe in self.whole.probes})
        order = np.random.default_rng(7).permutation(names)
        self.people = {
            "half A": sorted(order[:N_LEARNED]),
            "half B": sorted(order[N_LEARNED:]),
            "everybody": names,
        }

    def fit(
        self, names: set[str], session: str, far: float, n_saccades: int | None = None
    ) -> Identifier:
        """Return an identifier trained on one session, or on its first saccades."""
        labelled = [
            (probe.viewer, session, path)
            for probe in of(self.whole, names, session)
            for path in cut(probe.scanpaths, n_saccades)
        ]
        training = training_set("samples", labelled)
        return fit_method("gazelive", training, Options(false_acceptance_rate=far)).identifier


def of(gathered: Gathered, names: set[str], session: str) -> Iterator[Probe]:
    return (p for p in gathered.probes if p.viewer in names and p.session == session)


def cut(paths: tuple[Scanpath, ...], n_saccades: int | None) -> list[Scanpath]:
    """Return the first `n_saccades` saccades."""
    if n_saccades is None:
        return list(paths)
    kept, left = [], n_saccades
    for path in paths:
        if left > 0:
            kept.append(replace(path, saccades=path.saccades[:left]))
            left -= path.n_saccades
    return kept


def estimate(identifier: Identifier, paths: list[Scanpath]) -> Estimate:
    person = identifier.probe()
    for path in paths:
        person.begin(path.image)
        person.settle(path)
    return person.estimate()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    default = Path(__file__).parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GAZELIVE_DATA", default)))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--far", type=float, default=0.01)
    parser.add_argument("--only", choices=("strangers", "few"))
    arguments = parser.parse_args()
    results: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data / "identity"
        corpora = [Corpus(task, data, Path(folder)) for task in TASKS]
        if arguments.only in (None, "strangers"):
            results["strangers"] = [
                strangers(corpora, people, n, arguments.draws, arguments.far)
                for people, sizes in SIZES.items()
                for n in sizes
            ]
        if arguments.only in (None, "few"):
            results["few"] = [
                few(corpora, n, n_saccades) for n in FEW for n_saccades in ENROLLED_SACCADES
            ]
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2))


def strangers(
    corpora: list[Corpus], people: str, n: int, draws: int, far: float
) -> dict[str, object]:
    """Return how many strangers pass and how many viewers are refused."""
    passed: dict[str, list[bool]] = {"whole": [], "20 s": []}
    refused: dict[str, list[bool]] = {"whole": [], "20 s": []}
    for draw in range(draws):
        rng = np.random.default_rng([draw, n])
        for corpus in corpora:
            names = corpus.people[people]
            for enrolled, probed in BOTH_WAYS:
                gallery = set(rng.permutation(names)[:n])
                identifier = corpus.fit(gallery, enrolled, far)
                for kind, probes in (("whole", corpus.whole), ("20 s", corpus.pieces)):
                    for probe in of(probes, set(names), probed):
                        found = estimate(identifier, list(probe.scanpaths))
                        is_unknown = found.log_unknown > np.log(0.5)
                        if probe.viewer in gallery:
                            refused[kind].append(is_unknown)
                        else:
                            passed[kind].append(not is_unknown)
    row: dict[str, object] = {"people": people, "enrolled": n}
    for kind, of_kind in passed.items():
        row[kind] = {
            "passed": float(np.mean(of_kind)),
            "n_strangers": len(of_kind),
            "refused": float(np.mean(refused[kind])),
        }
    print(row, flush=True)
    return row


def few(corpora: list[Corpus], n: int, n_saccades: int) -> dict[str, object]:
    """Return how sure and how right the best of a small gallery of half B is."""
    sure: dict[str, list[float]] = {}
    right: dict[str, list[bool]] = {}
    for draw in range(FEW[n]):
        rng = np.random.default_rng([draw, n, n_saccades])
        enrolled, probed = BOTH_WAYS[draw % 2]
        for corpus in corpora:
            gallery = set(rng.permutation(corpus.people["half B"])[:n])
            identifier = corpus.fit(gallery, enrolled, 0.01, n_saccades)
            probes = [("whole", p, None) for p in of(corpus.whole, gallery, probed)]
            for piece in of(corpus.pieces, gallery, probed):
                probes += [("20 s", piece, None), ("5 saccades", piece, SHORT_PROBE)]
            for kind, probe, length in probes:
                found = estimate(identifier, cut(probe.scanpaths, length))
                sure.setdefault(kind, []).append(float(np.exp(found.log_probabilities.max())))
                is_right = identifier.viewer_ids[found.best] == probe.viewer
                right.setdefault(kind, []).append(is_right)
    row: dict[str, object] = {"viewers": n, "enrolled_saccades": n_saccades}
    for kind, claimed in sure.items():
        row[kind] = {
            "right": float(np.mean(right[kind])),
            "claimed": float(np.mean(claimed)),
            "ECE": calibration_error(np.array(claimed), np.array(right[kind])),
            "n": len(right[kind]),
        }
    print(row, flush=True)
    return row


def write_tables(recordings: np.lib.npyio.NpzFile, folder: Path, piece_s: int | None) -> Path:
    """Write each recording (or each of its pieces) as a sample table of a corpus."""
    folder.mkdir()
    entries = []
    for key in sorted(recordings.files):
        person, session = key.rsplit("_", 1)
        samples = recordings[key]
        n = len(samples) if piece_s is None else piece_s * RATE_HZ
        for number, first in enumerate(range(0, len(samples) - int(0.9 * n) + 1, n)):
            piece = samples[first : first + n].astype(np.float64)
            piece[piece <= LOST] = np.nan
            path = folder / f"{person}_{session}_{number}.csv"
            lines = ["t_ms,x_deg,y_deg"]
            for i, (x, y) in enumerate(piece / 1000):
                lost = np.isnan(x) or np.isnan(y)
                lines.append(
                    f"{i * 1000 // RATE_HZ},," if lost else f"{i * 1000 // RATE_HZ},{x:.3f},{y:.3f}"
                )
            path.write_text("\n".join(lines) + "\n")
            entries.append(CorpusEntry(path, person, session))
    write_corpus_csv(entries, folder)
    return folder


if __name__ == "__main__":
    main()
