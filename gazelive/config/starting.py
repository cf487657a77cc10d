"""The files that a lab begins with: a commented TOML and the experiment's script beside it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gazelive.atomic import write_bytes
from gazelive.config.schema import ExperimentConfig
from gazelive.config.template import FILE_NAME, template
from gazelive.errors import ConfigError

SCRIPT = Path(__file__).parents[1] / "experiment" / ExperimentConfig().script
"""The package's own copy of the script."""


class Start(NamedTuple):
    """What was written."""

    toml: Path
    made: tuple[Path, ...]


def write_start(where: Path, *, replace: bool = False) -> Start:
    """Write the TOML to `where` (a folder, or a name that ends in .toml), and the script beside it.

    A script that is already there is somebody's work and is kept; only to `replace` all of a
    folder overwrites it.
    """
    names_file = where.suffix == ".toml" and not where.is_dir()
    toml = where if names_file else where / FILE_NAME
    if toml.exists() and not replace:
        raise ConfigError("is already there: --replace overwrites it", path=toml)
    toml.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(toml, template().encode())
    made = [toml]
    script = toml.parent / SCRIPT.name
    if not script.exists() or (replace and not names_file):
        write_bytes(script, SCRIPT.read_bytes())
        made.append(script)
    return Start(toml, tuple(made))
