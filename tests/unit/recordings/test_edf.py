"""EDF files: those shipped with eyelinkio's tests, and damaged copies of them."""

from __future__ import annotations

import contextlib
import math
import random
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.samples import Coordinates, SampleStatus
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.edf.dump import EVENT_RECORD, SAMPLE_RECORD, EdfBlock
from gazelive.recordings.edf.process import run_supervised
from gazelive.recordings.edf.reader import make_block, make_samples, make_signals, read_edf
from gazelive.recordings.recording import Recording, Signal


@pytest.fixture(scope="module")
def mono_path(real_file: Callable[[str], Path]) -> Path:
    return real_file("test_raw.edf")


@pytest.fixture(scope="module")
def fractions() -> list[float]:
    """Warnings reported while `mono` was read."""
    return []


@pytest.fixture(scope="module")
def mono(mono_path: Path, fractions: list[float]) -> Recording:
    return read_edf(mono_path, progress=fractions.append)


@pytest.fixture(scope="module")
def bino(real_file: Callable[[str], Path]) -> Recording:
    return read_edf(real_file("test_raw_binocular.edf"))


@pytest.fixture(scope="module")
def pair(shared_data: Path) -> tuple[Recording, Recording]:
    """The same recording from the EDF file and from the ASC file."""
    folder = shared_data / "edf"
    return read_edf(folder / "pair_left500.edf"), read_asc(folder / "pair_left500.asc.gz")


class TestWholeFiles:
    def test_one_eye(self, mono: Recording) -> None:
        assert [
            (b.stream.eyes, b.stream.sampling_rate_hz, len(b.samples), b.start_us, b.end_us)
            for b in mono.blocks
        ] == [
            ("L", 1000, 136, 415_839_000, 415_975_000),
            ("L", 1000, 66_691, 464_321_000, 531_012_000),
        ]
        kinds = [event.kind for event in mono.tracker_events]
        assert (kinds.count("saccade"), kinds.count("fixation"), kinds.count("blink")) == (
            19,
            21,
            7,
        )
        assert len(mono.messages) == 101
        assert mono.screen_px == (1920, 1080)
        assert mono.header[0] == "DATE: Fri Mar 14 14:03:21 2014"
        assert mono.problems == ()
        assert not np.isfinite(mono.blocks[0].samples["right_x"]).any()

    def test_two_eyes_in_many_blocks(self, bino: Recording) -> None:
        assert len(bino.blocks) == 15
        assert {block.stream.eyes for block in bino.blocks} == {"LR"}
        assert {block.stream.sampling_rate_hz for block in bino.blocks} == {500}
        assert bino.n_samples == 99_823
        assert {event.eye for event in bino.tracker_events} == {"L", "R"}
        assert len(bino.trials) == 15
        assert [trial.block for trial in bino.trials] == list(range(15))
        assert {calibration.eye for calibration in bino.calibrations} == {"L", "R"}
        statuses = np.concatenate([block.samples["status"] for block in bino.blocks])
        assert np.any(statuses & SampleStatus.RIGHT_REFLECTION_MISSING)

    def test_times_are_the_trackers(self, bino: Recording) -> None:
        for block in bino.blocks:
            times_us = block.samples["tracker_time_us"]
            assert times_us[0] == block.start_us
            assert set(np.diff(times_us)) == {2000}
            assert 0 < block.end_us - times_us[-1] <= 2000

    def test_samples_are_those_of_eyelinkio(self, mono: Recording, mono_path: Path) -> None:
        import eyelinkio

        theirs = eyelinkio.read_edf(mono_path)["samples"]
        ours = np.concatenate([block.samples for block in mono.blocks])
        np.testing.assert_array_equal(ours["left_x"], theirs[0].astype("f4"))
        np.testing.assert_array_equal(ours["left_y"], theirs[1].astype("f4"))

    def test_an_event_lies_on_its_samples(self, mono: Recording) -> None:
        block = mono.blocks[1]
        times_us = block.samples["tracker_time_us"]
        fixation = next(
            event
            for event in mono.tracker_events
            if event.kind == "fixation" and event.start_us >= block.start_us
        )
        inside = (times_us >= fixation.start_us) & (times_us <= fixation.end_us)
        assert fixation.mean_x == pytest.approx(block.samples["left_x"][inside].mean(), abs=0.2)
        assert fixation.mean_y == pytest.approx(block.samples["left_y"][inside].mean(), abs=0.2)

    def test_progress_reaches_the_end(self, mono: Recording, fractions: list[float]) -> None:
        assert mono.n_samples
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0
        assert len(fractions) > 2


