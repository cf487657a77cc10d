"""The study from Python: `gazelive.evaluate`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from gazelive.evaluation.output import write_study
from gazelive.evaluation.reading import Selection
from gazelive.evaluation.splits import Protocol
from gazelive.evaluation.study import Choices, run_study
from gazelive.evaluation.tables import Study
from gazelive.gaze import ScreenGeometry
from gazelive.observer import Observer
from gazelive.workflows import Names, PathLike, flags_of, names_of, warn_caller


def evaluate(
    source: PathLike,
    out: PathLike | None = None,
    *,
    protocol: Literal["images", "sessions"] = "images",
    methods: Names = (),
    splits: int = 5,
    seconds: Sequence[float] = (),
    max_images: int | None = None,
    disjoint_images: bool = False,
    sessions: Names = (),
    without: Names = (),
    open_set: bool = True,
    timing: bool = True,
    search: bool = True,
    stimuli: PathLike | None = None,
    saliency: Literal["train-only", "others"] = "train-only",
    screen: ScreenGeometry | None = None,
    n_jobs: int = 1,
    cluster: str | None = None,
) -> Study:
    """Repeat the paper's study on a corpus or fixation table; return its tables.

    With `out` everything that `gazelive evaluate` writes is written there, and what is there
    already is not computed again.
    """
    selection = Selection(
        Path(source),
        sessions=names_of(sessions),
        flags=flags_of(screen),
        seconds=tuple(map(float, seconds)),
    )
    choices = Choices(
        selection,
        Protocol(
            kind=protocol,
            n_splits=splits,
            seconds=selection.seconds,
            max_images=max_images,
            disjoint_images=disjoint_images,
        ),
        methods=names_of(methods),
        without=names_of(without),
        open_set=open_set,
        timing=timing,
        search=search,
        stimuli=None if stimuli is None else Path(stimuli),
        saliency=saliency,
        n_jobs=n_jobs,
        cluster=cluster,
    )
    observer = Observer()
    with tempfile.TemporaryDirectory() as aside:
        study = run_study(choices, Path(aside if out is None else out), observer)
    warn_caller(observer.warnings)
    if out is not None:
        write_study(study, Path(out))
    return study
