"""Panel `Main sequence`: this viewer's saccades over the band of the enrolled viewers."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PyQt6.QtGui import QColor, QResizeEvent

from gazelive.dashboard.state.main_sequence import MainSequencePoints, share_inside, usable_band
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.legend import Entry, Legend
from gazelive.dashboard.views.panel import Hint, Look, Panel
from gazelive.dashboard.views.plotting import SymbolPoints, plot_widget, set_ticks, style_axes
from gazelive.gaze import MainSequence
from gazelive.wording import counted, percent

AMPLITUDES_DEG = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
VELOCITIES_DEG_S = (5, 10, 20, 50, 100, 200, 500, 1000, 2000)
DEFAULT_RANGE = ((0.4, 30.0), (15.0, 900.0))
"""Amplitudes (°) and velocities (°/s) that are always shown."""


class MainSequencePanel(Panel):
    """Peak velocity against amplitude, both logarithmic."""

    key = "main_sequence"
    title = "Main sequence"
    about = "Peak velocity against amplitude of the saccades, over the band of enrolled viewers"

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._drawn: object = None
        self._plot = plot_widget()
        self._low, self._high = pg.PlotCurveItem(), pg.PlotCurveItem()
        self._band = pg.FillBetweenItem(self._low, self._high)
        self._median = pg.PlotCurveItem(antialias=True)
        self._earlier, self._current = SymbolPoints(), SymbolPoints()
        for item in (self._band, self._median, self._earlier, self._current):
            self._plot.addItem(item, ignoreBounds=True)
        self._legend = Legend()
        self._hint = Hint("Waiting for saccades.")
        self._lay_out_plot(self._plot, self._hint, self._legend)

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self._drawn = None
        theme = look.theme
        self._plot.setBackground(theme.plot)
        style_axes(self._plot.getPlotItem(), look, "peak velocity (°/s)", "amplitude (°)")
        fill = QColor(theme.population)
        fill.setAlphaF(0.45)
        self._band.setBrush(fill)
        self._median.setPen(pg.mkPen(theme.accent, width=1.5 * look.scale))
        self._current.setBrush(QColor(theme.vertical))
        self._current.setPen(pg.mkPen(theme.plot, width=0.8))
        self._current.setSize(7.5 * look.scale)
        self._earlier.setBrush(None)
        self._earlier.setPen(pg.mkPen(theme.speed, width=1.1 * look.scale))
        self._earlier.setSize(5.5 * look.scale)
        self._legend.set_look(look)
        self._hint.set_look(look)

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Draw again: ticks depend on the size."""
        super().resizeEvent(event)
        self._drawn = None

    def refresh(self, state: DashboardState) -> None:
        """Draw points and band if they changed."""
        revision = state.main_sequence.revision
        if not self._may_draw() or self._look is None or revision == self._drawn:
            return
        self._drawn = revision
        self._defer_drawing()
        points = state.main_sequence.points()
        band = usable_band(state.model)
        self._hint.setVisible(not len(points.amplitude_deg) and band is None)
        self._draw_band(band)
        for item, chosen in ((self._current, points.current), (self._earlier, ~points.current)):
            item.setData(
                np.log10(points.amplitude_deg[chosen]), np.log10(points.peak_velocity_deg_s[chosen])
            )
        self._fit(points)
        self._show_summary(points, band, self._look)

    def _draw_band(self, band: MainSequence | None) -> None:
        self._band.setVisible(band is not None)
        self._median.setVisible(band is not None)
        if band is None:
            return
        x = np.log10(band.amplitude_deg)
        self._low.setData(x, np.log10(band.low_deg_s))
        self._high.setData(x, np.log10(band.high_deg_s))
        self._median.setData(x, np.log10(band.median_deg_s))

    def _fit(self, points: MainSequencePoints) -> None:
        (left, right), (bottom, top) = DEFAULT_RANGE
        if len(points.amplitude_deg):
            left = min(left, 0.8 * float(points.amplitude_deg.min()))
            right = max(right, 1.2 * float(points.amplitude_deg.max()))
            bottom = min(bottom, 0.8 * float(points.peak_velocity_deg_s.min()))
            top = max(top, 1.2 * float(points.peak_velocity_deg_s.max()))
        self._plot.setXRange(np.log10(left), np.log10(right), padding=0)
        self._plot.setYRange(np.log10(bottom), np.log10(top), padding=0)
        for side, values in (("bottom", AMPLITUDES_DEG), ("left", VELOCITIES_DEG_S)):
            set_ticks(self._plot, side, [(np.log10(v), f"{v:g}") for v in values])

    def _show_summary(
        self, points: MainSequencePoints, band: MainSequence | None, look: Look
    ) -> None:
        theme, n = look.theme, len(points.amplitude_deg)
        entries = [
            Entry("circle", "this image", theme.vertical, size=1.6),
            Entry("circle", "earlier", theme.speed, size=1.3, filled=False),
        ]
        summary = counted(n, "saccade")
        if band is not None:
            inside = share_inside(points, band)
            entries.append(Entry("band", "enrolled, 5–95 %", theme.population))
            if inside is not None:
                summary += f", {percent(inside, 0)} inside the band of enrolled viewers"
        self._legend.set_entries(entries)
        self.setAccessibleDescription(summary)
        self._plot.setToolTip(summary)
