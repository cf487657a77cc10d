"""Journal: intact records are read and damage is reported, whatever happens to its bytes."""

import io
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import RecordingError
from gazelive.gaze.stream import Chunk, Message, StreamDescription
from gazelive.recordings.session import journal_reader
from gazelive.recordings.session.journal import (
    MAGIC,
    MAX_PAYLOAD_BYTES,
    BlockHead,
    Kind,
    Notes,
    chunk_record,
    decode_additions,
    decode_chunk,
    frame,
    to_json,
)
from gazelive.recordings.session.journal_reader import JournalFollower, find_end, scan
from gazelive.recordings.session.reader import read_journal

from ...support.recordings import numbered_samples

STREAM = StreamDescription(device="test", sampling_rate_hz=1000.0, eyes="L")


def make_chunk(number: int, n_samples: int = 2, block: int = 0, text: str | None = None) -> Chunk:
    samples = numbered_samples(1_000_000 * number, n_samples, eyes="L", first_value=number)
    messages = () if text is None else (Message(1_000_000 * number, text),)
    return Chunk(number, block, samples, messages, arrival_s=number / 8)


def block_record(block: int = 0, next_chunk: int = 0) -> bytes:
    return frame(Kind.BLOCK, block, next_chunk, to_json(BlockHead(stream=STREAM)))


CHUNKS = [make_chunk(n, n % 3, text=f"MSG {n} ä" if n % 2 else None) for n in range(5)]
RECORDS = [block_record(), *map(chunk_record, CHUNKS)]
ENDS = np.cumsum([len(record) for record in RECORDS])
JOURNAL = b"".join(RECORDS)


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("journal")


def read(tmp_path, content: bytes):
    path = tmp_path / "gaze.journal"
    path.unlink(missing_ok=True)  # ext4 would wait for the disk when a file is overwritten
    path.write_bytes(content)
    contents = read_journal(path)
    return contents, list(contents.blocks())


def samples_of(chunks) -> bytes:
    return b"".join(chunk.samples.tobytes() for chunk in chunks)


def same(a: Chunk, b: Chunk) -> bool:
    return a.samples.tobytes() == b.samples.tobytes() and replace(a, samples=b.samples) == b


def test_the_checksum_of_any_run_of_records_is_zero():
    assert all(zlib.crc32(record) == 0 for record in RECORDS)
    assert zlib.crc32(JOURNAL) == 0


def test_written_records_are_read(tmp_path):
    contents, (block,) = read(tmp_path, JOURNAL)
    assert block.stream == STREAM
    assert block.samples.tobytes() == samples_of(CHUNKS)
    assert (block.start_us, block.end_us) == (1_000_000, 4_000_000)
    assert contents.messages == [Message(1_000_000, "MSG 1 ä"), Message(3_000_000, "MSG 3 ä")]
    assert contents.problems == []
    assert contents.last_chunk == 4


def test_extra_columns_come_back_with_their_chunk(tmp_path):
    chunk = make_chunk(0, 3, text="m")
    velocity = np.array([1, np.nan, 3], np.float32)
    messages, columns = decode_additions(
        memoryview(chunk_record(chunk, {"velocity": velocity}))[24:-4]
    )
    assert messages == chunk.messages
    np.testing.assert_array_equal(columns["velocity"], velocity)
    later = make_chunk(1, 2)
    content = block_record() + chunk_record(chunk, {"velocity": velocity}) + chunk_record(later)
    _, (block,) = read(tmp_path, content)
    np.testing.assert_array_equal(block.extras["velocity"], [1, np.nan, 3, np.nan, np.nan])


def test_truncated_at_any_byte_intact_records_are_kept(tmp_path):
    for length in range(len(JOURNAL) + 1):
        contents, blocks = read(tmp_path, JOURNAL[:length])
        n_whole = int(np.searchsorted(ENDS, length, side="right"))
        kept = CHUNKS[: max(n_whole - 1, 0)]
        assert b"".join(block.samples.tobytes() for block in blocks) == samples_of(kept)
        torn = length - (int(ENDS[n_whole - 1]) if n_whole else 0)
        assert contents.end == length - torn
        if torn:
            (problem,) = contents.problems
            assert f"the last {torn} bytes" in problem.text
        else:
            assert contents.problems == []


