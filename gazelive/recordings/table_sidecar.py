"""`NAME.meta.json` beside a table NAME: what its columns have no place for.

Nothing in it is required. By hand, a rate and a screen are enough::

    {"sampling_rate_hz": 500, "screen": {"width_px": 1024, "height_px": 768,
     "width_mm": 380, "height_mm": 300, "eye_distance_mm": 670}}
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from gazelive.atomic import write_bytes
from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze.screen import ScreenGeometry
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.recording import Trial

SIDECAR_VERSION = 1


class TableMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message in the time of the table; in JSON `[time, text]`."""

    t_ms: float
    text: str


class TableBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One recording block: the next `n_rows` rows of the table."""

    n_rows: int
    start_ms: float
    end_ms: float
    stream: StreamDescription


class Sidecar(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Rate, geometry, who and when, messages and trials."""

    version: int = SIDECAR_VERSION
    sampling_rate_hz: float | None = None
    screen: ScreenGeometry | None = None
    screen_px: tuple[int, int] | None = None
    px_per_deg: tuple[float, float] | None = None
    viewer: str | None = None
    session: str | None = None
    messages: tuple[TableMessage, ...] = ()
    trials: tuple[Trial, ...] = ()
    """Only those that the messages do not tell of."""
    blocks: tuple[TableBlock, ...] = ()


def sidecar_path(table: Path) -> Path:
    """Return where the sidecar of `table` is: its whole name and `.meta.json`."""
    return table.with_name(table.name + ".meta.json")


def read_sidecar(table: Path) -> Sidecar | None:
    """Return the sidecar of `table`, or None where it has none."""
    path = sidecar_path(table)
    if not path.is_file():
        return None
    try:
        sidecar = msgspec.json.decode(path.read_bytes(), type=Sidecar)
    except (msgspec.MsgspecError, UnicodeDecodeError, ConfigError) as error:
        raise RecordingError(f"not a description of a table: {error}", path=path) from error
    if sidecar.version > SIDECAR_VERSION:
        raise RecordingError(
            f"was written by a newer gazelive (version {sidecar.version}): update gazelive",
            path=path,
        )
    if sidecar.sampling_rate_hz is not None and not sidecar.sampling_rate_hz > 0:
        raise RecordingError("sampling_rate_hz must be a positive number", path=path)
    return sidecar


def write_sidecar(sidecar: Sidecar, table: Path) -> None:
    """Write the sidecar of `table`, whole or not at all."""
    content = msgspec.json.format(msgspec.json.encode(sidecar), indent=2) + b"\n"
    write_bytes(sidecar_path(table), content)
