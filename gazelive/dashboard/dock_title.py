"""The title of a panel, with buttons that are as large as its text and show in both themes."""

from __future__ import annotations

from collections.abc import Callable

from PyQt6.QtCore import QLineF, QRectF, QSize, Qt
from PyQt6.QtGui import QColor, QIcon, QPainter, QPen, QPixmap, QPolygonF
from PyQt6.QtWidgets import QDockWidget, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from gazelive.dashboard.theme import scaled_font
from gazelive.dashboard.views.panel import Look

ICON_PX = 12


class DockTitle(QWidget):
    """A name to drag the panel by, and what takes it out of the window or hides it.

    The keyboard does both by the menu, so the buttons are no stops of the Tab key.
    """

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setObjectName("docktitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title = dock.windowTitle()
        self._name = QLabel(title)
        self._name.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._float = _button(f"Take {title} out of the window, or back")
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._close = _button(f"Hide {title} (View, Panels shows it again)")
        self._close.clicked.connect(dock.close)
        row = QHBoxLayout(self)
        row.addWidget(self._name, 1)
        row.addWidget(self._float)
        row.addWidget(self._close)

    def set_look(self, look: Look) -> None:
        """Take on colours and sizes."""
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