class TestEdfIsAsc:
    """The same recording as the tracker wrote it and as edf2asc converted it."""

    def test_in_samples(self, pair: tuple[Recording, Recording]) -> None:
        edf, asc = pair
        assert len(edf.blocks) == len(asc.blocks) == 4
        for ours, theirs in zip(edf.blocks, asc.blocks, strict=True):
            assert (ours.start_us, ours.end_us) == (theirs.start_us, theirs.end_us)
            for field in theirs.samples.dtype.names:
                np.testing.assert_array_equal(ours.samples[field], theirs.samples[field], field)
            assert ours.stream.px_per_deg == pytest.approx(theirs.stream.px_per_deg, abs=0.005)
            same = {"px_per_deg": None}
            assert msgspec.structs.replace(ours.stream, **same) == msgspec.structs.replace(
                theirs.stream, **same
            )

    def test_in_events(self, pair: tuple[Recording, Recording]) -> None:
        edf, asc = pair
        assert len(edf.tracker_events) == len(asc.tracker_events) == 465
        for ours, theirs in zip(edf.tracker_events, asc.tracker_events, strict=True):
            # an ASC file has hundredths of a degree and whole degrees per second
            assert ours.amplitude_deg == pytest.approx(theirs.amplitude_deg, abs=0.006)
            assert ours.peak_velocity_deg_s == pytest.approx(theirs.peak_velocity_deg_s, abs=0.51)
            same = {"amplitude_deg": None, "peak_velocity_deg_s": None}
            assert msgspec.structs.replace(ours, **same) == msgspec.structs.replace(theirs, **same)

    def test_in_everything_else(self, pair: tuple[Recording, Recording]) -> None:
        edf, asc = pair
        assert edf.messages == asc.messages
        assert edf.signals == asc.signals
        assert edf.trials == asc.trials
        assert edf.calibrations == asc.calibrations
        assert edf.drift_corrections == asc.drift_corrections
        assert edf.screen_px == asc.screen_px == (1280, 1024)
        assert edf.header == asc.header[1:], "but for the line that edf2asc adds"
        assert edf.problems == asc.problems == ()


class TestDamage:
    @pytest.mark.parametrize(("name", "fraction"), [("cut.edf", 0.8), ("größer Ω.edf", 0.2)])
    def test_intact_records_of_a_truncated_file_are_kept(
        self, mono: Recording, mono_path: Path, tmp_path: Path, name: str, fraction: float
    ) -> None:
        content = mono_path.read_bytes()
        path = tmp_path / name
        path.write_bytes(content[: int(len(content) * fraction)])
        cut = read_edf(path)
        assert cut.n_samples == pytest.approx(mono.n_samples * fraction, rel=0.05)
        last = cut.blocks[-1].samples
        whole = mono.blocks[len(cut.blocks) - 1].samples[: len(last)]
        for field in ("tracker_time_us", "left_x", "left_y", "left_pupil", "status"):
            np.testing.assert_array_equal(last[field], whole[field])
        assert cut.messages == mono.messages[: len(cut.messages)]
        assert cut.tracker_events == mono.tracker_events[: len(cut.tracker_events)]
        texts = [problem.text for problem in cut.problems]
        assert any("truncated; everything intact was kept" in text for text in texts)
        assert any("has no end" in text for text in texts)

    def test_an_incomplete_copy_is_reported(self, mono_path: Path, tmp_path: Path) -> None:
        content = mono_path.read_bytes()
        path = tmp_path / "unfinished.edf"
        path.write_bytes(content[:2000].ljust(len(content), b"\0"))
        unfinished = read_edf(path)
        assert unfinished.n_samples < 136
        texts = [problem.text for problem in unfinished.problems]
        assert any("ends in zeros" in text for text in texts)

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "the file is empty"),
            (b"hello\n" * 100, "not an EyeLink EDF file"),
            (random.Random(1).randbytes(10_000), "not an EyeLink EDF file"),
        ],
        ids=["empty", "text", "noise"],
    )
    def test_not_an_edf_file_is_a_clear_error(
        self, tmp_path: Path, content: bytes, says: str
    ) -> None:
        path = tmp_path / "garbage.edf"
        path.write_bytes(content)
        with pytest.raises(RecordingError, match=rf"garbage\.edf: {says}"):
            read_edf(path)

    def test_a_crash_of_the_library_is_a_clear_error(self, tmp_path: Path) -> None:
        path = tmp_path / "head.edf"
        path.write_bytes(b"SR_RESEARCH_1000FILE\nDATE: Fri Mar 14")  # edfapi 4.2 dies of it
        with pytest.raises(RecordingError, match=r"head\.edf: .*copy it"):
            read_edf(path)

    def test_a_missing_file_is_a_clear_error(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match="no such file"):
            read_edf(tmp_path / "missing.edf")

    @pytest.mark.parametrize("seed", range(3))
    def test_any_damage_is_survived(self, mono_path: Path, tmp_path: Path, seed: int) -> None:
        dice = random.Random(seed)
        content = bytearray(mono_path.read_bytes()[:200_000])
        for _ in range((1, 30, 3000)[seed]):
            content[dice.randrange(400, len(content))] = dice.randrange(256)
        path = tmp_path / "damaged.edf"
        path.write_bytes(content)
        with contextlib.suppress(RecordingError):
            assert read_edf(path).problems


