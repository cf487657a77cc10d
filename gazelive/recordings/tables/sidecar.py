"""Sidecar of a table (`NAME.meta.json` beside NAME): facts that are not in its columns.

Nothing in it is required. Written by hand, a rate and a screen are enough::

    {"sampling_rate_hz": 500, "screen": {"width_px": 1024, "height_px": 768,
     "width_mm": 380, "height_mm": 300, "eye_distance_mm": 670}}
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gazelive.errors import RecordingError
from gazelive.gaze import ScreenGeometry, StreamDescription
from gazelive.recordings.recording import Trial
from gazelive.recordings.tables.times import FASTEST_HZ, LATEST_MS
from gazelive.system import UNDECODABLE, write_bytes

SIDECAR_VERSION = 1


class TableMessage(msgspec.Struct, frozen=True, array_like=True):
    """A message at a time of the table; in JSON `[time, text]`."""

    t_ms: float
    text: str


class TableBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One recording block: the next `n_rows` rows of the table."""

    n_rows: int
    start_ms: float
    end_ms: float
    stream: StreamDescription


class Sidecar(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Rate, geometry, viewer, session, messages and trials."""

    version: int = SIDECAR_VERSION
    sampling_rate_hz: float | None = None
    screen: ScreenGeometry | None = None
    screen_px: tuple[int, int] | None = None
    px_per_deg: tuple[float, float] | None = None
    viewer: str | None = None
    session: str | None = None
    messages: tuple[TableMessage, ...] = ()
    trials: tuple[Trial, ...] = ()
    """Only those that the messages do not mark."""
    blocks: tuple[TableBlock, ...] = ()


_decoder = msgspec.json.Decoder(Sidecar)


def sidecar_path(table: Path) -> Path:
    """Return the path of the sidecar of `table`: its whole name and `.meta.json`."""
    return table.with_name(table.name + ".meta.json")


def read_sidecar(table: Path) -> Sidecar | None:
    """Return the sidecar of `table`, or None if it has none."""
    path = sidecar_path(table)
    if not path.is_file():
        return None
    try:
        # as text: msgspec itself would skip unknown keys without decoding them
        sidecar = _decoder.decode(path.read_bytes().decode("utf-8"))
    except UNDECODABLE as error:
        raise RecordingError(
            f"not a description of the table {table.name}: {error} (repair or remove it)",
            path=path,
        ) from error
    if sidecar.version > SIDECAR_VERSION:
        raise RecordingError(
            f"was written by a newer gazelive (version {sidecar.version}): update gazelive",
            path=path,
        )
    for nonsense in _nonsense(sidecar):
        raise RecordingError(nonsense, path=path)
    return sidecar


def unknown_keys(table: Path) -> list[str]:
    """Return a sentence for each unknown key of the sidecar, such as a misspelt one."""
    path = sidecar_path(table)
    if not path.is_file():
        return []
    known = Sidecar.__struct_fields__
    sentences = []
    for key in msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw]):
        if key not in known:
            similar = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            sentences.append(f"{path.name}: key {key!r} is unknown and ignored{hint}")
    return sentences


def write_sidecar(sidecar: Sidecar, table: Path) -> None:
    """Write the sidecar of `table`, whole or not at all."""
    content = msgspec.json.format(msgspec.json.encode(sidecar), indent=2) + b"\n"
    write_bytes(sidecar_path(table), content)


def _nonsense(sidecar: Sidecar) -> Iterator[str]:
    """Yield impossible values, with their keys."""
    streams = {f"blocks[{k}].stream": b.stream for k, b in enumerate(sidecar.blocks)}
    for key, value in (
        ("sampling_rate_hz", sidecar.sampling_rate_hz),
        *((f"{key}.sampling_rate_hz", s.sampling_rate_hz) for key, s in streams.items()),
    ):
        if value is not None and not 0 < value <= FASTEST_HZ:
            yield f"{key} must be a positive number of samples per second, not {value:g}"
    for key, pair in (
        ("px_per_deg", sidecar.px_per_deg),
        ("screen_px", sidecar.screen_px),
        *((f"{key}.px_per_deg", s.px_per_deg) for key, s in streams.items()),
    ):
        if pair is not None and not all(0 < value < math.inf for value in pair):
            yield f"{key} must be two positive numbers, not {pair[0]:g} and {pair[1]:g}"
    for number, message in enumerate(sidecar.messages):
        if not abs(message.t_ms) < LATEST_MS:
            yield f"messages[{number}] has the time {message.t_ms:g}, which is not a time in ms"
    for number, block in enumerate(sidecar.blocks):
        times_ok = abs(block.start_ms) < LATEST_MS and abs(block.end_ms) < LATEST_MS
        if block.n_rows < 0 or not times_ok or block.end_ms < block.start_ms:
            yield f"blocks[{number}] has a negative number of rows, or ends before it starts"
    for number, trial in enumerate(sidecar.trials):
        if trial.end_us < trial.start_us:
            yield f"trials[{number}] ({trial.name}) ends before it starts"
