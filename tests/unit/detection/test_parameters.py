from __future__ import annotations

import msgspec
import pytest

from gazelive.detection import DetectorParameters, EngbertKlieglParameters, preset
from gazelive.detection.events import SACCADE_KINDS
from gazelive.detection.online.online_state import (
    A_SACCADE,
    BLINK_ARTEFACT,
    TRACKER_JUMP,
    make_settings,
)
from gazelive.detection.parameters import PRESETS, to_samples
from gazelive.errors import ConfigError


def test_the_default_is_scene_viewing() -> None:
    assert preset("scene-viewing") == DetectorParameters()


def test_an_unknown_preset_is_told_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="scene-viewing, microsaccades, noisy"):
        preset("reading")


def test_presets_survive_storage() -> None:
    for parameters in PRESETS.values():
        stored = msgspec.json.encode(parameters)
        assert msgspec.json.decode(stored, type=DetectorParameters) == parameters


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_impossible_values_name_their_key(value: float) -> None:
    with pytest.raises(ConfigError, match="confirm_ms"):
        DetectorParameters(confirm_ms=value)
    with pytest.raises(ConfigError, match="shortest_saccade_ms"):
        EngbertKlieglParameters(shortest_saccade_ms=value)


@pytest.mark.parametrize("name", ["threshold_floor_deg_s", "velocity_half_width_ms"])
def test_what_must_not_be_zero(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        DetectorParameters(**{name: 0.0})


def test_durations_follow_the_rate() -> None:
    assert [to_samples(4.0, rate) for rate in (250, 500, 1000, 2000)] == [1, 2, 4, 8]
    slow, fast = (make_settings(DetectorParameters(), rate)[0] for rate in (250.0, 2000.0))
    assert (slow["confirm"], fast["confirm"]) == (2, 16)


def test_a_memory_longer_than_the_ring_is_refused() -> None:
    with pytest.raises(ConfigError, match="longest_saccade_ms"):
        make_settings(DetectorParameters(longest_saccade_ms=800.0), 2000.0)
    make_settings(DetectorParameters(longest_saccade_ms=800.0), 500.0)


def test_kinds_of_saccades_have_one_order() -> None:
    assert SACCADE_KINDS[A_SACCADE] == "saccade"
    assert SACCADE_KINDS[BLINK_ARTEFACT] == "blink_artefact"
    assert SACCADE_KINDS[TRACKER_JUMP] == "tracker_jump"
