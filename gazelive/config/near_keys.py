"""Which key was probably meant by one that does not exist."""

from __future__ import annotations

import difflib
from typing import NamedTuple

import msgspec

from gazelive.config.expectations import LARGEST
from gazelive.config.schema import ExperimentConfig


class Unit(NamedTuple):
    """A unit that the name of a key ends in."""

    name: str
    dimension: str
    size: float


UNITS = {
    "s": Unit("seconds", "time", 1),
    "ms": Unit("milliseconds", "time", 0.001),
    "us": Unit("microseconds", "time", 1e-6),
    "min": Unit("minutes", "time", 60),
    "mm": Unit("millimetres", "length", 1),
    "cm": Unit("centimetres", "length", 10),
    "m": Unit("metres", "length", 1000),
    "in": Unit("inches", "length", 25.4),
    "inch": Unit("inches", "length", 25.4),
    "px": Unit("pixels", "pixels", 1),
    "deg": Unit("degrees of visual angle", "angle", 1),
    "hz": Unit("times a second", "rate", 1),
    "khz": Unit("thousands a second", "rate", 1000),
}
MIN_LIKENESS = 0.6


def table_fields(table: str) -> tuple[str, ...]:
    """Return the names that stand directly in `table`; "" is the top of the file."""
    if not table:
        return ExperimentConfig.__struct_fields__
    return tables()[table].__struct_fields__


def tables() -> dict[str, type[msgspec.Struct]]:
    """Return the Struct of each table of the file."""
    return {
        field.name: field.type
        for field in msgspec.structs.fields(ExperimentConfig)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
    }


def unknown_key(table: str, name: str, value: object) -> str:
    """Return the sentence about a key that does not exist."""
    meant = _same_but_unit(table, name, value) or _elsewhere(table, name) or _alike(table, name)
    what = "unknown table" if isinstance(value, dict) and not table else "unknown key"
    return f"{what}; {meant}" if meant else f"{what}; {_what_there_is(table)}"


def _same_but_unit(table: str, name: str, value: object) -> str:
    """Return the hint if keys of the same name have another unit (or this one has none)."""
    stem, unit = split_unit(name)
    same = {
        known: known_unit
        for known in table_fields(table)
        for known_stem, known_unit in [split_unit(known)]
        if known_unit is not None and known_stem == stem.casefold()
    }
    alike = {
        known: each for known, each in same.items() if unit and each.dimension == unit.dimension
    }
    if not same:
        return ""
    if unit is None or not alike:
        places = (f"{dotted(table, known)}, in {each.name}" for known, each in same.items())
        return f"did you mean {', or '.join(places)}?"
    known, known_unit = next(iter(alike.items()))
    hint = f"did you mean {dotted(table, known)}, in {known_unit.name}?"
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST:
        hint += f" Then write {known} = {value * unit.size / known_unit.size:.6g}"
    return hint


def split_unit(name: str) -> tuple[str, Unit | None]:
    """Return the name without its unit, and the unit if there is one."""
    stem, _, ending = name.rpartition("_")
    unit = UNITS.get(ending.casefold()) if stem else None
    return (stem, unit) if unit else (name, None)


def _elsewhere(table: str, name: str) -> str:
    """Return the hint if other tables have that key."""
    places = [
        f"{other}.{name}" for other, struct in tables().items() if name in struct.__struct_fields__
    ]
    if table and name in ExperimentConfig.__struct_fields__:
        places = [f"{name} at the top of the file" if name not in tables() else f"[{name}]"]
    return f"did you mean {' or '.join(places)}?" if places else ""


def _alike(table: str, name: str) -> str:
    """Return the hint on the key that is spelt most like it, here or else in any table."""
    near = difflib.get_close_matches(name.casefold(), table_fields(table), 1, MIN_LIKENESS)
    if near:
        return f"did you mean {dotted(table, near[0])}?"
    everywhere = {
        known: f"{other}.{known}"
        for other, struct in tables().items()
        for known in struct.__struct_fields__
    }
    near = difflib.get_close_matches(name.casefold(), everywhere, 1, MIN_LIKENESS)
    return f"did you mean {everywhere[near[0]]}?" if near else ""


def _what_there_is(table: str) -> str:
    where = f"[{table}] has" if table else "there are"
    return f"{where} {', '.join(table_fields(table))}"


def dotted(table: str, name: str) -> str:
    """Return the whole name of a key."""
    return f"{table}.{name}" if table else name
