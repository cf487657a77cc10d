"""Application: starts the dashboard's window and runs until it closes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from PyQt6.QtCore import QTimer
from PyQt6.QtWidgets import QApplication

from gazelive.dashboard.feed import DocumentFeed
from gazelive.dashboard.window.figures import save_figure
from gazelive.dashboard.window.preferences import Preferences, user_file
from gazelive.dashboard.window.window import DashboardWindow
from gazelive.errors import ConfigError

LOOK_MS = 200
"""Interval of checks whether the run has ended."""


def make_application() -> QApplication:
    """Return the Qt application, with the same style on every system."""
    existing = QApplication.instance()
    if not isinstance(existing, QApplication):
        require_display()
    app = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    app.setApplicationName("gazelive")
    app.setStyle("Fusion")
    return app


def require_display() -> None:
    """Raise if there is no display: Qt would end the process."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise ConfigError(
            "no display for the dashboard: start it on a desktop, or set "
            "QT_QPA_PLATFORM=offscreen to draw without a display"
        )


def run_dashboard(
    feed: DocumentFeed,
    *,
    image_folders: Sequence[Path] = (),
    preferences: Path | None = None,
    save: Path | None = None,
    size: tuple[int, int] | None = None,
    monitor: int | None = None,
    beside: int | None = None,
    hide_viewer: bool = False,
    is_left_alone: Callable[[], bool] = lambda: False,
) -> int:
    """Show the feed until the window is closed; return the exit code.

    With `save` the window is saved as a figure at the end of the run, and closed. `monitor` is the
    screen to open on; the last screen if there is no such one. `beside` is the screen of an
    experiment, for whose window room is left. Once `is_left_alone` is true, the window closes as
    soon as the run is over: whoever started it would have waited for it.
    """
    app = make_application()
    file = user_file() if preferences is None else preferences
    file.parent.mkdir(parents=True, exist_ok=True)
    window = DashboardWindow(feed, Preferences(file), image_folders=image_folders)
    window.place(size=size, monitor=monitor, beside=beside)
    if hide_viewer:
        window.hide_viewer()
    watch = QTimer(window)
    watch.timeout.connect(lambda: _close_when_over(window, save, is_left_alone))
    watch.start(LOOK_MS)
    with _closed_by_ctrl_c(window):
        window.start()
        return app.exec()


@contextmanager
def _closed_by_ctrl_c(window: DashboardWindow) -> Iterator[None]:
    """Close the window on Ctrl-C in the terminal, unless the parent process ignores it.

    A handler may run in the middle of an update, so the window closes after it.
    """
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, lambda _number, _frame: QTimer.singleShot(0, window.close))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _close_when_over(
    window: DashboardWindow, save: Path | None, is_left_alone: Callable[[], bool]
) -> None:
    """Save the figure, if it is wanted, and close the window that nobody keeps open."""
    is_alone, phase = is_left_alone(), window.state.connection.phase
    has_run = window.state.run is not None
    is_over = phase in ("stopped", "lost") if has_run else is_alone and phase == "waiting"
    if not is_over or (save is None and not is_alone):
        return
    if save is not None and has_run:
        save_figure(window, save, scale=1.0)
    window.close()
