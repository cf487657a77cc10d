"""EDF files: random changes of the smallest file that eyelinkio brings for its own tests.

The library that reads them is native code in a process of its own, so nothing guides the search.
`python -m tests.fuzz.edf FOLDER RUNS` goes on where it stopped; change number n is always the same.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from gazelive.errors import GazeliveError
from gazelive.recordings.edf.reader import read_edf

FILE = "test_raw.edf"
KEPT_BYTES = 200_000
"""Three of four mutants are of the file's beginning only: a shorter file is read sooner."""


def original() -> bytes:
    """Return the file."""
    spec = find_spec("eyelinkio")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "tests" / "data" / FILE).read_bytes()


def mutant(whole: bytes, number: int) -> bytes:
    """Return the file with a few changes: bytes, numbers, parts that are missing or moved."""
    chance = random.Random(number)
    data = bytearray(whole if number % 4 == 0 else whole[:KEPT_BYTES])
    for _ in range(chance.choice((1, 1, 2, 5, 50))):
        if not data:
            break
        # every other change is in the first part, which describes the file
        at = chance.randrange(len(data) if chance.random() < 0.5 else min(4000, len(data)))
        n = chance.choice((1, 2, 4, 8, 64, 1000))
        match chance.randrange(6):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at : at + n] = chance.randbytes(n)
            case 2:
                data[at : at + n] = chance.choice((b"\0", b"\xff")) * n
            case 3:
                del data[at : at + n]
            case 4:
                data[at:at] = data[at : at + n]
            case 5 if chance.random() < 0.2:
                del data[max(at, 100) :]
    return bytes(data)


def try_mutant(whole: bytes, number: int, folder: Path) -> str:
    """Read a mutant; return how it ended. Anything but a `GazeliveError` passes through."""
    path = folder / "mutant.edf"
    path.write_bytes(mutant(whole, number))
    try:
        recording = read_edf(path)
    except GazeliveError as error:
        return type(error).__name__
    for block in recording.blocks:
        assert (np.diff(block.samples["tracker_time_us"]) > 0).all()
        assert block.start_us <= block.end_us
    return "damage reported" if recording.problems else "read"


def main(folder: Path, runs: int) -> int:
    """Read `runs` mutants in all; return 1 if there are findings."""
    findings = folder / "findings"
    findings.mkdir(parents=True, exist_ok=True)
    kept = folder / "counts.json"
    counts = json.loads(kept.read_bytes()) if kept.exists() else {"executions": 0, "ends": {}}
    found_before = [int(path.name) for path in findings.iterdir()]
    whole = original()
    with tempfile.TemporaryDirectory(prefix="gazelive-fuzz-") as scratch:
        for number in (*found_before, *range(counts["executions"], runs)):
            start_s = time.perf_counter()
            try:
                end = try_mutant(whole, number, Path(scratch))
                (findings / str(number)).unlink(missing_ok=True)
            except Exception as error:
                end = type(error).__name__
                text = "".join(traceback.format_exception(error))
                (findings / str(number)).write_text(text, encoding="utf-8")
            if number < counts["executions"]:
                continue
            took_ms = 1000 * (time.perf_counter() - start_s)
            used_kb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            counts["executions"] = number + 1
            counts["ends"][end] = counts["ends"].get(end, 0) + 1
            counts["slowest_ms"] = max(counts.get("slowest_ms", 0.0), took_ms)
            counts["peak_mb"] = max(counts.get("peak_mb", 0.0), used_kb / 1024)
            kept.write_text(json.dumps(counts))
    return int(any(findings.iterdir()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
