"""SIGKILL of every combination of a session's processes; `make soak` does it ten times as often."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path

import pytest

from ..support.kills import COMBINATIONS, KILLS_PER_ROUND, killer_on_screen, plans, run_kills

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
    pytest.mark.skipif(
        importlib.util.find_spec("psychopy") is None,
        reason="PsychoPy is not installed (extra `experiment`)",
    ),
]


@pytest.mark.parametrize("n_kills", [20, 200])
def test_a_round_has_every_combination(n_kills: int) -> None:
    made = plans(n_kills, 0)
    kills = [kill.who for plan in made for kill in plan.kills]
    assert len(kills) == n_kills
    assert set(kills) == set(COMBINATIONS)


def test_what_was_acknowledged_outlives_any_process(tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)  # follows from the order's seed
    print(f"kills with seed {seed}")
    with killer_on_screen(tmp_path) as killer:
        if killer is None:
            pytest.skip("Xvfb is not installed, or does not start")
        outcomes = run_kills(killer, plans(KILLS_PER_ROUND, seed), print)
    assert sum(outcome.n_settled for outcome in outcomes) > 0
