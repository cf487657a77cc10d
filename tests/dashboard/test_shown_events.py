import math

import numpy as np
import pytest

from gazelive.dashboard.state.bands import LONGEST_OPEN_US, MOST_BANDS, Band, Bands
from gazelive.dashboard.state.gaze_scene import MOST_EVENTS, GazeScene, ScreenView, nice_degrees
from gazelive.dashboard.state.main_sequence import (
    MOST_POINTS,
    MainSequenceRecord,
    share_inside,
    usable_band,
)
from gazelive.features.turns import Turn
from gazelive.gaze.documents import IntervalSettled, MainSequence, SaccadeOnset
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import StreamDescription

from .sent import STREAM, blink, fixation, model, saccade


def onset(ms):
    return SaccadeOnset(eye="R", onset_us=1000 * ms, detection_delay_ms=9.0)


def settled(saccades=(), fixations=(), blinks=(), trial="trial 1", start_ms=0, end_ms=4000):
    return IntervalSettled(
        trial=trial,
        start_us=1000 * start_ms,
        end_us=1000 * end_ms,
        saccades=tuple(saccades),
        fixations=tuple(fixations),
        blinks=tuple(blinks),
    )


class TestBands:
    def test_a_saccade_without_an_end_is_shaded_up_to_now(self):
        bands = Bands()
        bands.begin(onset(100))
        assert bands.between(0, 120_000) == [Band("saccade begun", 100_000, 120_000)]
        bands.add_saccade(saccade(101))
        assert bands.between(0, 200_000) == [Band("saccade", 101_000, 141_000)]

    def test_an_onset_without_an_end_is_dropped(self):
        bands = Bands()
        bands.begin(onset(100))
        assert bands.between(0, 100_000 + LONGEST_OPEN_US + 1) == []

    def test_a_retracted_saccade_is_removed(self):
        bands = Bands()
        bands.add_saccade(saccade(100))
        bands.add_blink(blink(300, 400))
        bands.retract(100_000)
        assert [band.kind for band in bands.between(0, 1_000_000)] == ["blink"]

    def test_only_bands_in_the_window_are_returned(self):
        bands = Bands()
        for ms in (100, 500, 900):
            bands.add_saccade(saccade(ms))
        assert [b.onset_us for b in bands.between(510_000, 700_000)] == [500_000]

    def test_a_settled_interval_replaces_preliminary_bands(self):
        bands = Bands()
        for ms in (100, 500):
            bands.add_saccade(saccade(ms))
        bands.add_saccade(saccade(5000))
        bands.settle(settled([saccade(103)], blinks=[blink(700, 800)]))
        found = sorted(bands.between(0, 10_000_000), key=lambda band: band.onset_us)
        assert [(b.kind, b.onset_us) for b in found] == [
            ("saccade", 103_000),
            ("blink", 700_000),
            ("saccade", 5_000_000),
        ]

    def test_they_are_bounded(self):
        bands = Bands()
        for ms in range(0, 100 * MOST_BANDS, 50):
            bands.add_saccade(saccade(ms))
        assert len(bands.between(0, 10**12)) == MOST_BANDS


class TestMainSequence:
    def test_points_are_amplitude_and_velocity_and_know_their_image(self):
        record = MainSequenceRecord()
        record.add(saccade(100, (0, 0), (3, 4), peak_velocity_deg_s=250.0))
        record.begin_image(1_000_000)
        record.add(saccade(1100, (0, 0), (1, 0), peak_velocity_deg_s=60.0))
        points = record.points()
        assert points.amplitude_deg.tolist() == [5, 1]
        assert points.peak_velocity_deg_s.tolist() == [250, 60]
        assert points.current.tolist() == [False, True]

    def test_zero_amplitudes_are_ignored(self):
        record = MainSequenceRecord()
        record.add(saccade(1, (1, 1), (1, 1)))
        record.add(saccade(2, peak_velocity_deg_s=math.nan))
        assert len(record.points().amplitude_deg) == 0

    def test_retraction_settling_and_bounds(self):
        record = MainSequenceRecord()
        record.add(saccade(100))
        record.add(saccade(100))
        assert len(record.points().amplitude_deg) == 1
        record.add(saccade(300))
        record.retract(300_000)
        assert len(record.points().amplitude_deg) == 1
        record.add(saccade(4100))
        record.settle(settled([saccade(101), saccade(900)]))
        assert len(record.points().amplitude_deg) == 3, "the last belongs to the next image"
        record.settle(settled([saccade(6000)], start_ms=5000, end_ms=9000))
        assert len(record.points().amplitude_deg) == 3, "4.1 s was between the images"
        for ms in range(3 * MOST_POINTS):
            record.add(saccade(10_000 + 100 * ms))
        assert len(record.points().amplitude_deg) == MOST_POINTS
        assert len(record._preliminary) <= 2 * MOST_POINTS

    def test_the_share_inside_the_populations_band(self):
        band = MainSequence(
            amplitude_deg=(1.0, 10.0),
            low_deg_s=(50.0, 200.0),
            median_deg_s=(80.0, 300.0),
            high_deg_s=(110.0, 400.0),
        )
        record = MainSequenceRecord()
        assert share_inside(record.points(), band) is None
        for number, (amplitude, velocity) in enumerate(((1.0, 80.0), (10.0, 900.0), (50.0, 300.0))):
            end, peak = (amplitude, 0.0), velocity
            record.add(saccade(100 * number, end=end, peak_velocity_deg_s=peak))
        assert share_inside(record.points(), band) == pytest.approx(0.5), "one is beyond the band"

    @pytest.mark.parametrize(
        "columns",
        [
            ((1.0,), (1.0,), (1.0,), (1.0,)),
            ((1.0, 2.0), (1.0, 2.0), (1.0, 2.0), (1.0,)),
            ((2.0, 1.0), (1.0, 2.0), (1.0, 2.0), (1.0, 2.0)),
            ((1.0, 2.0), (0.0, 2.0), (1.0, 2.0), (1.0, 2.0)),
            ((1.0, 2.0), (1.0, 2.0), (1.0, 2.0), (1.0, math.nan)),
        ],
    )
    def test_an_invalid_band_is_not_drawn(self, columns):
        names = ("amplitude_deg", "low_deg_s", "median_deg_s", "high_deg_s")
        band = MainSequence(**dict(zip(names, columns, strict=True)))
        assert usable_band(model(main_sequence=band)) is None
        assert usable_band(model()) is None
        assert usable_band(None) is None


