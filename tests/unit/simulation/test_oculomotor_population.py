"""Oculomotor population: a valid table, stable persons, plausible draws."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.eye.traits import OculomotorPopulation, OculomotorTraits, oculomotor_table


def test_table_lists_real_traits_once_with_correlations_that_are_some() -> None:
    table = oculomotor_table()
    names = [trait.name for trait in table.traits]
    assert len(set(names)) == len(names)
    assert set(names) <= set(OculomotorTraits.__struct_fields__)
    for correlation in (table.between, table.within):
        matrix = np.array(correlation.matrix)
        assert set(correlation.names) <= set(names)
        np.testing.assert_allclose(matrix, matrix.T)
        np.testing.assert_allclose(np.diag(matrix), 1.0)
        assert np.linalg.eigvalsh(matrix).min() > 0.01


def test_default_traits_are_the_centre_of_the_population() -> None:
    default = OculomotorTraits()
    for trait in oculomotor_table().traits:
        centre = trait.natural(trait.mean)
        assert getattr(default, trait.name) == pytest.approx(centre, rel=0.01, abs=1e-4), trait.name


def test_a_seed_repeats_a_person_and_a_session() -> None:
    population = OculomotorPopulation()
    persons = [population.draw_person(np.random.default_rng(5)) for _ in range(2)]
    sessions = [population.draw_session(one, np.random.default_rng(6)) for one in persons]
    assert persons[0] == persons[1]
    assert sessions[0] == sessions[1]


def test_two_sessions_of_a_person_are_closer_than_two_persons() -> None:
    population = OculomotorPopulation()
    rng = np.random.default_rng(7)
    persons = [population.draw_person(rng) for _ in range(40)]
    first, second = (
        np.array([np.log(population.draw_session(one, rng).vigor_right) for one in persons])
        for _ in range(2)
    )
    assert np.corrcoef(first, second)[0, 1] > 0.7
    assert np.std(first - second) > 0.01


def test_variances_are_those_of_the_table() -> None:
    table = oculomotor_table()
    index = [trait.name for trait in table.traits].index("noise_x_deg")
    population = OculomotorPopulation(table)
    rng = np.random.default_rng(8)
    values = np.array([population.draw_person(rng).values for _ in range(3000)])
    assert values[:, index].std() == pytest.approx(table.traits[index].between_sd, rel=0.06)
    assert values[:, index].mean() == pytest.approx(table.traits[index].mean, abs=0.05)


def test_centre_of_bioeye_differs_as_in_the_table() -> None:
    steady = [
        msgspec.structs.replace(t, between_sd=0.0, within_sd=0.0) for t in oculomotor_table().traits
    ]
    table = msgspec.structs.replace(oculomotor_table(), traits=tuple(steady))
    rng = np.random.default_rng(9)
    lab, bioeye = (
        OculomotorPopulation(table, centre=centre).draw_person(rng).values  # type: ignore[arg-type]
        for centre in ("lab", "bioeye")
    )
    assert lab == pytest.approx([trait.mean for trait in steady])
    assert bioeye == pytest.approx([trait.bioeye_mean for trait in steady])


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), rate_hz=st.sampled_from([250.0, 1000.0]))
def test_every_simulated_viewer_can_move_their_eyes(seed: int, rate_hz: float) -> None:
    population = OculomotorPopulation()
    rng = np.random.default_rng(seed)
    traits = population.draw_session(population.draw_person(rng), rng)
    eye = Oculomotor(traits, sampling_rate_hz=rate_hz, eyes="LR", rng=rng, x_deg=0.0, y_deg=0.0)
    for x_deg, y_deg in ((0.5, 0.0), (-8.0, 3.0), (12.0, -9.0)):
        eye.fixate(round(0.3 * rate_hz))
        eye.saccade_to(x_deg, y_deg)
    eye.fixate(round(0.3 * rate_hz))
    trace = eye.take()
    assert np.hypot(*(np.array(eye.position_deg) - (12.0, -9.0))) < 2.5
    for saccade in trace.saccades:
        assert saccade.offset_us > saccade.onset_us
        assert saccade.peak_velocity_deg_s < 2000
        if saccade.kind == "main":
            assert 5 < saccade.duration_ms < 200
