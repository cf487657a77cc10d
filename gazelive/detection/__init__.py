"""Saccades, fixations, blinks: found while they happen, or settled over a whole interval."""

from gazelive.detection.binocular import CyclopeanGaze, cyclopean
from gazelive.detection.detection import Detection, Method
from gazelive.detection.engbert_kliegl import (
    detect_engbert_kliegl,
    detect_engbert_kliegl_binocular,
)
from gazelive.detection.findings import DetectorOutput
from gazelive.detection.noise_memory import NoiseMemory
from gazelive.detection.online import OnlineDetector, SaccadeDetector
from gazelive.detection.outcome import Outcome
from gazelive.detection.parameters import (
    DEFAULT_PRESET,
    PRESETS,
    DetectorParameters,
    EngbertKlieglParameters,
    preset,
)
from gazelive.detection.settled import detect_online, detect_settled

__all__ = [
    "DEFAULT_PRESET",
    "PRESETS",
    "CyclopeanGaze",
    "Detection",
    "DetectorOutput",
    "DetectorParameters",
    "EngbertKlieglParameters",
    "Method",
    "NoiseMemory",
    "OnlineDetector",
    "Outcome",
    "SaccadeDetector",
    "cyclopean",
    "detect_engbert_kliegl",
    "detect_engbert_kliegl_binocular",
    "detect_online",
    "detect_settled",
    "preset",
]
