"""Slabs and threads do not change the result of reading."""

from __future__ import annotations

import gc
import gzip
import os
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import RecordingError
from gazelive.recordings.asc import (
    pipeline as asc_parsing,
    pipeline as asc_pipeline,
    source as asc_source,
)
from gazelive.recordings.asc.pipeline import MAX_THREADS, usable_threads
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.recording import Recording

GOLDEN = Path(__file__).parents[2] / "golden" / "asc"
TEXTS = {path.stem: path.read_bytes() for path in sorted(GOLDEN.glob("*.asc"))}
LONGEST_LINE = 250
"""A slab must hold a line, so that none counts as endless."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pipeline") / "some.asc"


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Any:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def contents(recording: Recording) -> list[Any]:
    """Return everything that was read, so that it can be compared."""
    parts: list[Any] = [
        getattr(recording, name)
        for name in ("messages", "tracker_events", "signals", "trials", "header", "problems")
    ]
    parts += [recording.calibrations, recording.drift_corrections, recording.screen_px]
    for block in recording.blocks:
        parts += [block.stream, block.start_us, block.end_us, block.samples.tobytes()]
        parts += [(name, values.tobytes()) for name, values in block.extras.items()]
    return parts


def read(path: Path, slab_bytes: int = 1 << 20, n_threads: int = 1) -> list[Any] | str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asc_source, "SLAB_BYTES", slab_bytes)
        try:
            return contents(read_asc(path, n_threads=n_threads))
        except RecordingError as error:
            return str(error)


def long_recording(eyes: str, n_blocks: int, times: str = "{:d}") -> bytes:
    """Return blocks of samples with events, messages, blinks and off-screen positions."""
    numbers = "\t".join(["  512.3\t  384.1\t 1500.0"] * len(eyes.split()))
    negative = numbers.replace("  512.3", "   -2.3")
    blink = "\t".join(["      .\t      .\t    0.0"] * len(eyes.split()))
    flags = "..." if len(eyes.split()) == 1 else "....."
    lines = ["** made up", "MSG\t1 TRIALID 0"]
    time_ms = 1000
    for _ in range(n_blocks):
        lines.append(f"MSG\t{time_ms} RECCFG CR 1000 2 1 L")
        lines.append(f"START\t{time_ms} \t{eyes}\tSAMPLES\tEVENTS")
        lines.append(f"SAMPLES\tGAZE\t{eyes}\tRATE\t1000.00")
        for k in range(250):
            row = blink if 100 <= k < 110 else negative if k % 40 == 0 else numbers
            lines.append(f"{times.format(time_ms)}\t{row}\t{flags}")
            if k % 50 == 10:
                lines += [f"SFIX {eyes[0]}   {time_ms}", f"MSG\t{time_ms} hello", "\tand more"]
            if k % 50 == 40:
                lines.append(f"EFIX {eyes[0]}   {time_ms - 30}\t{time_ms}\t31\t 1.0\t 2.0\t 3")
            time_ms += 1
        lines.append(f"END\t{time_ms} \tSAMPLES\tEVENTS\tRES\t  35.19\t  35.15")
    return ("\n".join(lines) + "\n").encode()


LONG = {
    "one eye": long_recording("LEFT", 8),
    "two eyes": long_recording("LEFT\tRIGHT", 5),
    "times with decimals": long_recording("RIGHT", 5, "{:d}.5"),
    "eyes that change": long_recording("LEFT", 3) + long_recording("LEFT\tRIGHT", 2),
    "repeated times": b"".join(
        line * 2 if line[:1].isdigit() else line
        for line in long_recording("LEFT", 5).replace(b"1000.00", b"2000.00").splitlines(True)
    ),
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("ending", ["", "crlf", "gzip", "cut"])
def test_any_slab_and_any_number_of_threads_read_the_same(
    name: str, ending: str, path: Path
) -> None:
    text = LONG[name]
    if ending == "crlf":
        text = text.replace(b"\n", b"\r\n")
    elif ending == "cut":
        text = text[: len(text) * 2 // 3]
    path.write_bytes(gzip.compress(text) if ending == "gzip" else text)
    expected = read(path)
    assert not isinstance(expected, str)
    for n_threads in (1, 2, 3, MAX_THREADS):
        for slab_bytes in (LONGEST_LINE, 1000, 4096, 10_001):
            assert read(path, slab_bytes, n_threads) == expected


@settings(max_examples=150)
@given(data=st.data())
def test_damage_is_reported_alike(data: st.DataObject, path: Path) -> None:
    """With the same lines, and of more problems than are listed the same ones."""
    texts = TEXTS | LONG
    text = texts[data.draw(st.sampled_from(sorted(texts)))]
    start = data.draw(st.integers(0, max(len(text) - 8000, 0)))
    content = bytearray(text[:600] + text[start : start + 8000])
    lines = sorted({line for text in TEXTS.values() for line in text.splitlines(keepends=True)})
    for _ in range(data.draw(st.sampled_from([1, 5, 150]))):
        at = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["flip", "delete", "duplicate", "line", "newline"])):
            case "flip":
                content[at] = data.draw(st.sampled_from(b"0129 .-\tMSESRLx\n\xff"))
            case "delete" if len(content) > 100:
                del content[at : at + data.draw(st.integers(1, 60))]
            case "duplicate":
                content[at:at] = content[at : at + data.draw(st.integers(1, 60))]
            case "line":
                content[at:at] = b"\n" + data.draw(st.sampled_from(lines))
            case "newline":
                content[at:at] = b"\n"
    path.write_bytes(content)
    longest = max(len(line) for line in bytes(content).split(b"\n")) + 2
    expected = read(path)
    for n_threads in (1, 3):
        slab_bytes = longest + data.draw(st.integers(0, 3000))
        assert read(path, slab_bytes, n_threads) == expected


@pytest.mark.parametrize("name", sorted(set(LONG) - {"eyes that change"}))
def test_slabs_parsed_ahead_are_mostly_right(
    name: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the threads would be of no use."""
    path.write_bytes(LONG[name])
    n_bytes_parsed = []
    parse = asc_parsing.SlabParser.parse

    def count(self: Any, start: int, *others: Any) -> None:
        parse(self, start, *others)
        n_bytes_parsed.append(int(self._state[0]) - start)

    monkeypatch.setattr(asc_parsing.SlabParser, "parse", count)
    read(path, 5000, 2)
    assert sum(n_bytes_parsed) < 1.2 * len(LONG[name])


