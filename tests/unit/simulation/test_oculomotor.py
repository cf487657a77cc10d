"""Simulated eye: laws of its trace, and matching true events."""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import ConfigError
from gazelive.gaze.samples import Eyes
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.simulation.eye.dynamics import peak_over_mean
from gazelive.simulation.eye.eye import Oculomotor
from gazelive.simulation.eye.traits import OculomotorTraits
from gazelive.simulation.truth import SimulatedTrace, trace_to_samples

TRAITS = OculomotorTraits(blink_rate_per_min=40.0, dropout_rate_per_min=30.0)
QUIET = OculomotorTraits(
    blink_rate_per_min=0.0,
    dropout_rate_per_min=0.0,
    microsaccade_rate_hz=0.0,
    drift_speed_x_deg_s=0.0,
    drift_speed_y_deg_s=0.0,
    tremor_deg=0.0,
    noise_x_deg=0.0,
    noise_y_deg=0.0,
    undershoot_probability=0.0,
    landing_scatter=0.0,
)
"""Nothing moves but saccades, and nothing is measured wrongly."""


def with_(traits: OculomotorTraits, **changes: float) -> OculomotorTraits:
    return msgspec.structs.replace(traits, **changes)


def eye_of(
    seed: int = 3,
    rate_hz: float = 1000.0,
    eyes: Eyes = "L",
    traits: OculomotorTraits = TRAITS,
    start_us: int = 0,
) -> Oculomotor:
    return Oculomotor(
        traits,
        sampling_rate_hz=rate_hz,
        eyes=eyes,
        rng=np.random.default_rng(seed),
        x_deg=1.0,
        y_deg=-2.0,
        start_us=start_us,
    )


def assert_same(one: SimulatedTrace, other: SimulatedTrace) -> None:
    np.testing.assert_array_equal(one.gaze_deg, other.gaze_deg)
    np.testing.assert_array_equal(one.pupil, other.pupil)
    np.testing.assert_array_equal(one.tracker_time_us, other.tracker_time_us)
    assert one.saccades == other.saccades
    assert one.fixations == other.fixations
    assert one.blinks == other.blinks


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    cuts=st.lists(st.integers(0, 700), min_size=1, max_size=8),
    rate_hz=st.sampled_from([250.0, 1000.0, 2000.0]),
    eyes=st.sampled_from(["L", "R", "LR"]),
)
def test_trace_does_not_depend_on_how_a_fixation_is_cut(
    seed: int, cuts: list[int], rate_hz: float, eyes: Eyes
) -> None:
    whole, sliced = eye_of(seed, rate_hz, eyes), eye_of(seed, rate_hz, eyes)
    for target in ((6.0, 1.0), (-3.0, 4.0)):
        whole.fixate(sum(cuts))
        for cut in cuts:
            sliced.fixate(cut)
        whole.saccade_to(*target)
        sliced.saccade_to(*target)
    whole.fixate(200)
    sliced.fixate(200)
    assert_same(whole.take(), sliced.take())


def test_taking_in_parts_gives_every_sample_and_event_once() -> None:
    whole, parts = eye_of(eyes="LR"), eye_of(eyes="LR")
    for eye in (whole, parts):
        for x_deg in (8.0, -5.0, 3.0):
            eye.fixate(900)
            eye.saccade_to(x_deg, 0.0)
        eye.fixate(1500)
    all_at_once = whole.take()
    taken = []
    while parts.n_pending:
        taken.append(parts.take(77))
    np.testing.assert_array_equal(
        all_at_once.gaze_deg, np.concatenate([trace.gaze_deg for trace in taken])
    )
    np.testing.assert_array_equal(
        all_at_once.pupil, np.concatenate([trace.pupil for trace in taken])
    )
    assert [trace.first_sample for trace in taken] == list(range(0, len(all_at_once), 77))
    assert {s for t in taken for s in t.saccades} == set(all_at_once.saccades)
    assert {f for t in taken for f in t.fixations} == set(all_at_once.fixations)
    assert {b for t in taken for b in t.blinks} == set(all_at_once.blinks)


def test_seeds_differ_and_a_seed_repeats() -> None:
    traces = []
    for seed in (1, 1, 2):
        eye = eye_of(seed)
        eye.fixate(300)
        eye.saccade_to(5.0, 0.0)
        traces.append(eye.take())
    assert_same(traces[0], traces[1])
    assert not np.array_equal(traces[0].gaze_deg[:250], traces[2].gaze_deg[:250], equal_nan=True)


