"""Parts of the EyeLink device that need no tracker."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gazelive.devices.eyelink.calibration import calibration_results, drift_results
from gazelive.devices.eyelink.host_file import host_name
from gazelive.devices.eyelink.link import message_in_edf
from gazelive.devices.eyelink.samples import SampleQueue
from gazelive.devices.eyelink.setup import EyeLinkSettings, commands
from gazelive.errors import ConfigError
from gazelive.gaze.samples import SampleStatus
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.recordings.messages import message_at

from ...support.fake_pylink import CONSTANTS, FakeEye

# names on the Host PC


@pytest.mark.parametrize("stem", ["v01", "V01_S2", "12345678", "_"])
def test_a_name_that_fits_is_kept(stem):
    assert host_name(stem) == f"{stem.upper()}.EDF"


@given(st.text(min_size=1).filter(str.strip))
def test_any_name_is_made_legal(stem):
    assert re.fullmatch(r"[A-Z0-9_]{1,8}\.EDF", host_name(stem))


def test_long_names_with_the_same_beginning_differ():
    names = {host_name(f"v01_session_{k}") for k in range(20)}
    assert len(names) == 20
    assert all(name.startswith("V01_") for name in names)


def test_no_name_is_refused():
    with pytest.raises(ConfigError, match=r"host_file_stem: .*empty"):
        host_name(" ")


# settings


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"sampling_rate_hz": 0.0}, "rate: must be more than 0"),
        ({"calibration_type": "nine points"}, "such as HV9, HV13 or H3"),
    ],
)
def test_impossible_settings_are_refused(wrong, sentence):
    with pytest.raises(ConfigError, match=sentence):
        EyeLinkSettings(screen=PAPER_SCREEN, **wrong)


def test_the_screen_is_sent_in_pixels_from_0_and_in_millimetres_from_its_centre():
    sent = commands(EyeLinkSettings(screen=PAPER_SCREEN, eyes="L"), 5)
    assert "screen_pixel_coords = 0 0 1919 1079" in sent
    left, top, right, bottom = map(
        float,
        next(text for text in sent if text.startswith("screen_phys_coords")).split("=")[1].split(),
    )
    assert right == -left == pytest.approx(PAPER_SCREEN.width_mm / 2, abs=0.06)
    assert top == -bottom == pytest.approx(PAPER_SCREEN.height_mm / 2, abs=0.06)
    assert {"binocular_enabled = NO", "active_eye = LEFT", "calibration_type = HV9"} <= set(sent)
    both = commands(EyeLinkSettings(screen=PAPER_SCREEN, eyes="LR"), 5)
    assert not [text for text in both if text.startswith("active_eye")]


# messages


@given(st.text())
def test_a_message_fits_the_edf_and_keeps_its_time(text):
    in_file = message_in_edf(text)
    assert in_file.isascii()
    assert len(in_file) <= 130
    assert "\n" not in in_file
    if len(in_file) < 130:
        assert message_at(7_000_000, in_file).tracker_time_us == 7_000_000


# results

VALIDATED = (
    "!CAL VALIDATION HV9 R RIGHT GOOD ERROR 0.43 avg. 0.63 max OFFSET 0.36 deg. -9.3,12.6 pix."
)


def _results(text, code=0, eyes="R"):
    results = calibration_results(text, code, time_us=9, eyes=eyes, model="HV13")
    return [(r.eye, r.kind, r.model, r.result, r.mean_error_deg, r.max_error_deg) for r in results]


@pytest.mark.parametrize("text", [VALIDATED, VALIDATED.removeprefix("!CAL "), f"\n {VALIDATED}\n"])
def test_the_words_of_the_edf_are_read(text):
    assert _results(text) == [
        ("R", "calibration", "HV13", None, None, None),
        ("R", "validation", "HV9", "GOOD", 0.43, 0.63),
    ]


def test_each_eye_has_its_line():
    left = VALIDATED.replace("R RIGHT GOOD ERROR 0.43", "LR LEFT FAIR ERROR 0.50")
    results = _results(f"{left}\n{VALIDATED.replace('R RIGHT', 'LR RIGHT')}", eyes="LR")
    assert [r[0] + r[1][0] for r in results] == ["Lc", "Lv", "Rc", "Rv"]
    assert [r[4] for r in results] == [None, 0.5, None, 0.43]


@pytest.mark.parametrize(
    ("text", "eyes", "errors"),
    [
        ("validation_result: 0.43 0.63 0.36", "R", {"R": (0.43, 0.63)}),
        ("validation_result: 0.43 0.63 0.36", "L", {"L": (0.43, 0.63)}),
        (
            "validation_result: 0.43 0.63 0.36 0.5 0.9 0.1",
            "LR",
            {"L": (0.43, 0.63), "R": (0.5, 0.9)},
        ),
        ("validation_result: 0.0 0.0 0.0 0.5 0.9 0.1", "R", {"R": (0.5, 0.9)}),
    ],
)
def test_the_short_form_is_read_where_it_makes_sense(text, eyes, errors):
    validations = [r for r in _results(text, eyes=eyes) if r[1] == "validation"]
    assert {r[0]: r[4:] for r in validations} == errors
    assert {r[3] for r in validations} == {"GOOD"}


@pytest.mark.parametrize(
    "text", ["validation_result: 0.9 0.2 0.1", "validation_result: 0", "validation_result: -1 7 8"]
)
def test_numbers_that_make_no_sense_are_not_believed(text):
    results = _results(text)
    assert ("R", "validation", "HV13", text, None, None) in results
    assert all(r[4] is None for r in results)


@pytest.mark.parametrize(("code", "verdict"), [(0, "OK"), (1, "POOR"), (1000, None)])
def test_without_words_the_code_is_the_verdict(code, verdict):
    assert _results("", code) == [("R", "calibration", "HV13", verdict, None, None)]


def test_a_drift_check_is_read():
    text = "DRIFTCORRECT R RIGHT at 960,540  OFFSET 0.45 deg.  3.2,-10.1 pix."
    (drift,) = drift_results(text, time_us=4)
    assert (drift.eye, drift.offset_deg, drift.offset_x_px, drift.offset_y_px) == (
        "R",
        0.45,
        3.2,
        -10.1,
    )
    assert drift_results("whatever", time_us=4) == ()


# samples


class _Tracker:
    """A queue of one sample."""

    def __init__(self, sample):
        self._items = [200, 0]
        self._sample = sample

    def getNextData(self):  # noqa: N802
        return self._items.pop(0)

    def getFloatData(self):  # noqa: N802
        return self._sample


def _drained(left=None, right=None, *, time_ms=1000, status=0, target=None):
    sample = SimpleNamespace(
        getTime=lambda: time_ms,
        getFlags=lambda: 0,
        getStatus=lambda: status,
        isTarget=lambda: target is not None,
        getTargetFlags=lambda: float(target),
        getLeftEye=lambda: left,
        getRightEye=lambda: right,
    )
    pylink = SimpleNamespace(**CONSTANTS)
    (row,) = SampleQueue(pylink, _Tracker(sample)).drain().samples
    return row


def test_missing_values_are_nan():
    for eye in (
        FakeEye(-32768.0, -32768.0, 0.0),
        FakeEye(-32768.0, 500.0, 900.0),
        FakeEye(500.0, -32768.0, 900.0),
        FakeEye(500.0, 500.0, 0.0),
        None,
    ):
        row = _drained(left=eye, right=FakeEye(10.5, 20.25, 30.0))
        assert np.isnan([row["left_x"], row["left_y"], row["left_pupil"]]).all()
        assert (row["right_x"], row["right_y"], row["right_pupil"]) == (10.5, 20.25, 30.0)
    row = _drained(left=FakeEye(10.5, 20.25, -32768.0))
    assert (row["left_x"], row["left_y"]) == (10.5, 20.25)
    assert np.isnan(row["left_pupil"])


def test_the_trackers_warnings_are_kept():
    status = SampleStatus(int(_drained(status=0x1000 | 0x0200 | 0x0400)["status"]))
    assert status == (
        SampleStatus.INTERPOLATED
        | SampleStatus.RIGHT_REFLECTION_MISSING
        | SampleStatus.LEFT_REFLECTION_RECOVERING
    )
    assert _drained(status=0x0001, target=0x4000 | 0x0001)["status"] == (1 << 8) | (1 << 20)


def test_milliseconds_become_microseconds():
    assert _drained(time_ms=4294967.0)["tracker_time_us"] == 4_294_967_000
    assert _drained(time_ms=12.5)["tracker_time_us"] == 12_500
