"""Grid search of hyper-parameters."""

from __future__ import annotations

import math

from gazelive.identification.hyperparameters import Grid

GRID = Grid({"cost": (0.1, 1.0, 10.0), "ridge": (0.0, 1.0)}, {"cost": 1.0, "ridge": 0.5})


def test_the_point_of_least_loss_is_chosen() -> None:
    chosen = GRID.choose(lambda at: abs(at["cost"] - 9) + at["ridge"], search=True)
    assert chosen == {"cost": 10.0, "ridge": 0.0}


def test_the_first_of_equals_is_chosen() -> None:
    assert GRID.choose(lambda _: 1.0, search=True) == {"cost": 0.1, "ridge": 0.0}


def test_where_no_unit_can_be_held_out_the_defaults_are_used() -> None:
    assert GRID.choose(lambda _: math.inf, search=True) == {"cost": 1.0, "ridge": 0.5}


def test_without_a_search_nothing_is_fitted() -> None:
    def never(_: object) -> float:
        raise AssertionError

    assert GRID.choose(never, search=False) == {"cost": 1.0, "ridge": 0.5}
