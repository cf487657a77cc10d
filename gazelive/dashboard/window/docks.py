"""Docks: movable panels with a title bar, and their default layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PyQt6.QtCore import QLineF, QRect, QRectF, QSize, Qt, pyqtSignal
from PyQt6.QtGui import (
    QAction,
    QColor,
    QFontMetricsF,
    QIcon,
    QKeySequence,
    QPainter,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
)
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
from gazelive.dashboard.window.placement import put_beside

ICON_PX = 12


class DockTitle(QWidget):
    """Title bar of a panel, with buttons to float and to hide it.

    The Tab key skips the buttons: the menu offers both actions. They scale with the text and are
    visible in both themes.
    """

    close_wanted = pyqtSignal()

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setObjectName("docktitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._dock, self._session = dock, ""
        title = dock.windowTitle()
        self._name = QLabel(title)
        dock.topLevelChanged.connect(self._update_name)
        self._name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._float = _button(f"Float or dock {title}")
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._close = _button(f"Hide {title} (show it again with View > Panels)")
        self._close.clicked.connect(self.close_wanted)
        row = QHBoxLayout(self)
        row.addWidget(self._name, 1)
        row.addWidget(self._float)
        row.addWidget(self._close)

    def set_session(self, name: str) -> None:
        """Set the session that a floating panel names."""
        self._session = name
        self._update_name()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Shorten the title to the new width."""
        super().resizeEvent(event)
        self._update_name()

    def _update_name(self) -> None:
        title = self._dock.windowTitle()
        if self._dock.isFloating() and self._session:
            title = f"{title} – {self._session}"
        metrics, room = QFontMetricsF(self._name.font()), self._name.width()
        self._name.setText(metrics.elidedText(title, Qt.TextElideMode.ElideRight, room))

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
HEIGHTS = ((50, 50), (58, 42), (37, 30, 33))
"""Percent of the window."""
LAYOUT_VERSION = 2
"""Increase it when panels change: saved layouts of older versions are then ignored."""


class Docks:
    """Owns the docks of all panels; calls `arranged` when the user moves, shows or hides one."""

    def __init__(
        self, window: QMainWindow, panels: dict[str, Panel], arranged: Callable[[], None]
    ) -> None:
        self._window = window
        self._arranged = arranged
        self._is_busy = False
        """True while the program, not the user, moves panels."""
        self._before = self._after = window.geometry()
        """The window's places before and after it made room for a floating panel."""
        self.panels = panels
        self.docks: dict[str, QDockWidget] = {}
        window.setDockNestingEnabled(True)
        for key, panel in panels.items():
            dock = QDockWidget(panel.title, window)
            dock.setObjectName(key)
            dock.setWidget(panel)
            dock.setAccessibleName(panel.title)
            title = DockTitle(dock)
            title.close_wanted.connect(lambda dock=dock: self._hide(dock))
            dock.setTitleBarWidget(title)
            dock.topLevelChanged.connect(lambda floats, dock=dock: self._floated(dock, floats))
            dock.dockLocationChanged.connect(lambda _area: self._moved())
            self.docks[key] = dock

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        for dock in self.docks.values():
            title = dock.titleBarWidget()
            assert isinstance(title, DockTitle)
            title.set_look(look)

    @contextmanager
    def by_program(self) -> Iterator[None]:
        """Do not take what happens in the block for the user's arrangement."""
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False

    def _moved(self) -> None:
        if not self._is_busy:
            self._arranged()

    def _floated(self, dock: QDockWidget, floats: bool) -> None:
        self._moved()
        if self._is_busy or QApplication.mouseButtons():
            return  # dragged, it is where the user wants it
        if floats:
            self._before = self._window.geometry()
            put_beside(dock, self._window)
            self._after = self._window.geometry()
        elif self._window.geometry() == self._after:
            self._window.setGeometry(self._before)

    def _hide(self, dock: QDockWidget) -> None:
        dock.close()
        self._arranged()

    def set_session(self, name: str) -> None:
        """Name the session in the titles of floating panels."""
        for dock in self.docks.values():
            title = dock.titleBarWidget()
            assert isinstance(title, DockTitle)
            title.set_session(name)

    def sizes(self) -> list[QRect]:
        """Return the places of all panels."""
        return [dock.geometry() for dock in self.docks.values()]

    def arrange(self) -> None:
        """Restore the default layout."""
        with self.by_program():
            self._arrange()

    def _arrange(self) -> None:
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
            toggle.triggered.connect(lambda _checked: self._arranged())
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
