"""The panels as docks that can be moved about, and the places that they have at first."""

from __future__ import annotations

import itertools

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QAction, QKeySequence
from PyQt6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMenu

from gazelive.dashboard.dock_title import DockTitle
from gazelive.dashboard.views.panel import Look, Panel

COLUMNS = (
    ("posterior_now", "posterior_over_time"),
    ("gaze", "traces"),
    ("session", "quality", "main_sequence"),
)
WIDTHS = (27, 45, 28)
HEIGHTS = ((50, 50), (58, 42), (40, 27, 33))
"""Of the window, in percent."""
LAYOUT_VERSION = 1
"""Changes when panels do, so that an old layout is not forced on them."""


class Docks:
    """Owns the dock of each panel."""

    def __init__(self, window: QMainWindow, panels: dict[str, Panel]) -> None:
        self._window = window
        self.panels = panels
        self.docks: dict[str, QDockWidget] = {}
        window.setDockNestingEnabled(True)
        for key, panel in panels.items():
            dock = QDockWidget(panel.title, window)
            dock.setObjectName(key)
            dock.setWidget(panel)
            dock.setAccessibleName(panel.title)
            dock.setTitleBarWidget(DockTitle(dock))
            self.docks[key] = dock

    def set_look(self, look: Look) -> None:
        """Take on colours and sizes."""
        for dock in self.docks.values():
            title = dock.titleBarWidget()
            assert isinstance(title, DockTitle)
            title.set_look(look)

    def arrange(self) -> None:
        """Put every panel in its first place."""
        for dock in self.docks.values():
            dock.setFloating(False)
            self._window.removeDockWidget(dock)
        columns = [[self.docks[key] for key in column] for column in COLUMNS]
        area = Qt.DockWidgetArea.LeftDockWidgetArea
        for column in columns:
            self._window.addDockWidget(area, column[0], Qt.Orientation.Horizontal)
        for column in columns:
            for above, below in itertools.pairwise(column):
                self._window.splitDockWidget(above, below, Qt.Orientation.Vertical)
        for dock in self.docks.values():
            dock.show()
        self.resize()

    def resize(self) -> None:
        """Give the panels their shares of the window."""
        width, height = self._window.width(), self._window.height()
        heads = [self.docks[column[0]] for column in COLUMNS]
        self._window.resizeDocks(
            heads, [width * share // 100 for share in WIDTHS], Qt.Orientation.Horizontal
        )
        for column, shares in zip(COLUMNS, HEIGHTS, strict=True):
            docks = [self.docks[key] for key in column]
            sizes = [height * share // 100 for share in shares]
            self._window.resizeDocks(docks, sizes, Qt.Orientation.Vertical)

    def fill_menu(self, menu: QMenu) -> None:
        """Add what goes to a panel by its number, and what shows or hides it."""
        for number, key in enumerate(self.docks, 1):
            action = QAction(f"Go to {self.panels[key].title}", self._window)
            action.setShortcut(QKeySequence(f"Ctrl+{number}"))
            action.triggered.connect(lambda _checked, key=key: self.go_to(key))
            menu.addAction(action)
            self._window.addAction(action)
        menu.addSeparator()
        for dock in self.docks.values():
            toggle = dock.toggleViewAction()
            assert toggle is not None
            toggle.setText(f"Show {dock.windowTitle()}")
            menu.addAction(toggle)

    def float_or_dock(self) -> None:
        """Take the panel that has the keyboard out of the window, or put it back."""
        focused = QApplication.focusWidget()
        for dock in self.docks.values():
            if focused is not None and dock.isAncestorOf(focused):
                dock.setFloating(not dock.isFloating())
                focused.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go_to(self, key: str) -> None:
        """Show a panel and give it the keyboard."""
        dock = self.docks[key]
        dock.show()
        dock.raise_()
        self.panels[key].setFocus(Qt.FocusReason.ShortcutFocusReason)
