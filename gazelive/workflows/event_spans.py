"""Spans of events in tables written by `detect` or other tools; names of eye movements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze import Floats
from gazelive.recordings import describe_names, read_table_file, read_table_names, sidecar_path
from gazelive.system import UNDECODABLE

NOT_COMPARABLE = "undefined"
NOT_SEARCHED = "not searched"
NO_SACCADE = "no saccade"
SACCADES = frozenset({"saccade", "corrective", "microsaccade"})
"""Names that count as saccades; the simulator distinguishes them."""

ARTEFACT = "artefact"
"""No movement of the eye: `blink_artefact` or `tracker_jump` in the tables of `detect`."""

Codes = Mapping[str, str]
"""Standard names of the codes of a labelling scheme."""
SCHEMES: dict[str, Codes] = {
    # Andersson et al. (2017), Zemblys et al. (2018)
    "lund2013": {
        "0": NOT_COMPARABLE,
        "1": "fixation",
        "2": "saccade",
        "3": "oscillation",
        "4": "pursuit",
        "5": "blink",
        "6": "other",
    },
    # Startsev, Agtzidis & Dorr (2019)
    "gazecom": {
        "0": NOT_COMPARABLE,
        "1": "fixation",
        "2": "saccade",
        "3": "pursuit",
        "4": NOT_COMPARABLE,
    },
}
USUAL_CODES: Codes = SCHEMES["lund2013"]
_WORDS = {
    "saccade": ("saccade", "sac", "sacc", "isac", "isacc", "esacc", "true"),
    "corrective": ("corrective", "corrective saccade"),
    "microsaccade": ("microsaccade", "micro saccade"),
    "fixation": ("fixation", "fix", "fixa", "efix"),
    "oscillation": (
        *("oscillation", "post saccadic oscillation", "pso", "glissade"),
        *("hpso", "lpso", "ihps", "ilps"),
    ),
    "pursuit": ("pursuit", "smooth pursuit", "sp", "purs"),
    "blink": ("blink", "bli", "blnk", "eblink"),
    "other": ("other",),
    "loss": ("loss", "lost"),
    NO_SACCADE: (NO_SACCADE, "false"),
    ARTEFACT: (ARTEFACT, "artifact", "blink artefact", "tracker jump"),
    NOT_COMPARABLE: (NOT_COMPARABLE, "und", "unknown", "none", "noise", ""),
}
"""Also the words of REMoDNaV (FIXA, SACC, ISAC, HPSO …) and of EyeLink's files (EFIX …)."""
_NAME_OF = {word: name for name, words in _WORDS.items() for word in words}
KNOWN = frozenset(_WORDS)


def label_name(word: str | None, codes: Codes = USUAL_CODES) -> str:
    """Return the standard name of a coder's or a tool's label; unknown words stay."""
    text = " ".join((word or "").lower().replace("_", " ").replace("-", " ").split())
    text = text.removesuffix(".0")
    if text in codes:
        return codes[text]
    return _NAME_OF.get(text) or _NAME_OF.get(text.removesuffix("s"), text)


def parse_codes(text: str, key: str) -> Codes:
    """Return the codes of a scheme that is named, or of a list such as 3=pursuit,4=noise.

    Codes that a list does not name keep their usual meaning. `key` is what errors call the text.
    """
    if text.lower() in SCHEMES:
        return SCHEMES[text.lower()]
    codes = dict(USUAL_CODES)
    for part in filter(None, (part.strip() for part in text.split(","))):
        code, _, word = (piece.strip() for piece in part.partition("="))
        name = label_name(word)
        if not (code and word) or name not in KNOWN:
            raise ConfigError(
                f"must be {' or '.join(SCHEMES)}, or a list such as 3=pursuit,4=noise of the words "
                f"{', '.join(sorted(KNOWN))}; not {part!r}",
                key=key,
            )
        codes[code.lower()] = name
    return codes


KIND_COLUMNS = ("event", "kind", "label", "type")
"""Columns in which a table of events may say what each is."""
SIGNS_OF_FIXATIONS = frozenset({"dispersion_deg", "drift_speed_deg_s", "x_deg", "y_deg", "x_px"})
OF_FIXATIONS = (
    "this is a table of fixations, and compare takes saccades: those that detect writes with -o, "
    "not with --fixations"
)
SIGNS_OF_SACCADES = frozenset({"amplitude_deg", "start_x_deg", "peak_velocity_deg_s"})
"""Columns by which events without a kind are recognised."""
TRUTH_COLUMNS = frozenset({"kind", "eye", "onset_us", "offset_us", "oscillation_end_us", "lost"})
SHORTEST_MS, LONGEST_MS = 1.0, 2000.0
"""The typical saccade of a table lies between them, or its times are in another unit."""


@dataclass(frozen=True)
class Searched:
    """Intervals in which `detect` searched for the events of a table, if it recorded them."""

    spans_ms: Floats | None = None
    """First and last time of each interval, shape (n, 2); None is not known."""
    eyes: str = "LR"
    sample_ms: float | None = None
    """Interval of the samples that were searched, the shortest of several."""


def saccades_of_events(path: Path) -> Floats:
    """Return first and last time of each saccade in ms, shape (n, 2), in their order."""
    if path.is_dir():
        raise RecordingError(
            "this is a folder: EVENTS is a table, as detect -o writes it", path=path
        )
    spans = [spans for name, spans in kinds_of_events(path).items() if name in SACCADES]
    both: Floats = np.concatenate([np.empty((0, 2)), *spans])
    in_order: Floats = both[np.argsort(both[:, 0], kind="stable")]
    return in_order


