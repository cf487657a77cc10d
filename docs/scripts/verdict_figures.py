"""Measure `gazelive`'s verdict on people who did not teach it, for the table in `docs/study.md`.

    python docs/scripts/verdict_figures.py CORPORA [--cache FOLDER] [--seed 1]

The galleries are those of `ship_strangers.py`, drawn anew: half of BioEye's people teach how
profiles vary, a quarter is enrolled in one session and a quarter are strangers; of SAVAM half are
enrolled. `shipped_strangers.json` is used as it is: it was learned from other draws of the same
people. It prints rank-1 accuracy, enrolled people missed (FNIR) where 1 % of strangers are
accepted, strangers accepted and enrolled people not accepted at `--far 0.01`, and the ECE of
posterior and stranger.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from ship_profiles import TASKS, learned, read
from ship_strangers import trials_of

from gazelive.evaluation.measures import calibration_error, detection_errors, missed_at
from gazelive.identification import Options, Terms, fit_method
from gazelive.identification.methods import gazelive_samples

RATE = 0.01
MIXED = Terms(stranger_prior=0.5, false_acceptance_rate=RATE, repeated=False)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        data = {name: read(arguments.corpora, name, cache) for name in (*TASKS, "savam")}
    found: dict[str, list[tuple[bool, bool, bool, float, float, int]]] = {}
    for number, trial in enumerate(trials_of(data, "samples", arguments.seed)):
        _, variation = learned([data[task].whole for task in TASKS], trial.others)
        setattr(gazelive_samples, "shipped_variation", lambda _, v=variation: v)  # noqa: B010
        identifier = fit_method("gazelive", trial.training, Options()).identifier
        names = identifier.viewer_ids
        for length, viewer, paths in trial.probes:
            probe = identifier.probe(terms=MIXED)
            for path in paths:
                probe.begin(path.image)
                probe.settle(path)
            estimate = probe.estimate()
            assert estimate.log_unknown is not None
            confidence = float(np.exp(estimate.log_probabilities.max()))
            is_right = names[estimate.best] == viewer
            entry = (viewer in names, is_right, bool(estimate.accepted), confidence)
            found.setdefault(f"{trial.name} {length}", []).append(
                (*entry, estimate.log_unknown, number)
            )
    for cell, entries in found.items():
        known, right, accepted = (np.array([entry[i] for entry in entries]) for i in range(3))
        claimed, unknown, gallery = (np.array([e[i] for e in entries]) for i in range(3, 6))
        missed = []
        for one in np.unique(gallery):
            mated, strange = known & (gallery == one), ~known & (gallery == one)
            _, fpir, fnir = detection_errors(-unknown[mated], right[mated], -unknown[strange])
            missed.append(missed_at(fpir, fnir, RATE))
        print(
            f"{cell}: rank-1 {right[known].mean():.3f}, FNIR at 1 % {np.mean(missed):.3f}, "
            f"strangers accepted {accepted[~known].mean():.3f}, "
            f"enrolled not accepted {1 - (accepted & right)[known].mean():.3f}, "
            f"ECE posterior {calibration_error(claimed[known], right[known]):.3f}, "
            f"stranger {calibration_error(np.exp(unknown), ~known):.3f} "
            f"(n = {known.sum()} + {(~known).sum()})",
            flush=True,
        )


if __name__ == "__main__":
    main()
