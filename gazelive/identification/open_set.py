"""Whether it is somebody else: placeholder until measured."""

from __future__ import annotations
from dataclasses import dataclass
import numpy as np, numpy.typing as npt


@dataclass(frozen=True)
class OpenSet:
    """x"""

    def log_unknown(self, evidence: npt.NDArray[np.float64], n_saccades: int) -> float:
        """x"""
        return float(np.log(0.5))
