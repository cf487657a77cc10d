"""Every fuzz target, quickly: its seeds, and seeded mutations of them. `make fuzz` goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from .mutation import mutated
from .plans import PLANS, gazelive_modules

N_MUTATIONS = 200


@pytest.mark.parametrize("name", PLANS)
def test_nothing_but_refusals(name: str, tmp_path: Path) -> None:
    target = PLANS[name].load()
    try:
        seeds = target.seeds(tmp_path)
        for seed in seeds:
            target.try_input(seed, tmp_path)
        chance = random.Random(name)
        for _ in range(N_MUTATIONS):
            data = mutated(chance, seeds, target.tokens)
            try:
                target.try_input(data, tmp_path)
            except Exception as error:
                raise AssertionError(f"{name} fails on {data!r}") from error
    finally:
        target.close()


@pytest.mark.parametrize("name", PLANS)
def test_plans_name_modules(name: str) -> None:
    modules = gazelive_modules()
    for covered in PLANS[name].covers:
        assert any(f"{module}.".startswith(f"gazelive.{covered}.") for module in modules)
