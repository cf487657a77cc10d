"""Messages about wrong keys and values: what is allowed, and what was probably meant."""

from __future__ import annotations

import difflib
import json
from typing import Any, Literal, NamedTuple, get_args, get_origin

import msgspec
from msgspec import inspect
from msgspec.structs import FieldInfo

from gazelive.experiment.config.schema import ExperimentConfig, dotted, table_fields, tables

PER_CENT = 100
LARGEST = 2**63
"""Limit of TOML integers; infinity and NaN are refused too."""


def value_error(value: object, field: FieldInfo) -> str | None:
    """Return what is wrong with a value for `field`; None if it is valid."""
    if isinstance(value, int | float) and not abs(value) < LARGEST:
        number = value if isinstance(value, float) else "a number that large"
        return f"must be {expected(field.type)}, not {number}"
    try:
        msgspec.convert(value, field.type)
    except msgspec.ValidationError:
        return f"must be {expected(field.type)}, not {toml_text(value)}{_hint(value, field.type)}"
    return None


def expected(field_type: Any) -> str:
    """Return what is allowed, such as "a whole number, 1 or more"."""
    values = choices(field_type)
    if values:
        return _one_of([toml_text(value) for value in values])
    kind = plain_type(field_type)
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.IntType):
        return "a whole number" + _bounds(kind)
    if isinstance(kind, inspect.FloatType):
        return "a number" + _bounds(kind)
    return "text in quotes"


def choices(field_type: Any) -> tuple[Any, ...]:
    """Return the choices of a key, in the schema's order; empty if any value is allowed."""
    if get_origin(field_type) is Literal:
        return get_args(field_type)
    return ()


def plain_type(field_type: Any) -> inspect.Type:
    """Return the type of a key without None and without its constraints' wrapper."""
    kind = inspect.type_info(field_type)
    if isinstance(kind, inspect.UnionType):
        kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def example(field_type: Any) -> object:
    """Return an example value of an optional key."""
    kind = inspect.type_info(field_type)
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    for member in members:
        if isinstance(member, inspect.Metadata) and member.extra_json_schema:
            return member.extra_json_schema["examples"][0]
    raise TypeError(f"an optional key needs an example: {field_type}")


def toml_text(value: object) -> str:
    """Return `value` as written in a TOML file."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, str | bool | int | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _hint(value: object, field_type: Any) -> str:
    """Return a hint on the value that was probably meant."""
    kind = plain_type(field_type)
    if isinstance(value, str):
        return _hint_on_text(value, field_type, kind)
    if isinstance(kind, inspect.StrType):
        return f": write {toml_text(str(value))} in quotes" if not isinstance(value, dict) else ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(kind, inspect.FloatType) and 1 in (kind.le, kind.lt):
        part = value / PER_CENT
        if (kind.gt or 0) < part <= 1:
            return f": for {value:g} %, write {part:g}"
    if isinstance(kind, inspect.IntType) and isinstance(value, float) and value == round(value):
        return f": write {value:.0f}"
    return ""


def _hint_on_text(value: str, field_type: Any, kind: inspect.Type) -> str:
    if isinstance(kind, inspect.BoolType | inspect.IntType | inspect.FloatType):
        return ": remove the quotes" if _is_bare(value) else ""
    texts = [text for text in choices(field_type) if isinstance(text, str)]
    by_capitals = {text.casefold(): text for text in texts}
    near = difflib.get_close_matches(value.casefold(), by_capitals, n=1)
    return f"; did you mean {toml_text(by_capitals[near[0]])}?" if near else ""


def _is_bare(text: str) -> bool:
    """Return whether `text` is a valid value without its quotes."""
    try:
        float(text)
    except ValueError:
        return text in ("true", "false")
    return True


def _bounds(kind: inspect.IntType | inspect.FloatType) -> str:
    if kind.ge is not None:
        return (
            f" from {kind.ge:g} to {kind.le:g}" if kind.le is not None else f", {kind.ge:g} or more"
        )
    limits = (("above", kind.gt), ("below", kind.lt), ("at most", kind.le))
    parts = [f" {word} {bound:g}" for word, bound in limits if bound is not None]
    return " and".join(parts)


def _one_of(texts: list[str]) -> str:
    return ", ".join(texts[:-1]) + f" or {texts[-1]}" if len(texts) > 1 else texts[0]


class Unit(NamedTuple):
    """A unit at the end of a key's name."""

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
    "hz": Unit("Hz", "rate", 1),
    "khz": Unit("kHz", "rate", 1000),
}
MIN_LIKENESS = 0.6


def unknown_key(table: str, name: str, value: object) -> str:
    """Return the message about an unknown key."""
    meant = _same_but_unit(table, name, value) or _elsewhere(table, name) or _alike(table, name)
    what = "unknown table" if isinstance(value, dict) and not table else "unknown key"
    return f"{what}; {meant}" if meant else f"{what}; {_known_keys(table)}"


def _same_but_unit(table: str, name: str, value: object) -> str:
    """Return a hint if a key of the same name has another unit, or this one has none."""
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
    """Return a hint if other tables have that key."""
    places = [
        f"{other}.{name}" for other, struct in tables().items() if name in struct.__struct_fields__
    ]
    if table and name in ExperimentConfig.__struct_fields__:
        places = [f"{name} at the top of the file" if name not in tables() else f"[{name}]"]
    return f"did you mean {' or '.join(places)}?" if places else ""


def _alike(table: str, name: str) -> str:
    """Return a hint on the key with the most similar spelling, here or else in any table."""
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


def _known_keys(table: str) -> str:
    where = f"[{table}] has" if table else "known are"
    return f"{where} {', '.join(table_fields(table))}"
