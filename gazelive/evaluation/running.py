"""Runs tasks: one by one, in several processes (joblib), or on a dask cluster."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from gazelive.errors import ConfigError

Function = Callable[..., Any]
Arguments = tuple[Any, ...]


class Runner:
    """Applies a function to many arguments; results come in the order in which they are done."""

    def __init__(self, n_jobs: int = 1, cluster: str | None = None) -> None:
        self._n_jobs = n_jobs
        self._cluster = cluster

    def run(self, function: Function, work: Sequence[Arguments]) -> Iterator[tuple[int, Any]]:
        """Yield (position in `work`, result)."""
        if self._cluster is not None:
            return self._on_cluster(function, work)
        if self._n_jobs == 1 or len(work) < 2:
            return ((i, function(*arguments)) for i, arguments in enumerate(work))
        return self._in_processes(function, work)

    def _in_processes(
        self, function: Function, work: Sequence[Arguments]
    ) -> Iterator[tuple[int, Any]]:
        from joblib import Parallel, delayed  # type: ignore[import-untyped]
        from joblib.externals.loky import get_reusable_executor  # type: ignore[import-untyped]

        pool = Parallel(n_jobs=self._n_jobs, return_as="generator_unordered", batch_size=1)
        parent = os.getpid()
        tasks = (
            delayed(_in_child)(parent, i, function, arguments) for i, arguments in enumerate(work)
        )
        try:
            yield from pool(tasks)
        finally:
            get_reusable_executor().shutdown(wait=True)  # its processes would stay

    def _on_cluster(
        self, function: Function, work: Sequence[Arguments]
    ) -> Iterator[tuple[int, Any]]:
        try:
            from distributed import Client, as_completed
        except ImportError as error:
            raise ConfigError(
                "needs dask: pip install 'gazelive[cluster]'", key="--cluster"
            ) from error
        try:
            client = Client(self._cluster)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"no dask scheduler answers at {self._cluster} ({error}): start `dask scheduler` "
                "and give its address",
                key="--cluster",
            ) from error
        with client:
            futures = [
                client.submit(_numbered, i, function, arguments, pure=False)
                for i, arguments in enumerate(work)
            ]
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                yield future.result()


def _in_child(
    parent: int, number: int, function: Function, arguments: Arguments
) -> tuple[int, Any]:
    _end_with(parent)
    return _numbered(number, function, arguments)


@lru_cache
def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a killed study leaves nobody at work.

    On Windows a process never changes its parent, and ends after its task.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _numbered(number: int, function: Function, arguments: Arguments) -> tuple[int, Any]:
    return number, function(*arguments)
