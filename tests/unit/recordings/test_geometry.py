from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.errors import ConfigError, RecordingError
from gazelive.gaze.arrays import Floats
from gazelive.gaze.samples import Coordinates, empty_samples
from gazelive.gaze.screen import PAPER_SCREEN, AngularResolution, ScreenGeometry
from gazelive.gaze.stream import StreamDescription
from gazelive.recordings.geometry import (
    FoundGeometry,
    GeometryFlags,
    find_geometry,
    parse_geometry,
    positions_deg,
    with_one_resolution,
)
from gazelive.recordings.recording import Block, Recording

FLAGS = GeometryFlags((1920, 1080), (535.0, 301.0), 600.0)
OTHER_SCREEN = ScreenGeometry(
    width_px=800, height_px=600, width_mm=400, height_mm=300, eye_distance_mm=700
)


def block_of(coordinates: Coordinates = Coordinates.SCREEN_PX, **stream: object) -> Block:
    samples = empty_samples(3)
    samples["left_x"] = [10, np.nan, 960]
    samples["left_y"] = [20, 5, 540]
    description = StreamDescription(
        device="test", sampling_rate_hz=1000, eyes="L", coordinates=coordinates
    )
    return Block(msgspec.structs.replace(description, **stream), samples, 0, 2000)


def recording_of(block: Block, **parts: object) -> Recording:
    recording = Recording(path=Path("some.asc"), format="asc", blocks=(block,))
    return replace(recording, **parts)  # type: ignore[arg-type]


class TestFlags:
    def test_are_read_as_the_help_writes_them(self) -> None:
        assert parse_geometry("1920x1080", "535x301", "600") == FLAGS
        assert parse_geometry(" 1920 X 1080", "535.0×301", 600.0) == FLAGS

    @given(
        st.tuples(st.integers(100, 8000), st.integers(100, 8000)),
        st.floats(50, 3000).map(lambda value: round(value, 2)),
    )
    def test_formatted_flags_are_parsed(self, px: tuple[int, int], distance: float) -> None:
        size = (px[0] * 0.25, px[1] * 0.25)
        flags = parse_geometry(f"{px[0]}x{px[1]}", f"{size[0]}x{size[1]}", str(distance))
        assert flags == GeometryFlags(px, size, distance)
        assert flags.screen_geometry().width_px == px[0]

    @pytest.mark.parametrize(
        ("screen", "size", "distance", "says"),
        [
            ("1920*1080", None, None, "--screen: must be width x height, such as 1920x1080"),
            ("1920", None, None, "--screen"),
            ("1920.5x1080", None, None, "whole pixels"),
            (None, "535", None, "--size-mm"),
            (None, None, "60 cm", "--distance-mm: must be millimetres"),
        ],
    )
    def test_a_mistake_is_named(
        self, screen: str | None, size: str | None, distance: str | None, says: str
    ) -> None:
        with pytest.raises(ConfigError, match=says.replace("*", r"\*")):
            parse_geometry(screen, size, distance)

    def test_a_missing_one_is_named(self) -> None:
        flags = parse_geometry("1920x1080", None, None)
        with pytest.raises(ConfigError, match="--size-mm and --distance-mm missing"):
            flags.screen_geometry()

    @pytest.mark.parametrize(
        ("screen", "size", "distance", "says"),
        [
            ("0x1080", "535x301", "600", "--screen: must be a positive number, not 0"),
            ("1920x1080", "535x0", "600", "--size-mm: must be a positive number, not 0"),
            ("1920x1080", "301x535", "600", "--size-mm: a pixel of .* is impossible"),
            ("1920x1080", "535x301", "-600", "--distance-mm: must be a positive number, not -600"),
            ("1920x1080", "535x301", "nan", "--distance-mm: must be a positive number, not nan"),
        ],
    )
    def test_impossible_values_are_named_as_given(
        self, screen: str, size: str, distance: str, says: str
    ) -> None:
        flags = parse_geometry(screen, size, distance)
        with pytest.raises(ConfigError, match=says):
            flags.screen_geometry()
        with pytest.raises(ConfigError, match=says):
            flags.check()
        columns = ("screen_px", "size_mm", "distance_mm")
        in_corpus = parse_geometry(screen, size, distance, names=columns)
        plain = says.removeprefix("--").replace("screen", "screen_px").replace("-mm", "_mm")
        with pytest.raises(ConfigError, match=f"^{plain}"):
            in_corpus.screen_geometry()

    @pytest.mark.parametrize("size", ["535x301", "800x335", "300x900"])
    def test_pixels_may_come_later(self, size: str) -> None:
        GeometryFlags().check()
        parse_geometry(None, size, "600").check()
        with pytest.raises(ConfigError, match="--distance-mm missing"):
            parse_geometry(None, size, None).check()

    def test_the_recording_may_know_the_pixels(self) -> None:
        flags = parse_geometry(None, "535x301", "600")
        assert flags.screen_geometry((1920, 1080)) == PAPER_SCREEN
        with pytest.raises(ConfigError, match="--screen missing"):
            flags.screen_geometry()


