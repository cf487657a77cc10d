"""Dump an EDF file in a separate process: `python -m gazelive.recordings.edf.worker EDF FOLDER`.

SR Research's library is native code that may crash on a damaged file and prints to standard output;
here it can do both without harm. `eyelinkio` ships the library. Its own reader is not used: it
assumes one rate and one eye for a whole file and replaces the tracker's times. Instead its wrapper
of the library is called record by record, and the records are dumped unchanged for
`gazelive.recordings.edf.reader`.

Standard output belongs to the library. Standard error carries `progress 0.25` and, after a failure,
a sentence in its last line.
"""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from gazelive.recordings.edf.dump import (
    CONTENTS_FILE,
    EVENT_RECORD,
    EVENTS_FILE,
    EXIT_NO_LIBRARY,
    EXIT_REFUSED,
    SAMPLE_RECORD,
    SAMPLES_FILE,
    EdfBlock,
    EdfContents,
)

CHECK_AND_FIX = 2
"""Options of edf2asc: blinks in one saccade are merged, and samples in a blink have no position.
The library fills missing samples with samples without a position, and reports it."""
ZERO_TAIL = bytes(512)
"""Longer than any record: the library treats zeros as the end of a file."""
RECORDS_PER_WRITE = 8192
RECORDS_PER_REPORT = 50_000

NO_MORE, END_BLINK, END_SACCADE, END_FIXATION, MESSAGE = 0, 4, 6, 8, 24
BUTTON, INPUT, RECORDING_INFO, LOST_DATA, SAMPLE = 25, 28, 30, 0x3F, 200
ENDED_OR_CHANGED = frozenset({END_BLINK, END_SACCADE, END_FIXATION, BUTTON, INPUT})


class FileRefusedError(Exception):
    """The library cannot open the file."""


class RecordFile:
    """Collects records of the library and appends their wanted fields to a file."""

    def __init__(
        self, file: BinaryIO, structure: type[ctypes.Structure], wanted: np.dtype[Any]
    ) -> None:
        self._file = file
        self._bytes = ctypes.c_char * ctypes.sizeof(structure)
        self._layout = _layout(structure, wanted)
        self._wanted = wanted
        self._address = 0
        self._at_address = memoryview(b"")
        self._waiting: list[bytes] = []
        self._n_written = 0

    @property
    def n_records(self) -> int:
        """Number of records so far."""
        return self._n_written + len(self._waiting)

    def append(self, address: int) -> None:
        """Copy the record at `address`."""
        if address != self._address:  # the library has one place for all records
            self._address = address
            self._at_address = memoryview(self._bytes.from_address(address))
        self._waiting.append(self._at_address.tobytes())
        if len(self._waiting) == RECORDS_PER_WRITE:
            self.flush()

    def flush(self) -> None:
        """Write the collected records."""
        records = np.frombuffer(b"".join(self._waiting), self._layout)
        compact: npt.NDArray[Any] = np.empty(len(records), self._wanted)
        for name in self._wanted.names or ():
            compact[name] = records[name]
        self._file.write(compact.tobytes())
        self._n_written += len(records)
        self._waiting.clear()


class EdfFile:
    """An open EDF file: a sequence of records, each at an address in memory."""

    def __init__(self, name: str, vendor: Any) -> None:
        """Open `name`, which must be ASCII, with eyelinkio's wrapper module `vendor`."""
        self._vendor = vendor
        self._edf = _open(name, vendor)

    @property
    def preamble(self) -> str:
        """The file's preamble."""
        length = self._vendor.edf_get_preamble_text_length(self._edf)
        text = ctypes.create_string_buffer(length + 1)
        self._vendor.edf_get_preamble_text(self._edf, text, length + 1)
        return text.value.decode("latin-1")

    @property
    def n_elements(self) -> int:
        """Number of records that the library expects."""
        count = _function(self._vendor, "edf_get_element_count", ctypes.c_uint)
        return int(count(ctypes.addressof(self._edf.contents)))

    def __iter__(self) -> Iterator[tuple[int, int | None]]:
        """Yield the type and the address of each record; the next one overwrites it.

        The address is None if the record is too damaged for the library.
        """
        next_type = _function(self._vendor, "edf_get_next_data", ctypes.c_int)
        address = _function(self._vendor, "edf_get_float_data", ctypes.c_void_p)
        edf = ctypes.addressof(self._edf.contents)
        while (kind := next_type(edf)) != NO_MORE:
            yield kind, address(edf)


