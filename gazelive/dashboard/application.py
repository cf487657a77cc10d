"""Start the dashboard as a process of its own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtWidgets import QApplication

from gazelive.dashboard.feed import DocumentFeed
from gazelive.dashboard.preferences import Preferences, user_file
from gazelive.dashboard.window import DashboardWindow


def make_application() -> QApplication:
    """Return the application, drawn the same way on every system."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    app.setApplicationName("gazelive")
    app.setApplicationDisplayName("gazelive")
    app.setStyle("Fusion")
    return app


def run_dashboard(
    feed: DocumentFeed, *, image_folders: Sequence[Path] = (), preferences: Path | None = None
) -> int:
    """Show the feed until the window is closed; return the exit code."""
    app = make_application()
    file = user_file() if preferences is None else preferences
    file.parent.mkdir(parents=True, exist_ok=True)
    window = DashboardWindow(feed, Preferences(file), image_folders=image_folders)
    # Python handlers run between two ticks, so Ctrl+C in the terminal closes the window
    signal.signal(signal.SIGINT, lambda _number, _frame: window.close())
    window.start()
    return app.exec()
