"""Oculomotor traits: a person's eye movements in one session, and their population.

The defaults are the population's centre; `docs/simulation.md` explains each number. Directions are
as seen on the screen. Ratios are around 1. The population is stored in `population.json`, with the
source of each number; `docs/scripts/calibrate_population.py` estimates it.
"""

from __future__ import annotations

from importlib import resources
from typing import Literal

import msgspec
import numpy as np

from gazelive.simulation.trait_population import PersonTraits, PopulationTable, TraitPopulation


class OculomotorTraits(msgspec.Struct, frozen=True, kw_only=True):
    """One person in one session; units are in the names, plain numbers are ratios or fractions."""

    # main sequence: v = limit · amplitude / (amplitude + constant) · vigor of the direction
    peak_velocity_limit_deg_s: float = 600.0
    amplitude_constant_deg: float = 6.6
    vigor_right: float = 1.22
    vigor_left: float = 1.22
    vigor_up: float = 1.05
    vigor_down: float = 1.15
    vigor_slope: float = -0.0771
    """Change of log vigor with log amplitude around 8°."""
    vigor_scatter: float = 0.138
    """Standard deviation of log peak velocity from saccade to saccade."""
    abduction_vigor: float = 1.03
    """An eye that turns outwards is faster than one that turns inwards, by this ratio."""

    # velocity profile: (t/D)^(sharpness·peak) · (1 − t/D)^(sharpness·(1 − peak))
    profile_sharpness: float = 4.06
    profile_sharpness_change: float = -0.33
    """Change for a large saccade: below 0, large saccades are flatter."""
    peak_fraction_right: float = 0.373
    """Time of the peak as a fraction of the duration, for a very small saccade."""
    peak_fraction_left: float = 0.35
    peak_fraction_up: float = 0.231
    peak_fraction_down: float = 0.37
    peak_fraction_change: float = -0.066
    """Change of that fraction for a large saccade: below 0, they decelerate longer."""
    peak_fraction_scatter: float = 0.0646

    # path
    curvature_right: float = -0.0182
    """Deviation half-way as a fraction of the amplitude, to the right-hand side of the travel."""
    curvature_left: float = -0.0218
    curvature_up: float = -0.0292
    curvature_down: float = -0.00932
    curvature_scatter: float = 0.0654
    undershoot_probability: float = 0.12
    undershoot_fraction: float = 0.1
    """Mean shortfall of those saccades that fall short and are corrected."""
    landing_scatter: float = 0.02
    """Standard deviation of the landing point as a fraction of the amplitude."""
    corrective_latency_s: float = 0.16
    glissade_fraction: float = -0.00469
    """Part of the amplitude that follows (or, below 0, is taken back) slowly after the saccade."""
    glissade_scatter: float = 0.015
    glissade_time_constant_s: float = 0.06

    # the pupil swings on its suspension when the eyeball brakes
    oscillation_frequency_hz: float = 39.0
    oscillation_damping: float = 0.282
    oscillation_gain_x: float = 0.618
    oscillation_gain_y: float = 0.525
    oscillation_scatter: float = 0.2
    """Standard deviation of the log gain from saccade to saccade."""

    # fixational movement
    drift_speed_x_deg_s: float = 1.51
    """Root mean square of the drift's velocity."""
    drift_speed_y_deg_s: float = 1.48
    drift_persistence_s: float = 0.00721
    drift_return_s: float = 0.6
    """Time constant with which drift is drawn back to the point of fixation."""
    tremor_deg: float = 0.004
    tremor_frequency_hz: float = 70.0
    microsaccade_rate_hz: float = 1.07
    """Microsaccades per second of fixation once the refractory time is over."""
    microsaccade_refractory_s: float = 0.15
    microsaccade_amplitude_deg: float = 0.3
    """Median amplitude."""
    microsaccade_scatter: float = 0.5
    """Standard deviation of the log amplitude."""

    # tracker
    noise_x_deg: float = 0.0122
    noise_y_deg: float = 0.0146
    noise_correlation_s: float = 0.00128
    """Smoothing of the noise by the EyeLink: time constant of a second-order low-pass, 0 is off."""
    left_offset_x_deg: float = 0.0
    """Calibration error: measured minus true gaze."""
    left_offset_y_deg: float = 0.0
    right_offset_x_deg: float = 0.0
    right_offset_y_deg: float = 0.0
    dropout_rate_per_min: float = 0.5
    dropout_s: float = 0.012
    """Mean length of a loss of one eye's image."""

    # blinks
    blink_rate_per_min: float = 10.0
    blink_loss_s: float = 0.12
    """Median time without data."""
    blink_loss_scatter: float = 0.4
    lid_closing_s: float = 0.03
    lid_opening_s: float = 0.042
    lid_excursion_y_deg: float = 11.0
    """Apparent downward jump of gaze before the pupil is lost."""
    lid_excursion_x_deg: float = 3.0
    """Standard deviation of the sideways jump."""

    # pupil, in the tracker's arbitrary units of area
    pupil_area: float = 1500.0
    pupil_fluctuation: float = 0.06
    """Standard deviation of log area around its mean."""
    pupil_time_constant_s: float = 1.5
    pupil_noise: float = 0.003

    # left eye over right eye
    eye_vigor_ratio: float = 1.0
    eye_oscillation_ratio: float = 1.0
    eye_noise_ratio: float = 1.0


_TABLE = "population.json"


def oculomotor_table() -> PopulationTable:
    """Return the table shipped with the package."""
    text = resources.files("gazelive.simulation.eye").joinpath(_TABLE).read_bytes()
    return msgspec.json.decode(text, type=PopulationTable)


class OculomotorPopulation:
    """Draws people, and their sessions.

    People vary around the centre of lab recordings, or (for comparison with BioEye's people under
    BioEye's protocol) around that of BioEye 2015.
    """

    def __init__(
        self, table: PopulationTable | None = None, *, centre: Literal["lab", "bioeye"] = "lab"
    ) -> None:
        self.table = oculomotor_table() if table is None else table
        if centre == "bioeye":
            self.table = msgspec.structs.replace(
                self.table,
                traits=tuple(
                    trait
                    if trait.bioeye_mean is None
                    else msgspec.structs.replace(trait, mean=trait.bioeye_mean)
                    for trait in self.table.traits
                ),
            )
        self._population = TraitPopulation(self.table)

    def draw_person(self, rng: np.random.Generator) -> PersonTraits:
        """Return a new person."""
        return self._population.draw_person(rng)

    def draw_session(self, person: PersonTraits, rng: np.random.Generator) -> OculomotorTraits:
        """Return the person's oculomotor traits in one session."""
        return OculomotorTraits(**self._population.draw_session(person, rng))
