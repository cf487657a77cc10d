"""Every exception that gazelive raises on purpose.

::

    GazeliveError
    ├── ConfigError(path, key)
    ├── RecordingError(path, line)
    │   └── StorageError
    ├── DeviceError
    │   ├── DeviceUnavailableError
    │   ├── DeviceDisconnectedError
    │   └── CalibrationError
    ├── TransportError
    │   ├── VersionMismatchError
    │   ├── PeerLostError
    │   └── IncompleteError
    └── ModelError
        ├── ModelFormatError
        ├── IncompatibleModelError
        └── ChanceError

`GazeliveWarning` is what `import gazelive` warns of (commands write warnings to standard error).

A message is one sentence a user can act on: what, where, how to mend it.
Bad *data* on the live path is not an exception but a `Quality` document.
"""

from __future__ import annotations

from pathlib import Path


class GazeliveError(Exception):
    """Base of everything gazelive raises on purpose; its text is meant for the user."""

    exit_code = 2
    """Exit code of the command: 2 for usage and bad input, 1 for other failures."""


class GazeliveWarning(UserWarning):
    """Something about the data that a user should know; the result is still returned."""


class ConfigError(GazeliveError):
    """A configuration file or option is wrong; `path` and `key` say where."""

    def __init__(self, message: str, *, path: Path | None = None, key: str | None = None) -> None:
        where = ": ".join(str(part) for part in (path, key) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.key = key


class RecordingError(GazeliveError):
    """A recording cannot be read or written; `path` and `line` say where."""

    def __init__(
        self, message: str, *, path: Path | str | None = None, line: int | None = None
    ) -> None:
        where = "" if path is None else str(path)
        if line is not None:
            where += f":{line}" if where else f"line {line}"
        super().__init__(f"{where}: {message}" if where else message)
        self.path = path
        self.line = line


class StorageError(RecordingError):
    """The system does not let a file be written: the disk is full, it may not be, it broke."""

    exit_code = 1


class DeviceError(GazeliveError):
    """An eye tracker, real or simulated, does not do as requested."""

    exit_code = 1


class DeviceUnavailableError(DeviceError):
    """No device answers, or the software that drives it is missing."""


class DeviceDisconnectedError(DeviceError):
    """The device was there and is gone."""


class CalibrationError(DeviceError):
    """Calibration, validation or drift check failed or was refused."""


class TransportError(GazeliveError):
    """The processes of a session cannot talk to each other."""

    exit_code = 1


class VersionMismatchError(TransportError):
    """A peer speaks another version of the protocol."""


class PeerLostError(TransportError):
    """A peer stopped answering."""


class IncompleteError(TransportError):
    """The engine ended before all recorded samples were analysed."""


class ModelError(GazeliveError):
    """A model cannot be made, read or used."""


class ModelFormatError(ModelError):
    """A model file is damaged or of an unknown version."""


class IncompatibleModelError(ModelError):
    """A model was not made for this stream."""


class ChanceError(ModelError):
    """A trained model recognises viewers no better than chance."""

    exit_code = 1
