"""Damaged ASC files: damage is reported, everything intact is kept, and nothing raises."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import RecordingError
from gazelive.gaze.stream import Message
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.asc.source import SLAB_BYTES
from gazelive.recordings.problems import MAX_LISTED
from gazelive.recordings.recording import Recording

GOLDEN = Path(__file__).parents[2] / "golden" / "asc"
VALID = {path.stem: path.read_bytes() for path in sorted(GOLDEN.glob("*.asc"))}

MEMORY_FACTOR = 10
MEMORY_FLOOR_BYTES = 600_000
"""Memory that the reader needs even for the smallest file."""
GZIP_FLOOR_BYTES = SLAB_BYTES + MEMORY_FLOOR_BYTES
"""Even a short gzip stream may unpack to more than a slab."""

START = "START\t100 \tLEFT\tSAMPLES\tEVENTS\n"
SAMPLES = "SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\n"
END = "END\t200 \tSAMPLES\tEVENTS\tRES\t  35.19\t  35.15\n"


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    """Compile the kernels before any memory is measured."""
    read_asc(GOLDEN / "damaged.asc")


@pytest.fixture
def read(tmp_path: Path):
    def read_text(text: str | bytes) -> Recording:
        path = tmp_path / "some.asc"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_asc(path)

    return read_text


def sample(time_ms: int, x: float = 100.0) -> str:
    return f"{time_ms}\t{x:7.1f}\t  200.0\t  300.0\t...\n"


def times_ms(recording: Recording, block: int = 0) -> list[float]:
    return (recording.blocks[block].samples["tracker_time_us"] / 1000).tolist()


def test_everything_that_can_go_wrong_at_once() -> None:
    recording = read_asc(GOLDEN / "damaged.asc")
    lines = VALID["damaged"].decode().splitlines()
    problems = {lines[p.line - 1].split("\t")[0]: p.text for p in recording.problems if p.line}
    assert {start: text.split(":")[0] for start, text in problems.items()} == {
        "7": "a sample outside any block",
        "SAMPLES": "a line that belongs between START and END",
        "MSG": "this line cannot be read",
        "101": "a sample line with missing, extra or unreadable columns",
        "102": "a sample line with missing, extra or unreadable columns",
        "103": "a sample line with missing, extra or unreadable columns",
        "105": "a sample line with missing, extra or unreadable columns",
        "106": "a sample line with missing, extra or unreadable columns",
        "SFIX L   104": "the event that starts here has no end",
        "EFIX L   104": "an event that cannot be read",
        "ESACC L  107": "an event that cannot be read",
        "what is this?": "not a line of an ASC file",
        "  indented after nothing": "not a line of an ASC file",
        "108": "the time of this sample is not later than that of the one before",
        "INPUT": "this line cannot be read",
        "206": "a sample line with missing, extra or unreadable columns",
        "START": "no line gives the sampling rate of the block that starts here",
    }
    assert times_ms(recording, 0) == [100, 104, 108]
    assert times_ms(recording, 1) == [200, 202, 204]
    assert [b.stream.sampling_rate_hz for b in recording.blocks] == [1000, 500]
    assert [b.stream.eyes for b in recording.blocks] == ["L", "R"]
    assert [p.line for p in recording.problems] == sorted(
        p.line for p in recording.problems if p.line
    )


class TestTimes:
    def test_a_time_that_jumps_ahead_costs_one_sample(self, read) -> None:
        text = "".join(sample(t) for t in (100, 101, 912, 103, 104))
        recording = read(START + SAMPLES + text + END)
        assert times_ms(recording) == [100, 101, 103, 104]
        assert [p.line for p in recording.problems] == [1, 6]

    def test_a_clock_that_was_set_back_keeps_the_longer_part(self, read) -> None:
        text = "".join(sample(t) for t in (150, 151, 101, 102, 103))
        assert times_ms(read(START + SAMPLES + text + END)) == [101, 102, 103]

    def test_lines_written_twice_count_once(self, read) -> None:
        text = "".join(sample(t) * 2 for t in (100, 101, 102))
        assert times_ms(read(START + SAMPLES + text + END)) == [100, 101, 102]

    def test_extras_are_left_out_with_their_samples(self, read) -> None:
        samples = SAMPLES.replace("\tRATE", "\tRES\tRATE")
        rows = "".join(f"{t}\t1.0\t2.0\t3.0\t{t}.0\t5.0\t...\n" for t in (100, 300, 101, 102))
        (block,) = read(START + samples + rows + END).blocks
        assert block.extras["resolution_x_units_per_deg"].tolist() == [100, 101, 102]


class TestStructure:
    def test_a_block_without_end(self, read) -> None:
        recording = read(START + SAMPLES + sample(100) + sample(101))
        assert [p.text for p in recording.problems] == ["the block that starts here has no END"]
        assert (recording.blocks[0].start_us, recording.blocks[0].end_us) == (100_000, 101_000)

    def test_a_block_that_starts_inside_another(self, read) -> None:
        recording = read(
            START
            + SAMPLES
            + sample(100)
            + START.replace("100", "150")
            + SAMPLES
            + sample(150)
            + END
        )
        assert [len(block.samples) for block in recording.blocks] == [1, 1]
        assert [p.line for p in recording.problems] == [1]

    def test_without_samples_line_the_start_tells_the_eyes(self, read) -> None:
        recording = read("MSG\t99 RECCFG CR 500 2 1 L\n" + START + sample(100) + END)
        assert recording.blocks[0].stream.sampling_rate_hz == 500
        assert recording.problems == ()

    def test_rate_from_the_events_line(self, read) -> None:
        recording = read(START + "EVENTS\tGAZE\tLEFT\tRATE\t 250.00\n" + sample(100) + END)
        assert recording.blocks[0].stream.sampling_rate_hz == 250

    def test_a_block_of_unknown_eyes_cannot_be_read(self, read) -> None:
        recording = read("START\t100\n" + "SAMPLES\tGAZE\n" + sample(100) + END)
        assert recording.blocks == ()
        assert {p.line for p in recording.problems} == {1, 2, 3}

    def test_events_without_samples_are_a_block(self, read) -> None:
        recording = read(START + "EVENTS\tGAZE\tLEFT\tRATE\t1000.00\n" + END)
        assert [len(block.samples) for block in recording.blocks] == [0]
        assert recording.problems == ()

    def test_start_and_end_alone_are_no_block(self, read) -> None:
        recording = read(START + END)
        assert recording.blocks == ()
        assert len(recording.problems) == 1

    def test_columns_cannot_change_inside_a_block(self, read) -> None:
        recording = read(START + SAMPLES + sample(100) + SAMPLES.replace("LEFT", "RIGHT") + END)
        assert recording.blocks[0].stream.eyes == "L"
        assert [p.line for p in recording.problems] == [4]

    def test_times_of_start_and_end_that_cannot_be(self, read) -> None:
        text = START.replace("100", "1O0") + SAMPLES + sample(150) + END.replace("200", "120")
        recording = read(text)
        assert (recording.blocks[0].start_us, recording.blocks[0].end_us) == (150_000, 150_000)
        assert len(recording.problems) == 2

    def test_an_event_that_never_ended(self, read) -> None:
        recording = read(START + SAMPLES + "SSACC L  100\n" + sample(100) + "SSACC L  101\n" + END)
        assert [p.line for p in recording.problems] == [3, 5]

    def test_an_event_without_start_is_complete(self, read) -> None:
        recording = read(START + SAMPLES + sample(100) + "EBLINK L 100\t100\t1\n" + END)
        assert len(recording.tracker_events) == 1
        assert recording.problems == ()


class TestTarget:
    TARGET = " \t 4717.0\t 2908.0\t  611.2 ............."

    def test_that_appears_later(self, read) -> None:
        lines = sample(100) + sample(101) + sample(102).replace("...", "..." + self.TARGET)
        (block,) = read(START + SAMPLES.replace("\tRATE", "\tHTARGET\tRATE") + lines + END).blocks
        distances_mm = block.extras["target_distance_mm"]
        assert np.isnan(distances_mm[:2]).all()
        assert distances_mm[2] == np.float32(611.2)

    def test_that_goes_missing_was_cut_off(self, read) -> None:
        lines = sample(100).replace("...", "..." + self.TARGET) + sample(101)
        recording = read(START + SAMPLES.replace("\tRATE", "\tHTARGET\tRATE") + lines + END)
        assert times_ms(recording) == [100]

    @pytest.mark.parametrize("surplus", [TARGET, " .............", " x"])
    def test_that_is_not_announced(self, surplus: str, read) -> None:
        lines = sample(100) + sample(101).replace("...", "..." + surplus)
        recording = read(START + SAMPLES + lines + END)
        assert times_ms(recording) == [100]
        assert [p.line for p in recording.problems] == [4]


@pytest.mark.parametrize("line", ["PRESCALER", "VPRESCALER"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "2" + 90 * "4"])
def test_an_impossible_prescaler_is_reported(line: str, value: str, read) -> None:
    recording = read(START + SAMPLES + f"{line}\t{value}\n" + sample(100) + END)
    assert recording.blocks[0].samples["left_x"].tolist() == [100]
    assert [p.line for p in recording.problems] == [3]


class TestCutOff:
    def test_in_a_sample(self, read) -> None:
        for n in range(1, len(sample(101))):
            recording = read(START + SAMPLES + sample(100) + sample(101)[:n])
            if n == len(sample(101)) - 1:  # only the newline is missing
                assert times_ms(recording) == [100, 101]
            else:
                assert times_ms(recording) == [100]
                assert recording.problems[-1].line == 4

    def test_in_a_sample_without_flags(self, read) -> None:
        text = START + SAMPLES + "100\t1.0\t2.0\t3.0\n101\t1.0\t2.0\t3"
        recording = read(text)
        assert times_ms(recording) == [100]
        assert recording.problems[-1].text == "the file ends inside this line: skipped"

    def test_in_a_message_of_a_block(self, read) -> None:
        recording = read(START + SAMPLES + sample(100) + "MSG\t100 image_on")
        assert recording.messages == ()
        assert [p.line for p in recording.problems] == [1, 4]

    def test_after_the_last_block_only_the_newline_is_missing(self, read) -> None:
        recording = read(START + SAMPLES + sample(100) + END + "MSG\t300 TRIAL_RESULT 0")
        assert recording.messages == (Message(300_000, "TRIAL_RESULT 0"),)
        assert recording.problems == ()

    def test_in_the_resolution(self, read) -> None:
        whole = read(START + SAMPLES + sample(100) + END.rstrip())
        assert whole.blocks[0].stream.px_per_deg == (35.19, 35.15)
        cut = read(START + SAMPLES + sample(100) + END.rstrip()[:-1])
        assert cut.blocks[0].stream.px_per_deg is None

    def test_in_the_gzip_stream(self, read) -> None:
        text = START + SAMPLES + "".join(sample(t, t % 7) for t in range(100, 5000)) + END
        packed = gzip.compress(text.encode())
        recording = read(packed[: len(packed) * 3 // 4])
        assert 1000 < len(recording.blocks[0].samples) < 4900
        assert "gzip" in recording.problems[-1].text

    def test_a_gzip_stream_that_is_damaged_at_once(self, read) -> None:
        with pytest.raises(RecordingError, match="nothing can be read"):
            read(gzip.compress(b"MSG\t1 x\n")[:12])


class TestTheEndless:
    def test_problems_are_listed_up_to_a_limit(self, read) -> None:
        recording = read("MSG\t1 x\n" + "?\n" * 1000)
        assert len(recording.problems) == MAX_LISTED + 1
        assert recording.problems[0].line == 2
        assert recording.problems[-1].text == f"{1000 - MAX_LISTED} more problems are not listed"

    def test_an_endless_line_is_skipped(self, read, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gazelive.recordings.asc.source.SLAB_BYTES", 1000)
        recording = read("MSG\t1 before\n" + "MSG\t2 " + "x" * 5000 + "\nMSG\t3 after\n?\n")
        assert [m.text for m in recording.messages] == ["before", "after"]
        assert [(p.line, p.text) for p in recording.problems] == [
            (2, "an endless line: skipped"),
            (4, "not a line of an ASC file: skipped"),
        ]

    def test_an_endless_line_at_the_end(self, read, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gazelive.recordings.asc.source.SLAB_BYTES", 1000)
        recording = read("MSG\t1 before\n" + "x" * 5000)
        assert [p.line for p in recording.problems] == [2]

    @pytest.mark.parametrize(
        "line",
        [
            b"\n",
            b"MSG\t1 a\n",
            b"MSG\t1234567 a message of usual length\n",
            b"?\n",
            b" \n",
            b" x\n",
            b"**\n",
            b"START 1\n",
            b"START 1\nEND 1\n",
            b"END 1\n",
            b"1 1 1 1\n",
            b"SFIX L 1\n",
            b"EFIX R   1031437\t1031612\t176\t  785.2\t  356.7\t   1385\n",
            b"INPUT\t1031437\t127\n",
            b"\0",
        ],
        ids=repr,
    )
    def test_a_file_of_one_line_takes_little_memory(self, line: bytes, tmp_path: Path) -> None:
        path = tmp_path / "same.asc"
        path.write_bytes(
            b"MSG\t1 x\n" + START.encode() + SAMPLES.encode() + line * (2**16 // len(line))
        )
        assert peak_bytes(path) < MEMORY_FLOOR_BYTES + MEMORY_FACTOR * path.stat().st_size


def peak_bytes(path: Path) -> int:
    """Return the most memory that reading took; any error but RecordingError passes through."""
    tracemalloc.start()
    try:
        read_asc(path)
    except RecordingError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def check(content: bytes, path: Path) -> None:
    path.write_bytes(content)
    assert peak_bytes(path) < MEMORY_FLOOR_BYTES + MEMORY_FACTOR * len(content)
    try:
        recording = read_asc(path)
    except RecordingError:
        return
    for block in recording.blocks:
        assert (np.diff(block.samples["tracker_time_us"]) > 0).all()
        assert block.start_us <= block.end_us
        assert all(len(extra) == len(block.samples) for extra in block.extras.values())
    n_lines = content.count(b"\n") + 1
    assert all(p.line is None or 1 <= p.line <= n_lines for p in recording.problems)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "fuzzed.asc"


class TestFuzz:
    @settings(max_examples=100)
    @given(content=st.binary(max_size=2000))
    def test_any_bytes(self, content: bytes, fuzzed: Path) -> None:
        check(content, fuzzed)

    @settings(max_examples=100)
    @given(
        lines=st.lists(
            st.sampled_from(sorted({line for text in VALID.values() for line in text.split(b"\n")}))
            | st.from_regex(rb"(MSG|START|SAMPLES|END|EFIX|ESACC|INPUT|BUTTON)[ \tLR0-9.-]{0,40}")
            | st.from_regex(rb"[0-9]{1,16}[ \t0-9.CRI-]{0,60}"),
            max_size=40,
        )
    )
    def test_any_lines(self, lines: list[bytes], fuzzed: Path) -> None:
        check(b"\n".join(lines), fuzzed)

    @settings(max_examples=100)
    @given(data=st.data())
    def test_mutated_files(self, data: st.DataObject, fuzzed: Path) -> None:
        content = bytearray(VALID[data.draw(st.sampled_from(sorted(VALID)))])
        for _ in range(data.draw(st.integers(1, 5))):
            at = data.draw(st.integers(0, max(len(content) - 1, 0)))
            n = data.draw(st.integers(1, 200))
            match data.draw(st.sampled_from(["flip", "delete", "duplicate", "insert", "cut"])):
                case "flip" if content:
                    content[at] ^= data.draw(st.integers(1, 255))
                case "delete":
                    del content[at : at + n]
                case "duplicate":
                    content[at:at] = content[at : at + n]
                case "insert":
                    content[at:at] = data.draw(st.binary(max_size=20))
                case "cut":
                    del content[at:]
        check(bytes(content), fuzzed)

    @settings(max_examples=50)
    @given(data=st.data())
    def test_damaged_gzip(self, data: st.DataObject, fuzzed: Path) -> None:
        content = bytearray(gzip.compress(VALID[data.draw(st.sampled_from(sorted(VALID)))]))
        at = data.draw(st.integers(2, len(content) - 1))
        if data.draw(st.booleans()):
            content[at] ^= data.draw(st.integers(1, 255))
        else:
            del content[at:]
        fuzzed.write_bytes(content)
        assert peak_bytes(fuzzed) < GZIP_FLOOR_BYTES + MEMORY_FACTOR * len(content)

    @pytest.mark.parametrize("name", ["mono_right_1000", "remote_left_500"])
    def test_truncated_anywhere(self, name: str, fuzzed: Path) -> None:
        whole = VALID[name]
        n_samples = read_asc(GOLDEN / f"{name}.asc").n_samples
        for n in range(len(whole)):
            fuzzed.write_bytes(whole[:n])
            try:
                recording = read_asc(fuzzed)
            except RecordingError:
                assert n < 300
                continue
            expected = sum(line[:1].isdigit() for line in whole[:n].split(b"\n")[:-1])
            assert expected <= recording.n_samples <= min(expected + 1, n_samples)