class TestSupervision:
    def run(self, tmp_path: Path, code: str, stall_s: float = 60.0) -> tuple[int, str]:
        command = [sys.executable, "-c", code]
        return run_supervised(command, tmp_path / "log.txt", path=Path("some.edf"), stall_s=stall_s)

    def test_a_crash_is_an_exit_code(self, tmp_path: Path) -> None:
        exit_code, last_words = self.run(
            tmp_path, "import os, sys; print('progress 0.5', file=sys.stderr); os._exit(139)"
        )
        assert (exit_code, last_words) == (139, "")

    def test_the_last_line_of_standard_error_is_reported(self, tmp_path: Path) -> None:
        exit_code, last_words = self.run(tmp_path, "print('noise'); raise OSError('bad block')")
        assert exit_code == 1
        assert last_words == "OSError: bad block"
        assert (tmp_path / "log.txt").read_text().strip() == "noise"

    def test_a_hang_is_ended(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match=r"some\.edf: .*not respond .*0 s"):
            self.run(tmp_path, "import time; time.sleep(1000)", stall_s=0.2)


def described(**fields: object) -> EdfBlock:
    values: dict[str, object] = dict(
        start_ms=100,
        end_ms=102,
        sample_rate_hz=2000.0,
        eye=3,
        sample_flags=0x0400,
        pupil_type=0,
        first_sample=0,
        n_samples=4,
    )
    return EdfBlock(**(values | fields))  # type: ignore[arg-type]


def records(n: int = 4) -> np.ndarray:
    made = np.zeros(n, SAMPLE_RECORD)
    made["time"] = 100 + np.arange(n) // 2
    made["flags"] = np.where(np.arange(n) % 2, 0x0002, 0)
    for k, name in enumerate(("gx", "gy", "hx", "hy", "px", "py", "pa")):
        made[name] = [[10 * k + 1, 10 * k + 2]] * n
    return made


