"""Legend: a symbol and a word per entry, in as many lines as needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gazelive.dashboard.views.panel import Look
from gazelive.dashboard.views.plotting import symbol_path
from gazelive.dashboard.views.theme import scaled_font

Kind = Literal["line", "band", "circle", "symbol"]


@dataclass(frozen=True)
class Entry:
    """A symbol and its meaning."""

    kind: Kind
    text: str
    colour: str
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    symbol: str = "o"
    size: float = 1.0
    """Size of a circle or symbol, in heights of a lower-case letter."""
    filled: bool = True
    backing: str | None = None
    """Colour behind the symbol, as on images."""


class Legend(QWidget):
    """Entries side by side, wrapped to the width."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[Entry, ...] = ()
        self._colour = QColor("black")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_entries(self, entries: Sequence[Entry]) -> None:
        """Set the entries."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self.setAccessibleName("Legend: " + ", ".join(entry.text for entry in entries))
            self._fit()
            self.update()

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._colour = QColor(look.theme.faint)
        self.setFont(scaled_font(look.scale, 0.88))
        self._fit()
        self.update()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Wrap the entries to the new width."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:  # noqa: N802
        """Return the size of one line."""
        return QSize(200, round(self._line_height()))

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802
        """Draw symbols and words."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self._line_height()
        for entry, corner in zip(self._entries, self._corners(), strict=True):
            sign = QRectF(
                corner, QPointF(corner.x() + self._sign_width(entry), corner.y() + height)
            )
            _draw_sign(painter, entry, sign, QFontMetricsF(self.font()).xHeight())
            painter.setPen(self._colour)
            words = sign.translated(sign.width() + 0.3 * height, 0)
            words.setWidth(self._text_width(entry) + height)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, entry.text)

    def _fit(self) -> None:
        corners = self._corners()
        bottom = corners[-1].y() if corners else 0.0
        self.setFixedHeight(round(bottom + self._line_height()))

    def _line_height(self) -> float:
        return 1.25 * QFontMetricsF(self.font()).height()

    def _text_width(self, entry: Entry) -> float:
        return QFontMetricsF(self.font()).horizontalAdvance(entry.text)

    def _sign_width(self, entry: Entry) -> float:
        unit = QFontMetricsF(self.font()).xHeight()
        return 5 * unit if entry.kind == "line" else max(2.0, entry.size) * unit

    def _corners(self) -> list[QPointF]:
        height, corners, x, y = self._line_height(), [], 0.0, 0.0
        for entry in self._entries:
            width = self._sign_width(entry) + self._text_width(entry) + 0.3 * height
            if x > 0 and x + width > self.width():
                x, y = 0.0, y + height
            corners.append(QPointF(x, y))
            x += width + 0.7 * height
        return corners


def _draw_sign(painter: QPainter, entry: Entry, place: QRectF, unit: float) -> None:
    colour, middle = QColor(entry.colour), place.center()
    if entry.kind == "band":
        painter.fillRect(
            place.adjusted(0, 0.25 * place.height(), 0, -0.25 * place.height()), colour
        )
        return
    if entry.kind == "line":
        if entry.backing is not None:
            painter.setPen(QPen(QColor(entry.backing), 0.6 * unit))
            painter.drawLine(QPointF(place.left(), middle.y()), QPointF(place.right(), middle.y()))
        painter.setPen(QPen(colour, 0.32 * unit, entry.style))
        painter.drawLine(QPointF(place.left(), middle.y()), QPointF(place.right(), middle.y()))
        return
    painter.setPen(QPen(colour, 0.2 * unit))
    painter.setBrush(QBrush(colour) if entry.filled else QBrush())
    if entry.kind == "circle":
        radius = entry.size * unit / 2
        painter.drawEllipse(middle, radius, radius)
        return
    painter.save()
    painter.translate(middle)
    painter.scale(entry.size * 1.4 * unit, entry.size * 1.4 * unit)
    painter.setPen(QPen(colour, 0.15))
    painter.drawPath(symbol_path(entry.symbol))
    painter.restore()
