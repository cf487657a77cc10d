"""A model as the engine uses it: who is recognised, and how their saccades must be found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gazelive.detection import Method
from gazelive.engine.pipeline import RunningModel
from gazelive.features.interval import Parameters


@dataclass(frozen=True)
class EngineModel:
    """Who is recognised (nobody: only events), and the detector that goes with it."""

    running: RunningModel | None = None
    method: Method = "settled"
    parameters: Parameters | None = None


def load_engine_model(path: Path | None, images: Iterable[Path] = ()) -> EngineModel:
    """Read a model file; without one there are only events.

    `images` are the folders of the images, for a model that looks at them. What is not there is
    told when it is shown.
    """
    if path is None:
        return EngineModel()
    from gazelive.identification.model_file import load_model
    from gazelive.identification.stimuli import with_stimuli

    model = with_stimuli(load_model(path), images)
    running = RunningModel(path.name, model.identifier, model.main_sequence, model.check_rate)
    choice = model.detector
    if choice is None:
        return EngineModel(running)
    return EngineModel(running, choice.method, choice.parameters or choice.engbert_kliegl)