class Dump:
    """Sorts the records of a file into blocks, events and messages, and writes them."""

    def __init__(self, folder: Path, vendor: Any) -> None:
        self._folder = folder
        self._vendor = vendor
        self._blocks: list[EdfBlock] = []
        self._messages: list[tuple[int, str]] = []
        self._lost_data_ms: list[int] = []
        self._n_stray_samples = 0
        self._recording = False

    def write(self, file: EdfFile, *, torn: bool) -> None:
        """Write all records of `file`; of a truncated one all but the last."""
        last_kind = NO_MORE
        n_unreadable = 0
        n_elements = max(file.n_elements, 1)
        with (
            (self._folder / SAMPLES_FILE).open("wb") as samples_file,
            (self._folder / EVENTS_FILE).open("wb") as events_file,
        ):
            samples = RecordFile(samples_file, self._vendor.FSAMPLE, SAMPLE_RECORD)
            events = RecordFile(events_file, self._vendor.FEVENT, EVENT_RECORD)
            for n_read, (kind, address) in enumerate(file):
                last_kind = kind
                if address is None:
                    last_kind = NO_MORE
                    n_unreadable += 1
                elif kind == SAMPLE and self._recording:
                    samples.append(address)
                elif kind == SAMPLE:
                    self._n_stray_samples += 1
                elif kind in ENDED_OR_CHANGED:
                    events.append(address)
                else:
                    self._add_other(kind, address, samples.n_records)
                if n_read % RECORDS_PER_REPORT == 0:
                    _report(n_read / n_elements)
            samples.flush()
            events.flush()
        n_samples, n_events = samples.n_records, events.n_records
        if torn and last_kind == SAMPLE and self._recording:
            n_samples -= 1
        elif torn and last_kind == MESSAGE:
            self._messages.pop()
        elif torn and last_kind in ENDED_OR_CHANGED:
            n_events -= 1
        self._end_block(n_samples, None)
        contents = EdfContents(
            preamble=file.preamble,
            blocks=self._blocks,
            messages=self._messages,
            n_events=n_events,
            lost_data_ms=self._lost_data_ms,
            n_stray_samples=self._n_stray_samples,
            n_unreadable=n_unreadable,
            torn=torn,
        )
        (self._folder / CONTENTS_FILE).write_bytes(msgspec.json.encode(contents))

    def _add_other(self, kind: int, address: int, n_samples: int) -> None:
        """Take a record of one of the rare kinds, when `n_samples` were read before it."""
        if kind == MESSAGE:
            event = self._vendor.FEVENT.from_address(address)
            self._messages.append((int(event.sttime), _text(event.message)))
        elif kind == RECORDING_INFO:
            info = self._vendor.RECORDINGS.from_address(address)
            self._end_block(n_samples, int(info.time))
            if info.state:
                self._begin_block(info, n_samples)
        elif kind == LOST_DATA:
            self._lost_data_ms.append(int(self._vendor.FEVENT.from_address(address).time))

    def _begin_block(self, info: Any, first_sample: int) -> None:
        self._recording = True
        self._blocks.append(
            EdfBlock(
                start_ms=info.time,
                end_ms=None,
                # JSON has no number for some values of damaged files
                sample_rate_hz=info.sample_rate if math.isfinite(info.sample_rate) else 0.0,
                eye=info.eye,
                sample_flags=info.sflags,
                pupil_type=info.pupil_type,
                first_sample=first_sample,
                n_samples=0,
            )
        )

    def _end_block(self, n_samples: int, end_ms: int | None) -> None:
        if self._recording:
            block = self._blocks.pop()
            self._blocks.append(
                msgspec.structs.replace(
                    block, end_ms=end_ms, n_samples=n_samples - block.first_sample
                )
            )
        self._recording = False


def open_whole_or_torn(path: Path, vendor: Any) -> tuple[EdfFile, bool]:
    """Open the file at `path`, and return whether it was truncated.

    The library first scans a file to its end, and refuses one that ends inside a record. With
    zeros appended it reads the same file up to that record. The copy for this is made in the
    current folder, as is a copy of a file whose path is not ASCII.
    """
    name = str(path)
    if not name.isascii():
        name = shutil.copyfile(path, "whole.edf")
    try:
        return EdfFile(name, vendor), False
    except FileRefusedError:
        with Path(shutil.copyfile(path, "torn.edf")).open("ab") as copy:
            copy.write(ZERO_TAIL)
        return EdfFile("torn.edf", vendor), True


def main(path: Path, folder: Path) -> int:
    """Dump the EDF file at `path` into `folder`; return the exit code."""
    try:
        from eyelinkio.edf import _edf2py as vendor
    except (ImportError, OSError, AssertionError) as error:  # it asserts that the library exists
        return _complain(f"the EDF library does not load ({error})", EXIT_NO_LIBRARY)
    os.chdir(folder)
    _report(0.0)
    try:
        file, torn = open_whole_or_torn(path, vendor)
    except FileRefusedError as error:
        return _complain(str(error), EXIT_REFUSED)
    Dump(folder, vendor).write(file, torn=torn)
    _report(1.0)
    return 0


def _open(name: str, vendor: Any) -> Any:
    error_code = ctypes.c_int(1)
    with_events = with_samples = 1
    edf = vendor.edf_open_file(
        name.encode("ascii"),
        CHECK_AND_FIX,
        with_events,
        with_samples,
        ctypes.byref(error_code),
    )
    if not edf or error_code.value != 0:
        raise FileRefusedError("the EDF library cannot open the file")
    return edf


def _function(vendor: Any, name: str, result: Any) -> Any:
    """Return a function of the library that takes a file's address and returns a bare `result`.

    ctypes passes a plain address faster than a typed pointer.
    """
    function = vendor.edfapi[name]
    function.argtypes = [ctypes.c_void_p]
    function.restype = result
    return function


def _layout(structure: type[ctypes.Structure], wanted: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype of the wanted fields at their offsets in the library's structure."""
    names = list(wanted.names or ())
    return np.dtype(
        {
            "names": names,
            "formats": [wanted[name] for name in names],
            "offsets": [getattr(structure, name).offset for name in names],
            "itemsize": ctypes.sizeof(structure),
        }
    )


def _text(counted_string: Any) -> str:
    """Return the library's string: a short with its length, then its bytes."""
    if not counted_string:
        return ""
    address = ctypes.addressof(counted_string.contents)
    length_size = ctypes.sizeof(ctypes.c_short)
    length = max(int(counted_string.contents.len), 0)
    return ctypes.string_at(address + length_size, length).split(b"\0")[0].decode("latin-1")


def _report(fraction: float) -> None:
    print(f"progress {min(fraction, 1.0):.4f}", file=sys.stderr, flush=True)


def _complain(sentence: str, exit_code: int) -> int:
    print(sentence, file=sys.stderr, flush=True)
    return exit_code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
