"""Panel `Posterior over time`: one line per leading viewer, against saccades or seconds.

Solid lines with symbols join settled posteriors; thin dotted lines join the running ones between
them. Dashed vertical lines mark the start of an image.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QComboBox

from gazelive.dashboard.state.axis_limits import Limits, round_ticks, steady_limits
from gazelive.dashboard.state.posteriors import UNKNOWN, Against, viewer_name
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.legend import Entry, Legend
from gazelive.dashboard.views.panel import Hint, Look, Panel
from gazelive.dashboard.views.plotting import SymbolPoints, plot_widget, set_ticks, style_axes
from gazelive.dashboard.views.theme import UNKNOWN_SYMBOL, VIEWER_SYMBOLS, scaled_font

MOST_LINES = 5
MOST_LABELS = 12
LONGEST_NAME = 18
AXIS_WORDS: dict[Against, str] = {"saccades": "saccades", "seconds": "viewing time (s)"}


class PosteriorOverTime(Panel):
    """Probabilities of the leading viewers as lines."""

    key = "posterior_over_time"
    title = "Posterior over time"
    about = "The probabilities of the leading viewers against the evidence"

    def __init__(self) -> None:
        super().__init__()
        self.against: Against = "saccades"
        self._look: Look | None = None
        self._drawn: object = None
        self._limits: Limits | None = None
        self._plot = plot_widget()
        self._plot.setYRange(-0.03, 1.06)
        self._boundaries = pg.PlotCurveItem(connect="pairs")
        self._plot.addItem(self._boundaries, ignoreBounds=True)
        self._labels = [pg.TextItem(anchor=(0.0, 0.0)) for _ in range(MOST_LABELS)]
        self._running = [pg.PlotCurveItem(connect="finite") for _ in range(MOST_LINES)]
        self._settled = [
            pg.PlotCurveItem(connect="finite", antialias=True) for _ in range(MOST_LINES)
        ]
        self._symbols = {
            symbol: SymbolPoints(symbol) for symbol in (*VIEWER_SYMBOLS, UNKNOWN_SYMBOL)
        }
        for item in (*self._labels, *self._running, *self._settled, *self._symbols.values()):
            self._plot.addItem(item, ignoreBounds=True)
        self._legend = Legend()
        self._choice = QComboBox()
        self._choice.setAccessibleName("Horizontal axis")
        self._choice.addItem("by saccades", "saccades")
        self._choice.addItem("by seconds", "seconds")
        self._choice.currentIndexChanged.connect(self._choose)
        self._hint = Hint("")
        self._lay_out_plot(self._plot, self._hint, self._legend, self._choice)

    def choose_axis(self, against: Against) -> None:
        """Draw against saccades or seconds."""
        self._choice.setCurrentIndex(self._choice.findData(against))

    def _choose(self) -> None:
        self.against = self._choice.currentData()
        self._drawn = None
        self._limits = None

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self._drawn = None
        self._plot.setBackground(look.theme.plot)
        style_axes(self._plot.getPlotItem(), look, "probability", AXIS_WORDS[self.against])
        set_ticks(self._plot, "left", [(p / 100, f"{p} %") for p in (0, 25, 50, 75, 100)])
        self._boundaries.setPen(pg.mkPen(look.theme.faint, width=1, style=Qt.PenStyle.DashLine))
        for label in self._labels:
            label.setColor(look.theme.faint)
            label.setFont(scaled_font(look.scale, 0.8))
        colours = (*look.theme.viewers, look.theme.unknown)
        for symbols, colour in zip(self._symbols.values(), colours, strict=True):
            symbols.setBrush(pg.mkBrush(colour))
            symbols.setPen(pg.mkPen(look.theme.plot, width=1))
            symbols.setSize(8 * look.scale)
        self._legend.set_look(look)
        self._choice.setFont(scaled_font(look.scale, 0.88))
        self._hint.set_look(look)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Choose ticks and labels for the new size."""
        super().resizeEvent(event)
        self._drawn = None

    def refresh(self, state: DashboardState) -> None:
        """Draw the lines if they changed."""
        revision = (state.history.revision, state.posterior_revision, state.model)
        if not self._may_draw() or self._look is None or revision == self._drawn:
            return
        self._drawn = revision
        self._defer_drawing()
        has_lines = bool(state.history.points)
        self._hint.setText(
            "No model is loaded."
            if state.run is not None and state.model is None
            else "Waiting for the first posterior."
        )
        self._hint.setVisible(not has_lines)
        self._set_range(state)
        self._draw_boundaries(state)
        self._draw_lines(state, self._look)

    def _set_range(self, state: DashboardState) -> None:
        furthest = max((point.along(self.against) for point in state.history.points), default=0.0)
        self._limits = steady_limits(0.0, furthest, self._limits, 10.0)
        low, high = 0.0, self._limits[1]
        self._plot.setXRange(low - 0.01 * high, high, padding=0)
        most = max(int(self._plot.width() / (70 * (self._look.scale if self._look else 1))), 2)
        set_ticks(self._plot, "bottom", [(x, f"{x:g}") for x in round_ticks((low, high), most)])
        self._plot.setLabel("bottom", AXIS_WORDS[self.against])

    def _draw_boundaries(self, state: DashboardState) -> None:
        boundaries = state.history.boundaries if state.history.points else ()
        places = np.array([boundary.along(self.against) for boundary in boundaries])
        self._boundaries.setData(np.repeat(places, 2), np.tile([-0.03, 1.06], len(places)))
        every = -(-len(boundaries) // MOST_LABELS) or 1
        labelled = boundaries[::every]
        for label, boundary in zip(self._labels, labelled, strict=False):
            label.setText(f"{boundary.ordinal}")
            label.setPos(boundary.along(self.against), 1.06)
            label.setToolTip(boundary.label)
        for number, label in enumerate(self._labels):
            label.setVisible(number < len(labelled))

    def _draw_lines(self, state: DashboardState, look: Look) -> None:
        leading = state.history.leading(MOST_LINES)
        entries = []
        for symbols in self._symbols.values():
            symbols.hide()
        for number in range(MOST_LINES):
            running, settled = self._running[number], self._settled[number]
            shown = number < len(leading)
            for item in (running, settled):
                item.setVisible(shown)
            if not shown:
                continue
            position = leading[number]
            colour, symbol = self._sign(state, look, position)
            line = state.history.line(position, self.against)
            width = 1.2 * look.scale
            _draw(running, line.running_x, line.running_p)
            running.setPen(pg.mkPen(colour, width=width, style=Qt.PenStyle.DotLine))
            _draw(settled, line.settled_x, line.settled_p)
            settled.setPen(pg.mkPen(colour, width=1.6 * width))
            there = np.isfinite(line.settled_p)
            symbols = self._symbols[symbol]
            symbols.setData(np.array(line.settled_x)[there], np.array(line.settled_p)[there])
            symbols.show()
            name = viewer_name(position, state.model)
            if len(name) > LONGEST_NAME:
                name = f"{name[: LONGEST_NAME // 2]}…{name[-LONGEST_NAME // 2 + 1 :]}"
            entries.append(Entry("symbol", name, colour, symbol=symbol))
        if entries:
            faint = look.theme.faint
            entries.append(Entry("line", "settled", faint))
            entries.append(Entry("line", "running", faint, style=Qt.PenStyle.DotLine))
            entries.append(Entry("line", f"new {state.unit}", faint, style=Qt.PenStyle.DashLine))
        self._legend.set_entries(entries)

    def _sign(self, state: DashboardState, look: Look, position: int) -> tuple[str, str]:
        slot = state.slots.slot(position)
        if position == UNKNOWN or slot is None:
            return look.theme.unknown, UNKNOWN_SYMBOL
        return look.theme.viewers[slot], VIEWER_SYMBOLS[slot]


def _draw(curve: Any, x: list[float], y: list[float]) -> None:
    curve.setData(np.array(x, float), np.array(y, float))
