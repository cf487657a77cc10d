"""Reading an experiment's TOML strictly; each problem has file, key, reason and remedy.

All problems of a file are reported together, in the file's order.
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

from gazelive.errors import ConfigError
from gazelive.experiment.config.key_errors import toml_text, unknown_key, value_error
from gazelive.experiment.config.plausibility import implausibilities
from gazelive.experiment.config.schema import ExperimentConfig, dotted, tables
from gazelive.system import NOT_TOML

SYNTAX_PLACE = re.compile(r"\s*\(at (line \d+, column \d+|end of document)\)$")


class ConfigProblem(NamedTuple):
    """One problem of a file."""

    key: str
    """Dotted, such as `screen.width_mm`."""
    reason: str


@dataclass(frozen=True)
class ExaminedConfig:
    """The configuration in a file, and its problems."""

    path: Path
    config: ExperimentConfig
    """Missing or wrong keys have their defaults."""
    given: frozenset[str]
    """The keys in the file, dotted."""
    problems: tuple[ConfigProblem, ...]


def read_config(path: Path) -> ExperimentConfig:
    """Read and check the TOML at `path`; raise one `ConfigError` with all problems."""
    examined = examine_config(path)
    if examined.problems:
        raise config_error(examined)
    return examined.config


def config_error(examined: ExaminedConfig) -> ConfigError:
    """Return an error with every problem, one per line; its key is that of the first."""
    first, *others = examined.problems
    lines = [first.reason, *(f"{examined.path}: {key}: {reason}" for key, reason in others)]
    return ConfigError("\n".join(lines), path=examined.path, key=first.key)


def examine_config(path: Path) -> ExaminedConfig:
    """Read the TOML at `path`; raise only if it is not TOML, with the line."""
    document = _parse(path)
    structs = tables()
    problems: list[ConfigProblem] = []
    parts: dict[str, Any] = {}
    given: list[str] = []
    for name, value in document.items():
        if name in structs and isinstance(value, dict):
            kept, found = _examine_table(name, structs[name], value)
            parts[name] = structs[name](**kept)
            given += [f"{name}.{key}" for key in value]
            problems += found
        elif name in structs:
            problems.append(
                ConfigProblem(name, f"must be a table, [{name}], not {toml_text(value)}")
            )
        else:
            given.append(name)
            kept, found = _examine_table("", ExperimentConfig, {name: value})
            parts |= kept
            problems += found
    config = ExperimentConfig(**parts)
    problems += _implausible(config, {problem.key for problem in problems})
    place = {key: index for index, key in enumerate(given)}
    problems.sort(key=lambda problem: place.get(problem.key, len(place)))
    return ExaminedConfig(path, config, frozenset(given), tuple(problems))


def resolved(path_text: str, config_path: Path) -> Path:
    """Return a path from a TOML: relative paths start in the TOML's folder."""
    path = Path(path_text)
    with suppress(RuntimeError):  # ~ of an unknown user is an ordinary name
        path = path.expanduser()
    return (config_path.resolve().parent / path).resolve()


def replay_file(device: str) -> str | None:
    """Return the FILE of "replay:FILE"; None for other devices."""
    return device.removeprefix("replay:").strip() if device.startswith("replay:") else None


def snapshot(config: ExperimentConfig) -> dict[str, Any]:
    """Return the whole configuration with defaults, as plain values for a session's manifest."""
    plain: dict[str, Any] = msgspec.to_builtins(config)
    return plain


def _examine_table(
    table: str, struct: type[msgspec.Struct], values: dict[str, Any]
) -> tuple[dict[str, Any], list[ConfigProblem]]:
    """Return the valid values, and the problems of the others."""
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    kept: dict[str, Any] = {}
    problems = []
    for name, value in values.items():
        if name not in fields:
            reason: str | None = unknown_key(table, name, value)
        else:
            reason = value_error(value, fields[name])
        if reason is None:
            kept[name] = msgspec.convert(value, fields[name].type)
        else:
            problems.append(ConfigProblem(dotted(table, name), reason))
    return kept, problems


def _implausible(config: ExperimentConfig, wrong: set[str]) -> Iterator[ConfigProblem]:
    """Yield implausible settings, except consequences of keys that are already `wrong`.

    A misspelt key is missing under its right name, so combinations within its table are not
    checked.
    """
    known = {f"{table}.{key}" for table, part in tables().items() for key in part.__struct_fields__}
    misspelt = {key.partition(".")[0] for key in wrong - known}
    for keys, reason in implausibilities(config):
        about = {key.partition(".")[0] for key in keys}
        if wrong.isdisjoint(keys) and (len(keys) == 1 or misspelt.isdisjoint(about)):
            wrong = wrong | {keys[0]}
            yield ConfigProblem(keys[0], reason)


def _parse(path: Path) -> dict[str, Any]:
    if path.is_dir():
        raise ConfigError("this is a folder: give the TOML file in it", path=path)
    try:
        # Windows editors put a byte-order mark before UTF-8, which TOML does not allow
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"no such file; `gazelive config init {path}` creates one", path=path
        ) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8 text: save it as UTF-8", path=path) from None
    try:
        return tomllib.loads(text)
    except NOT_TOML as error:
        raise ConfigError(_syntax_sentence(str(error)), path=path) from None


def _syntax_sentence(text: str) -> str:
    """Return the parser's message, preceded by its place and followed by a remedy."""
    found = SYNTAX_PLACE.search(text)
    place = found.group(1) if found else "syntax error"
    place = "end of the file" if place == "end of document" else place
    complaint = re.sub(r"\('([^']*)',\)", r"[\1]", SYNTAX_PLACE.sub("", text))
    return f"{place}: {complaint[:1].lower()}{complaint[1:]}{_remedy(complaint)}"


def _remedy(complaint: str) -> str:
    lower = complaint.casefold()
    if "'\\'" in lower or "escape" in lower or "hex" in lower:
        return " (write / between folders, also on Windows)"
    if "invalid value" in lower:
        return ' (write text in quotes: "…"; decimals with a point; true and false in lower case)'
    if "expected newline" in lower:
        return " (one key per line; decimals with a point)"
    return " (it appears twice)" if "overwrite" in lower else ""
