from __future__ import annotations

import pytest
from hypothesis import example, given, strategies as st

from gazelive.gaze.stream import Message
from gazelive.recordings.messages import (
    LONGEST_COMMAND,
    MessageFacts,
    interpret,
    message_at,
    text_in_file,
)
from gazelive.recordings.recording import Calibration, DriftCorrection


@pytest.mark.parametrize(
    ("sent_ms", "text", "true_ms", "kept"),
    [
        (12134177, "-8 SYNCTIME", 12134185, "SYNCTIME"),
        (1250, "750 imageOnsetTime", 500, "imageOnsetTime"),
        (789705, "0 instruction_keypress", 789705, "instruction_keypress"),
        (100, "-12  !V DRAW_LIST graphics/VC_1.vcl", 112, "!V DRAW_LIST graphics/VC_1.vcl"),
        (100, "+5 ready", 95, "ready"),
        (100, "+0 3 apples", 100, "3 apples"),
    ],
)
def test_an_offset_moves_the_message_and_leaves_its_text(
    sent_ms: int, text: str, true_ms: int, kept: str
) -> None:
    assert message_at(sent_ms * 1000, text) == Message(true_ms * 1000, kept)


@pytest.mark.parametrize(
    "text",
    [
        "20",  # a trigger code
        "-120 45",  # coordinates
        "0 0 1023 767",
        "12, 13",
        "2-back",
        "3D",
        "12:30 lunch",
        "1.5 deg",
        "1234567 is a time, not an offset",
        "-",
        "",
        "999 before the tracker was switched on",  # would be a negative time
    ],
)
def test_other_numbers_at_the_start_are_text(text: str) -> None:
    assert message_at(500_000, text) == Message(500_000, text)


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=30)
    | st.from_regex(r"[-+]?[0-9]{1,7} {1,2}[-+0-9a-z]{1,5}", fullmatch=True)
)
@example("5 apples")
@example("+0 apples")
def test_any_text_survives_being_written(text: str) -> None:
    assert message_at(10**10, text_in_file(text)) == Message(10**10, text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("DISPLAY_COORDS 0 0 1023 767", (1024, 768)),
        ("DISPLAY_COORDS = 0 0 1919 1079", (1920, 1080)),
        ("DISPLAY_COORDS: 0,0,1365,767", (1366, 768)),
        ("GAZE_COORDS 0.00 0.00 1023.00 767.00", (1024, 768)),
        ("GAZE_COORDS 0.00 0.00 1024.00 768.00", (1024, 768)),
        ("DISPLAY_COORDS -640 -512 639 511", (1280, 1024)),
        ("DISPLAY_COORDS 0 0 0 0", None),
        ("DISPLAY_COORDS 0 0 1023", None),
        ("DISPLAY_COORDS 0 0 1e9 99999999", None),
        ("the DISPLAY_COORDS 0 0 1023 767", None),
    ],
)
def test_screen(text: str, size: tuple[int, int] | None) -> None:
    assert interpret([Message(0, text)]).screen_px == size


def test_the_experiments_screen_takes_precedence_over_the_trackers() -> None:
    messages = [
        Message(0, "GAZE_COORDS 0.00 0.00 799.00 599.00"),
        Message(1, "DISPLAY_COORDS 0 0 1023 767"),
        Message(2, "DISPLAY_COORDS 0 0 639 479"),
    ]
    assert interpret(messages).screen_px == (1024, 768)


def test_calibrations_and_validations_of_each_eye() -> None:
    messages = [
        Message(1, "!CAL \n>>>>>>> CALIBRATION (HV9,P-CR) FOR LEFT: <<<<<<<<<"),
        Message(2, "!CAL CALIBRATION HV9 R RIGHT   GOOD "),
        Message(
            3,
            "!CAL VALIDATION HV13 LR LEFT  POOR ERROR 1.36 avg. 2.98 max  OFFSET 0.18 deg. "
            "-6.4,-0.9 pix.",
        ),
        Message(4, "!CAL VALIDATION HV9 LR ABORTED"),
    ]
    assert interpret(messages).calibrations == (
        Calibration(tracker_time_us=2, kind="calibration", eye="R", model="HV9", result="GOOD"),
        Calibration(
            tracker_time_us=3,
            kind="validation",
            eye="L",
            model="HV13",
            result="POOR",
            mean_error_deg=1.36,
            max_error_deg=2.98,
        ),
        Calibration(tracker_time_us=4, kind="validation", eye="L", model="HV9", result="ABORTED"),
        Calibration(tracker_time_us=4, kind="validation", eye="R", model="HV9", result="ABORTED"),
    )


def test_drift_corrections() -> None:
    messages = [
        Message(5, "DRIFTCORRECT R RIGHT at 224,384  OFFSET 0.06 deg.  2.3,-0.1 pix."),
        Message(6, "DRIFTCORRECT R RIGHT ABORTED"),
    ]
    assert interpret(messages).drift_corrections == (
        DriftCorrection(
            tracker_time_us=5,
            eye="R",
            target_x_px=224,
            target_y_px=384,
            offset_deg=0.06,
            offset_x_px=2.3,
            offset_y_px=-0.1,
        ),
    )


@given(
    st.lists(
        st.one_of(
            st.text(max_size=60),
            st.from_regex(r"!CAL (CALIBRATION|VALIDATION) .{0,60}"),
            st.from_regex(r"DRIFTCORRECT (L|R|LR) .{0,60}"),
            st.from_regex(r"(DISPLAY|GAZE)_COORDS[ 0-9.=-]{0,60}"),
        ),
        max_size=5,
    )
)
def test_no_text_is_too_strange(texts: list[str]) -> None:
    assert isinstance(interpret([Message(0, text) for text in texts]), MessageFacts)


def test_an_endless_message_costs_nothing() -> None:
    endless = "DRIFTCORRECT L LEFT at " + "1" * 10_000_000
    assert len(endless) > LONGEST_COMMAND
    assert interpret([Message(0, endless)]) == MessageFacts()
