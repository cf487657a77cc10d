"""Panel `Posterior now`: who it is, how sure, whether that is enough, and the evidence so far.

Settled bars are solid. Running bars are hatched with a dashed outline: they may change until the
image ends.
"""

from __future__ import annotations

import re

from PyQt6.QtCore import QPointF, QRectF, QSize, Qt
from PyQt6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PyQt6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gazelive.dashboard.state.posteriors import ROWS, Candidate, Ranking, ViewerSlots
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.panel import Hint, Look, Panel, over_each_other
from gazelive.dashboard.views.plotting import symbol_path
from gazelive.dashboard.views.theme import UNKNOWN_SYMBOL, VIEWER_SYMBOLS, scaled_font
from gazelive.verdict import Verdict
from gazelive.wording import THIN, bounded_percent, counted

WIDEST_NAME_SHARE = 0.5
"""Fraction of the width for names and symbols."""
HEADLINE_GAP_PX = 14
"""Between the percentage and the name beside it."""
MOST_WIDTHS = 2.0
"""Longest headline in widths of the panel; it takes up to three lines."""
TALLEST_ROW_LINES = 2.6
SHORTEST_ROW_LINES = 1.15


def candidate_colour(candidate: Candidate, slots: ViewerSlots, look: Look) -> str:
    """Return the colour of a row, equal to that of the viewer's line."""
    if candidate.kind == "unknown":
        return look.theme.unknown
    slot = slots.slot(candidate.position) if candidate.kind == "viewer" else None
    return look.theme.others if slot is None else look.theme.viewers[slot]


def candidate_symbol(candidate: Candidate, slots: ViewerSlots) -> str | None:
    """Return the symbol of a row, equal to that of the viewer's line."""
    if candidate.kind == "unknown":
        return UNKNOWN_SYMBOL
    slot = slots.slot(candidate.position) if candidate.kind == "viewer" else None
    return None if slot is None else VIEWER_SYMBOLS[slot]


def fitting_name(candidate: Candidate, metrics: QFontMetricsF, width: float) -> str:
    """Return the name, shortened to fit: "Unknown viewer" to one word, others in the middle."""
    name = candidate.name
    if candidate.kind == "unknown" and metrics.horizontalAdvance(name) > width:
        name = name.split()[0]
    return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width)


def wrapping_text(text: str, metrics: QFontMetricsF, width: float) -> str:
    """Return the text, shortened in words that do not fit a line, and to three lines."""
    middle = Qt.TextElideMode.ElideMiddle
    words = [
        word
        if max(map(metrics.horizontalAdvance, re.split("(?<=-)", word))) <= width
        else metrics.elidedText(word, middle, width)
        for word in text.split()
    ]
    return metrics.elidedText(" ".join(words), middle, MOST_WIDTHS * width)


