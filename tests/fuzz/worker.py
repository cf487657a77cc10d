"""A process that fuzzes one target with atheris: `python -m tests.fuzz.worker TARGET FOLDER RUNS`.

Options of libFuzzer may follow. The folder keeps the corpus, the findings, the slowest input and
`counts.json`. The bytecode of the target's modules guides the search: of compiled kernels nothing
is seen, except with NUMBA_DISABLE_JIT=1, which interprets them.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import os
import resource
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import atheris  # type: ignore[import-not-found]

from .plans import PLANS, gazelive_modules
from .target import Target

MEMORY_BYTES = 2 << 30
"""Address space that inputs may take beyond that of the process with all modules loaded (Arrow
reserves more than it uses)."""
TIMEOUT_S = 10
SAVE_EVERY = 1000
KERNELS = "_kernels"
IS_INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def main(name: str, folder: Path, runs: int, options: list[str]) -> None:
    """Fuzz until `runs` inputs were tried, or one crashes the process or takes too long."""
    for part in ("corpus", "findings"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    plan = PLANS[name]
    hidden = [
        module
        for module in gazelive_modules()
        if not plan.is_covered(module) or (module.endswith(KERNELS) and not IS_INTERPRETED)
    ]
    with tempfile.TemporaryDirectory(prefix="gazelive-fuzz-", dir=memory_folder()) as scratch_name:
        scratch = Path(scratch_name)
        tempfile.tempdir = scratch_name
        with atheris.instrument_imports(include=["gazelive"], exclude=hidden):
            target = plan.load()
            if IS_INTERPRETED:
                target.interpret()
            seeds = target.seeds(scratch)
            for seed in seeds:  # modules that are imported late are seen too
                with contextlib.suppress(Exception):  # found again below
                    target.try_input(seed, scratch)
        for seed in seeds:
            (folder / "corpus" / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
        tokens = folder / "tokens.txt"
        tokens.write_text("".join(f'"{_escaped(token)}"\n' for token in target.tokens))
        counts, findings = Counts(folder), Findings(folder / "findings")
        findings.forget_mended(target, scratch)
        limit_memory()

        def try_one(data: bytes) -> None:
            start_ns = time.perf_counter_ns()
            try:
                target.try_input(data, scratch)
            except Exception as error:
                findings.add(data, error, counts.n)
            counts.add(data, time.perf_counter_ns() - start_ns)

        atheris.Setup(
            [
                sys.argv[0],
                str(folder / "corpus"),
                f"-runs={runs}",
                f"-max_len={target.longest}",
                f"-timeout={TIMEOUT_S}",
                f"-artifact_prefix={folder / 'findings'}/",
                *([f"-dict={tokens}"] if target.tokens else []),
                "-rss_limit_mb=0",  # the address space is limited already
                "-reload=0",
                "-print_final_stats=1",
                *options,
            ],
            try_one,
        )
        atexit.register(target.close)
        atheris.Fuzz()


class Counts:
    """Executions, the slowest input and the peak of memory, over all runs of a target."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "counts.json"
        kept: dict[str, Any] = json.loads(self._path.read_bytes()) if self._path.exists() else {}
        self.n = int(kept.get("executions", 0))
        self._slowest_ms = float(kept.get("slowest_ms", 0.0))
        self._peak_mb = float(kept.get("peak_mb", 0.0))
        self._before_mb = peak_mb()

    def add(self, data: bytes, took_ns: int) -> None:
        """Count an input."""
        self.n += 1
        if took_ns > 1e6 * self._slowest_ms:
            self._slowest_ms = took_ns / 1e6
            (self._folder / "slowest").write_bytes(data)
        if self.n % SAVE_EVERY == 0:
            self.save()

    def save(self) -> None:
        """Write them to the folder."""
        self._peak_mb = max(self._peak_mb, peak_mb())
        facts = {
            "executions": self.n,
            "slowest_ms": self._slowest_ms,
            "peak_mb": self._peak_mb,
            "before_mb": self._before_mb,
        }
        self._path.write_text(json.dumps(facts))


class Findings:
    """The shortest input for each place that raised what it should not, with the traceback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, data: bytes, error: Exception, number: int) -> None:
        """Keep an input that is the first or the shortest for its place."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/gazelive/" in frame.filename] or frames
        place = f"{Path(ours[-1].filename).stem}-{ours[-1].lineno}-{type(error).__name__}"
        path = self._folder / place
        if not path.exists() or len(data) < path.stat().st_size:
            path.write_bytes(data)
            text = "".join(traceback.format_exception(error))
            path.with_name(f"{place}.txt").write_text(f"execution {number}\n{text}")

    def forget_mended(self, target: Target, scratch: Path) -> None:
        """Remove those that are none any more."""
        for path in sorted(self._folder.iterdir()):
            if path.suffix == ".txt":
                continue
            with contextlib.suppress(Exception):
                target.try_input(path.read_bytes(), scratch)
                path.rename(self._folder.parent / "corpus" / f"mended-{path.name}")
                path.with_name(f"{path.name}.txt").unlink(missing_ok=True)


def memory_folder() -> str | None:
    """Return a folder in memory, if the system has one: inputs are written to files."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def peak_mb() -> float:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def limit_memory() -> None:
    """Let allocations beyond the bound fail: a MemoryError is a finding."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _escaped(token: bytes) -> str:
    """Return a token as libFuzzer's dictionaries have them."""
    return "".join(f"\\x{byte:02x}" for byte in token)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
