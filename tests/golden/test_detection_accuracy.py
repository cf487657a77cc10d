"""The detectors against human coders: the figures of docs/results.md do not get worse unseen."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gazelive.detection import detect_online, detect_settled

SCRIPTS = Path(__file__).parents[1] / "benchmarks"
AT_LEAST = {  # κ, F1: those of the recipe that the detector grew out of
    "images": (0.905, 0.950),
    "dots": (0.719, 0.857),
    "video": (0.845, 0.943),
    "zemblys": (0.936, 0.942),
}


def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def evaluation() -> ModuleType:
    return module_of("evaluate_detection")


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


@pytest.mark.parametrize(
    ("detect", "kappa", "f1"), [(detect_settled, 0.84, 0.96), (detect_online, 0.83, 0.955)]
)
def test_agreement_with_experts_on_movies(
    shared_data: Path, detect: Any, kappa: float, f1: float
) -> None:
    gazecom = module_of("evaluate_gazecom")
    clips = gazecom.load(shared_data / "labelled" / "gazecom", "others")[::4]
    found = [gazecom.ours(detect)(clip) for clip in clips]
    agreement = gazecom.agreement(clips, [one.saccades for one in found], gazecom.SMALLEST_DEG)
    assert agreement["kappa"] >= kappa
    assert agreement["f1"] >= f1
    if detect is detect_settled:
        assert gazecom.pursuit_f1(clips, [one.pursuits for one in found])["f1"] >= 0.5
