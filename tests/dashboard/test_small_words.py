from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gazelive.dashboard.connection import Playback, with_engine, without_engine
from gazelive.dashboard.notices import MOST_NOTICES, NoticeLog
from gazelive.dashboard.wording import clock_time, counted, percent, speed_words
from gazelive.recordings.image_files import find_image


@given(st.floats(0, 1))
def test_percent_is_never_rounded_to_certainty(p):
    text = percent(p).replace("\u202f", "")
    assert text.endswith("%")
    assert (text == "100%") == (p == 1)
    assert (text == "0%") == (p == 0)


@pytest.mark.parametrize(
    ("p", "text"), [(0.5, "50.0 %"), (0.9996, "> 99.9 %"), (0.0004, "< 0.1 %"), (0.123, "12.3 %")]
)
def test_percent(p, text):
    assert percent(p).replace("\u202f", " ") == text


def test_times_counts_and_speeds():
    assert [clock_time(s) for s in (0, 59.9, 61, 3600 + 62, -1)] == [
        "0:00",
        "0:59",
        "1:01",
        "1:01:02",
        "0:00",
    ]
    assert counted(1, "saccade") == "1 saccade"
    assert counted(12_345, "saccade") == "12,345 saccades"
    assert (speed_words(None), speed_words(0.5)) == ("max", "0.5×")


def test_the_connection_in_words():
    facts = dict(has_run=True, catching_up=False, stopped=None, playback=None, silent_s=0.0)
    assert without_engine(False, "tcp://here").text == "Waiting for engine at tcp://here…"
    assert without_engine(True, "").text == "Engine lost. Waiting for engine…"
    assert with_engine(**{**facts, "has_run": False}).phase == "idle"
    assert "catching up" in with_engine(**{**facts, "catching_up": True}).text
    assert with_engine(**facts).text == "Live"
    assert with_engine(**{**facts, "playback": Playback(speed=None)}).text == "Live, max"
    assert with_engine(**{**facts, "playback": Playback(paused=True)}).phase == "paused"
    assert with_engine(**{**facts, "silent_s": 7.2}).text == "Nothing has come for 7 s"
    assert with_engine(**{**facts, "stopped": "done"}).text == "The run has ended: done"


def test_what_a_device_tells_of_its_playback():
    assert Playback.told({}) == Playback()
    assert Playback.told({"paused": True, "speed": None}) == Playback(True, None)
    halfway = Playback.told({"position_s": 4.0, "duration_s": 8.0})
    assert (halfway.share, Playback().share, Playback(duration_s=0.0).share) == (0.5, None, None)


def test_the_log_counts_what_repeats_and_forgets_what_is_old():
    log = NoticeLog()
    for _ in range(3):
        log.add("warning", "a gap")
    assert [(line.text, line.times) for line in log.lines] == [("a gap", 3)]
    for number in range(2 * MOST_NOTICES):
        log.add("info", str(number))
    assert len(log.lines) == MOST_NOTICES


@pytest.mark.parametrize("name", ["cat.jpg", "stimuli/cat.jpg", "C:\\lab\\pictures\\cat.jpg"])
def test_an_image_is_found_by_the_last_part_of_its_name(tmp_path, name):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "cat.jpg").write_bytes(b"x")
    assert find_image(name, [Path("nowhere"), tmp_path]) == tmp_path / "images" / "cat.jpg"


def test_what_is_no_image_or_not_there_is_not_found(tmp_path):
    (tmp_path / "session.json").write_text("{}")
    assert find_image("session.json", [tmp_path]) is None
    assert find_image("dog.png", [tmp_path]) is None
    assert find_image("a\0b.png", [tmp_path]) is None
    picture = tmp_path / "dog.png"
    picture.write_bytes(b"x")
    assert find_image(str(picture), []) == picture
