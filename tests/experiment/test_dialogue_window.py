"""The participant dialogue: its fields, and once as a person answers it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gazelive.experiment.display.display import Participant
from gazelive.experiment.process.dialogue import DialogInput, ExistingSessions, ask_participant

pytest.importorskip("PyQt6")

from .x_events import XEvents

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gazelive.experiment.process.dialogue_window import ParticipantDialogue

DEFAULTS = Participant(viewer=None, session=1, eyes="R", mode="enrol")


@pytest.fixture
def dialogue(qtbot: QtBot) -> ParticipantDialogue:
    from gazelive.experiment.process.dialogue_window import ParticipantDialogue

    dialogue = ParticipantDialogue(
        DialogInput(DEFAULTS, ExistingSessions({"v01": [1, 2], "": [4]}))
    )
    qtbot.addWidget(dialogue)
    return dialogue


def test_it_starts_only_with_a_viewer(dialogue: ParticipantDialogue) -> None:
    assert not dialogue.start.isEnabled()
    assert dialogue.problem.text() == ""
    dialogue.viewer.setText("v07")
    assert dialogue.start.isEnabled()
    assert dialogue.answer == Participant(viewer="v07", session=1, eyes="R", mode="enrol")
    dialogue.viewer.setText("../v07")
    assert not dialogue.start.isEnabled()
    assert "letters" in dialogue.problem.text()


def test_the_session_follows_the_viewer_until_it_is_chosen(dialogue: ParticipantDialogue) -> None:
    dialogue.viewer.setText("v01")
    assert dialogue.session.value() == 3
    dialogue.viewer.setText("v02")
    assert dialogue.session.value() == 1
    dialogue.session.setValue(2)
    assert dialogue.start.isEnabled()
    dialogue.viewer.setText("v01")
    assert dialogue.session.value() == 2
    assert not dialogue.start.isEnabled()
    assert "3 is free" in dialogue.problem.text()


def test_identify_mode_needs_no_viewer_id(dialogue: ParticipantDialogue) -> None:
    dialogue.modes["identify"].setChecked(True)
    dialogue.eye.setCurrentIndex(dialogue.eye.findData("LR"))
    assert dialogue.start.isEnabled()
    assert dialogue.answer == Participant(viewer=None, session=5, eyes="LR", mode="identify")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (
            ("v", "0", "7", "Return"),
            Participant(viewer="v07", session=1, eyes="R", mode="enrol"),
        ),
        (("v", "Escape"), None),
    ],
)
def test_a_person_answers(
    screen_environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    keys: tuple[str, ...],
    expected: Participant | None,
) -> None:
    monkeypatch.setenv("DISPLAY", screen_environment["DISPLAY"])
    monkeypatch.delenv("QT_QPA_PLATFORM")
    try:
        events = XEvents(screen_environment["DISPLAY"])
    except OSError as error:
        pytest.skip(str(error))
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(ask_participant, DEFAULTS, folder=tmp_path)
        events.wait_for_window()
        events.put_pointer(960, 540)
        events.press(*keys)
        assert asked.result(120) == expected
