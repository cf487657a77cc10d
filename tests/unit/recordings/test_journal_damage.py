"""Damage in the middle of a journal: all that was not touched is read, and the rest is named."""

from __future__ import annotations

import re
import zlib
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.gaze import Chunk, Message, StreamDescription
from gazelive.recordings.session import journal_reader, reader
from gazelive.recordings.session.journal import (
    MAGIC,
    MAX_PAYLOAD_BYTES,
    BlockHead,
    Kind,
    chunk_record,
    frame,
    to_json,
)
from gazelive.recordings.session.journal_reader import JournalFollower
from gazelive.recordings.session.reader import JournalContents, read_journal

from ...support.recordings import numbered_samples

STREAM = StreamDescription(device="test", sampling_rate_hz=1000.0, eyes="L")
N_CHUNKS, PER_BLOCK = 120, 40


def make_chunk(number: int) -> Chunk:
    """Return a chunk of 0 to 6 samples, with a message now and then."""
    samples = numbered_samples(10_000 * number, number % 7, eyes="L", first_value=number)
    messages = (Message(10_000 * number, f"MSG {number}"),) if number % 5 == 0 else ()
    return Chunk(number, number // PER_BLOCK, samples, messages, number / 100)


CHUNKS = [make_chunk(number) for number in range(N_CHUNKS)]
RECORDS: list[tuple[int | None, bytes]] = []
"""Records in their order; those of chunks with the number."""
for one in CHUNKS:
    if one.number % 20 == 0:  # twice in each block
        head = to_json(BlockHead(stream=STREAM))
        RECORDS.append((None, frame(Kind.BLOCK, one.block, one.number, head)))
    RECORDS.append((one.number, chunk_record(one)))
JOURNAL = b"".join(record for _, record in RECORDS)
STARTS = [0, *accumulate(len(record) for _, record in RECORDS)]

Damage = tuple[str, int, int]


@st.composite
def damages(draw: st.DrawFn) -> list[Damage]:
    """Return places from the back to the front, so that each is where it was in the journal."""
    kinds = st.sampled_from(["flip", "zero", "cut", "torn", "length"])
    places = draw(st.lists(st.integers(0, len(JOURNAL) - 2), min_size=1, max_size=8, unique=True))
    return [(draw(kinds), at, draw(st.integers(1, 400))) for at in sorted(places, reverse=True)]


def damaged(found: list[Damage]) -> bytes:
    """Return the journal with damage."""
    content = bytearray(JOURNAL)
    for kind, at, n in found:
        stop = min(at + n, len(content))
        record = int(np.searchsorted(STARTS, at, side="right")) - 1
        match kind:
            case "flip":
                content[at] ^= 1 << (n % 8)
            case "length":  # the record claims a part of what follows, or more than there is
                place = STARTS[record] + 4
                content[place : place + 4] = (n**3).to_bytes(4, "little")
            case "torn":  # a write that was broken off
                del content[at : STARTS[record + 1]]
            case "cut":
                del content[at:stop]
            case _:
                content[at:stop] = bytes(stop - at)
    return bytes(content)


def read(folder, content: bytes) -> JournalContents:
    path = folder / "gaze.journal"
    path.unlink(missing_ok=True)  # ext4 would wait for the disk when a file is overwritten
    path.write_bytes(content)
    return read_journal(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damage")


def missing_in(problems: list[str]) -> set[int]:
    """Return the chunks that the problems call missing."""
    found = set[int]()
    for text in problems:
        for first, last in re.findall(r"chunks? (\d+)(?: to (\d+))? (?:is|are) missing", text):
            found |= set(range(int(first), int(last or first) + 1))
    return found


@given(damages())
def test_what_is_whole_is_read_and_the_rest_is_named(folder, found):
    content = damaged(found)
    whole = [CHUNKS[n] for n, record in RECORDS if n is not None and record in content]
    contents = read(folder, content)
    blocks = list(contents.blocks())
    problems = [problem.text for problem in contents.problems]
    if any(record in content for n, record in RECORDS if n is None):
        expected = b"".join(chunk.samples.tobytes() for chunk in whole)
        assert b"".join(block.samples.tobytes() for block in blocks) == expected
    assert contents.messages == [message for chunk in whole for message in chunk.messages]
    last = max((chunk.number for chunk in whole), default=-1)
    assert missing_in(problems) == set(range(last)) - {chunk.number for chunk in whole}
    if last < N_CHUNKS - 1:
        assert contents.last_chunk == last
    if content != b"".join(record for _, record in RECORDS if record in content):
        assert "damaged" in " ".join(problems) or "incomplete record" in problems[-1]

    follower = JournalFollower(folder / "gaze.journal")
    followed = [item for item in follower.poll() if isinstance(item, Chunk)]
    assert {chunk.number for chunk in followed} <= {chunk.number for chunk in whole}
    assert all(c.samples.tobytes() == CHUNKS[c.number].samples.tobytes() for c in followed)
    assert missing_in([p.text for p in follower.problems]) == missing_in(problems)


def test_a_block_without_a_description_is_read_with_that_of_its_neighbour(tmp_path):
    content = b"".join(
        bytes(len(record)) if number is None and STARTS[k] > STARTS[20] else record
        for k, (number, record) in enumerate(RECORDS)
    )
    contents = read(tmp_path, content)
    blocks = list(contents.blocks())
    assert [block.stream for block in blocks] == [STREAM] * 3
    assert sum(len(block.samples) for block in blocks) == sum(len(c.samples) for c in CHUNKS)
    said = [p.text for p in contents.problems if "since its description is damaged" in p.text]
    assert [re.findall(r"block \d", text) for text in said] == [
        ["block 1", "block 0"],
        ["block 2", "block 0"],
    ]
    follower = JournalFollower(tmp_path / "gaze.journal")
    items = list(follower.poll())
    assert [c.number for c in items if isinstance(c, Chunk)] == list(range(N_CHUNKS))
    assert [c for c in items if not isinstance(c, Chunk)] == [STREAM] * 3
    assert sum("is used instead" in p.text for p in follower.problems) == 2


def test_a_journal_shorter_than_a_sample_has_none(tmp_path):
    found = "0f475a4a310000000002000000400002000000004a315a4acae4c00ed7"  # by fuzzing
    contents = read(tmp_path, bytes.fromhex(found))
    assert list(contents.blocks()) == []
    assert contents.problems


def test_a_loss_is_named_with_its_bytes_chunks_and_times(tmp_path):
    at, n = STARTS[30], STARTS[33] - STARTS[30]
    content = bytearray(JOURNAL)
    content[at : at + n] = bytes(n)
    first = RECORDS[30][0]
    assert first is not None
    (problem,) = read(tmp_path, bytes(content)).problems
    after_us = CHUNKS[first - 1].samples["tracker_time_us"][-1]
    before_us = CHUNKS[first + 3].samples["tracker_time_us"][:1]
    assert problem.text == (
        f"{n} bytes from byte {at} on are damaged; chunks {first} to {first + 2} are missing "
        f"(after {after_us / 1e6:.3f} s and before {before_us[0] / 1e6:.3f} s on the tracker's "
        "clock)"
    )


def test_damage_everywhere_is_listed_up_to_a_limit(tmp_path, monkeypatch):
    content = b"".join(
        record if number is None or number % 2 else bytes(len(record)) for number, record in RECORDS
    )
    assert len(read(tmp_path, content).problems) == N_CHUNKS / 2
    monkeypatch.setattr(reader, "MAX_LISTED", 10)
    *_, last = read(tmp_path, content).problems
    assert last.text == "50 more losses are not listed"


@pytest.mark.parametrize("claimed_bytes", [1, 1 << 16, 1 << 20, MAX_PAYLOAD_BYTES])
def test_a_journal_of_nothing_but_beginnings_is_read_in_linear_time(
    tmp_path, monkeypatch, claimed_bytes
):
    n_checked = 0

    def counting(data: memoryview) -> int:
        nonlocal n_checked
        n_checked += len(data)
        return zlib.crc32(data)

    class Zlib:
        crc32 = staticmethod(counting)

    monkeypatch.setattr(journal_reader, "zlib", Zlib)
    monkeypatch.setattr(journal_reader, "VAIN_BYTES", 1 << 20)
    beginning = MAGIC + claimed_bytes.to_bytes(4, "little")
    content = beginning * (200_000 // len(beginning)) + JOURNAL
    contents = read(tmp_path, content)
    assert contents.n_samples == sum(len(chunk.samples) for chunk in CHUNKS)
    assert n_checked <= 2 * (journal_reader.VAIN_CHECKS * len(content) + (1 << 20))


@pytest.mark.parametrize("claimed_bytes", [50, 5000, len(JOURNAL), MAX_PAYLOAD_BYTES, 2**32 - 1])
def test_a_wrong_length_hides_nothing_behind_it(tmp_path, claimed_bytes):
    content = bytearray(JOURNAL)
    content[STARTS[10] + 4 : STARTS[10] + 8] = claimed_bytes.to_bytes(4, "little")
    problems = read(tmp_path, bytes(content)).problems
    assert missing_in([problem.text for problem in problems]) == {RECORDS[10][0]}