def test_times_start_as_requested_and_follow_the_rate() -> None:
    eye = eye_of(rate_hz=500.0, start_us=7_000_000)
    eye.fixate(3)
    assert eye.now_us == 7_006_000
    assert eye.take().tracker_time_us.tolist() == [7_000_000, 7_002_000, 7_004_000]


def test_impossible_rate_is_refused() -> None:
    with pytest.raises(ConfigError, match="samples a second"):
        eye_of(rate_hz=10.0)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    amplitude_deg=st.floats(0.4, 20.0),
    angle=st.floats(0.0, 2 * np.pi),
)
def test_truth_matches_the_noise_free_trace(seed: int, amplitude_deg: float, angle: float) -> None:
    rate_hz = 4000.0
    eye = eye_of(seed, rate_hz, traits=QUIET)
    eye.fixate(400)
    eye.saccade_to(1.0 + amplitude_deg * np.cos(angle), -2.0 + amplitude_deg * np.sin(angle))
    eye.fixate(800)
    trace = eye.take()
    (saccade,) = trace.saccades
    gaze = trace.gaze_deg[:, 0]
    speed = np.hypot(*np.diff(gaze, axis=0).T) * rate_hz
    assert speed.max() == pytest.approx(saccade.peak_velocity_deg_s, rel=0.01)
    assert np.argmax(speed) / rate_hz * 1e6 == pytest.approx(saccade.peak_us, abs=500)
    threshold = max(0.05 * saccade.peak_velocity_deg_s, 5.0)
    assert (speed[saccade.first_sample : np.argmax(speed)] >= 0.8 * threshold).all()
    assert (speed[: saccade.first_sample - 2] <= threshold).all()
    start, end = gaze[saccade.first_sample], gaze[saccade.last_sample]
    assert np.hypot(*(end - start)) == pytest.approx(saccade.amplitude_deg, abs=0.06)
    assert saccade.direction_deg == pytest.approx(
        np.degrees(np.arctan2(start[1] - end[1], end[0] - start[0])), abs=3.0
    )
    samples_ms = (saccade.last_sample - saccade.first_sample) / rate_hz * 1000
    assert samples_ms == pytest.approx(saccade.duration_ms, abs=2000 / rate_hz)
    rest = gaze[int(saccade.oscillation_end_us * rate_hz / 1e6) + 2 :] - gaze[-1]
    assert np.hypot(*rest.T).max() <= 0.051
    after = gaze[saccade.last_sample + 1 :] - gaze[-1]
    assert np.hypot(*after.T).max() == pytest.approx(saccade.oscillation_deg, abs=0.06)


def test_larger_saccades_are_faster_and_longer() -> None:
    eye = eye_of(traits=with_(QUIET, vigor_scatter=0.0, peak_fraction_scatter=0.0))
    for x_deg in (1.5, 3.0, 0.0, 6.0, -6.0, 14.0):
        eye.fixate(400)
        eye.saccade_to(x_deg, -2.0)
    eye.fixate(400)
    saccades = sorted(eye.take().saccades, key=lambda saccade: saccade.amplitude_deg)
    assert len(saccades) == 6
    assert np.all(np.diff([saccade.peak_velocity_deg_s for saccade in saccades]) > 0)
    assert np.all(np.diff([saccade.duration_ms for saccade in saccades]) > 0)


@pytest.mark.parametrize("rate_hz", [250.0, 500.0, 2000.0])
def test_the_same_saccades_at_every_rate(rate_hz: float) -> None:
    def saccades(rate_hz: float) -> npt.NDArray[np.float64]:
        eye = eye_of(11, rate_hz, traits=QUIET)
        for x_deg in (9.0, -4.0, 2.0):
            eye.fixate(round(0.4 * rate_hz))
            eye.saccade_to(x_deg, 3.0)
        eye.fixate(round(0.4 * rate_hz))
        saccades = eye.take().saccades
        return np.array([(s.amplitude_deg, s.peak_velocity_deg_s) for s in saccades])

    np.testing.assert_allclose(saccades(rate_hz), saccades(1000.0), rtol=1e-9)


