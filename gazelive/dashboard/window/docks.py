"""Docks: movable panels with a title bar, and their default layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from PyQt6.QtCore import QLineF, QRectF, QSize, Qt
from PyQt6.QtGui import QAction, QColor, QIcon, QKeySequence, QPainter, QPen, QPixmap, QPolygonF
from PyQt6.QtWidgets import (
    QApplication,
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from gazelive.dashboard.views.panel import Look, Panel
from gazelive.dashboard.views.theme import scaled_font

ICON_PX = 12


class DockTitle(QWidget):
    """Title bar of a panel, with buttons to float and to hide it.

    The Tab key skips the buttons: the menu offers both actions. They scale with the text and are
    visible in both themes.
    """

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setObjectName("docktitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title = dock.windowTitle()
        self._name = QLabel(title)
        self._name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._float = _button(f"Float or dock {title}")
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._close = _button(f"Hide {title} (show it again with View > Panels)")
        self._close.clicked.connect(dock.close)
        row = QHBoxLayout(self)
        row.addWidget(self._name, 1)
        row.addWidget(self._float)
        row.addWidget(self._close)

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        pad = round(4 * look.scale)
        row = self.layout()
        assert row is not None
        row.setContentsMargins(3 * pad, pad, pad, pad)
        row.setSpacing(pad)
        self._name.setFont(scaled_font(look.scale, bold=True))
        size = round(ICON_PX * look.scale)
        for button, draw in ((self._float, _two_windows), (self._close, _cross)):
            button.setIcon(_icon(draw, look.theme.faint, size))
            button.setIconSize(QSize(size, size))


def _button(words: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName("dockbutton")
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setAccessibleName(words)
    button.setToolTip(words)
    return button


def _icon(draw: Callable[[QPainter, float], None], colour: str, size_px: int) -> QIcon:
    picture = QPixmap(size_px, size_px)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(colour), max(size_px / 9, 1.2)))
    draw(painter, size_px)
    painter.end()
    return QIcon(picture)


def _cross(painter: QPainter, size: float) -> None:
    low, high = 0.2 * size, 0.8 * size
    painter.drawLine(QLineF(low, low, high, high))
    painter.drawLine(QLineF(low, high, high, low))


def _two_windows(painter: QPainter, size: float) -> None:
    painter.drawRect(QRectF(0.14 * size, 0.36 * size, 0.5 * size, 0.5 * size))
    behind = QRectF(0.36 * size, 0.14 * size, 0.5 * size, 0.5 * size)
    painter.drawPolyline(QPolygonF([behind.topLeft(), behind.topRight(), behind.bottomRight()]))


COLUMNS = (
    ("posterior_now", "posterior_over_time"),
    ("gaze", "traces"),
    ("session", "quality", "main_sequence"),
)
WIDTHS = (27, 45, 28)
HEIGHTS = ((50, 50), (58, 42), (40, 27, 33))
"""Percent of the window."""
LAYOUT_VERSION = 1
"""Increase it when panels change: saved layouts of older versions are then ignored."""


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
        """Apply colours and sizes."""
        for dock in self.docks.values():
            title = dock.titleBarWidget()
            assert isinstance(title, DockTitle)
            title.set_look(look)

    def arrange(self) -> None:
        """Restore the default layout."""
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
        """Restore the default sizes."""
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
        """Add actions that go to a panel, and that show or hide it."""
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
        """Float or dock the panel with the keyboard focus."""
        focused = QApplication.focusWidget()
        for dock in self.docks.values():
            if focused is not None and dock.isAncestorOf(focused):
                dock.setFloating(not dock.isFloating())
                focused.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def go_to(self, key: str) -> None:
        """Show a panel and give it the keyboard focus."""
        dock = self.docks[key]
        dock.show()
        dock.raise_()
        self.panels[key].setFocus(Qt.FocusReason.ShortcutFocusReason)