class TestRecords:
    def test_half_milliseconds(self) -> None:
        block, problems = make_block(described(), records())
        assert block is not None
        assert list(block.samples["tracker_time_us"]) == [100_000, 100_500, 101_000, 101_500]
        assert problems == []

    def test_codes_of_the_missing(self) -> None:
        made = records()
        made["gx"][0] = [1e8, -32768]
        made["gy"][0] = [1e8, np.nan]
        made["pa"][0] = [0, 500]
        samples = make_samples(made, "LR", Coordinates.SCREEN_PX)
        for field in ("left_x", "left_y", "left_pupil", "right_x", "right_y", "right_pupil"):
            assert math.isnan(samples[field][0]), field
            assert math.isfinite(samples[field][1]), field

    @pytest.mark.parametrize(
        ("flags", "coordinates", "left_x"),
        [(0x0C00, "screen_px", 1), (0x0800, "href", 21), (0x1000, "raw", 41)],
    )
    def test_the_best_coordinates(self, flags: int, coordinates: str, left_x: float) -> None:
        block, _ = make_block(described(sample_flags=flags), records())
        assert block is not None
        assert block.stream.coordinates.value == coordinates
        assert block.samples["left_x"][0] == left_x

    def test_the_right_eye_alone(self) -> None:
        block, _ = make_block(described(eye=2), records())
        assert block is not None
        assert block.samples["right_x"][0] == 2
        assert math.isnan(block.samples["left_x"][0])

    def test_warnings_become_status(self) -> None:
        made = records()
        made["errors"] = [0x1000, 0x0100, 0x0800, 0x0600]
        samples = make_samples(made, "LR", Coordinates.SCREEN_PX)
        assert list(samples["status"]) == [
            SampleStatus.INTERPOLATED,
            SampleStatus.LEFT_REFLECTION_MISSING,
            SampleStatus.RIGHT_REFLECTION_RECOVERING,
            SampleStatus.RIGHT_REFLECTION_MISSING | SampleStatus.LEFT_REFLECTION_RECOVERING,
        ]

    def test_resolution_and_input(self) -> None:
        made = records()
        made["rx"], made["ry"] = [30, 32, 1e8, -32768], 40
        made["input"] = 127
        block, _ = make_block(described(sample_flags=0x0640), made)
        assert block is not None
        assert block.stream.px_per_deg == (31, 40)
        assert sorted(block.extras) == [
            "input_port",
            "resolution_x_units_per_deg",
            "resolution_y_units_per_deg",
        ]

    @pytest.mark.parametrize("nonsense", [{"eye": 9}, {"sample_rate_hz": math.nan}])
    def test_an_impossible_block_is_left_out(self, nonsense: dict[str, float]) -> None:
        block, problems = make_block(described(**nonsense), records())
        assert block is None
        assert "skipped" in problems[0]

    def test_a_time_that_does_not_advance_is_skipped_and_reported(self) -> None:
        made = records()
        made["input"] = np.arange(len(made))
        before, _ = make_block(described(sample_flags=0x0640), made)
        made["time"][2] = 7
        block, problems = make_block(described(end_ms=None, sample_flags=0x0640), made)
        assert before is not None
        assert block is not None
        kept = np.arange(len(made)) != 2
        np.testing.assert_array_equal(block.samples, before.samples[kept])
        np.testing.assert_array_equal(block.extras["input_port"], np.flatnonzero(kept))
        assert block.end_us == before.samples["tracker_time_us"][-1]
        assert len(problems) == 2
        assert problems[0].startswith("1 sample of the block that starts at")

    def test_buttons_and_ports(self) -> None:
        made = np.zeros(3, EVENT_RECORD)
        made["type"] = [25, 28, 25]
        made["sttime"] = [5, 6, 7]
        made["buttons"] = [0x0502, 0, 0]
        made["input"] = [0, 255, 0]
        assert make_signals(made) == (
            Signal(5000, "button", 1, 0),
            Signal(5000, "button", 3, 0),
            Signal(6000, "input", 0, 255),
        )

    @pytest.mark.parametrize(
        ("bounds", "said"),
        [
            ({"start_ms": 101}, "starts after its first sample"),
            ({"end_ms": 99}, "ends before its last sample"),
            ({"end_ms": 100}, "ends before its last sample"),
        ],
    )
    def test_a_block_spans_its_samples_whatever_its_bounds(
        self, bounds: dict[str, int], said: str
    ) -> None:
        block, problems = make_block(described(**bounds), records())
        assert block is not None
        times_us = block.samples["tracker_time_us"]
        assert block.start_us <= times_us[0]
        assert block.end_us >= times_us[-1]
        assert any(said in problem for problem in problems)

    def test_an_empty_block_does_not_end_before_it_starts(self) -> None:
        block, _ = make_block(described(start_ms=100, end_ms=50), records()[:0])
        assert block is not None
        assert block.start_us == block.end_us