def test_an_error_in_a_thread_comes_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(LONG["one eye"])
    parse_lines = asc_parsing.parse_lines

    def fail(*arguments: Any) -> int:
        if threading.current_thread() is not threading.main_thread():
            raise MemoryError("in a thread")
        return parse_lines(*arguments)

    monkeypatch.setattr(asc_parsing, "parse_lines", fail)
    monkeypatch.setattr(asc_pipeline._Ahead, "parse_here", lambda _self: False)
    with pytest.raises(MemoryError, match="in a thread"):
        read(path, 1000, 4)


def test_an_error_while_threads_are_busy_ends_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(LONG["one eye"])
    monkeypatch.setattr(asc_source, "SLAB_BYTES", 1000)

    def stop_halfway(fraction: float) -> None:
        if fraction > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_asc(path, n_threads=3, progress=stop_halfway)


def test_a_small_file_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(threading.Thread, "start", fail)
    assert read_asc(GOLDEN / "mono_right_1000.asc", n_threads=4).n_samples == 7


def test_arrays_are_freed_with_the_recording(path: Path) -> None:
    """At once: whoever reads a corpus must not wait for the garbage collector."""
    path.write_bytes(LONG["one eye"])
    gc.collect()
    gc.disable()
    try:
        recording = read_asc(path, n_threads=2)
        samples = recording.blocks[0].samples
        while samples.base is not None:
            samples = samples.base
        reference = weakref.ref(samples)
        del recording, samples
        assert reference() is None
    finally:
        gc.enable()


def test_usable_threads() -> None:
    assert usable_threads(30 * 10**6) == 1
    assert 1 <= usable_threads(10**9) <= min(MAX_THREADS, os.cpu_count() or 1)
