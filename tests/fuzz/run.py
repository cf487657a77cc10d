"""Fuzz everything that reads files or messages: `make fuzz`.

Goes on where it stopped, and ends when every target has had its number of executions. The folder
gets `summary.md`; findings are in NAME/findings, the shortest input for each place in the code.
Mended ones are removed by the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .plans import PLANS, ROOT

PORTION = 50_000
"""Executions of one process: atheris loses some kilobytes with each."""
MOST_CRASHES = 5
"""A target that has crashed or hung so often in one call is left."""
WORKER = "tests.fuzz.worker"


@dataclass(frozen=True)
class Job:
    """A target, perhaps in a variant."""

    name: str
    executions: int
    command: tuple[str, ...]
    """Arguments of Python; the folder and the number of executions follow."""
    environment: dict[str, str] = field(default_factory=dict)
    corpus_of: str | None = None
    """Another job whose inputs are used too."""


def jobs(folder: Path) -> list[Job]:
    """Return all jobs, the long ones first."""
    # compiled kernels are cached by their sources, not by how they were compiled
    own_cache = {"XDG_CACHE_HOME": str((folder / "cache").absolute())}
    found = [Job(name, plan.executions, (WORKER, name)) for name, plan in PLANS.items()]
    found += [
        Job("edf", 2000, ("tests.fuzz.edf",)),
        Job("asc-peers", 2000, ("tests.fuzz.peers",)),
        Job("asc-checked", 100_000, (WORKER, "asc"), {"NUMBA_BOUNDSCHECK": "1"} | own_cache, "asc"),
        Job("asc-interpreted", 20_000, (WORKER, "asc"), {"NUMBA_DISABLE_JIT": "1"}, "asc"),
    ]
    return sorted(found, key=lambda job: -job.executions)


def main() -> int:
    """Run what is missing; return 1 if there are findings."""
    what, _, how = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="fuzz", description=what, epilog=how)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at the same time")
    parser.add_argument("--share", type=float, default=1.0, help="of the planned executions")
    parser.add_argument("--results", type=Path, default=ROOT / "fuzz-results")
    parser.add_argument("names", nargs="*", help="targets; default: all")
    options = parser.parse_args()
    wanted = [job for job in jobs(options.results) if job.name in (options.names or [job.name])]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda job: run(job, options.results, options.share), wanted))
    return report(jobs(options.results), options.results)


def run(job: Job, results: Path, share: float) -> None:
    """Run a job up to its number of executions."""
    folder = results / job.name
    folder.mkdir(parents=True, exist_ok=True)
    wanted = round(share * job.executions)
    more = []
    if job.corpus_of and (results / job.corpus_of / "corpus").is_dir():
        more = [str(results / job.corpus_of / "corpus")]
    n_crashes = 0
    is_to_check = bool(findings_in(folder))  # a run forgets what was mended
    while n_crashes < MOST_CRASHES:
        missing = max(0, wanted - int(counts_in(folder).get("executions", 0)))
        if not missing and not is_to_check:
            return
        is_to_check = False
        # the others take the number of executions in all
        number = min(missing, PORTION) if job.command[0] == WORKER else wanted
        with (folder / "log").open("ab") as log:
            process = subprocess.run(
                [sys.executable, "-m", *job.command, str(folder), str(number), *more],
                cwd=ROOT,
                env=os.environ | job.environment,
                stdout=log,
                stderr=log,
                check=False,
            )
        n_crashes += process.returncode != 0
        n = counts_in(folder).get("executions", 0)
        print(f"{job.name}: {n} executions, exit code {process.returncode}", flush=True)


def report(all_jobs: list[Job], results: Path) -> int:
    """Write and print the summary; return 1 if there are findings."""
    lines = [
        "| target | executions | lines reached | slowest (ms) | peak (MB) | findings |",
        "|---|---|---|---|---|---|",
    ]
    n_findings = 0
    for job in all_jobs:
        counts, findings = counts_in(results / job.name), findings_in(results / job.name)
        n_findings += len(findings)
        lines.append(
            f"| {job.name} | {counts.get('executions', 0):,} of {job.executions:,} "
            f"| {coverage(job, results / job.name)} | {counts.get('slowest_ms', 0):.0f} "
            f"| {counts.get('peak_mb', 0):.0f} | {', '.join(findings) or 'none'} |"
        )
    summary = "\n".join(lines) + "\n"
    (results / "summary.md").write_text(summary, encoding="utf-8")
    print(summary)
    return int(n_findings > 0)


def counts_in(folder: Path) -> dict[str, Any]:
    """Return what a job has counted so far."""
    path = folder / "counts.json"
    return dict(json.loads(path.read_bytes())) if path.exists() else {}


def findings_in(folder: Path) -> list[str]:
    """Return the names of what was found."""
    return sorted(p.name for p in (folder / "findings").glob("*") if p.suffix != ".txt")


def coverage(job: Job, folder: Path) -> str:
    """Return the share of the lines of the target's functions that the corpus reaches."""
    if job.command[0] != WORKER or not (folder / "corpus").is_dir():
        return "–"
    measured = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.lines", job.command[1], str(folder)],
        cwd=ROOT,
        env=os.environ | job.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    reached, possible = map(int, measured.stdout.split())
    return f"{100 * reached / possible:.0f} % of {possible:,}"


if __name__ == "__main__":
    sys.exit(main())