def kinds_of_events(path: Path, codes: Codes = USUAL_CODES) -> dict[str, Floats]:
    """Return first and last time of the events of each kind; without a kind they are saccades."""
    names = read_table_names(path)
    _refuse_others(path, names)
    kind = next((name for name in KIND_COLUMNS if name in names), None)
    types = {"onset_ms": pa.float64(), "offset_ms": pa.float64(), str(kind): pa.string()}
    table = read_table_file(path, types).table
    columns = [table[name].to_numpy().astype(np.float64) for name in ("onset_ms", "offset_ms")]
    spans = np.stack(columns, axis=1)
    _refuse_impossible(path, spans)
    words = ["saccade"] * len(spans) if kind is None else table[kind].to_pylist()
    found = np.array([label_name(word, codes) for word in words], dtype=str)
    kinds = {str(name): spans[found == name] for name in dict.fromkeys(found.tolist())}
    saccades = [spans for name, spans in kinds.items() if name in SACCADES]
    if len(spans) and not saccades and ARTEFACT not in kinds:
        if set(words) <= {"fixation", "pursuit"}:
            raise RecordingError(OF_FIXATIONS, path=path)
        others = ", ".join(sorted({str(word) for word in words})[:5])
        raise RecordingError(f"no {kind} in this table is a saccade: there are {others}", path=path)
    if saccades:
        _refuse_other_unit(path, np.concatenate(saccades))
    return kinds


def searched_for(events: Path) -> Searched:
    """Return where the events of a table were looked for, by the file that `detect` put beside."""
    sidecar = sidecar_path(events)
    if not sidecar.is_file():
        return Searched()
    try:
        provenance = _decoder.decode(sidecar.read_bytes())
    except UNDECODABLE:
        return Searched()  # another tool's file of that name
    spans = np.array([(i.start_us, i.end_us - 1) for i in provenance.intervals], np.float64)
    eyes = provenance.eye if provenance.eye in ("L", "R") else "LR"
    rates_hz = [i.sampling_rate_hz for i in provenance.intervals if i.sampling_rate_hz]
    sample_ms = 1000 / max(rates_hz) if rates_hz else None
    if not len(spans):
        return Searched(eyes=eyes)
    spans = spans[np.argsort(spans[:, 0], kind="stable")] / 1000
    if (spans[1:, 0] < spans[:-1, 1]).any():
        raise RecordingError(
            "time begins anew in this recording, so that trials share their times: compare each "
            "trial by itself, or let t_ms run on",
            path=events,
        )
    return Searched(spans, eyes, sample_ms)


def no_common_time(path: Path, times_ms: Floats, other: str, others_ms: Floats) -> RecordingError:
    """Return the error for times of which none lies within those of another file."""
    return RecordingError(
        f"its times lie between {times_ms.min():.0f} and {times_ms.max():.0f} ms, and none of them "
        f"within the times of {other} ({others_ms.min():.0f} to {others_ms.max():.0f} ms): are "
        "both in ms, and of one clock?",
        path=path,
    )


def _refuse_others(path: Path, names: Any) -> None:
    """Raise for a table without events, or without those that are needed."""
    if set(names) >= TRUTH_COLUMNS:
        raise RecordingError(
            "this is the truth of a simulation, which has events of all kinds: give it as LABELS, "
            "and the saccades that were detected as EVENTS",
            path=path,
        )
    if not {"onset_ms", "offset_ms"} <= set(names):
        raise RecordingError(
            "a table of events, as detect -o writes it, has columns onset_ms and offset_ms, and "
            f"this one has {describe_names(names)}",
            path=path,
        )
    known = set(names) & {*KIND_COLUMNS, *SIGNS_OF_SACCADES}
    if set(names) & SIGNS_OF_FIXATIONS and not known:
        raise RecordingError(OF_FIXATIONS, path=path)


def _refuse_impossible(path: Path, spans_ms: Floats) -> None:
    wrong = np.flatnonzero(~np.isfinite(spans_ms).all(axis=1) | ~(spans_ms[:, 1] >= spans_ms[:, 0]))
    if len(wrong):
        raise RecordingError(
            f"the event of row {wrong[0] + 1} has no onset, no offset, or ends before it begins",
            path=path,
        )


def _refuse_other_unit(path: Path, spans_ms: Floats) -> None:
    """Raise if saccades are impossibly short or long: the unit is another."""
    typical_ms = float(np.median(spans_ms[:, 1] - spans_ms[:, 0]))
    if 0 < typical_ms < SHORTEST_MS or typical_ms > LONGEST_MS:
        unit = "seconds" if typical_ms < SHORTEST_MS else "microseconds"
        raise RecordingError(
            f"a typical saccade would last {typical_ms:g} ms here: onset_ms and offset_ms must be "
            f"in milliseconds (are they in {unit}?) and of one clock",
            path=path,
        )


class _Interval(msgspec.Struct):
    start_us: int
    end_us: int
    sampling_rate_hz: float | None = None


class _Provenance(msgspec.Struct):
    """Part of the provenance file of `detect` that is used here."""

    intervals: tuple[_Interval, ...] = ()
    eye: str | None = None


_decoder = msgspec.json.Decoder(_Provenance)
