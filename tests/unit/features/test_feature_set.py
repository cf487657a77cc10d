"""Types and features of a saccade: compiled = plain Python, and what makes no sense is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ModelError
from gazelive.features.feature_set import (
    ALL_ALIKE,
    DIRECTIONS,
    DIRECTIONS_AND_SIZES,
    EIGHT_DIRECTIONS,
    TURNS,
    Feature,
    FeatureSet,
    TypeRule,
    copied,
)
from gazelive.features.feature_set_kernels import Operation, Typing
from gazelive.features.scanpath import COLUMN_NAMES, N_COLUMNS, Column

numbers = st.one_of(
    st.just(math.nan),
    st.floats(-50, 50, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x),
    st.just(0.0),
)


def row_of(**columns):
    row = np.full((1, N_COLUMNS), np.nan, np.float32)
    for name, value in columns.items():
        row[0, COLUMN_NAMES.index(name)] = value
    return row


def feature(operation, **more):
    return Feature(name="f", operation=operation, **({"a": "dx_deg", "b": "dy_deg"} | more))


def value(operation, a, b, **more):
    features = FeatureSet(ALL_ALIKE, [feature(operation, **more)])
    return float(features.values(row_of(dx_deg=a, dy_deg=b))[0, 0])


def same(found, expected):
    return (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(
        expected, rel=1e-6
    )


class TestValues:
    @given(a=numbers, b=numbers)
    def test_of_one_and_two_columns(self, a, b):
        a, b = float(np.float32(a)), float(np.float32(b))
        nan = math.nan
        assert same(value("copy", a, b), a)
        assert same(value("positive", a, b), a if a > 0 else nan)
        assert same(value("ratio", a, b), a / b if a > 0 and b > 0 else nan)
        saturation = -math.expm1(-abs(b) / 6) if not math.isnan(b) else nan
        vigor = a / saturation if a > 0 and saturation > 0 else nan
        assert same(value("vigor", a, b, constants=(6.0,)), vigor)

    @given(x=numbers, y=numbers, before_x=numbers, before_y=numbers)
    def test_of_displacements(self, x, y, before_x, before_y):
        row = row_of(dx_deg=x, dy_deg=y, previous_dx_deg=before_x, previous_dy_deg=before_y)
        features = FeatureSet(ALL_ALIKE, [feature("length_ratio", b="previous_dx_deg")])
        found = float(features.values(row)[0, 0])
        now, before = (complex(*row[0, c : c + 2]) for c in (Column.DX_DEG, Column.PREVIOUS_DX_DEG))
        if not (abs(now) > 0 and abs(before) > 0):
            assert math.isnan(found)
        else:
            assert found == pytest.approx(abs(now) / abs(before), rel=1e-5)

    def test_copied_columns(self):
        row = row_of(dx_deg=-2.0, amplitude_deg=3.0)
        names = ["dx_deg", "amplitude_deg"]
        np.testing.assert_array_equal(
            FeatureSet(ALL_ALIKE, copied(names, signed=True)).values(row), [[-2, 3]]
        )
        np.testing.assert_array_equal(
            FeatureSet(ALL_ALIKE, copied(names)).values(row), [[np.nan, 3]]
        )


class TestTypes:
    @given(x=numbers, y=numbers)
    def test_directions(self, x, y):
        row = row_of(dx_deg=x, dy_deg=y)
        x, y = float(row[0, Column.DX_DEG]), float(row[0, Column.DY_DEG])
        rules = (DIRECTIONS, EIGHT_DIRECTIONS, DIRECTIONS_AND_SIZES)
        four, eight, twelve = (int(FeatureSet(rule).types(row)[0]) for rule in rules)
        if math.isnan(x) or math.isnan(y) or (x == 0 and y == 0):
            assert four == eight == twelve == -1
            return
        angle = math.degrees(math.atan2(y, x)) % 360  # clockwise as seen: y grows downwards
        for found, n in ((four, 4), (eight, 8)):
            away = (angle - found * 360 / n + 180) % 360 - 180
            assert abs(away) <= 180 / n + 1e-4
        size = math.hypot(x, y)
        assert twelve // 3 == four
        assert twelve % 3 == (0 if size < 1.5 else 1 if size < 6 else 2)

    @pytest.mark.parametrize(
        ("x", "y", "four", "eight"),
        [(1, 0, 0, 0), (0, 1, 1, 2), (-1, 0, 2, 4), (0, -1, 3, 6), (1, 1, 0, 1), (-1, -1, 2, 5)],
    )
    def test_right_is_0_and_they_go_clockwise(self, x, y, four, eight):
        row = row_of(dx_deg=x, dy_deg=y)
        assert FeatureSet(DIRECTIONS).types(row)[0] == four
        assert FeatureSet(EIGHT_DIRECTIONS).types(row)[0] == eight

    @pytest.mark.parametrize("turn", [-1, 0, 1, 2, 3, np.nan])
    def test_turns(self, turn):
        found = FeatureSet(TURNS).types(row_of(turn=turn))[0]
        assert found == (-1 if np.isnan(turn) else turn)

    @given(x=numbers, edges=st.lists(st.floats(-20, 20), max_size=5, unique=True).map(sorted))
    def test_edges(self, x, edges):
        rule = TypeRule(kind="edges", column="dx_deg", edges=tuple(edges))
        row = row_of(dx_deg=x)
        found = FeatureSet(rule).types(row)[0]
        x = float(row[0, Column.DX_DEG])
        expected = -1 if math.isnan(x) else sum(x >= edge for edge in edges)
        assert found == expected
        assert rule.n_types == len(edges) + 1

    def test_all_alike(self):
        assert FeatureSet(ALL_ALIKE).types(row_of())[0] == 0


class TestLateFeatures:
    def test_features_of_the_next_fixation_are_late(self):
        features = FeatureSet(
            TURNS,
            [
                Feature(name="a", a="amplitude_deg"),
                Feature(name="b", a="next_fixation_s"),
                Feature(name="c", a="next_fixation_s", b="previous_fixation_s", operation="ratio"),
                Feature(name="d", a="previous_fixation_s", b="next_fixation_s", operation="ratio"),
            ],
        )
        assert features.late.tolist() == [False, True, True, True]

    def test_a_type_must_be_known_at_once(self):
        with pytest.raises(ModelError, match="known at once"):
            FeatureSet(TypeRule(kind="edges", column="next_fixation_s", edges=(0.3,)))


class TestJson:
    def test_there_and_back(self):
        features = FeatureSet(
            TypeRule(kind="edges", column="amplitude_deg", edges=(1.0, 2.5)),
            [feature("vigor", constants=(6.5,)), feature("copy", signed=True)],
        )
        again = FeatureSet.from_json(features.to_json())
        assert again.type_rule == features.type_rule
        assert again.features == features.features
        rows = np.random.default_rng(0).gamma(2, 2, (50, N_COLUMNS)).astype(np.float32)
        np.testing.assert_array_equal(again.values(rows), features.values(rows))
        np.testing.assert_array_equal(again.types(rows), features.types(rows))

    @pytest.mark.parametrize(
        "content", [{}, {"types": {"kind": "turn"}}, {"types": 3, "features": []}]
    )
    def test_unreadable_features_are_refused(self, content):
        with pytest.raises(ModelError, match="features cannot be read"):
            FeatureSet.from_json(content)


class TestRefused:
    def test_columns_and_operations_that_are_not_there(self):
        with pytest.raises(ModelError, match=r"f: .*no column mood"):
            feature("copy", a="mood")
        with pytest.raises(ModelError, match=r"f: .*no column mood"):
            feature("ratio", b="mood")
        with pytest.raises(ModelError, match="no operation guess"):
            feature("guess")

    def test_typings_that_make_no_sense(self):
        with pytest.raises(ModelError, match=r"typing .*mood"):
            TypeRule(kind="mood")
        with pytest.raises(ModelError, match=r"by edges, .*column"):
            TypeRule(kind="turn", column="dx_deg")
        with pytest.raises(ModelError, match=r"by edges, .*column"):
            TypeRule(kind="edges", edges=(1.0,))
        with pytest.raises(ModelError, match="no column mood"):
            TypeRule(kind="edges", column="mood")

    @pytest.mark.parametrize(
        ("operation", "more"),
        [
            ("vigor", {}),
            ("vigor", {"constants": (0.0,)}),
            ("ratio", {"b": None}),
            ("length_ratio", {"a": COLUMN_NAMES[-1]}),
            ("length_ratio", {"b": "dy_deg"}),
            ("ratio", {"constants": (1.0,)}),
            ("vigor", {"constants": (1.0, 1.0)}),
        ],
    )
    def test_operations_without_their_columns_are_refused(self, operation, more):
        with pytest.raises(ModelError, match="feature f:"):
            feature(operation, **more)


def test_the_kernels_numbers_are_the_enums():
    from gazelive.features import feature_set_kernels as kernels

    for enum, names in (
        (Operation, ("copy", "positive", "vigor", "length_ratio")),
        (Typing, ("turn", "direction", "direction_and_size", "eight_directions", "one")),
    ):
        for name in names:
            assert getattr(kernels, f"_{name.upper()}") == enum[name.upper()]
    assert (kernels._COLUMN_TURN, kernels._COLUMN_DX, kernels._COLUMN_DY) == (
        Column.TURN,
        Column.DX_DEG,
        Column.DY_DEG,
    )
