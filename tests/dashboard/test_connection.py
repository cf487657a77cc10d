from pathlib import Path

import pytest

from gazelive.dashboard.state.connection import Connection, Playback, with_engine, without_engine
from gazelive.dashboard.state.notices import MOST_NOTICES, NoticeLog
from gazelive.stimuli.image_files import find_image


def test_the_connection_in_words():
    facts = dict(has_run=True, catching_up=False, stopped=None, playback=None, silent_s=0.0)
    assert without_engine(False, "tcp://here").text == "Waiting for engine at tcp://here…"
    assert without_engine(True, "").text == "Engine lost. Waiting for engine…"
    assert with_engine(**{**facts, "has_run": False}).phase == "idle"
    assert "catching up" in with_engine(**{**facts, "catching_up": True}).text
    assert with_engine(**facts).text == "Live"
    for speed, words in ((1.0, "Replay 1×"), (2.0, "Replay 2×"), (None, "Replay max")):
        assert with_engine(**{**facts, "playback": Playback(speed=speed)}).text == words
    paused = with_engine(**{**facts, "playback": Playback(paused=True)})
    assert paused == Connection("paused", "Replay paused")
    assert with_engine(**{**facts, "silent_s": 7.2}) == Connection("silent", "No data for 7 s")
    assert with_engine(**{**facts, "stopped": "done"}) == Connection("stopped", "Run ended: done")


def test_playback_in_a_reply():
    assert Playback.from_reply({}) == Playback()
    assert Playback.from_reply({"paused": True, "speed": None}) == Playback(True, None)
    halfway = Playback.from_reply({"position_s": 4.0, "duration_s": 8.0})
    assert (halfway.share, Playback().share, Playback(duration_s=0.0).share) == (0.5, None, None)


def test_the_log_counts_repetitions_and_drops_old_notices():
    log = NoticeLog()
    for _ in range(3):
        log.add("warning", "a gap")
    assert [(line.text, line.times) for line in log.lines] == [("a gap", 3)]
    for number in range(2 * MOST_NOTICES):
        log.add("info", str(number))
    assert len(log.lines) == MOST_NOTICES


@pytest.mark.parametrize("name", ["cat.jpg", "stimuli/cat.jpg", "C:\\lab\\pictures\\cat.jpg"])
def test_an_image_is_found_by_its_file_name(tmp_path, name):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "cat.jpg").write_bytes(b"x")
    assert find_image(name, [Path("nowhere"), tmp_path]) == tmp_path / "images" / "cat.jpg"


def test_other_or_missing_files_are_not_found(tmp_path):
    (tmp_path / "session.json").write_text("{}")
    assert find_image("session.json", [tmp_path]) is None
    assert find_image("dog.png", [tmp_path]) is None
    assert find_image("a\0b.png", [tmp_path]) is None
    picture = tmp_path / "dog.png"
    picture.write_bytes(b"x")
    assert find_image(str(picture), []) is None
    assert find_image(str(picture), [tmp_path]) == picture