def test_drift_and_noise_have_the_same_size_at_every_rate() -> None:
    def spreads(rate_hz: float) -> tuple[float, float]:
        traits = with_(QUIET, drift_speed_x_deg_s=1.5, noise_x_deg=0.02)
        eye = eye_of(12, rate_hz, traits=traits)
        eye.fixate(round(200 * rate_hz))
        x_deg = eye.take().gaze_deg[:, 0, 0]
        lag = round(0.2 * rate_hz)
        return float(np.std(x_deg[lag:] - x_deg[:-lag])), float(x_deg.std())

    slow, fast = spreads(250.0), spreads(2000.0)
    assert slow == pytest.approx(fast, rel=0.12)
    assert slow[0] > 0.05


def test_noise_has_the_requested_size_and_smoothness() -> None:
    for correlation_s, lag_one in ((0.0, 0.0), (0.0014, 0.8)):
        traits = with_(QUIET, noise_x_deg=0.02, noise_correlation_s=correlation_s)
        eye = eye_of(13, traits=traits)
        eye.fixate(60_000)
        error = eye.take().gaze_deg[:, 0, 0] - 1.0
        assert error.std() == pytest.approx(0.02, rel=0.05)
        assert np.corrcoef(error[1:], error[:-1])[0, 1] == pytest.approx(lag_one, abs=0.06)


def test_microsaccades_keep_their_rate_and_stay_near() -> None:
    eye = eye_of(14, traits=with_(OculomotorTraits(), microsaccade_rate_hz=2.0))
    eye.fixate(120_000)
    trace = eye.take()
    assert {saccade.kind for saccade in trace.saccades} == {"microsaccade"}
    # after each one comes the refractory time, then an exponential wait
    assert len(trace.saccades) / 120 == pytest.approx(1 / (0.5 + 0.15 + 0.015), rel=0.2)
    assert np.median([saccade.amplitude_deg for saccade in trace.saccades]) < 0.6
    assert np.nanmax(np.abs(np.nanmedian(trace.gaze_deg[:, 0], axis=0) - (1.0, -2.0))) < 0.4


def test_a_blink_hides_both_eyes_and_the_lid_pushes_gaze_down() -> None:
    eye = eye_of(15, eyes="LR", traits=with_(QUIET, blink_rate_per_min=20.0))
    eye.fixate(60_000)
    trace = eye.take()
    assert len(trace.blinks) > 20
    for index, name in enumerate("LR"):
        lost = np.isnan(trace.gaze_deg[:, index, 0])
        np.testing.assert_array_equal(lost, np.isnan(trace.pupil[:, index]))
        expected = np.zeros(len(trace), bool)
        for blink in trace.blinks:
            if blink.eye == name:
                times_us = trace.tracker_time_us
                inside = (times_us >= blink.loss_onset_us) & (times_us < blink.loss_offset_us)
                expected |= inside
                before = round(blink.loss_onset_us / 1000) - 2
                assert trace.gaze_deg[before, index, 1] > 1.0
                assert trace.pupil[before, index] < 0.8 * np.nanmedian(trace.pupil[:, index])
                assert blink.onset_us < blink.loss_onset_us < blink.loss_offset_us < blink.offset_us
        np.testing.assert_array_equal(
            lost[: round(blink.offset_us / 1000)], expected[: round(blink.offset_us / 1000)]
        )


def test_dropouts_come_in_one_eye_at_a_time() -> None:
    eye = eye_of(16, eyes="LR", traits=with_(QUIET, dropout_rate_per_min=60.0))
    eye.fixate(60_000)
    trace = eye.take()
    lost = np.isnan(trace.gaze_deg[:, :, 0])
    assert 0.002 < lost.mean() < 0.05
    assert lost.all(axis=1).mean() < 0.1 * lost.mean()
    assert {blink.cause for blink in trace.blinks} == {"loss"}


def test_a_saccade_behind_the_lid_is_marked_lost() -> None:
    eye = eye_of(17, traits=with_(QUIET, blink_rate_per_min=90.0, blink_loss_s=0.3))
    for x_deg in (5.0, -5.0) * 30:
        eye.fixate(100)
        eye.saccade_to(x_deg, 0.0)
    eye.fixate(300)
    trace = eye.take()
    marked = [saccade.lost for saccade in trace.saccades]
    gaps = [
        bool(np.isnan(trace.gaze_deg[s.first_sample : s.last_sample + 1]).any())
        for s in trace.saccades
    ]
    assert any(marked)
    assert not all(marked)
    assert marked == gaps