class PosteriorBars(QWidget):
    """Bars: name, bar and percent of each candidate."""

    def __init__(self) -> None:
        super().__init__()
        self._ranking: Ranking | None = None
        self._slots = ViewerSlots()
        self._look: Look | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)

    def set_ranking(self, ranking: Ranking | None, slots: ViewerSlots) -> None:
        """Set the ranking to show."""
        self._ranking, self._slots = ranking, slots
        rows = () if ranking is None else ranking.candidates
        self.setAccessibleName(
            "; ".join(f"{row.name} {bounded_percent(row.probability, THIN)}" for row in rows)
        )
        self.update()

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self.setFont(scaled_font(look.scale))
        self.update()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """Return the size of three rows."""
        return QSize(120, round(3 * SHORTEST_ROW_LINES * QFontMetricsF(self.font()).height()))

    def paintEvent(self, event: QPaintEvent | None) -> None:  # noqa: N802
        """Draw the rows that fit."""
        if self._ranking is None or self._look is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = QFontMetricsF(self.font()).height()
        height = min(
            max(self.height() / (ROWS + 1), SHORTEST_ROW_LINES * line), TALLEST_ROW_LINES * line
        )
        fitting = max(int(self.height() / height + 0.01), 1)
        rows = self._ranking.candidates[:fitting]
        name_width = self._name_width(rows)
        for number, candidate in enumerate(rows):
            row = QRectF(0, number * height, self.width(), height)
            self._draw_row(painter, candidate, row, name_width)

    def _name_width(self, rows: tuple[Candidate, ...]) -> float:
        metrics = QFontMetricsF(self.font())
        widest = max((metrics.horizontalAdvance(row.name) for row in rows), default=0.0)
        return min(widest + 2.0 * metrics.height(), WIDEST_NAME_SHARE * self.width())

    def _draw_row(
        self, painter: QPainter, candidate: Candidate, row: QRectF, name_width: float
    ) -> None:
        assert self._ranking is not None
        assert self._look is not None
        metrics = QFontMetricsF(self.font())
        theme, settled = self._look.theme, self._ranking.settled
        colour = QColor(candidate_colour(candidate, self._slots, self._look))
        sign_width = 1.1 * metrics.height()
        percent_width = metrics.horizontalAdvance(bounded_percent(0.9995, THIN)) + 4
        self._draw_symbol(painter, candidate, colour, QPointF(sign_width / 2, row.center().y()))

        painter.setPen(QColor(theme.text if candidate.kind != "others" else theme.faint))
        name = fitting_name(candidate, metrics, name_width - sign_width - 6)
        align = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(row.adjusted(sign_width, 0, 0, 0), align, name)
        painter.drawText(
            row, align | Qt.AlignmentFlag.AlignRight, bounded_percent(candidate.probability, THIN)
        )

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
        bar.setWidth(track.width() * min(max(candidate.probability, 0.0), 1.0))
        _draw_bar(painter, bar, colour, settled)

    def _draw_symbol(
        self, painter: QPainter, candidate: Candidate, colour: QColor, middle: QPointF
    ) -> None:
        symbol = candidate_symbol(candidate, self._slots)
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


