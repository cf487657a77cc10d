"""The journal of a session folder, `gaze.journal`.

If the first byte of an input is odd, all records that the rest seems to have get a right checksum:
a search would not find one. With more than 63 in the first byte the journal is followed while it
grows, in parts of four times that size.
"""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import numpy as np

from gazelive.gaze import Chunk, Message, StreamDescription
from gazelive.recordings.recording import Signal, Trial
from gazelive.recordings.session.conversion import write_session
from gazelive.recordings.session.journal import (
    CRC_BYTES,
    FRAME_BYTES,
    HEAD_BYTES,
    MAGIC,
    BlockHead,
    Kind,
    Notes,
    chunk_record,
    frame,
    to_json,
)
from gazelive.recordings.session.journal_reader import JournalFollower, find_end
from gazelive.recordings.session.manifest import JOURNAL_NAME, is_session_folder, write_manifest
from gazelive.recordings.session.reader import read_session

from ..unit.recordings.session_folders import MANIFEST, STREAM, bytes_of, make_chunk
from .target import Target

WHOLE, SEALED, FOLLOWED = 0, 1, 64
ONE_IN = 64
"""The dearer law is tried with one input in so many."""
CRC_TO_ZERO = 0x6DD90A9D
"""As docs/session-folder.md has it."""


def seeds(_folder: Path) -> list[bytes]:
    """Return journals of one and two blocks with all kinds of records, and damaged ones."""
    block = frame(Kind.BLOCK, 0, 0, to_json(BlockHead(stream=STREAM, start_us=0, end_us=40_000)))
    chunks = [chunk_record(make_chunk(number, 2)) for number in range(3)]
    extra = chunk_record(make_chunk(3, 2), {"input": np.ones(2, np.float32)})
    notes = Notes(
        messages=(Message(5, "TRIALID 1"), Message(6, "TRIAL_RESULT 0")),
        signals=(Signal(7, "button", 1, 1),),
        trials=(Trial(name="1", start_us=0, end_us=9, block=0),),
        header=("x",),
        problems=("y",),
    )
    noted = frame(Kind.NOTES, 0, 4, to_json(notes))
    second = frame(Kind.BLOCK, 1, 4, to_json(BlockHead(stream=STREAM)))
    last = chunk_record(make_chunk(4, 1, block=1))
    deep = frame(Kind.NOTES, 0, 0, b'{"header":' + b"[" * 1200)
    strange = frame(Kind.NOTES, 0, 0, b'{"messages":[[5,"\xff"]]}')
    journals = [
        block + b"".join(chunks),
        block + chunks[0] + extra + noted,
        block + chunks[0] + second + last,
        block + chunks[0] + chunks[2],
        block + chunks[0][:-9] + chunks[1],
        block + deep,
        block + strange,
        frame(7, 0, 0, b"unknown"),  # type: ignore[arg-type]
    ]
    return [bytes([how]) + journal for how in (SEALED, 91) for journal in journals]


def read(data: bytes, folder: Path) -> None:
    """Read a journal as a whole, or follow it."""
    how, content = (data[0], data[1:]) if data else (WHOLE, b"")
    if how % 2 == SEALED:
        content = sealed(content)
    path = folder / JOURNAL_NAME
    if how >= FOLLOWED:
        follow(path, content, 4 * how)
        return
    path.write_bytes(content)
    end = find_end(path)
    assert end.whole_bytes + end.torn_bytes == len(content)
    if not is_session_folder(folder):
        write_manifest(folder, MANIFEST)
    recording = read_session(folder)
    assert all((np.diff(b.samples["tracker_time_us"]) > 0).all() for b in recording.blocks)
    if zlib.crc32(data) % ONE_IN == 0:
        again = folder / "again"
        shutil.rmtree(again, ignore_errors=True)
        write_session(recording, again, MANIFEST)
        assert bytes_of(read_session(again).blocks) == bytes_of(recording.blocks)


def follow(path: Path, content: bytes, n_bytes: int) -> None:
    """Follow a journal that grows by `n_bytes` at a time."""
    path.unlink(missing_ok=True)
    follower = JournalFollower(path)
    for start in range(0, len(content), n_bytes):
        with path.open("ab") as file:
            file.write(content[start : start + n_bytes])
        for item in follower.poll():
            assert isinstance(item, Chunk | StreamDescription)


def sealed(content: bytes) -> bytes:
    """Return a journal in which every record that ends before the journal has its checksum."""
    journal = bytearray(content)
    at = journal.find(MAGIC)
    while at >= 0:
        n_payload = int.from_bytes(journal[at + len(MAGIC) :][:4], "little")
        stop = at + HEAD_BYTES + n_payload
        if stop + CRC_BYTES <= len(journal):
            checksum = zlib.crc32(journal[at:stop]) ^ CRC_TO_ZERO
            journal[stop : stop + CRC_BYTES] = checksum.to_bytes(4, "little")
            at = journal.find(MAGIC, at + FRAME_BYTES + n_payload)
        else:
            at = journal.find(MAGIC, at + 1)
    return bytes(journal)


TARGET = Target(read=read, seeds=seeds, tokens=(MAGIC,))