def test_falling_short_is_corrected() -> None:
    traits = with_(QUIET, undershoot_probability=1.0, undershoot_fraction=0.15)
    eye = eye_of(18, traits=traits)
    eye.fixate(200)
    eye.saccade_to(13.0, -2.0)
    eye.fixate(300)
    trace = eye.take()
    main, corrective = trace.saccades
    assert (main.kind, corrective.kind) == ("main", "corrective")
    assert 6.0 < main.amplitude_deg < 11.8
    assert 50 < (corrective.onset_us - main.offset_us) / 1000 < 350
    assert trace.gaze_deg[-1, 0] == pytest.approx((13.0, -2.0), abs=0.1)
    first, between = trace.fixations
    assert (first.onset_us, first.offset_us) == (0.0, main.onset_us)
    assert (between.onset_us, between.offset_us) == (main.offset_us, corrective.onset_us)
    assert (first.x_deg, first.y_deg) == pytest.approx((1.0, -2.0), abs=0.01)


def test_the_eye_that_turns_outwards_is_faster() -> None:
    eye = eye_of(19, eyes="LR", traits=with_(QUIET, abduction_vigor=1.1))
    eye.fixate(200)
    eye.saccade_to(9.0, -2.0)
    eye.fixate(300)
    left, right = eye.take().saccades
    assert (left.eye, right.eye) == ("L", "R")
    assert right.peak_velocity_deg_s > 1.05 * left.peak_velocity_deg_s
    assert right.duration_ms < left.duration_ms


def test_calibration_error_shifts_gaze_and_truth() -> None:
    eye = eye_of(20, eyes="LR", traits=with_(QUIET, right_offset_x_deg=0.7, left_offset_y_deg=-0.2))
    eye.fixate(100)
    eye.saccade_to(4.0, 0.0)
    eye.fixate(400)
    trace = eye.take()
    assert trace.gaze_deg[50] == pytest.approx(np.array([[1.0, -2.2], [1.7, -2.0]]))
    assert trace.gaze_deg[-1] == pytest.approx(np.array([[4.0, -0.2], [4.7, 0.0]]), abs=0.01)
    assert trace.saccades[1].start_x_deg == pytest.approx(1.7, abs=0.05)
    assert eye.position_deg == pytest.approx((4.0, 0.0))


def test_light_makes_the_pupil_smaller_slowly() -> None:
    eye = eye_of(21, traits=with_(QUIET, pupil_fluctuation=0.0, pupil_noise=0.0))
    eye.fixate(500)
    eye.look_at_brightness(-0.5)
    eye.fixate(3000)
    pupil = eye.take().pupil[:, 0] / QUIET.pupil_area
    assert pupil[499] == pytest.approx(1.0)
    assert pupil[800] == pytest.approx(np.exp(-0.5 * (1 - np.exp(-1))), rel=0.02)
    assert pupil[-1] == pytest.approx(np.exp(-0.5), rel=0.01)


def test_samples_are_rounded_like_eyelinks() -> None:
    eye = eye_of(22, eyes="R")
    eye.fixate(3000)
    trace = eye.take()
    samples = trace_to_samples(trace, PAPER_SCREEN)
    assert np.isnan(samples["left_x"]).all()
    np.testing.assert_array_equal(np.isnan(samples["right_x"]), np.isnan(trace.pupil[:, 0]))
    tenths = samples["right_y"].astype(np.float64) * 10
    assert np.nanmax(np.abs(tenths - np.round(tenths))) < 1e-3
    x_deg, y_deg = PAPER_SCREEN.px_to_deg(samples["right_x"], samples["right_y"])
    error_deg = np.column_stack((x_deg, y_deg)) - trace.gaze_deg[:, 0]
    assert np.nanmax(np.abs(error_deg)) < 0.002


@pytest.mark.parametrize(("sharpness", "peak"), [(2.0, 0.5), (3.2, 0.35), (1.5, 0.6)])
def test_peak_over_mean_velocity_of_a_profile(sharpness: float, peak: float) -> None:
    phase = (np.arange(20_000) + 0.5) / 20_000
    profile = phase ** (sharpness * peak) * (1 - phase) ** (sharpness * (1 - peak))
    assert peak_over_mean(sharpness, peak) == pytest.approx(
        profile.max() / profile.mean(), rel=1e-4
    )
