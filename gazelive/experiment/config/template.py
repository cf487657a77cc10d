"""Template: the commented TOML, the script and the images that a lab starts with.

Names, defaults and comments of the TOML come from `schema.py` (a comment is the text below its
field), so it always matches what `reading.py` reads.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import FieldInfo

from gazelive.errors import ConfigError
from gazelive.experiment.config import schema
from gazelive.experiment.config.key_errors import choices, example, toml_text
from gazelive.experiment.config.reading import resolved
from gazelive.experiment.config.schema import ExperimentConfig, dotted, tables
from gazelive.stimuli import images_in, paint_images
from gazelive.system import write_bytes

FILE_NAME = "scene_viewing.toml"
LINE_LENGTH = 100
HEADER = """\
A gazelive experiment, to copy and edit.
All keys are optional; the values below are the defaults. Units are in the names.
Check this file with `gazelive config check FILE`, and the computer with `gazelive doctor FILE`.
"""


def template(config: ExperimentConfig | None = None) -> str:
    """Return the text of a new file, with every key explained."""
    return _whole(config or ExperimentConfig(), HEADER, given=None)


def effective(config: ExperimentConfig, given: frozenset[str]) -> str:
    """Return the effective configuration as TOML; keys missing in the file are marked default."""
    return _whole(config, None, given=given)


def field_texts() -> dict[str, str]:
    """Return the comment of each table and each key (dotted)."""
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
                f"# {field.name} = {toml_text(example(field.type))}"
                if given is None
                else (f"# {field.name} is not set")
            )
        else:
            mark = "" if given is None or key in given else "  # default"
            yield f"{field.name} = {_value(value)}{mark}"


def _text(key: str, field: FieldInfo) -> str:
    """Return the comment above a key: its text, and its choices if the text does not list them."""
    text = field_texts().get(key, "")
    values = [toml_text(value) for value in choices(field.type)]
    if values and not all(value in text for value in values):
        text = f"{text} Choices: {', '.join(values)}.".lstrip()
    return text


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, LINE_LENGTH, initial_indent="# ", subsequent_indent="# ")


def _value(value: object) -> str:
    if isinstance(value, str) and "\n" in value:
        escaped = value.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        return f'"""\n{escaped}"""'
    return toml_text(value)


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


SCRIPT = Path(__file__).parents[1] / ExperimentConfig().script
"""The package's own copy of the script."""


PAINTED_FOLDER, N_PAINTED = "stimuli", 12
"""Folder beside the TOML, and number, of the images that are painted to try the experiment."""


class Start(NamedTuple):
    """Files written."""

    toml: Path
    made: tuple[Path, ...]
    painted: Path | None = None
    """Folder of the painted images, if there were no others."""


def write_start(where: Path, *, replace: bool = False) -> Start:
    """Write the TOML to `where` (a folder, or a name that ends in .toml), and the script beside it.

    Without images in the default folder, some are painted beside the TOML, which names their
    folder. An existing script is kept, unless `replace` is set and `where` is a folder.
    """
    names_file = where.suffix == ".toml" and not where.is_dir()
    toml = where if names_file else where / FILE_NAME
    if toml.exists() and not replace:
        raise ConfigError("already exists: --replace overwrites it", path=toml)
    toml.parent.mkdir(parents=True, exist_ok=True)
    config = _with_images(ExperimentConfig(), toml)
    painted = _paint_missing(toml.parent / config.stimuli.folder)
    write_bytes(toml, template(config).encode())
    made = [toml]
    script = toml.parent / SCRIPT.name
    if not script.exists() or (replace and not names_file):
        write_bytes(script, SCRIPT.read_bytes())
        made.append(script)
    return Start(toml, tuple(made) if painted is None else (*made, painted), painted)


def _with_images(config: ExperimentConfig, toml: Path) -> ExperimentConfig:
    """Return the configuration, with a folder of images of its own if the default one is empty."""
    if images_in(resolved(config.stimuli.folder, toml)):
        return config
    stimuli = msgspec.structs.replace(config.stimuli, folder=PAINTED_FOLDER)
    return msgspec.structs.replace(config, stimuli=stimuli)


def _paint_missing(folder: Path) -> Path | None:
    """Paint images into a folder that has none; return the folder, or None if it has some."""
    if images_in(folder):
        return None
    paint_images(folder, N_PAINTED)
    return folder
