"""The detectors against human coders: the figures of docs/results.md do not get worse unseen."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gazelive.detection import detect_online, detect_settled

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "evaluate_detection.py"
AT_LEAST = {  # κ, F1: those of the recipe that the detector grew out of
    "images": (0.905, 0.950),
    "dots": (0.719, 0.857),
    "video": (0.845, 0.943),
    "zemblys": (0.936, 0.942),
}


@pytest.fixture(scope="module")
def evaluation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("evaluate_detection", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def recordings(evaluation: ModuleType, shared_data: Path) -> list[Any]:
    found: list[Any] = evaluation.load(shared_data / "labelled")
    return found


@pytest.mark.parametrize("detect", [detect_online, detect_settled])
def test_agreement_with_a_coder(evaluation: ModuleType, recordings: list[Any], detect: Any) -> None:
    find = evaluation.samples_of(detect)
    pooled = evaluation.pooled(evaluation.agreements(recordings, find, "RA"))
    for group, (kappa, f1) in AT_LEAST.items():
        assert pooled[group]["kappa"] >= kappa
        assert pooled[group]["f1"] >= f1
        assert pooled[group]["onset_sd_ms"] <= 4.0
        rate_hz = 1000.0 if group == "zemblys" else 500.0
        assert abs(pooled[group]["onset_median_ms"]) <= 1000.0 / rate_hz


def test_the_fast_trigger(evaluation: ModuleType, recordings: list[Any]) -> None:
    triggers = evaluation.triggers(recordings)
    assert triggers["all"]["mean_ms"] <= 4.5
    assert triggers["all"]["false_per_minute"] <= 15.0
    for group in AT_LEAST:
        assert triggers[group]["mean_ms"] <= 6.0
        assert triggers[group]["false_per_minute"] <= 30.0