class TestOrder:
    def test_flags_come_first(self) -> None:
        block = block_of(screen=OTHER_SCREEN, px_per_deg=(30.0, 30.0))
        found = find_geometry(block, recording_of(block), FLAGS, OTHER_SCREEN)
        assert (found.geometry, found.source) == (PAPER_SCREEN, "flags")

    def test_then_the_recording(self) -> None:
        block = block_of()
        recording = recording_of(block, screen=OTHER_SCREEN)
        found = find_geometry(block, recording, GeometryFlags(), PAPER_SCREEN)
        assert (found.geometry, found.source, found.warning) == (OTHER_SCREEN, "recording", None)

    def test_then_the_corpus(self) -> None:
        block = block_of(px_per_deg=(30.0, 30.0))
        found = find_geometry(block, recording_of(block), None, PAPER_SCREEN)
        assert (found.geometry, found.source) == (PAPER_SCREEN, "corpus")

    def test_then_the_resolution_with_a_warning(self) -> None:
        block = block_of(px_per_deg=(30.0, 31.0), screen_px=(1921, 1081))
        found = find_geometry(block, recording_of(block))
        assert found.source == "resolution"
        assert found.geometry == AngularResolution(
            x_px_per_deg=30, y_px_per_deg=31, centre_x_px=960, centre_y_px=540
        )
        assert found.warning is not None
        assert "--distance-mm" in found.warning

    def test_another_block_may_know_the_resolution(self) -> None:
        without, knowing = block_of(), block_of(px_per_deg=(30.0, 31.0))
        recording = recording_of(without, blocks=(without, knowing))
        assert find_geometry(without, recording).source == "resolution"

    def test_one_resolution_for_all_blocks(self) -> None:
        blocks = [block_of(px_per_deg=(x, 30.0)) for x in (28.0, 35.0, 50.0)]
        short = replace(blocks[2], samples=blocks[2].samples[:1])
        recording = recording_of(blocks[0], blocks=(*blocks[:2], short, short))
        found = [find_geometry(block, recording) for block in recording.blocks]
        assert {one.geometry for one in found} == {
            AngularResolution(x_px_per_deg=35, y_px_per_deg=30)
        }
        assert found[0].warning is not None
        assert "28.0–50.0 × 30.0–30.0" in found[0].warning
        assert "off by 43 %" in found[0].warning  # 50 instead of 35

    def test_the_samples_tell_how_far_the_resolution_varies(self) -> None:
        extras = {
            name: np.array([25.0, np.nan, 35.0], np.float32)
            for name in ("resolution_x_units_per_deg", "resolution_y_units_per_deg")
        }
        block = replace(block_of(px_per_deg=(30.0, 30.0)), extras=extras)
        warning = find_geometry(block, recording_of(block)).warning
        assert warning is not None
        assert "25.5–34.5 × 25.5–34.5" in warning
        assert "off by 15 %" in warning

    def test_a_replayed_block_knows_the_resolution_of_all(self) -> None:
        blocks = [block_of(px_per_deg=(x, 30.0)) for x in (28.0, 50.0, 35.0)]
        recording = recording_of(blocks[0], blocks=tuple(blocks))
        replayed = with_one_resolution(recording)
        assert {block.stream.px_per_deg for block in replayed.blocks} == {(35.0, 30.0)}
        first_only = replace(replayed, blocks=replayed.blocks[:1])
        assert (
            find_geometry(first_only.blocks[0], first_only).geometry
            == find_geometry(blocks[0], recording).geometry
        )

    def test_otherwise_an_error_names_the_options(self) -> None:
        block = block_of()
        with pytest.raises(RecordingError, match=r"some.asc.*--screen .*corpus.csv"):
            find_geometry(block, recording_of(block))

    @pytest.mark.parametrize("coordinates", [Coordinates.DEGREES, Coordinates.HREF])
    def test_angles_need_no_geometry(self, coordinates: Coordinates) -> None:
        block = block_of(coordinates)
        assert find_geometry(block, recording_of(block)) == FoundGeometry(None, "none needed")

    def test_a_contradiction_is_reported(self) -> None:
        block = block_of(screen_px=(1280, 1024))
        found = find_geometry(block, recording_of(block), FLAGS)
        assert found.warning is not None
        assert "1280x1024" in found.warning

    def test_raw_data_are_refused(self) -> None:
        block = block_of(Coordinates.RAW)
        with pytest.raises(RecordingError, match="cannot become angles"):
            find_geometry(block, recording_of(block), FLAGS)


def positions_of(block: Block, found: FoundGeometry) -> tuple[Floats, Floats]:
    samples = block.samples
    return positions_deg(samples["left_x"], samples["left_y"], block.stream.coordinates, found)


class TestPositions:
    def test_of_a_screen_are_exact_tangents(self) -> None:
        x_deg, y_deg = positions_of(block_of(), FoundGeometry(PAPER_SCREEN, "flags"))
        expected_x = np.degrees(np.arctan((10 + 0.5 - 960) * (535 / 1920) / 600))
        assert x_deg.dtype == np.float64
        np.testing.assert_allclose(x_deg[0], expected_x, rtol=1e-12)
        assert np.isnan(x_deg[1])
        assert abs(y_deg[2]) < 0.02

    def test_in_degrees_stay(self) -> None:
        found = FoundGeometry(None, "none needed")
        x_deg, y_deg = positions_of(block_of(Coordinates.DEGREES), found)
        np.testing.assert_array_equal(x_deg, [10, np.nan, 960])
        np.testing.assert_array_equal(y_deg, [20, 5, 540])

    def test_in_href_are_seen_from_15000_units(self) -> None:
        block = block_of(Coordinates.HREF)
        block.samples["left_x"] = [15000, 0, -15000]
        x_deg, _ = positions_of(block, FoundGeometry(None, "none needed"))
        np.testing.assert_allclose(x_deg, [45, 0, -45])

    def test_raw_is_refused(self) -> None:
        with pytest.raises(RecordingError, match="raw"):
            positions_of(block_of(Coordinates.RAW), FoundGeometry(None, "none needed"))
