"""Windows without a display, with their own preferences."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from gazelive.dashboard.feed import DocumentFeed
    from gazelive.dashboard.window.window import DashboardWindow

MakeWindow = Callable[..., "DashboardWindow"]
STIMULI = Path(__file__).parents[2] / "stimuli"


@pytest.fixture
def preferences_file(tmp_path: Path) -> Path:
    return tmp_path / "preferences" / "dashboard.ini"


@pytest.fixture
def make_window(qtbot: QtBot, preferences_file: Path) -> Iterator[MakeWindow]:
    """Return a factory of windows that tick only when a test calls `tick`."""
    from gazelive.dashboard.window.application import make_application
    from gazelive.dashboard.window.preferences import Preferences
    from gazelive.dashboard.window.window import DashboardWindow

    from ..support.manual_clock import ManualClock

    make_application()
    windows = []

    def make(feed: DocumentFeed, *, size: tuple[int, int] = (1280, 800)) -> DashboardWindow:
        preferences_file.parent.mkdir(exist_ok=True)
        window = DashboardWindow(
            feed, Preferences(preferences_file), image_folders=[STIMULI], clock=ManualClock()
        )
        qtbot.addWidget(window)
        windows.append(window)
        window.resize(*size)
        window.show()
        return window

    yield make
    for window in windows:
        window.close()
