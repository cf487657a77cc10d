"""Panel `Quality`: a number, a symbol, a colour and a word for each gauge."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QVBoxLayout

from gazelive.dashboard.state.connection import Phase
from gazelive.dashboard.state.gauges import Gauge, Level, verdict
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.panel import Look, Panel
from gazelive.dashboard.views.theme import scaled_font


class QualityPanel(Panel):
    """The overall level, and a row per gauge."""

    key = "quality"
    title = "Quality"
    about = "Quality of the incoming data"

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._drawn: tuple[tuple[Gauge, ...], Phase] | None = None
        self._verdict = QLabel()
        self._verdict.setWordWrap(True)
        self._verdict.setTextFormat(Qt.TextFormat.PlainText)
        self._rows: list[tuple[QLabel, QLabel, QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 6)
        column.setSpacing(4)
        column.addWidget(self._verdict)
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
        overall = verdict(gauges, phase)
        self._verdict.setText(f"{overall.level.sign} {overall.text}")
        self._verdict.setFont(scaled_font(self._look.scale, 1.05, bold=True))
        self._verdict.setStyleSheet(f"color: {self._look.theme.level(overall.level)};")
        self.setAccessibleDescription(
            "; ".join(f"{gauge.name} {gauge.value}, {gauge.level.word}" for gauge in gauges)
        )

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
        level.setText(f"{gauge.level.sign} {gauge.level.word}" if known else gauge.level.word)
        level.setStyleSheet(f"color: {look.theme.level(gauge.level)};")
        for label in row:
            label.setToolTip(gauge.meaning)
            label.setFont(scaled_font(look.scale, bold=label is level and known))
