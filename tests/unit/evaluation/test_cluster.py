"""The study on a real dask cluster of processes."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from ...support.people import people
from .test_study import HEAD, fixation_lines

CLUSTER = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, cluster.workers[0].pid, flush=True)
        sys.stdin.read()
"""
STUDY = ["--methods", "markov,fisher-markov", "--splits", "6", "--no-open-set", "--no-timing", "-q"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "fixations.csv"
    path.write_text("\n".join([HEAD, *fixation_lines(people(5), 16, ("1",))]) + "\n")
    return path


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the address of a cluster of two processes, and the first of them."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    with (
        (folder / "cluster.log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        address, pid = process.stdout.readline().split()
        yield address, int(pid)
        process.communicate()


def evaluate(table: Path, out: Path, *more: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gazelive", "evaluate", str(table), "-o", str(out)]
    return subprocess.Popen(
        [*command, *STUDY, *more],
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def rows_of(out: Path) -> list[list[str]]:
    with (out / "results.csv").open(newline="") as file:
        return list(csv.reader(file))


@pytest.mark.slow
def test_a_cluster_that_loses_a_process_gives_the_numbers_of_one(
    table: Path, tmp_path: Path
) -> None:
    """One of two processes is killed when the first results are there."""
    alone, spread = tmp_path / "alone", tmp_path / "spread"
    with evaluate(table, alone, "-j", "1") as process:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    with cluster(tmp_path) as (address, worker):
        with evaluate(table, spread, "--cluster", address) as process:
            # the data, then results
            while n_results(spread) < 2:
                assert process.poll() is None
                time.sleep(0.01)
            os.kill(worker, signal.SIGKILL)
            assert n_results(spread) < 13  # some of the 12 are still to come
            _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert rows_of(spread) == rows_of(alone)


def n_results(out: Path) -> int:
    return sum(1 for path in (out / "cache").glob("*") if "." not in path.name)


def test_a_killed_study_leaves_no_process(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with evaluate(table, out, "-j", "2") as process:
        while n_results(out) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    assert len(children) >= 2
    psutil.wait_procs(children)


def test_a_cluster_that_does_not_answer_is_named(table: Path, tmp_path: Path) -> None:
    soon = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "300ms"}
    with evaluate(table, tmp_path / "out", "--cluster", "tcp://127.0.0.1:9", **soon) as process:
        _, errors = process.communicate()
    assert process.returncode == 2
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in errors
    assert "Traceback" not in errors