class TestGazeScene:
    def test_turns_are_the_papers_and_end_at_a_loss(self):
        scene = GazeScene()
        for ms, start, end in (
            (100, (0, 0), (5, 0)),
            (400, (5, 0), (10, 0)),
            (700, (10, 0), (10, 5)),
            (1000, (10, 5), (10, 0)),
            (1300, (10, 0), (5, 0)),
        ):
            scene.add_saccade(saccade(ms, start, end))
        turns = [turned.turn for turned in scene.turned_saccades()]
        assert turns == [Turn.NONE, Turn.MAINTAIN, Turn.RIGHT, Turn.REVERSE, Turn.LEFT]
        scene.add_blink(blink(800, 900))
        assert scene.turned_saccades()[3].turn is Turn.NONE

    def test_the_same_event_again_replaces_it(self):
        scene = GazeScene()
        for end in (200, 300):
            scene.add_fixation(fixation(100, end))
            scene.add_saccade(saccade(100))
        assert [f.offset_us for f in scene.fixations] == [300_000]
        assert len(scene.saccades) == 1

    def test_retraction_settling_a_late_image_and_bounds(self):
        scene = GazeScene()
        for ms in (100, 500, 900):
            scene.add_saccade(saccade(ms))
            scene.add_fixation(fixation(ms + 50, ms + 300))
        scene.retract(500_000)
        assert [s.onset_us for s in scene.saccades] == [100_000, 900_000]
        scene.begin_at(450_000)
        assert [s.onset_us for s in scene.saccades] == [900_000]
        assert [f.onset_us for f in scene.fixations] == [550_000, 950_000]
        scene.settle([fixation(0, 100)], [saccade(110)], [])
        assert len(scene.fixations) == len(scene.saccades) == 1
        for ms in range(MOST_EVENTS + 5):
            scene.add_saccade(saccade(1000 * ms))
        assert len(scene.saccades) == MOST_EVENTS
        scene.clear()
        assert not scene.saccades


class TestScreenView:
    def test_a_known_screen_gives_exact_degrees(self):
        view = ScreenView.of(STREAM)
        x, y = view.to_px(np.array([10.0]), np.array([-5.0]))
        assert PAPER_SCREEN.px_to_deg(x, y)[0] == pytest.approx(10.0)
        assert (view.width_px, view.height_px) == (1920, 1080)
        assert view.pixel_aspect == pytest.approx(1.0, abs=0.01)

    def test_a_resolution_gives_a_flat_approximation_and_the_pixels_shape(self):
        stream = StreamDescription(
            device="x",
            sampling_rate_hz=500,
            eyes="L",
            screen_px=(1024, 768),
            px_per_deg=(36.0, 30.0),
        )
        view = ScreenView.of(stream)
        assert view.to_px(0.0, 0.0) == (511.5, 383.5)
        assert view.pixel_aspect == pytest.approx(30 / 36)
        assert (view.width_px, view.height_px) == (1024, 768)

    def test_an_unknown_screen_is_a_field_of_degrees(self):
        view = ScreenView.of(None)
        assert (view.width_px, view.height_px) == (800, 600)


def test_ticks_of_degrees_are_round_and_few():
    assert nice_degrees(-24, 24, 10).tolist() == [-20, -15, -10, -5, 0, 5, 10, 15, 20]
    assert nice_degrees(-24, 24, 3).tolist() == [-20, 0, 20]
    assert nice_degrees(-89, 89, 1).tolist() == [0]
