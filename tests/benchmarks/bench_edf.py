"""Processor time of reading EDF files, and how much of it is SR Research's library.

    python tests/benchmarks/bench_edf.py [EDF …]

Library: opening the file and asking for every record, without using any. Worker: the process that
dumps the file, with its start (Python and imports). All: `read_edf`. Best of five, in CPU seconds.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from gazelive.recordings.edf.process import dump_edf
from gazelive.recordings.edf.reader import read_edf
from gazelive.recordings.edf.worker import EdfFile

RUNS = 5


def main() -> None:
    default = Path(__file__).parents[3] / "shared" / "data"
    data = Path(os.environ.get("GAZELIVE_DATA", default)) / "edf"
    for path in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(data.glob("*.edf")):
        n_mb = path.stat().st_size / 1e6
        library = min(library_s(path) for _ in range(RUNS))
        with tempfile.TemporaryDirectory() as folder:
            worker = min(cpu_s(lambda: dump_edf(path, Path(folder))) for _ in range(RUNS))  # noqa: B023
        whole = min(cpu_s(lambda: read_edf(path)) for _ in range(RUNS))  # noqa: B023
        print(
            f"{path.name}: {n_mb:.2f} MB; library {library:.3f} s ({n_mb / library:.1f} MB/s), "
            f"worker {worker:.3f} s, all {whole:.3f} s ({n_mb / whole:.1f} MB/s)"
        )


def library_s(path: Path) -> float:
    from eyelinkio.edf import _edf2py as vendor

    started = time.process_time()
    file = EdfFile(str(path), vendor)
    edf = ctypes.addressof(file._edf.contents)
    next_type, record = vendor.edfapi["edf_get_next_data"], vendor.edfapi["edf_get_float_data"]
    for function, result in ((next_type, ctypes.c_int), (record, ctypes.c_void_p)):
        function.argtypes, function.restype = [ctypes.c_void_p], result
    while next_type(edf):
        record(edf)
    return time.process_time() - started


def cpu_s(run) -> float:
    def now() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    started = now()
    run()
    return now() - started


if __name__ == "__main__":
    main()
