"""What a key may hold, in plain words, from its type alone."""

from __future__ import annotations

import difflib
import json
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import inspect
from msgspec.structs import FieldInfo

PER_CENT = 100
LARGEST = 2**63
"""TOML's numbers end here; infinity and what is no number are refused too."""


def reason_against(value: object, field: FieldInfo) -> str | None:
    """Return why `value` of the file cannot be what `field` holds; None if it can."""
    if isinstance(value, int | float) and not abs(value) < LARGEST:
        number = value if isinstance(value, float) else "so large a number"
        return f"must be {expected(field.type)}, not {number}"
    try:
        msgspec.convert(value, field.type)
    except msgspec.ValidationError:
        return f"must be {expected(field.type)}, not {written(value)}{_hint(value, field.type)}"
    return None


def expected(field_type: Any) -> str:
    """Return what is allowed, such as "a whole number, 1 or more"."""
    values = choices(field_type)
    if values:
        return _one_of([written(value) for value in values])
    kind = plain_type(field_type)
    if isinstance(kind, inspect.BoolType):
        return "true or false"
    if isinstance(kind, inspect.IntType):
        return "a whole number" + _bounds(kind)
    if isinstance(kind, inspect.FloatType):
        return "a number" + _bounds(kind)
    return "a text in quotes"


def choices(field_type: Any) -> tuple[Any, ...]:
    """Return the values of a key that has only a few, in the order of the schema."""
    if get_origin(field_type) is Literal:
        return get_args(field_type)
    return ()


def plain_type(field_type: Any) -> inspect.Type:
    """Return the type of a key that is given; an optional one may also be left out."""
    kind = inspect.type_info(field_type)
    if isinstance(kind, inspect.UnionType):
        kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def example(field_type: Any) -> object:
    """Return what an optional key could hold."""
    kind = inspect.type_info(field_type)
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    for member in members:
        if isinstance(member, inspect.Metadata) and member.extra_json_schema:
            return member.extra_json_schema["examples"][0]
    raise TypeError(f"an optional key needs an example: {field_type}")


def written(value: object) -> str:
    """Return `value` as it stands in a TOML file."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, str | bool | int | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _hint(value: object, field_type: Any) -> str:
    """Return what was probably meant."""
    kind = plain_type(field_type)
    if isinstance(value, str):
        return _hint_on_text(value, field_type, kind)
    if isinstance(kind, inspect.StrType):
        return f": write {written(str(value))} in quotes" if not isinstance(value, dict) else ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    if isinstance(kind, inspect.FloatType) and 1 in (kind.le, kind.lt):
        part = value / PER_CENT
        if (kind.gt or 0) < part <= 1:
            return f": if {value:g} % is meant, write {part:g}"
    if isinstance(kind, inspect.IntType) and isinstance(value, float) and value == round(value):
        return f": write {value:.0f}"
    return ""


def _hint_on_text(value: str, field_type: Any, kind: inspect.Type) -> str:
    if isinstance(kind, inspect.BoolType | inspect.IntType | inspect.FloatType):
        return ": no quotes around it" if _is_bare(value) else ""
    texts = [text for text in choices(field_type) if isinstance(text, str)]
    by_capitals = {text.casefold(): text for text in texts}
    near = difflib.get_close_matches(value.casefold(), by_capitals, n=1)
    return f"; did you mean {written(by_capitals[near[0]])}?" if near else ""


def _is_bare(text: str) -> bool:
    """Say whether `text` would do without its quotes."""
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
    bounds = (("above", kind.gt), ("below", kind.lt), ("at most", kind.le))
    told = [f" {word} {bound:g}" for word, bound in bounds if bound is not None]
    return " and".join(told)


def _one_of(texts: list[str]) -> str:
    return ", ".join(texts[:-1]) + f" or {texts[-1]}" if len(texts) > 1 else texts[0]
