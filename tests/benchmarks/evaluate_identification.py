"""Accuracy of the methods on real people, by the protocols of docs/results.md.

    python tests/benchmarks/evaluate_identification.py [--data DIR] [--json OUT] [--splits 8]
        [--methods gazelive,fisher-markov-dynamics,…] [--only bioeye|osie|simulated]
        [--simulated CORPUS]

BioEye 2015 (77 persons, two sessions): enrol in one session, probe the other, both ways; whole
recordings and 20 s pieces that are detected anew. OSIE (15 viewers, 500 images, fixations only):
half of the images (or 100) enrol, groups of the other half are probed. A simulated corpus (made by
`gazelive simulate CORPUS --viewers 32 --images 80 --pool 160`) is split along its images in the
same way; one of two sessions (`--viewers 77 --sessions 2 --images 12 --pool 40 --rate 250`) is
evaluated by BioEye's protocol, to be read beside the real rows. Everything goes the way of the
commands: tables on disk → gather → fit → identify.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from gazelive.identification import TrainingSet, fit_method, method_names, training_set
from gazelive.recordings.corpus import CorpusEntry, write_corpus_csv
from gazelive.recordings.geometry import parse_geometry
from gazelive.workflows.gathering import gather
from gazelive.workflows.probes import Gathered

LOST, RATE_HZ = -32768, 250
PIECE_S = 20
GROUPS = (1, 2, 3, 5, 10, 20)
DRAWS = 300


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    default = Path(__file__).parents[3] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("GAZELIVE_DATA", default)))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--methods", default=",".join(method_names()))
    parser.add_argument("--only", choices=("bioeye", "osie", "simulated"))
    parser.add_argument("--simulated", type=Path)
    arguments = parser.parse_args()
    methods = arguments.methods.split(",")
    results: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        if arguments.only in (None, "bioeye"):
            for task in ("RAN", "TEX"):
                results[task] = bioeye(arguments.data / "identity", task, Path(folder), methods)
        if arguments.only in (None, "osie"):
            table = arguments.data / "identity" / "osie_fixations.csv.gz"
            gathered = gather(table, flags=parse_geometry("800x600", "345x256", "570"))
            for n_training in (250, 100):
                results[f"OSIE {n_training}"] = free_viewing(
                    gathered, methods, arguments.splits, n_training, 250
                )
        if arguments.simulated is not None:
            gathered = gather(arguments.simulated)
            if len({probe.session for probe in gathered.probes}) > 1:
                results["simulated"] = across_sessions("simulated", {"whole": gathered}, methods)
            else:
                n_half = len(images_of(gathered)) // 2
                results["simulated"] = free_viewing(
                    gathered, methods, arguments.splits, n_half, n_half
                )
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(results, indent=2))


def bioeye(data: Path, task: str, folder: Path, methods: Iterable[str]) -> list[dict[str, object]]:
    recordings = np.load(data / f"bioeye2015_{task}.npz")
    whole = gather(write_tables(recordings, folder / task, None))
    pieces = gather(write_tables(recordings, folder / f"{task}-pieces", PIECE_S))
    return across_sessions(task, {"whole": whole, "20 s": pieces}, methods)


def across_sessions(
    task: str, probes_of: dict[str, Gathered], methods: Iterable[str]
) -> list[dict[str, object]]:
    """Enrol in one session from whole recordings, probe the other; both ways."""
    rows = []
    for method in methods:
        for enrolled, probed in (("1", "2"), ("2", "1")):
            training = labelled(probes_of["whole"], enrolled)
            started = time.perf_counter()
            identifier = fit_method(method, training).identifier
            seconds = time.perf_counter() - started
            row: dict[str, object] = {"method": method, "task": task, "enrolled": enrolled}
            for name, probes in probes_of.items():
                logs, truth, unknown = posteriors(identifier, probes, probed, training.viewer_ids)
                row[name] = measures(logs, truth) | {"refused": float(np.mean(unknown > 0.5))}
            rows.append(row | {"fit_s": round(seconds, 2)})
            print(
                f"{task} {enrolled}→{probed} {method:24s} "
                + "  |  ".join(
                    f"{name}: " + " ".join(f"{k} {v:.3f}" for k, v in row[name].items())
                    for name in probes_of
                )
                + f"  fit {seconds:.1f} s",
                flush=True,
            )
    return rows


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


def labelled(gathered: Gathered, session: str) -> TrainingSet:
    return training_set(
        gathered.kind,
        [
            (p.viewer, p.session, s)
            for p in gathered.probes
            if p.session == session
            for s in p.scanpaths
        ],
    )


def posteriors(identifier, gathered, session, viewer_ids):
    """Return log posteriors (probes, viewers), who each was, and p(unknown)."""
    logs, truth, unknown = [], [], []
    for probe in gathered.probes:
        if probe.session != session or probe.n_saccades < 3:
            continue
        person = identifier.probe()
        for path in probe.scanpaths:
            person.begin(path.image)
            person.settle(path)
        estimate = person.estimate()
        logs.append(estimate.log_probabilities)
        unknown.append(np.exp(estimate.log_unknown))
        truth.append(viewer_ids.index(probe.viewer))
    return np.array(logs), np.array(truth), np.array(unknown)


def measures(logs: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return rank-1 with its standard error, EER and ECE (top label, 10 equal bins)."""
    right = logs.argmax(axis=1) == truth
    own = np.zeros(logs.shape, bool)
    own[np.arange(len(truth)), truth] = True
    return {
        "rank-1": float(right.mean()),
        "SE": float(np.sqrt(right.mean() * (1 - right.mean()) / len(right))),
        "EER": equal_error_rate(logs[own], logs[~own]),
        "ECE": calibration_error(np.exp(logs.max(axis=1)), right),
        "n": len(right),
    }