def when(kept: list[Chunk], lost: int) -> str:
    """Return how a problem ends that names the time of a lost chunk."""
    times_us = {c.number: c.samples["tracker_time_us"] for c in kept if len(c.samples)}
    after = [f"after {us[-1] / 1e6:.3f} s" for number, us in times_us.items() if number < lost]
    before = [f"before {us[0] / 1e6:.3f} s" for number, us in times_us.items() if number > lost]
    return f"({' and '.join([*after[-1:], *before[:1]])} on the tracker's clock)"


def test_a_flipped_byte_loses_its_record_and_no_other(tmp_path):
    for position in range(len(JOURNAL)):
        damaged = bytearray(JOURNAL)
        damaged[position] ^= 1 << (position % 8)
        lost = int(np.searchsorted(ENDS, position, side="right"))
        contents, blocks = read(tmp_path, bytes(damaged))
        if lost == 0:
            assert blocks == []
            assert "description is damaged" in contents.problems[-1].text
        else:
            kept = [chunk for chunk in CHUNKS if chunk.number != lost - 1]
            assert blocks[0].samples.tobytes() == samples_of(kept)
            assert contents.messages == [m for chunk in kept for m in chunk.messages]
        text = contents.problems[0].text
        size, start = len(RECORDS[lost]), int(ENDS[lost]) - len(RECORDS[lost])
        if lost == len(RECORDS) - 1:
            assert f"the last {size} bytes (after chunk 3)" in text
        else:
            consequence = f"chunk {lost - 1} is missing" if lost else "no chunk is missing"
            where = f"{size} bytes from byte {start} on are damaged"
            assert text.startswith(f"{where}; {consequence}")
            assert text.endswith(when(kept, lost - 1) if lost else consequence)


@given(
    st.lists(
        st.tuples(st.sampled_from(["flip", "cut", "insert", "fill"]), st.integers(0), st.binary()),
        max_size=5,
    )
)
def test_no_damage_gives_wrong_data(shared_folder, damages):
    content = bytearray(JOURNAL)
    for how, where, garbage in damages:
        start = where % (len(content) + 1)
        match how:
            case "flip":
                content[start : start + 1] = bytes(255 - b for b in content[start : start + 1])
            case "cut":
                del content[start : start + len(garbage)]
            case "insert":
                content[start:start] = garbage
            case _:
                content[start : start + len(garbage)] = garbage[: len(content) - start]
    contents, _ = read(shared_folder, bytes(content))
    with io.BytesIO(bytes(content)) as file:
        found = [
            decode_chunk(0, int(head["number"]), run.payload(index))
            for run in scan(file)
            for index, head in enumerate(run.heads)
            if head["kind"] == Kind.CHUNK
        ]
    assert all(same(chunk, CHUNKS[chunk.number]) for chunk in found)
    if zlib.crc32(content) != 0:  # else these are whole records only
        assert contents.problems


@given(st.binary(max_size=300), st.integers(0, 300))
def test_garbage_is_skipped_and_hides_nothing(shared_folder, garbage, cut):
    content = garbage + MAGIC + garbage[cut:] + JOURNAL
    contents, (block,) = read(shared_folder, content)
    assert block.samples.tobytes() == samples_of(CHUNKS)
    assert contents.problems


def test_a_message_may_look_like_a_record(tmp_path):
    chunk = make_chunk(5, 3, text=JOURNAL.decode("latin-1") + 3 * MAGIC.decode())
    contents, (block,) = read(tmp_path, JOURNAL + chunk_record(chunk) + chunk_record(make_chunk(6)))
    assert block.samples.tobytes() == samples_of([*CHUNKS, chunk, make_chunk(6)])
    assert contents.messages[-1] == chunk.messages[0]
    assert contents.problems == []


