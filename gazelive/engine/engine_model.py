"""A model as the engine uses it: who is recognised, and how their saccades must be found."""

from __future__ import annotations

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


def load_engine_model(path: Path | None) -> EngineModel:
    """Read a model file; without one there are only events."""
    if path is None:
        return EngineModel()
    from gazelive.identification.model_file import load_model

    model = load_model(path)
    running = RunningModel(path.name, model.identifier, model.main_sequence, model.check_rate)
    choice = model.detector
    if choice is None:
        return EngineModel(running)
    return EngineModel(running, choice.method, choice.parameters or choice.engbert_kliegl)
