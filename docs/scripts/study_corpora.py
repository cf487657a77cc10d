"""Turn the real sets of docs/study.md into corpora that `gazelive evaluate` reads.

    python docs/scripts/study_corpora.py DATA/identity OUT [savam] [ran] [tex] [osie] [fingerprint]

Each set becomes a folder of OUT, which must lie outside the project: the recordings belong to the
people who published them. Without names all sets are written.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from gazelive.gaze import ScreenGeometry
from gazelive.recordings import CorpusEntry, parse_geometry, write_corpus_csv

LOST = -32768
BIOEYE_HZ, SAVAM_HZ = 250, 500
SAVAM_SCREEN = ("1920x1080", "531x299", "600")
FIXATION_SETS = {
    "osie": "osie_fixations.csv.gz",
    "fingerprint": "osie_fingerprint_iit.csv.gz",
}
Columns = dict[str, npt.NDArray[np.float64] | list[str]]


@dataclass(frozen=True)
class Recorded:
    """One recording of a corpus."""

    viewer: str
    session: str
    columns: Columns


def main() -> None:
    """Write the sets that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    names = ["savam", "ran", "tex", *FIXATION_SETS]
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(names))
    arguments = parser.parse_args()
    if unknown := set(arguments.sets) - set(names):
        parser.error(f"no set {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    for name in arguments.sets or names:
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        if name in FIXATION_SETS:
            path = folder / "fixations.parquet"
            table = pa_csv.read_csv(arguments.data / FIXATION_SETS[name])
            pa_parquet.write_table(table, path)
        elif name == "savam":
            screen = parse_geometry(*SAVAM_SCREEN).screen_geometry()
            path = write_corpus(savam(arguments.data / "savam"), folder, screen)
        else:
            path = write_corpus(bioeye(arguments.data / f"bioeye2015_{name.upper()}.npz"), folder)
        print(f"wrote {path}")


def write_corpus(
    recordings: Iterator[Recorded], folder: Path, screen: ScreenGeometry | None = None
) -> Path:
    """Write sample tables and the list of their viewers; return the folder."""
    entries = []
    for recorded in recordings:
        path = folder / f"{recorded.viewer}_{recorded.session}.parquet"
        pa_parquet.write_table(pa.table(recorded.columns), path)
        entries.append(CorpusEntry(path, recorded.viewer, recorded.session, screen))
    write_corpus_csv(entries, folder)
    return folder


def bioeye(path: Path) -> Iterator[Recorded]:
    """Yield the recordings of a task of BioEye 2015: one per person and session."""
    with np.load(path) as arrays:
        for name in sorted(arrays.files):
            person, session = name.rsplit("_", 1)
            x_deg, y_deg = _degrees(arrays[name])
            t_ms = np.arange(len(x_deg), dtype=np.float64) * (1000 / BIOEYE_HZ)
            yield Recorded(person, session, {"t_ms": t_ms, "x_deg": x_deg, "y_deg": y_deg})


def _degrees(millidegrees: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    values = millidegrees.T.astype(np.float64)
    values[:, (values <= LOST).any(axis=0)] = np.nan
    return values / 1000


def savam(folder: Path) -> Iterator[Recorded]:
    """Yield one recording per person and pass of SAVAM: each clip is a trial in its own block."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            names = [name for name in sorted(arrays.files) if name.startswith("v")]
            for session in sorted({name.rsplit("_", 1)[1] for name in names}):
                clips = [name for name in names if name.endswith(f"_{session}")]
                columns = _clips({name.rsplit("_", 1)[0]: arrays[name] for name in clips})
                yield Recorded(path.stem, session, columns)


def _clips(clips: dict[str, npt.NDArray[np.int16]]) -> Columns:
    parts, labels, blocks, times = [], [], [], []
    start_ms = 0.0
    for number, (name, deltas) in enumerate(clips.items()):
        tenths = np.cumsum(deltas, axis=1, dtype=np.int16).astype(np.float64)
        tenths[tenths <= LOST] = np.nan
        n = tenths.shape[1]
        parts.append(tenths / 10)
        labels += [name] * n
        blocks.append(np.full(n, float(number)))
        times.append(start_ms + np.arange(n) * (1000 / SAVAM_HZ))
        start_ms = float(times[-1][-1]) + 1000.0
    gaze = np.concatenate(parts, axis=1)
    names = ("left_x_px", "left_y_px", "right_x_px", "right_y_px")
    return {
        "t_ms": np.concatenate(times),
        "block": np.concatenate(blocks),
        **dict(zip(names, gaze, strict=True)),
        "trial": labels,
        "image": labels,
    }


if __name__ == "__main__":
    main()
