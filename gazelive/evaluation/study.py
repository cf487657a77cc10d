"""The study: reads the data, runs the tasks that are not done yet, makes the tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from gazelive import __version__
from gazelive.errors import ConfigError
from gazelive.evaluation.cache import Cache, code_key, key_of
from gazelive.evaluation.reading import Selection, StudyData, collect
from gazelive.evaluation.running import Runner
from gazelive.evaluation.splits import Protocol, splits_of
from gazelive.evaluation.tables import Study, tables_of
from gazelive.evaluation.tasks import Kind, Outcome, Task, run_task
from gazelive.identification import method_names
from gazelive.observer import Observer

IDENTIFICATION = (
    "features",
    "models",
    "identification",
    "evaluation/splits.py",
    "evaluation/probing.py",
    "evaluation/tasks.py",
)
"""Code that decides the outcome of a task."""
CACHE_NAME = "cache"


@dataclass(frozen=True)
class Choices:
    """What to evaluate, and how."""

    selection: Selection
    protocol: Protocol
    methods: tuple[str, ...] = ()
    """Empty: all that the data allow."""
    without: tuple[str, ...] = ()
    """Groups of features; every method is evaluated with all of them, and without each."""
    open_set: bool = True
    timing: bool = True
    search: bool = True
    stimuli: Path | None = None
    saliency: Literal["train-only", "others"] = "train-only"
    n_jobs: int = 1
    cluster: str | None = None


def run_study(choices: Choices, folder: Path, observer: Observer) -> Study:
    """Return the tables of a study; what `folder` already has is not computed again."""
    cache = Cache(folder / CACHE_NAME)
    runner = Runner(choices.n_jobs, choices.cluster)
    path, data = collect(choices.selection, cache, runner, observer)
    _check(data)
    tasks = _tasks(choices, data)
    keys = [key_of("task", path.name, code_key(*IDENTIFICATION), task) for task in tasks]
    outcomes: dict[int, Outcome] = {}
    for number, key in enumerate(keys):
        if (known := cache.get(key)) is not None:
            outcomes[number] = msgspec.msgpack.decode(known, type=Outcome)
    observer.say(_plan(data, len(tasks), len(outcomes)))
    together = [i for i, t in enumerate(tasks) if i not in outcomes and t.kind != "timing"]
    alone = [i for i, t in enumerate(tasks) if i not in outcomes and t.kind == "timing"]
    n_missing = len(together) + len(alone)
    with observer.progress("Evaluating") as report:
        done = 0
        for numbers, worker in ((together, runner), (alone, Runner())):
            work = [(tasks[i], str(path)) for i in numbers]
            for position, outcome in worker.run(run_task, work):
                number = numbers[position]
                outcomes[number] = outcome
                cache.put(keys[number], msgspec.msgpack.encode(outcome))
                done += 1
                report(done / n_missing)
    found = [(task, outcomes[i]) for i, task in enumerate(tasks)]
    return replace(tables_of(found), manifest=_manifest(choices, data, path.name))


def _check(data: StudyData) -> None:
    n_viewers = data.whole.n_viewers
    if n_viewers < 2:
        raise ConfigError(f"a study compares viewers, and there is {n_viewers} with saccades")


def _tasks(choices: Choices, data: StudyData) -> list[Task]:
    """Return all tasks, the slowest methods first so that no process waits for them at the end."""
    possible = method_names(data.whole.kind)
    names = choices.methods or tuple(possible)
    for name in names:
        if name not in possible:
            raise ConfigError(
                f"there is no method {name} for these data; there are {', '.join(possible)}",
                key="--methods",
            )
    splits = splits_of(data.whole, choices.protocol)
    variants: Sequence[tuple[str, ...]] = ((), *((group,) for group in choices.without))

    first = splits[0].name

    def task(kind: Kind, method: str, split: str = first, without: tuple[str, ...] = ()) -> Task:
        return Task(
            kind=kind,
            method=method,
            protocol=choices.protocol,
            split=split,
            without=without,
            search=choices.search and kind == "accuracy",
            stimuli=None if choices.stimuli is None else str(choices.stimuli),
            saliency=choices.saliency if method.endswith("scenewalk") else "train-only",
        )

    slowest_first = sorted(names, key=lambda name: "scenewalk" not in name)
    tasks = [
        task("accuracy", name, split.name, without)
        for name in slowest_first
        for split in splits
        for without in variants
    ]
    if choices.open_set:
        tasks += [task("strangers", name) for name in slowest_first]
    if choices.timing:
        tasks += [task("timing", name) for name in names]
    return tasks


def _plan(data: StudyData, n_tasks: int, n_known: int) -> str:
    known = f", {n_known} of them known already" if n_known else ""
    return f"{data.whole.n_viewers} viewers, {len(data.whole)} scanpaths; {n_tasks} tasks{known}"


def _manifest(choices: Choices, data: StudyData, fingerprint: str) -> dict[str, object]:
    import numpy
    import scipy
    import sklearn

    return {
        "gazelive": __version__,
        "code": code_key(*IDENTIFICATION),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "source": choices.selection.source.resolve().name,
        "data": fingerprint,
        "kind": data.whole.kind,
        "n_viewers": data.whole.n_viewers,
        "n_scanpaths": len(data.whole),
        "n_saccades": int(sum(path.n_saccades for path in data.whole.scanpaths)),
        "seconds": round(float(sum(path.seconds for path in data.whole.scanpaths)), 1),
        "protocol": msgspec.to_builtins(choices.protocol),
        "seeds": "split n is the random order of the sorted image names with seed n",
        "search": choices.search,
        "saliency": choices.saliency,
        "processors": os.cpu_count(),
    }
