"""Our ASC reader agrees with MNE and pymovements on mutants; `make fuzz` tries more of them."""

from __future__ import annotations

import warnings
from pathlib import Path

from .peers import disagreements, mutant

N_MUTANTS = 25


def test_mutants_are_read_alike(tmp_path: Path) -> None:
    n_comparisons = 0
    for number in range(N_MUTANTS):
        path, changes = mutant(tmp_path, number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the peers' own
            n_read, found = disagreements(path)
        assert found == [], changes
        n_comparisons += n_read
    assert n_comparisons > N_MUTANTS
