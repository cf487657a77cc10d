import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.features.turns import Turn, turn_between, turns

component = st.floats(-40, 40).map(lambda v: round(v, 3))


@pytest.mark.parametrize(
    ("displacement", "turn"),
    [
        ((1, 0), Turn.MAINTAIN),
        ((1, 1), Turn.MAINTAIN),  # exactly +45°
        ((1, -1), Turn.MAINTAIN),  # exactly -45°
        ((1, 1.0000001), Turn.RIGHT),  # y grows downwards: clockwise is down
        ((1, -1.0000001), Turn.LEFT),
        ((0, 1), Turn.RIGHT),
        ((0, -1), Turn.LEFT),
        ((-1, 1), Turn.REVERSE),  # exactly 135°
        ((-1, -1), Turn.REVERSE),
        ((-1, 1.0000001), Turn.RIGHT),
        ((-1, -1.0000001), Turn.LEFT),
        ((-1, 0), Turn.REVERSE),
        ((0, 0), Turn.NONE),
        ((np.nan, 1), Turn.NONE),
    ],
)
def test_turns_after_a_rightward_saccade(displacement, turn):
    assert turn_between(1, 0, *displacement) == turn


@given(component, component, component, component)
def test_a_quarter_turn_of_both_changes_nothing(ax, ay, bx, by):
    assert turn_between(ax, ay, bx, by) == turn_between(-ay, ax, -by, bx)


@given(component, component, component, component)
def test_a_mirror_swaps_left_and_right(ax, ay, bx, by):
    mirrored = {Turn.LEFT: Turn.RIGHT, Turn.RIGHT: Turn.LEFT}
    turn = turn_between(ax, ay, bx, by)
    assert turn_between(-ax, ay, -bx, by) == mirrored.get(turn, turn)


def test_the_first_of_a_chain_has_no_turn():
    dx, dy = np.array([1.0, 1, 1, 1]), np.zeros(4)
    follows = np.array([True, True, False, True])
    assert turns(dx, dy, follows).tolist() == [-1, 0, -1, 0]
