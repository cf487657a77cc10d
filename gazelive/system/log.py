"""Log of what gazelive does, for bug reports.

`gazelive --log-level info …` or the environment variable GAZELIVE_LOG turn it on on standard error,
also in child processes. A session always writes a rotating file per process into its folder
(`experiment.log`, `engine.log`). A log that cannot be written disturbs nothing.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from gazelive.errors import ConfigError
from gazelive.wording import printable

VARIABLE = "GAZELIVE_LOG"
LEVELS = ("debug", "info", "warning", "error")
LARGEST_BYTES, N_OLD_FILES = 1_000_000, 2
FORMAT = "%(asctime)s.%(msecs)03d %(levelname)-7s %(processName)s %(name)s: %(message)s"

_root = logging.getLogger("gazelive")
_root.addHandler(logging.NullHandler())  # without it, Python prints warnings by itself


def get_logger(name: str) -> logging.Logger:
    """Return the logger of a module; `name` is its `__name__`."""
    return logging.getLogger(name)


def log_to_stderr(level: str | None = None) -> None:
    """Log on standard error, here and in child processes, from `level` or GAZELIVE_LOG on."""
    given = level or os.environ.get(VARIABLE)
    if not given:
        return
    if given.lower() not in LEVELS:
        raise ConfigError(
            f"must be one of {', '.join(LEVELS)}, not {given}",
            key="--log-level" if level else VARIABLE,
        )
    os.environ[VARIABLE] = given.lower()
    handler = logging.StreamHandler()
    _add(handler, given.upper())


@contextmanager
def log_to_file(path: Path) -> Iterator[None]:
    """Log to a rotating file within the block."""
    handler = _PatientFile(
        path, maxBytes=LARGEST_BYTES, backupCount=N_OLD_FILES, encoding="utf-8", delay=True
    )
    _add(handler, "INFO")
    system = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    get_logger(__name__).info("process %d on %s", os.getpid(), system)
    try:
        yield
    finally:
        _root.removeHandler(handler)
        handler.close()


class _Printable(logging.Formatter):
    """Spells out the control characters of what is logged."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return printable(super().format(record))


class _PatientFile(RotatingFileHandler):
    """A file whose errors (full disk, removed folder) are ignored."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Drop the record."""


def _add(handler: logging.Handler, level: str) -> None:
    handler.setLevel(level)
    handler.setFormatter(_Printable(FORMAT, "%Y-%m-%dT%H:%M:%S"))
    _root.addHandler(handler)
    _root.setLevel(min((h.level for h in _root.handlers if h.level), default=logging.WARNING))
