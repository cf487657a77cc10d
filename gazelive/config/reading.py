"""Read an experiment's TOML strictly: what is wrong is said by file, key, reason and remedy.

All problems of a file are told at once, in the order of the file, so that it is mended in one go.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from gazelive.config.expectations import reason_against, written
from gazelive.config.near_keys import dotted, tables, unknown_key
from gazelive.config.plausibility import doubts
from gazelive.config.schema import ExperimentConfig
from gazelive.errors import ConfigError

SYNTAX_PLACE = re.compile(r"\s*\(at (line \d+, column \d+|end of document)\)$")


class ConfigProblem(NamedTuple):
    """One thing that is wrong."""

    key: str
    """Dotted, such as `screen.width_mm`."""
    reason: str


@dataclass(frozen=True)
class ExaminedConfig:
    """What a file says, and what is wrong with it."""

    path: Path
    config: ExperimentConfig
    """With the default of every key that is missing or wrong."""
    given: frozenset[str]
    """The keys that stand in the file, dotted."""
    problems: tuple[ConfigProblem, ...]


def read_config(path: Path) -> ExperimentConfig:
    """Read and check the TOML at `path`; anything wrong is a `ConfigError` that tells all of it."""
    examined = examine_config(path)
    if examined.problems:
        raise config_error(examined)
    return examined.config


def config_error(examined: ExaminedConfig) -> ConfigError:
    """Return the error that tells every problem, one line each; its key is the first one's."""
    first, *others = examined.problems
    lines = [first.reason, *(f"{examined.path}: {key}: {reason}" for key, reason in others)]
    return ConfigError("\n".join(lines), path=examined.path, key=first.key)


def examine_config(path: Path) -> ExaminedConfig:
    """Read the TOML at `path`; only a file that is no TOML raises, with its line."""
    document = _parse(path)
    structs = tables()
    problems: list[ConfigProblem] = []
    parts: dict[str, Any] = {}
    given: list[str] = []
    for name, value in document.items():
        if name in structs and isinstance(value, dict):
            kept, told = _examine_table(name, structs[name], value)
            parts[name] = structs[name](**kept)
            given += [f"{name}.{key}" for key in value]
            problems += told
        elif name in structs:
            problems.append(ConfigProblem(name, f"must be a table, [{name}], not {written(value)}"))
        else:
            given.append(name)
            kept, told = _examine_table("", ExperimentConfig, {name: value})
            parts |= kept
            problems += told
    config = ExperimentConfig(**parts)
    problems += _doubts(config, {problem.key for problem in problems})
    place = {key: index for index, key in enumerate(given)}
    problems.sort(key=lambda problem: place.get(problem.key, len(place)))
    return ExaminedConfig(path, config, frozenset(given), tuple(problems))


def resolved(path_text: str, config_path: Path) -> Path:
    """Return the path that a TOML names: relative ones begin in the TOML's own folder."""
    path = Path(path_text)
    with suppress(RuntimeError):  # ~ of a user whom nobody knows is a name like any other
        path = path.expanduser()
    return (config_path.resolve().parent / path).resolve()


def replay_file(device: str) -> str | None:
    """Return the FILE of "replay:FILE", as it stands; None for a live tracker."""
    return device.removeprefix("replay:").strip() if device.startswith("replay:") else None


def snapshot(config: ExperimentConfig) -> dict[str, Any]:
    """Return the whole configuration, defaults too, as plain values for a session's manifest."""
    plain: dict[str, Any] = msgspec.to_builtins(config)
    return plain


def _examine_table(
    table: str, struct: type[msgspec.Struct], values: dict[str, Any]
) -> tuple[dict[str, Any], list[ConfigProblem]]:
    """Return the values that can be used, and what is wrong with the others."""
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    kept: dict[str, Any] = {}
    problems = []
    for name, value in values.items():
        if name not in fields:
            reason: str | None = unknown_key(table, name, value)
        else:
            reason = reason_against(value, fields[name])
        if reason is None:
            kept[name] = msgspec.convert(value, fields[name].type)
        else:
            problems.append(ConfigProblem(dotted(table, name), reason))
    return kept, problems


def _doubts(config: ExperimentConfig, wrong: set[str]) -> Iterator[ConfigProblem]:
    """Yield what cannot be meant, but not what only follows from keys that are `wrong`.

    A misspelt key is missing under its right name, so that nothing is said of how the values of
    its table go together.
    """
    known = {f"{table}.{key}" for table, part in tables().items() for key in part.__struct_fields__}
    misspelt = {key.partition(".")[0] for key in wrong - known}
    for keys, reason in doubts(config):
        about = {key.partition(".")[0] for key in keys}
        if wrong.isdisjoint(keys) and (len(keys) == 1 or misspelt.isdisjoint(about)):
            wrong = wrong | {keys[0]}
            yield ConfigProblem(keys[0], reason)


def _parse(path: Path) -> dict[str, Any]:
    if path.is_dir():
        raise ConfigError("this is a folder: name the TOML file in it", path=path)
    try:
        # Windows editors begin UTF-8 with a mark that TOML does not know
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"there is no such file; `gazelive config init {path}` writes one", path=path
        ) from None
    except UnicodeDecodeError:
        raise ConfigError("this is no UTF-8 text: save it as UTF-8", path=path) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_sentence(str(error)), path=path) from None


def _syntax_sentence(text: str) -> str:
    """Return the parser's complaint with the place in front and a remedy behind."""
    found = SYNTAX_PLACE.search(text)
    place = found.group(1) if found else "somewhere"
    place = "at its end" if place == "end of document" else place
    complaint = re.sub(r"\('([^']*)',\)", r"[\1]", SYNTAX_PLACE.sub("", text))
    return f"{place}: {complaint[:1].lower()}{complaint[1:]}{_remedy(complaint)}"


def _remedy(complaint: str) -> str:
    lower = complaint.casefold()
    if "'\\'" in lower or "escape" in lower or "hex" in lower:
        return " (write / between folders, also on Windows)"
    if "invalid value" in lower:
        return ' (texts stand in quotes: "…"; decimals have a point; true and false are small)'
    if "expected newline" in lower:
        return " (one key a line; decimals have a point)"
    return " (it stands there twice)" if "overwrite" in lower else ""
