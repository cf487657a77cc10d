"""Panel `Quality`: a number, a symbol, a colour and a word for each gauge."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout

from gazelive.dashboard.state.connection import Phase
from gazelive.dashboard.state.gauges import Gauge, Level, Verdict, advice, verdicts
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.panel import Look, Panel
from gazelive.dashboard.views.theme import scaled_font


class QualityPanel(Panel):
    """The levels of data and computer, what to do, and a row per gauge."""

    key = "quality"
    title = "Quality"
    about = "Quality of the incoming data"

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._drawn: tuple[tuple[Gauge, ...], Phase] | None = None
        self._verdicts = QLabel(), QLabel()
        head = QHBoxLayout()
        head.setSpacing(12)
        for label in self._verdicts:
            label.setTextFormat(Qt.TextFormat.PlainText)
            head.addWidget(label)
        head.addStretch()
        self._advice = QLabel()
        self._advice.setWordWrap(True)
        self._advice.setTextFormat(Qt.TextFormat.PlainText)
        self._rows: list[tuple[QLabel, QLabel, QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 6)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self._advice)
        column.addLayout(self._grid)
        column.addStretch()

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self._drawn = None

    def refresh(self, state: DashboardState) -> None:
        """Show the gauges if one has changed."""
        gauges, phase = state.gauges, state.connection.phase
        if self._look is None or (gauges, phase) == self._drawn:
            return
        self._drawn = gauges, phase
        while len(self._rows) < len(gauges):
            self._add_row()
        for row, gauge in zip(self._rows, gauges, strict=True):
            self._fill(row, gauge, self._look)
        self._show_verdicts(verdicts(gauges, phase), self._look)
        self._advice.setText(advice(gauges))
        self._advice.setVisible(bool(self._advice.text()))
        self._advice.setFont(scaled_font(self._look.scale, 0.92))
        self.setAccessibleDescription(
            "; ".join(f"{gauge.name} {gauge.value}, {gauge.word}" for gauge in gauges)
        )

    def _show_verdicts(self, found: tuple[Verdict, ...], look: Look) -> None:
        for number, label in enumerate(self._verdicts):
            label.setVisible(number < len(found))
            if number < len(found):
                label.setText(f"{found[number].level.sign} {found[number].text}")
                label.setFont(scaled_font(look.scale, 1.05, bold=True))
                label.setStyleSheet(f"color: {look.theme.level(found[number].level)};")

    def _add_row(self) -> None:
        name, value, level = QLabel(), QLabel(), QLabel()
        name.setObjectName("faint")
        value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        number = len(self._rows)
        top = Qt.AlignmentFlag.AlignTop
        self._grid.addWidget(name, number, 0, top)
        self._grid.addWidget(value, number, 1, top)
        self._grid.addWidget(level, number, 2, top)
        self._rows.append((name, value, level))

    def _fill(self, row: tuple[QLabel, QLabel, QLabel], gauge: Gauge, look: Look) -> None:
        name, value, level = row
        name.setText(gauge.name)
        value.setText(gauge.value)
        known = gauge.level is not Level.UNKNOWN
        level.setText(f"{gauge.level.sign} {gauge.word}" if known else gauge.word)
        level.setStyleSheet(f"color: {look.theme.level(gauge.level)};")
        for label in row:
            label.setToolTip(f"{gauge.meaning}\nIf it is not good: {gauge.advice}")
            label.setFont(scaled_font(look.scale, bold=label is level and known))
