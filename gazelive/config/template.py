"""The commented TOML that a lab begins with, made of the schema itself.

Names, defaults and the texts above the keys all come from `schema.py` (a text is the one below
its field), so that what `gazelive config init` writes is what `reading.py` reads.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator

import msgspec
from msgspec.structs import FieldInfo

from gazelive.config import schema
from gazelive.config.expectations import choices, example, written
from gazelive.config.near_keys import dotted, tables
from gazelive.config.schema import ExperimentConfig

FILE_NAME = "scene_viewing.toml"
LINE_LENGTH = 100
HEADER = """\
An experiment of gazelive: what a lab copies and edits.
Every key may be left out; what stands here is what holds then. Units are in the names.
Check it with `gazelive config check FILE`, and the machine with `gazelive doctor FILE`.
"""


def template() -> str:
    """Return the text of a new file."""
    return _whole(ExperimentConfig(), HEADER, given=None)


def effective(config: ExperimentConfig, given: frozenset[str]) -> str:
    """Return everything that holds as a TOML; what the file did not say is marked as default."""
    return _whole(config, None, given=given)


def field_texts() -> dict[str, str]:
    """Return what is said of each key, dotted; a table's own name has the table's text."""
    texts = {}
    for table, struct in ({"": ExperimentConfig} | tables()).items():
        if table:
            texts[table] = inspect.cleandoc(struct.__doc__ or "")
        for name, text in _texts_of_class(struct.__name__).items():
            texts[dotted(table, name)] = text
    return texts


def key_names() -> tuple[str, ...]:
    """Return every key of a file, dotted, in order."""
    structs = tables()
    top = [name for name in ExperimentConfig.__struct_fields__ if name not in structs]
    return (
        *top,
        *(
            dotted(table, name)
            for table, part in structs.items()
            for name in part.__struct_fields__
        ),
    )


def _whole(config: ExperimentConfig, header: str | None, given: frozenset[str] | None) -> str:
    lines = [f"# {line}" for line in header.splitlines()] + [""] if header else []
    structs = tables()
    top = [field for field in msgspec.structs.fields(config) if field.name not in structs]
    lines += _keys("", top, config, given)
    for table in structs:
        part = getattr(config, table)
        lines.append("")
        if given is None:
            lines += _comment(field_texts()[table])
        lines.append(f"[{table}]")
        lines += _keys(table, msgspec.structs.fields(part), part, given)
    return "\n".join(lines) + "\n"


def _keys(
    table: str,
    fields: list[FieldInfo] | tuple[FieldInfo, ...],
    part: msgspec.Struct,
    given: frozenset[str] | None,
) -> Iterator[str]:
    for field in fields:
        key, value = dotted(table, field.name), getattr(part, field.name)
        if given is None:
            yield from _comment(_text(key, field))
        if value is None:
            yield (
                f"# {field.name} = {written(example(field.type))}"
                if given is None
                else (f"# {field.name} is not set")
            )
        else:
            mark = "" if given is None or key in given else "  # default"
            yield f"{field.name} = {_value(value)}{mark}"


def _text(key: str, field: FieldInfo) -> str:
    """Return what stands above a key: its text, and its choices if the text does not name them."""
    text = field_texts().get(key, "")
    values = [written(value) for value in choices(field.type)]
    if values and not all(value in text for value in values):
        text = f"{text} Choices: {', '.join(values)}.".lstrip()
    return text


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, LINE_LENGTH, initial_indent="# ", subsequent_indent="# ")


def _value(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        escaped = value.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        return f'"""\n{escaped}"""'
    return written(value)


@functools.cache
def _schema_tree() -> ast.Module:
    return ast.parse(inspect.getsource(schema))


def _texts_of_class(name: str) -> dict[str, str]:
    """Return the texts below the fields of a class of the schema."""
    tree = next(
        node for node in _schema_tree().body if isinstance(node, ast.ClassDef) and node.name == name
    )
    texts = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            texts[field.target.id] = inspect.cleandoc(below.value.value)
    return texts
