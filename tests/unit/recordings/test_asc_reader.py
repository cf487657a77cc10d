"""Every form of an ASC file in the vendor's manual and in real files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.events import TrackerEvent
from gazelive.gaze.samples import Coordinates, SampleStatus
from gazelive.gaze.stream import Message
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.recording import Calibration, Recording, Signal, Trial
from gazelive.recordings.trials import TrialPatterns

GOLDEN = Path(__file__).parents[2] / "golden" / "asc"
NAN = float("nan")


def golden(name: str) -> Recording:
    recording = read_asc(GOLDEN / f"{name}.asc")
    assert recording.problems == ()
    return recording


def rows(recording: Recording, block: int = 0) -> list[tuple[float, ...]]:
    return [tuple(map(float, sample)) for sample in recording.blocks[block].samples.tolist()]


def assert_rows(actual: list[tuple[float, ...]], expected: list[tuple[float, ...]]) -> None:
    np.testing.assert_array_equal(
        np.array(actual, np.float64)[:, 1:].astype(np.float32),
        np.array(expected, np.float64)[:, 1:].astype(np.float32),
    )
    assert [row[0] for row in actual] == [row[0] for row in expected]


class TestMonocular:
    @pytest.fixture
    def recording(self) -> Recording:
        return golden("mono_right_1000")

    def test_samples(self, recording: Recording) -> None:
        none = (NAN, NAN, NAN)
        missing = SampleStatus.RIGHT_REFLECTION_MISSING
        recovering = SampleStatus.RIGHT_REFLECTION_RECOVERING
        assert_rows(
            rows(recording),
            [
                (2_000_000, *none, 512.0, 384.5, 1000, 0),
                (2_001_000, *none, 512.3, 384.1, 1001, 0),
                (2_002_000, *none, -0.4, -384.1, 1001, missing),
                (2_003_000, *none, 600.0, 300.0, 999, recovering),
                (2_004_000, *none, *none, SampleStatus.INTERPOLATED | missing | recovering),
                (2_005_000, *none, *none, 0),
                (2_006_000, *none, 1023.9, 767.9, 800, 0),
            ],
        )

    def test_stream(self, recording: Recording) -> None:
        (block,) = recording.blocks
        assert block.stream.device == "EYELINK CL"
        assert block.stream.eyes == "R"
        assert block.stream.sampling_rate_hz == 1000
        assert block.stream.coordinates is Coordinates.SCREEN_PX
        assert block.stream.screen_px == recording.screen_px == (1024, 768)
        assert block.stream.px_per_deg == (35.19, 35.15)
        assert block.stream.pupil == "area"
        assert (block.start_us, block.end_us) == (2_000_000, 2_007_000)
        assert block.extras == {}

    def test_events(self, recording: Recording) -> None:
        assert recording.tracker_events == (
            TrackerEvent(
                kind="fixation",
                eye="R",
                start_us=2_000_000,
                end_us=2_002_000,
                mean_x=512.1,
                mean_y=384.3,
                mean_pupil=1001,
            ),
            TrackerEvent(kind="blink", eye="R", start_us=2_004_000, end_us=2_005_000),
            TrackerEvent(
                kind="saccade",
                eye="R",
                start_us=2_003_000,
                end_us=2_006_000,
                start_x=600,
                start_y=300,
                end_x=1023.9,
                end_y=767.9,
                amplitude_deg=14.8,
                peak_velocity_deg_s=487,
            ),
        )

    def test_messages_signals_and_trials(self, recording: Recording) -> None:
        assert recording.messages[3] == Message(2_005_000, "SYNCTIME")
        assert recording.signals == (
            Signal(2_000_000, "input", 0, 127),
            Signal(2_007_000, "button", 5, 1),
        )
        assert recording.trials == (
            Trial(
                name="1",
                start_us=1_900_000,
                end_us=2_051_000,
                block=0,
                image_onset_us=2_005_000,
                variables={"side": "right"},
                result="0",
            ),
        )

    def test_header(self, recording: Recording) -> None:
        assert recording.format == "asc"
        assert recording.header[0] == "CONVERTED FROM made_up.edf using a text editor"
        assert recording.header[-1] == "SOURCE: EYELINK CL"


def test_velocity_resolution_and_input_columns_of_two_eyes() -> None:
    recording = golden("bino_all_columns_500")
    (block,) = recording.blocks
    assert_rows(
        rows(recording),
        [
            (5_000_000, 500.1, 400.1, 3000, 510.1, 401.1, 3100, 0),
            (5_002_000, NAN, NAN, NAN, 510.2, 401.2, 3101, 0b00110),
            (5_004_000, 500.3, 400.3, 3002, NAN, NAN, NAN, 0b11001),
        ],
    )
    expected = {
        "left_velocity_x_deg_s": [1.5, NAN, 1.7],
        "left_velocity_y_deg_s": [-2.5, NAN, -2.7],
        "right_velocity_x_deg_s": [3.5, 3.6, NAN],
        "right_velocity_y_deg_s": [-4.5, -4.6, NAN],
        "resolution_x_units_per_deg": [35.1, 35.1, 35.1],
        "resolution_y_units_per_deg": [36.2, 36.2, 36.2],
        "input_port": [127, 0, 1],
    }
    assert list(block.extras) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(block.extras[name], np.array(values, np.float32))
    assert block.stream.pupil == "diameter"
    saccade = recording.tracker_events[0]
    assert (saccade.start_x, saccade.end_x, saccade.amplitude_deg) == (None, 510.2, None)


def test_remote_mode_has_a_head_target_with_flags() -> None:
    recording = golden("remote_left_500")
    block, without_target = recording.blocks
    np.testing.assert_array_equal(block.extras["target_x_camera"], np.float32([4717, 4718, NAN]))
    np.testing.assert_array_equal(
        block.extras["target_distance_mm"], np.float32([611.2, 611.3, NAN])
    )
    flags = (1 << 8) | (1 << 9) | (1 << 20)
    assert block.samples["status"].tolist() == [
        0,
        flags | SampleStatus.LEFT_REFLECTION_MISSING,
        1 << 8,
    ]
    # binocular remote files announce the target and do not have it
    assert without_target.extras == {}
    assert len(without_target.samples) == 2


def test_href_without_flags() -> None:
    recording = golden("href_left_250")
    assert recording.blocks[0].stream.coordinates is Coordinates.HREF
    none = (NAN, NAN, NAN)
    assert_rows(
        rows(recording),
        [
            (40_000, -3351, 34, 1000, *none, 0),
            (44_000, 3351, -2346, 1001, *none, 0),
            (48_000, *none, *none, 0),
        ],
    )


def test_repeated_times_of_2000_hz_are_half_a_millisecond_apart() -> None:
    recording = golden("raw_right_2000_repeated")
    assert recording.blocks[0].stream.coordinates is Coordinates.RAW
    times_us = recording.blocks[0].samples["tracker_time_us"]
    assert times_us.tolist() == [70_000, 70_500, 71_000, 71_500, 72_000]


def test_decimal_times() -> None:
    recording = golden("left_2000_decimal")
    times_us = recording.blocks[0].samples["tracker_time_us"]
    assert times_us.tolist() == [70_000, 70_500, 71_000, 71_500]
    assert recording.messages == (Message(70_500, "half past"),)
    assert recording.tracker_events[0].start_us == 71_500


def test_blocks_with_other_eyes_and_rates() -> None:
    recording = golden("blocks_that_differ")
    described = [
        (b.stream.eyes, b.stream.sampling_rate_hz, b.stream.px_per_deg, len(b.samples))
        for b in recording.blocks
    ]
    assert described == [
        ("L", 500, (30, 31), 2),
        ("LR", 1000, (32, 33), 3),
        ("R", 250, None, 1),
    ]
    assert recording.blocks[1].samples["right_pupil"].tolist() == [320, 321, 322]
    assert np.isnan(recording.blocks[0].samples["right_x"]).all()
    # equal blocks share their description, others do not
    assert recording.blocks[0].stream is not recording.blocks[1].stream


def test_prescalers_divide_positions_and_velocities() -> None:
    recording = golden("blocks_that_differ")
    block = recording.blocks[2]
    assert block.samples["right_x"][0] == np.float32(123.4)
    assert block.samples["right_pupil"][0] == 300
    assert block.extras["right_velocity_y_deg_s"][0] == np.float32(-2.5)
    assert recording.tracker_events[0].mean_y == 567.8


def test_calibration_messages_with_their_continuations() -> None:
    recording = golden("calibration")
    assert [m.text for m in recording.messages[:4]] == [
        "!CAL\n>>>>>>> CALIBRATION (HV9,P-CR) FOR RIGHT: <<<<<<<<<",
        "!CAL Calibration points:",
        "!CAL eye check box: (L,R,T,B)\n\t  -77     7   -80     7",
        "!CAL Cal coeff:(X=a+bx+cy+dxx+eyy,Y=f+gx+goaly+ixx+jyy)\n"
        "   7554.5  200.42  61.681  1.6336  1.2303\n"
        "   18897  4.1735  639.05 -0.67834  7.3868",
    ]
    assert len(recording.messages) == 9  # as many as there are MSG lines
    assert recording.messages[-1] == Message(50_000, "")
    assert recording.calibrations[1] == Calibration(
        tracker_time_us=20_000,
        kind="validation",
        eye="R",
        model="HV9",
        result="GOOD",
        mean_error_deg=0.36,
        max_error_deg=0.98,
    )
    assert recording.drift_corrections[0].target_x_px == 224
    assert recording.screen_px == (1024, 768)
    assert recording.blocks == ()


def same(one: Recording, other: Recording) -> bool:
    return all(
        a.stream == b.stream
        and a.samples.tobytes() == b.samples.tobytes()
        and (a.start_us, a.end_us) == (b.start_us, b.end_us)
        for a, b in zip(one.blocks, other.blocks, strict=True)
    ) and all(
        getattr(one, name) == getattr(other, name)
        for name in ("messages", "tracker_events", "signals", "trials", "header", "problems")
    )


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.asc")), ids=lambda path: path.stem)
class TestOtherPackagings:
    def test_crlf(self, path: Path, tmp_path: Path) -> None:
        copy = tmp_path / path.name
        copy.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert same(read_asc(copy), read_asc(path))

    def test_gzip_by_content_not_by_name(self, path: Path, tmp_path: Path) -> None:
        copy = tmp_path / path.name
        copy.write_bytes(gzip.compress(path.read_bytes()))
        assert same(read_asc(copy), read_asc(path))

    def test_byte_order_mark(self, path: Path, tmp_path: Path) -> None:
        copy = tmp_path / path.name
        copy.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert same(read_asc(copy), read_asc(path))

    def test_slabs_may_end_anywhere(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = read_asc(path)
        for n_bytes in (200, 211, 256, 1000):
            monkeypatch.setattr("gazelive.recordings.asc.source.SLAB_BYTES", n_bytes)
            assert same(read_asc(path), whole)


def test_bytes_that_are_not_utf_8_are_latin_1(tmp_path: Path) -> None:
    path = tmp_path / "umlaut.asc"
    path.write_bytes("MSG\t1 Möwe\n".encode("latin-1") + "MSG\t2 Möwe → See\n".encode())
    assert [m.text for m in read_asc(path).messages] == ["Möwe", "Möwe → See"]


def test_messages_come_in_the_order_of_their_true_times(tmp_path: Path) -> None:
    path = tmp_path / "late.asc"
    path.write_text("MSG\t100 first\nMSG\t200 150 was earlier\nMSG\t200 last\n")
    assert [m.text for m in read_asc(path).messages] == ["was earlier", "first", "last"]


def test_own_trial_patterns(tmp_path: Path) -> None:
    path = tmp_path / "own.asc"
    path.write_text("MSG\t1 BEGIN a\nMSG\t2 FINISH\nMSG\t3 BEGIN b\n")
    patterns = TrialPatterns(start="BEGIN", stop="FINISH")
    recording = read_asc(path, trial_patterns=patterns)
    assert [trial.name for trial in recording.trials] == ["a", "b"]


def test_progress_goes_up_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gazelive.recordings.asc.source.SLAB_BYTES", 300)
    fractions: list[float] = []
    read_asc(GOLDEN / "mono_right_1000.asc", progress=fractions.append)
    assert len(fractions) > 3
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


class TestWhatIsNoRecording:
    def test_no_such_file(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match=r"nowhere\.asc: .*No such file"):
            read_asc(tmp_path / "nowhere.asc")

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(RecordingError, match="cannot be read"):
            read_asc(tmp_path)

    def test_empty(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.asc"
        path.touch()
        with pytest.raises(RecordingError, match=r"empty\.asc: .*is empty"):
            read_asc(path)

    @pytest.mark.parametrize(
        "content",
        [
            b"\n\n\n",
            b"t_ms,x_px,y_px\n0,1,2\n",
            b"100\t  1.0\t  2.0\t  3.0\t...\n",  # samples alone: edf2asc -s
            b"** bold **\nmarkdown\n",
            bytes(range(256)) * 100,
            b"\xef\xbb\xbf",
            b"\x1f\x8b",
            gzip.compress(b"not a recording", mtime=0),
        ],
    )
    def test_not_asc(self, content: bytes, tmp_path: Path) -> None:
        path = tmp_path / "other.asc"
        path.write_bytes(content)
        with pytest.raises(RecordingError, match=r"other\.asc: .*(edf2asc|nothing)"):
            read_asc(path)


def test_events_with_exponents(tmp_path: Path) -> None:
    """EDF2ASC on Windows writes large numbers as 2.9e+006, in every field after the times."""
    path = tmp_path / "exponents.asc"
    path.write_text(
        "START\t100 \tLEFT\tSAMPLES\tEVENTS\n"
        "SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2\n"
        "100\t  500.0\t  400.0\t 1000.0\t...\n"
        "ESACC L  100\t101\t2\t5.0e+002\t  400.0\t-1.5E+003\t  4e2\t1.4e+001\t2.9e+006\n"
        "EFIX L   102\t103\t2\t1.2e+003\t  4.0e-1\t1.5e+004\n"
        "ESACC L  104\t105\t2\t  500.0\t  400.0\t  1e+030\t  400.0\t 1.1e+9\t     10\n"
        "END\t106 \tSAMPLES\tEVENTS\tRES\t  35.19\t  35.15\n"
    )
    recording = read_asc(path)
    assert recording.problems == ()
    saccade, fixation, impossible = recording.tracker_events
    assert (saccade.start_x, saccade.end_x, saccade.end_y) == (500, -1500, 400)
    assert (saccade.amplitude_deg, saccade.peak_velocity_deg_s) == (14, 2_900_000)
    assert (fixation.mean_x, fixation.mean_y, fixation.mean_pupil) == (1200, 0.4, 15_000)
    assert (impossible.end_x, impossible.amplitude_deg) == (None, None)
    assert impossible.peak_velocity_deg_s == 10