def test_chunks_of_many_lengths_pass_through_a_small_window(tmp_path, monkeypatch):
    chunks = [make_chunk(n, n % 23, block=n // 40, text="x" * (n % 7) or None) for n in range(200)]
    records = [
        (block_record(c.block, c.number) if c.number % 40 == 0 else b"") + chunk_record(c)
        for c in chunks
    ]
    records[100] = bytes(len(records[100]))
    monkeypatch.setattr(journal_reader, "WINDOW_BYTES", 64)
    contents, blocks = read(tmp_path, b"".join(records))
    kept = [chunk for chunk in chunks if chunk.number != 100]
    assert b"".join(block.samples.tobytes() for block in blocks) == samples_of(kept)
    assert [len(block.samples) for block in blocks] == [
        sum(len(c.samples) for c in kept if c.block == b) for b in range(5)
    ]
    assert contents.messages == [m for chunk in kept for m in chunk.messages]
    (problem,) = contents.problems
    assert problem.text.split("; ")[1] == f"chunk 100 is missing {when(kept, 100)}"


def test_data_appended_while_reading_come_with_the_next_poll(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_reader, "WINDOW_BYTES", 64)
    path = tmp_path / "gaze.journal"
    path.write_bytes(JOURNAL)
    later = chunk_record(make_chunk(5, 1000))

    def go_on_writing(fraction: float) -> None:
        assert fraction <= 1
        if path.stat().st_size == len(JOURNAL):
            with path.open("ab") as file:
                file.write(later)

    contents = read_journal(path, progress=go_on_writing)
    assert next(contents.blocks()).samples.tobytes() == samples_of(CHUNKS)
    assert contents.problems == []
    assert read_journal(path).n_samples == 1000 + len(np.concatenate([c.samples for c in CHUNKS]))


def test_a_chunk_that_is_there_twice_is_read_once(tmp_path):
    contents, (block,) = read(tmp_path, JOURNAL + RECORDS[3])
    assert block.samples.tobytes() == samples_of(CHUNKS)
    assert [p.text for p in contents.problems] == [
        "chunk 2 is stored twice; the second was skipped"
    ]


def test_a_gap_in_the_numbers_is_named(tmp_path):
    content = b"".join([RECORDS[0], RECORDS[1], RECORDS[5]])
    contents, _ = read(tmp_path, content)
    assert [p.text for p in contents.problems] == [
        "chunks 1 to 3 are missing (before 4.000 s on the tracker's clock)"
    ]


def test_a_record_of_an_unknown_kind_is_left_out_with_a_word(tmp_path):
    stranger = frame(77, 0, 5, b"whatever")  # type: ignore[arg-type]
    contents, (block,) = read(tmp_path, JOURNAL + stranger)
    assert len(block.samples) == len(np.concatenate([c.samples for c in CHUNKS]))
    assert [p.text for p in contents.problems] == ["a record of unknown kind 77 was skipped"]


@pytest.mark.parametrize(
    "record",
    [
        frame(Kind.CHUNK, 0, 0),
        frame(Kind.CHUNK, 0, 0, np.array([9, 0], "<u4").tobytes(), bytes(8)),
        frame(Kind.CHUNK, 0, 0, np.array([0, 9], "<u4").tobytes(), bytes(8)),
        frame(Kind.CHUNK, 0, 0, np.array([0, 2], "<u4").tobytes(), bytes(8), b"{}" + bytes(4)),
        frame(Kind.NOTES, 0, 0, b'{"messages": 3}'),
        frame(Kind.BLOCK, 0, 0, b"not json"),
    ],
)
def test_an_intact_record_with_nonsense_is_a_clear_error(tmp_path, record):
    with pytest.raises(RecordingError, match=r"gaze\.journal: .*intact but"):
        read(tmp_path, block_record() + record)
    follower = JournalFollower(tmp_path / "gaze.journal")
    if b"messages" not in record:  # which it does not read
        with pytest.raises(RecordingError, match=r"gaze\.journal: .*intact but"):
            list(follower.poll())


def test_blocks_out_of_order_are_a_clear_error(tmp_path):
    content = chunk_record(make_chunk(0, 1, block=1)) + chunk_record(make_chunk(1, 1, block=0))
    with pytest.raises(RecordingError, match="not in order"):
        read(tmp_path, content)


def test_notes_are_collected(tmp_path):
    notes = Notes(messages=(Message(5, "late"),), header=("** A",), problems=("was cut",))
    contents, _ = read(tmp_path, JOURNAL + frame(Kind.NOTES, 0, 5, to_json(notes)))
    assert contents.messages[-1] == Message(5, "late")
    assert contents.header == ["** A"]
    assert [p.text for p in contents.problems] == ["was cut"]


def test_undecodable_bytes_in_a_message_do_not_stop_a_recording():
    chunk = make_chunk(0, 1, text=b"caf\xe9".decode("utf-8", "surrogateescape"))
    messages, _ = decode_additions(memoryview(chunk_record(chunk))[24:-4])
    assert messages == (Message(0, "caf\\udce9"),)


def test_wrong_samples_and_records_without_measure_are_refused():
    with pytest.raises(ValueError, match="SAMPLE_DTYPE"):
        chunk_record(replace(CHUNKS[0], samples=np.zeros(3)))
    with pytest.raises(ValueError, match="shorter chunks"):
        frame(Kind.NOTES, 0, 0, bytes(MAX_PAYLOAD_BYTES + 1))


def test_the_end_is_after_the_last_intact_record(tmp_path):
    path = tmp_path / "gaze.journal"
    assert find_end(path) == journal_reader.JournalEnd(
        whole_bytes=0, torn_bytes=0, next_chunk=0, next_block=0
    )
    path.write_bytes(JOURNAL[:-1])
    assert find_end(path) == journal_reader.JournalEnd(
        whole_bytes=int(ENDS[-2]), torn_bytes=len(RECORDS[-1]) - 1, next_chunk=4, next_block=1
    )


class TestFollower:
    def test_records_arrive_when_complete(self, tmp_path):
        path = tmp_path / "gaze.journal"
        follower = JournalFollower(path)
        assert list(follower.poll()) == []
        arrived: list[Chunk | StreamDescription] = []
        with path.open("wb", buffering=0) as file:
            for position in range(len(JOURNAL)):
                file.write(JOURNAL[position : position + 1])
                arrived += follower.poll()
        assert arrived[0] == STREAM
        assert len(arrived) == 1 + len(CHUNKS)
        assert all(same(a, b) for a, b in zip(arrived[1:], CHUNKS, strict=True))
        assert follower.problems == []

    def test_it_begins_at_a_number_with_the_blocks_description(self, tmp_path):
        path = tmp_path / "gaze.journal"
        path.write_bytes(JOURNAL + block_record(0, 5))
        stream, *chunks = JournalFollower(path, from_chunk=3).poll()
        assert stream == STREAM
        assert [chunk.number for chunk in chunks] == [3, 4]

    def test_a_poll_that_was_broken_off_loses_nothing(self, tmp_path):
        path = tmp_path / "gaze.journal"
        path.write_bytes(JOURNAL)
        follower = JournalFollower(path)
        for item in follower.poll():
            if isinstance(item, Chunk) and item.number == 1:
                break
        assert [chunk.number for chunk in follower.poll()] == [2, 3, 4]

    def test_damage_is_stepped_over_and_named(self, tmp_path):
        path = tmp_path / "gaze.journal"
        path.write_bytes(RECORDS[0] + RECORDS[1] + bytes(50) + RECORDS[3])
        follower = JournalFollower(path)
        assert [c.number for c in follower.poll() if isinstance(c, Chunk)] == [0, 2]
        assert [p.text for p in follower.problems] == [
            f"50 bytes from byte {ENDS[1]} on are damaged and were skipped; chunk 1 is missing"
        ]

    def test_a_chunk_without_a_description_is_left_out(self, tmp_path):
        path = tmp_path / "gaze.journal"
        path.write_bytes(b"".join(RECORDS[1:]))
        follower = JournalFollower(path)
        assert list(follower.poll()) == []
        assert "description of block 0 is lost" in follower.problems[0].text

    def test_a_journal_that_shrank_is_not_the_same(self, tmp_path):
        path = tmp_path / "gaze.journal"
        path.write_bytes(JOURNAL)
        follower = JournalFollower(path)
        assert len(list(follower.poll())) == 6
        path.write_bytes(JOURNAL[:100])
        with pytest.raises(RecordingError, match="has become shorter"):
            list(follower.poll())
