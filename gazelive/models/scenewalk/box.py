"""Bounds of SceneWalk's parameters, and the coordinates in which they are fitted.

Rates, widths and exponents are positive and matter by their ratios; ζ is a share. So fits, priors
and Fisher scores use θ = (ln ω_A, ln ω_F, ln σ_A, ln σ_F, ln γ, ln λ, ln c_F, logit ζ): the
gradient is better conditioned there, and no step leaves what is possible.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.errors import ModelFormatError
from gazelive.gaze import Floats
from gazelive.models.scenewalk.equations import SceneWalkParameters
from gazelive.models.scenewalk.value_kernels import ZETA

LOWEST = SceneWalkParameters(
    attention_rate_hz=0.05,
    inhibition_rate_hz=0.001,
    attention_sigma_deg=0.2,
    inhibition_sigma_deg=0.2,
    inhibition_exponent=0.05,
    attention_exponent=0.05,
    inhibition_strength=0.001,
    uniform_share=0.0001,
)
"""A map that hardly moves in a viewing; a window within the fovea; a map that is nearly flat; an
inhibition and a share of chance that do not matter."""
HIGHEST = SceneWalkParameters(
    attention_rate_hz=1000.0,
    inhibition_rate_hz=100.0,
    attention_sigma_deg=60.0,
    inhibition_sigma_deg=60.0,
    inhibition_exponent=60.0,
    attention_exponent=10.0,
    inhibition_strength=10.0,
    uniform_share=0.99,
)
"""A map that follows at once; a window over the whole screen; only the peak of a map (fits to real
fixations reach γ = 34); nothing but inhibition; nothing but chance. Likelihood and gradient are
finite for all parameters within, whatever the fixations."""
CENTRE: SceneWalkParameters = SceneWalkParameters(
    attention_rate_hz=10.0,
    inhibition_rate_hz=0.5,
    attention_sigma_deg=5.0,
    inhibition_sigma_deg=4.0,
    inhibition_exponent=1.0,
    attention_exponent=1.0,
    inhibition_strength=0.3,
    uniform_share=0.05,
)
"""Middle of the prior: attention follows within a fixation, inhibition over several; windows of the
size that the public reference model is tried with; exponents that do nothing; some inhibition."""


def check_bounds(values: Floats) -> None:
    """Raise `ModelFormatError` for parameters (8,) outside the box."""
    margin = 1 + 1e-6
    lowest, highest = LOWEST.to_array() / margin, HIGHEST.to_array() * margin
    if not ((values >= lowest) & (values <= highest)).all():
        raise ModelFormatError("there are SceneWalk parameters out of their bounds")


def to_coordinates(parameters: SceneWalkParameters) -> Floats:
    """Return θ; what lies outside the box is taken to its edge."""
    values = np.clip(parameters.to_array(), LOWEST.to_array(), HIGHEST.to_array())
    coordinates = np.log(values)
    coordinates[ZETA] -= np.log1p(-values[ZETA])
    return coordinates


def from_coordinates(coordinates: npt.ArrayLike) -> SceneWalkParameters:
    """Return the parameters at θ, held inside the box."""
    theta = np.array(coordinates, np.float64)
    values = np.exp(np.minimum(theta, 50.0))
    values[ZETA] /= 1 + values[ZETA]
    return SceneWalkParameters.from_array(np.clip(values, LOWEST.to_array(), HIGHEST.to_array()))


def slopes(parameters: SceneWalkParameters) -> Floats:
    """Return ∂ parameter/∂ θ: multiply a gradient with it to have the one with respect to θ."""
    values = parameters.to_array()
    values[ZETA] *= 1 - values[ZETA]
    return values
