"""The bars of the posterior: name, bar and percent of each contender.

Settled bars are solid; running ones are hatched with a dashed outline, since they may change
when the image is over.
"""

from __future__ import annotations

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PyQt6.QtWidgets import QSizePolicy, QWidget

from gazelive.dashboard.posteriors import ROWS, Contender, Standing
from gazelive.dashboard.theme import UNKNOWN_SYMBOL, VIEWER_SYMBOLS, scaled_font
from gazelive.dashboard.viewer_slots import ViewerSlots
from gazelive.dashboard.views.panel import Look
from gazelive.dashboard.views.symbols import symbol_path
from gazelive.dashboard.wording import percent

WIDEST_NAME_SHARE = 0.5
"""Of the width, for names and symbols."""
TALLEST_ROW_LINES = 2.6
SHORTEST_ROW_LINES = 1.15


def contender_colour(contender: Contender, slots: ViewerSlots, look: Look) -> str:
    """Return the colour of a row, the same as that of the viewer's line."""
    if contender.kind == "unknown":
        return look.theme.unknown
    slot = slots.slot(contender.position) if contender.kind == "viewer" else None
    return look.theme.others if slot is None else look.theme.viewers[slot]


def contender_symbol(contender: Contender, slots: ViewerSlots) -> str | None:
    """Return the symbol of a row, the same as on the viewer's line."""
    if contender.kind == "unknown":
        return UNKNOWN_SYMBOL
    slot = slots.slot(contender.position) if contender.kind == "viewer" else None
    return None if slot is None else VIEWER_SYMBOLS[slot]


class PosteriorBars(QWidget):
    """One row per contender."""

    def __init__(self) -> None:
        super().__init__()
        self._standing: Standing | None = None
        self._slots = ViewerSlots()
        self._look: Look | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def set_standing(self, standing: Standing | None, slots: ViewerSlots) -> None:
        """Show this."""
        self._standing, self._slots = standing, slots
        rows = () if standing is None else standing.contenders
        self.setAccessibleName("; ".join(f"{row.name} {percent(row.probability)}" for row in rows))
        self.update()

    def set_look(self, look: Look) -> None:
        """Take on colours and sizes."""
        self._look = look
        self.setFont(scaled_font(look.scale))
        self.update()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the room that three rows need."""
        return QSize(120, round(3 * SHORTEST_ROW_LINES * QFontMetricsF(self.font()).height()))

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802
        """Draw the rows that fit."""
        if self._standing is None or self._look is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QFontMetricsF(self.font()).height()
        height = min(
            max(self.height() / (ROWS + 1), SHORTEST_ROW_LINES * line), TALLEST_ROW_LINES * line
        )
        fitting = max(int(self.height() / height + 0.01), 1)
        rows = self._standing.contenders[:fitting]
        name_width = self._name_width(rows)
        for number, contender in enumerate(rows):
            row = QRectF(0, number * height, self.width(), height)
            self._draw_row(painter, contender, row, name_width)

    def _name_width(self, rows: tuple[Contender, ...]) -> float:
        metrics = QFontMetricsF(self.font())
        widest = max((metrics.horizontalAdvance(row.name) for row in rows), default=0.0)
        return min(widest + 2.0 * metrics.height(), WIDEST_NAME_SHARE * self.width())

    def _draw_row(
        self, painter: QPainter, contender: Contender, row: QRectF, name_width: float
    ) -> None:
        assert self._standing is not None
        assert self._look is not None
        metrics = QFontMetricsF(self.font())
        theme, settled = self._look.theme, self._standing.settled
        colour = QColor(contender_colour(contender, self._slots, self._look))
        sign_width = 1.1 * metrics.height()
        percent_width = metrics.horizontalAdvance(percent(0.9995)) + 4
        self._draw_symbol(painter, contender, colour, QPointF(sign_width / 2, row.center().y()))

        painter.setPen(QColor(theme.text if contender.kind != "others" else theme.faint))
        name = metrics.elidedText(
            contender.name, Qt.TextElideMode.ElideMiddle, name_width - sign_width - 6
        )
        align = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(row.adjusted(sign_width, 0, 0, 0), align, name)
        painter.drawText(row, align | Qt.AlignmentFlag.AlignRight, percent(contender.probability))

        inset = max(0.16 * row.height(), 2.0)
        track = QRectF(
            name_width,
            row.top() + inset,
            row.width() - name_width - percent_width - 6,
            row.height() - 2 * inset,
        )
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.raised))
        painter.drawRect(track)
        bar = QRectF(track)
        bar.setWidth(track.width() * min(max(contender.probability, 0.0), 1.0))
        _draw_bar(painter, bar, colour, settled)

    def _draw_symbol(
        self, painter: QPainter, contender: Contender, colour: QColor, middle: QPointF
    ) -> None:
        symbol = contender_symbol(contender, self._slots)
        if symbol is None:
            return
        size = 0.62 * QFontMetricsF(self.font()).height()
        painter.save()
        painter.translate(middle)
        painter.scale(size, size)
        painter.setPen(QPen(colour, 0.12))
        painter.setBrush(colour)
        painter.drawPath(symbol_path(symbol))
        painter.restore()


def _draw_bar(painter: QPainter, bar: QRectF, colour: QColor, settled: bool) -> None:
    if settled:
        painter.fillRect(bar, colour)
        return
    light = QColor(colour)
    light.setAlphaF(0.22)
    painter.fillRect(bar, light)
    hatch = QColor(colour)
    hatch.setAlphaF(0.75)
    painter.fillRect(bar, QBrush(hatch, Qt.BrushStyle.BDiagPattern))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour, 1.4, Qt.PenStyle.DashLine))
    if bar.width() > 2:
        painter.drawRect(bar)