class PosteriorNow(Panel):
    """The verdict in large letters, and a bar for each leading viewer."""

    key = "posterior_now"
    title = "Posterior now"
    about = "The most probable viewers and their probabilities"

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._drawn = -1
        self._verdict: Verdict | None = None
        self._percent, self._name = QLabel(), QLabel()
        self._enough = QLabel()
        """Whether the evidence is enough."""
        self._badge, self._words, self._evidence = QLabel(), QLabel(), QLabel()
        for label in (self._words, self._evidence):
            label.setObjectName("faint")
        for label in (self._name, self._enough, self._words, self._evidence):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setWordWrap(True)
        self._headline = QHBoxLayout()
        self._bars = PosteriorBars()
        self._content = QWidget()
        self._hint = Hint("", on_plot=False)
        self._lay_out()

    def _lay_out(self) -> None:
        self._headline.addWidget(self._percent)
        self._headline.addWidget(self._name, 1)
        state = QHBoxLayout()
        state.setSpacing(8)
        state.addWidget(self._badge)
        state.addWidget(self._evidence, 1)
        column = QVBoxLayout(self._content)
        column.setContentsMargins(10, 4, 10, 8)
        column.setSpacing(4)
        column.addLayout(self._headline)
        column.addWidget(self._enough)
        column.addLayout(state)
        column.addWidget(self._words)
        column.addSpacing(4)
        column.addWidget(self._bars, 1)
        layout = QGridLayout(self)
        layout.setContentsMargins(1, 1, 1, 1)
        over_each_other(layout, 0, self._content, self._hint)
        self._content.hide()

    def refresh(self, state: DashboardState) -> None:
        """Show the last posterior, or why there is none."""
        if self._hint.isVisible():
            self._hint.setText(_why_empty(state))
        if self._look is None or state.posterior_revision == self._drawn:
            return
        self._drawn = state.posterior_revision
        ranking = state.ranking
        leader = None if ranking is None else ranking.leader
        shown = ranking is not None and leader is not None and ranking.n_saccades > 0
        self._content.setVisible(shown)
        self._hint.setVisible(not shown)
        self._bars.set_ranking(ranking, state.slots)
        if shown and ranking is not None and leader is not None:
            colour = candidate_colour(leader, state.slots, self._look)
            self._percent.setText(bounded_percent(leader.probability, THIN))
            self._percent.setStyleSheet(f"color: {colour};")
            self._show_verdict(ranking.verdict)
            self._show_evidence(ranking, state.unit)
            self._show_badge(ranking.settled, state.unit)

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self._drawn = -1
        self._percent.setFont(scaled_font(look.scale, 2.7, bold=True))
        self._name.setFont(scaled_font(look.scale, 1.35, bold=True))
        self._enough.setFont(scaled_font(look.scale, 1.05, bold=True))
        self._badge.setFont(scaled_font(look.scale, 0.92, bold=True))
        for label in (self._words, self._evidence):
            label.setFont(scaled_font(look.scale, 0.92))
        self._hint.set_look(look)
        self._bars.set_look(look)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Fit the name to the new width."""
        super().resizeEvent(event)
        self._fit_name()

    def _show_verdict(self, verdict: Verdict) -> None:
        """Show who it is, and whether that is enough."""
        assert self._look is not None
        self._verdict = verdict
        self._enough.setText(verdict.enough)
        self._enough.setVisible(bool(verdict.enough))
        self._enough.setToolTip(verdict.headline)
        theme = self._look.theme
        colour = theme.good if verdict.status == "accepted" else theme.text
        self._enough.setStyleSheet(f"color: {colour};")
        self._fit_name()

    def _fit_name(self) -> None:
        """Put the name beside the percentage, or below it where it would be cut."""
        if self._verdict is None:
            return
        metrics = QFontMetricsF(self._name.font())
        width = self.width() - 20
        beside = width - self._percent.sizeHint().width() - HEADLINE_GAP_PX
        who = self._verdict.who
        fits_beside = metrics.horizontalAdvance(who) <= beside
        direction = QBoxLayout.Direction
        self._headline.setDirection(direction.LeftToRight if fits_beside else direction.TopToBottom)
        self._headline.setSpacing(HEADLINE_GAP_PX if fits_beside else 0)
        self._name.setText(wrapping_text(who, metrics, max(width, 40)))
        self._name.setToolTip(self._verdict.headline)

    def _show_evidence(self, ranking: Ranking, unit: str) -> None:
        parts = (
            counted(ranking.n_saccades, "saccade"),
            counted(ranking.n_images, unit),
            f"{ranking.seconds:.1f} s",
        )
        self._evidence.setText(" · ".join(parts))
        n_enrolled = ranking.n_enrolled
        enrolled = "" if n_enrolled is None else f"; {counted(n_enrolled, 'viewer')} enrolled"
        self._evidence.setToolTip(f"Evidence so far: {', '.join(parts)}{enrolled}")
        state = "settled" if ranking.settled else "running"
        self.setAccessibleDescription(
            f"{ranking.verdict.headline}, {state}, after {', '.join(parts)}"
        )

    def _show_badge(self, settled: bool, unit: str) -> None:
        assert self._look is not None
        theme = self._look.theme
        self._badge.setText("SETTLED" if settled else "RUNNING")
        self._words.setText(
            f"final for all {unit}s so far" if settled else f"preliminary until the {unit} ends"
        )
        self._words.setToolTip(self._words.text())
        fill, ink, line = (
            (theme.accent, theme.on_accent, "solid")
            if settled
            else (theme.panel, theme.accent, "dashed")
        )
        self._badge.setStyleSheet(
            f"background: {fill}; color: {ink}; border: 2px {line} {theme.accent};"
            "border-radius: 4px; padding: 1px 7px;"
        )


def _why_empty(state: DashboardState) -> str:
    """Return why there is no posterior."""
    if state.run is None:
        return state.connection.text
    if state.model is None:
        return "No posterior: no model is loaded."
    return "Waiting for the first saccades."
