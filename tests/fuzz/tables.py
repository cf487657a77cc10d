"""Tables: of samples and of fixations, CSV and Parquet, their sidecars, and `corpus.csv`.

The first byte of an input chooses the file. A sidecar follows its table after a NUL byte.
"""

from __future__ import annotations

import gzip
import zlib
from itertools import product
from pathlib import Path

import pyarrow as pa

from gazelive.gaze import PAPER_SCREEN, Message
from gazelive.recordings.corpus import CORPUS_NAME, CorpusEntry, read_corpus, write_corpus_csv
from gazelive.recordings.open import read_recording
from gazelive.recordings.recording import Recording
from gazelive.recordings.tables.files import write_table_file
from gazelive.recordings.tables.fixations import read_fixation_table
from gazelive.recordings.tables.sample_writer import write_sample_table
from gazelive.recordings.tables.sidecar import sidecar_path

from ..support.recordings import make_recording, numbered_block
from .target import Target

SAMPLES, FIXATIONS, CORPUS = range(3)
NAMES = ("a.csv", "fixations.csv", CORPUS_NAME)
BEFORE_SIDECAR = b"\0"
PARQUET = b"PAR1"
ONE_IN = 8
"""The dearer law is tried with one input in so many."""
FIXATION_TABLE = (
    "viewer,session,image,fixation,x_px,y_px,duration_ms\nann,1,a.png,1,512.5,300,220\n"
    "ann,1,a.png,2,600,310.25,180\n'=bob,2,b.png,1,,300,200\n"
)
FOREIGN_TABLES = (
    "t_ms,x_px,y_px,eye,valid,trial,image\n0,1.5,2,L,true,1,a.png\n2,.,NA,L,false,1,a.png\n"
    '4,-32768,2,L,true,2,"b,.png"\n1000,2,2,L,true,2,\n',
    "t_ms;x;y\r\n0;1;2\r\n",
    "t_ms,left_x_deg,left_y_deg,right_x_deg,right_y_deg,block\n0,1,2,,,0\n1,1,2,3,4,0\n0,1,2,,,1\n",
)


def seeds(folder: Path) -> list[bytes]:
    """Return tables of all kinds, with and without sidecars."""
    made = [bytes([SAMPLES]) + text.encode() for text in FOREIGN_TABLES]
    for suffix, eyes in product((".csv", ".csv.gz", ".parquet"), ("L", "LR")):
        blocks = [numbered_block(n * 1_000_000, 5, eyes=eyes) for n in range(2)]
        recording = make_recording(
            blocks,
            [Message(0, "TRIALID 1"), Message(3_000, "TRIAL_RESULT 0")],
            viewer="ann",
            session="1",
        )
        path = folder / f"seed{suffix}"
        write_sample_table(recording, path)
        table, sidecar = path.read_bytes(), sidecar_path(path).read_bytes()
        made.append(bytes([SAMPLES]) + table)
        if suffix == ".csv":
            made.append(bytes([SAMPLES]) + table + BEFORE_SIDECAR + sidecar)
    fixations = FIXATION_TABLE.encode()
    columns = {"viewer": ["ann"], "image": ["a"], "fixation": [1], "duration_ms": [200.0]}
    table = pa.table(columns | {"x_px": [1.0], "y_px": [2.0]})
    write_table_file(table, folder / "seed.parquet")
    made += [
        bytes([FIXATIONS]) + one
        for one in (fixations, gzip.compress(fixations), (folder / "seed.parquet").read_bytes())
    ]
    (folder / "a.csv").touch()
    entries = [CorpusEntry(folder / "a.csv", "=ann", "1", PAPER_SCREEN)]
    made.append(bytes([CORPUS]) + write_corpus_csv(entries, folder).read_bytes())
    return made


def read(data: bytes, folder: Path) -> None:
    """Read a table; now and then write what was read, and read it again."""
    kind, content = data[0] % len(NAMES) if data else SAMPLES, data[1:]
    sidecar = b""
    if not content.startswith((PARQUET, b"\x1f\x8b")):
        content, _, sidecar = content.partition(BEFORE_SIDECAR)
    path = folder / NAMES[kind]
    path.write_bytes(content)
    sidecar_path(path).unlink(missing_ok=True)
    if sidecar:
        sidecar_path(path).write_bytes(sidecar)
    if kind == CORPUS:
        corpus = read_corpus(folder)
        assert write_corpus_csv(corpus.entries, folder) == path
        assert read_corpus(folder).entries == corpus.entries
    elif kind == FIXATIONS:
        table = read_fixation_table(path)
        assert all(len(part) == len(table) for part in (table.viewer, table.image, table.x))
    else:
        recording = read_recording(path)
        if zlib.crc32(data) % ONE_IN == 0:
            path.unlink()
            write_sample_table(recording, path)
            assert times_of(read_recording(path)) == times_of(recording)


def times_of(recording: Recording) -> list[bytes]:
    """Return the times of the samples of each block."""
    return [block.samples["tracker_time_us"].tobytes() for block in recording.blocks]


TARGET = Target(
    read=read,
    seeds=seeds,
    tokens=(
        *(b"t_ms", b"x_px", b"y_px", b"left_x_px", b"pupil", b"eye", b"valid", b"block", b"trial"),
        *(b"viewer", b"image", b"fixation", b"duration_ms", b"session", b"recording", b"screen_px"),
        *(
            b"nan",
            b"inf",
            b"1e300",
            b"-1e18",
            b"9223372036854775807",
            b'"',
            b"\r\n",
            b"NA",
            b"true",
        ),
        *(b'"sampling_rate_hz":', b'"blocks":[', b'"n_rows":', b'"messages":[', b'"trials":['),
    ),
    longest=4096,
)
