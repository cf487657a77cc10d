"""What a generative model of scanpaths offers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from gazelive.features.scanpath import Scanpath

Floats = npt.NDArray[np.float64]


@runtime_checkable
class GenerativeModel(Protocol):
    """A fitted model; how it is fitted is its own affair."""

    def log_likelihood(self, scanpath: Scanpath) -> float:
        """Return ln p(scanpath), finite."""
        ...

    def fisher_score(self, scanpath: Scanpath) -> Floats:
        """Return the gradient of ln p with respect to the parameters, flat and finite."""
        ...

    def parameters(self) -> Floats:
        """Return the parameters in the order of the score."""
        ...

    def with_parameters(self, parameters: Floats) -> GenerativeModel:
        """Return the same model at other parameters."""
        ...
