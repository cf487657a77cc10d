"""The files that a lab begins with: a commented TOML and the experiment's script beside it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gazelive.atomic import write_bytes
from gazelive.config.schema import ExperimentConfig
from gazelive.config.template import FILE_NAME, template
from gazelive.errors import ConfigError

PACKAGE = Path(__file__).parents[1]


class Start(NamedTuple):
    """What was written."""

    toml: Path
    made: tuple[Path, ...]


def write_start(where: Path, *, replace: bool = False) -> Start:
    """Write the TOML to `where` (a folder, or a name that ends in .toml), and the script.

    A script that is already there is kept, since it is somebody's work; `replace` overwrites both.
    """
    toml = where if where.suffix == ".toml" and not where.is_dir() else where / FILE_NAME
    if toml.exists() and not replace:
        raise ConfigError("is already there: --replace overwrites it", path=toml)
    toml.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(toml, template().encode())
    made = [toml]
    script, source = toml.parent / ExperimentConfig().script, script_source()
    if source is not None and (replace or not script.exists()):
        write_bytes(script, source.read_bytes())
        made.append(script)
    return Start(toml, tuple(made))


def script_source() -> Path | None:
    """Return the experiment's script: the installed package's copy, or the repository's own."""
    name = ExperimentConfig().script
    places = (PACKAGE / "experiment" / "scripts" / name, PACKAGE.parent / "experiments" / name)
    return next((path for path in places if path.is_file()), None)