def equal_error_rate(genuine: np.ndarray, impostor: np.ndarray) -> float:
    genuine, impostor = np.sort(genuine), np.sort(impostor)
    at = np.concatenate((genuine, impostor))
    missed = np.searchsorted(genuine, at) / len(genuine)
    accepted = 1 - np.searchsorted(impostor, at) / len(impostor)
    best = np.argmin(np.abs(missed - accepted))
    return float((missed[best] + accepted[best]) / 2)


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    bins = np.minimum((confidence * 10).astype(int), 9)
    return float(
        sum(
            np.mean(bins == b) * abs(confidence[bins == b].mean() - right[bins == b].mean())
            for b in np.unique(bins)
        )
    )


def images_of(gathered: Gathered) -> list[str]:
    return sorted({s.image for p in gathered.probes for s in p.scanpaths})


def free_viewing(
    gathered: Gathered, methods: Iterable[str], n_splits: int, n_training: int, n_test: int
) -> list[dict[str, object]]:
    rows = []
    images = images_of(gathered)
    for method in methods:
        if method not in method_names(gathered.kind):
            continue
        splits = [
            split_images(gathered, images, method, n_training, n_test, seed)
            for seed in range(n_splits)
        ]
        row: dict[str, object] = {"method": method, "training_images": n_training}
        for n in GROUPS:
            values = np.array([split[n][0] for split in splits])
            row[str(n)] = {
                "accuracy": float(values.mean()),
                "SE": float(values.std(ddof=1) / np.sqrt(n_splits)) if n_splits > 1 else None,
                "ECE": float(np.mean([split[n][1] for split in splits])),
            }
        rows.append(row)
        print(
            f"{gathered.kind} {n_training} {method:24s} "
            + "  ".join(
                f"{n}: " + " ".join(f"{k} {v:.3f}" for k, v in row[str(n)].items() if v is not None)
                for n in GROUPS
            ),
            flush=True,
        )
    return rows


def split_images(
    gathered, images, method, n_training, n_test, seed
) -> dict[int, tuple[float, float]]:
    """Return accuracy and ECE for groups of test images, split `seed`."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(images)
    train, test = set(order[:n_training]), set(order[-n_test:])
    training = training_set(
        gathered.kind,
        [
            (p.viewer, p.session, s)
            for p in gathered.probes
            for s in p.scanpaths
            if s.image in train
        ],
    )
    identifier = fit_method(method, training).identifier
    found = {}
    for probe in gathered.probes:
        logs = []
        for path in probe.scanpaths:
            if path.image in test:
                person = identifier.probe()
                person.begin(path.image)
                person.settle(path)
                logs.append(person.estimate().log_probabilities)
        found[training.viewer_ids.index(probe.viewer)] = np.array(logs)
    results = {}
    for n in GROUPS:
        right, confidence = [], []
        for viewer, logs in found.items():
            for _ in range(DRAWS):
                total = logs[rng.choice(len(logs), n, replace=False)].sum(axis=0)
                shares = np.exp(total - total.max())
                right.append(total.argmax() == viewer)
                confidence.append(shares.max() / shares.sum())
        results[n] = float(np.mean(right)), calibration_error(np.array(confidence), np.array(right))
    return results


if __name__ == "__main__":
    main()
