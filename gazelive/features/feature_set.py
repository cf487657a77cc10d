"""Feature sets of models: the type of a saccade, and features computed from its row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from gazelive.errors import ModelError
from gazelive.features import feature_set_kernels as kernels
from gazelive.features.feature_set_kernels import N_CONSTANTS, Operation, Typing
from gazelive.features.scanpath import COLUMN_NAMES, LATE_COLUMN
from gazelive.gaze import Floats, Integers, SingleFloats

_NUMBER_OF = {name: number for number, name in enumerate(COLUMN_NAMES)}
_VECTORS = {"dx_deg", "previous_dx_deg"}
"""Columns that a column of y follows."""


class Feature(msgspec.Struct, frozen=True, kw_only=True):
    """One feature: an operation on one or two columns of a scanpath's row."""

    name: str
    a: str
    b: str | None = None
    operation: str = "positive"
    signed: bool = False
    """A Gaussian is fitted to signed features, a gamma to those above 0."""
    constants: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for column in (self.a, self.b):
            if column is not None and column not in _NUMBER_OF:
                raise ModelError(f"feature {self.name}: scanpaths have no column {column}")
        if self.operation.upper() not in Operation.__members__:
            raise ModelError(f"feature {self.name}: there is no operation {self.operation}")
        operation = Operation[self.operation.upper()]
        if operation not in (Operation.COPY, Operation.POSITIVE) and self.b is None:
            raise ModelError(f"feature {self.name}: {self.operation} takes two columns")
        if operation is Operation.LENGTH_RATIO and not {self.a, self.b} <= _VECTORS:
            raise ModelError(
                f"feature {self.name}: {self.operation} takes two of {', '.join(sorted(_VECTORS))}"
            )
        n_constants = N_CONSTANTS if operation is Operation.VIGOR else 0
        if len(self.constants) != n_constants:
            raise ModelError(f"feature {self.name}: {self.operation} takes {n_constants} constants")
        if operation is Operation.VIGOR and not self.constants[0] > 0:
            raise ModelError(f"feature {self.name}: the rate of a vigor must be above 0")


class TypeRule(msgspec.Struct, frozen=True, kw_only=True):
    """Criterion for a saccade's type; `edges` cut the values of `column` into types."""

    kind: str
    column: str | None = None
    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.kind.upper() not in Typing.__members__:
            raise ModelError(f"there is no typing of saccades by {self.kind}")
        if (self.kind == "edges") != (self.column is not None):
            raise ModelError("a typing by edges, and no other, names a column")
        if self.column is not None and self.column not in _NUMBER_OF:
            raise ModelError(f"typing by edges: scanpaths have no column {self.column}")

    @property
    def n_types(self) -> int:
        """Number of types."""
        return _N_TYPES.get(self.kind, len(self.edges) + 1)

    @property
    def compiled(self) -> tuple[int, int, Floats]:
        """Arguments for the kernels."""
        column = 0 if self.column is None else _NUMBER_OF[self.column]
        return int(Typing[self.kind.upper()]), column, np.array(self.edges, np.float64)


TURNS = TypeRule(kind="turn")
DIRECTIONS = TypeRule(kind="direction")
DIRECTIONS_AND_SIZES = TypeRule(kind="direction_and_size")
EIGHT_DIRECTIONS = TypeRule(kind="eight_directions")
ALL_ALIKE = TypeRule(kind="one")
_N_TYPES = {"turn": 4, "direction": 4, "direction_and_size": 12, "eight_directions": 8, "one": 1}


class FeatureSet:
    """Types and features, compiled for the kernels."""

    def __init__(self, types: TypeRule, features: Iterable[Feature] = ()) -> None:
        self.type_rule = types
        self.features = tuple(features)
        self.n_types = types.n_types
        self.compiled_types = types.compiled
        operations = [Operation[f.operation.upper()] for f in self.features]
        self.operations = np.array(operations, np.int64)
        self.a_columns = np.array([_NUMBER_OF[f.a] for f in self.features], np.int64)
        self.b_columns = np.array([_NUMBER_OF[f.b or f.a] for f in self.features], np.int64)
        self.signed = np.array([f.signed for f in self.features], bool)
        self.positive = self.operations != Operation.COPY
        """True if a feature is masked where it is not above 0."""
        self.late = (self.a_columns == LATE_COLUMN) | (self.b_columns == LATE_COLUMN)
        """True if a feature is known only when the next saccade is."""
        self.constants = np.zeros((len(self.features), N_CONSTANTS))
        for own, feature in zip(self.constants, self.features, strict=True):
            own[: len(feature.constants)] = feature.constants
        self.compiled = (self.operations, self.a_columns, self.b_columns, self.constants)
        """Arguments for the kernels."""
        if types.column is not None and _NUMBER_OF[types.column] == LATE_COLUMN:
            raise ModelError("a saccade's type must be known at once")

    def types(self, rows: SingleFloats) -> Integers:
        """Return the type of each row, −1 where it has none."""
        out = np.empty(len(rows), np.int64)
        kernels.all_types(rows, *self.compiled_types, out)
        return out

    def values(self, rows: SingleFloats) -> Floats:
        """Return the features of each row, shape (n, features), NaN where masked."""
        out = np.empty((len(rows), len(self.features)))
        kernels.all_values(rows, *self.compiled, out)
        return out

    def to_json(self) -> dict[str, object]:
        """Return the feature set as a manifest stores it."""
        return {
            "types": msgspec.to_builtins(self.type_rule),
            "features": msgspec.to_builtins(self.features),
        }

    @classmethod
    def from_json(cls, content: dict[str, object]) -> FeatureSet:
        """Return the feature set that a manifest stores."""
        try:
            types = msgspec.convert(content["types"], TypeRule)
            return cls(types, msgspec.convert(content["features"], tuple[Feature, ...]))
        except (KeyError, msgspec.ValidationError) as error:
            raise ModelError(f"the model's features cannot be read: {error}") from error


def copied(names: Sequence[str], *, signed: bool = False) -> list[Feature]:
    """Return features that are columns as they are (unsigned ones where they are above 0)."""
    operation = "copy" if signed else "positive"
    return [Feature(name=name, a=name, operation=operation, signed=signed) for name in names]
