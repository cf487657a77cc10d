"""Panel `Traces`: position and speed of the last seconds, with saccades and losses shaded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QColor, QPainter
from PyQt6.QtWidgets import QComboBox

from gazelive.dashboard.state.axis_limits import Limits, round_ticks, steady_limits
from gazelive.dashboard.state.bands import Band
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.legend import Entry, Legend
from gazelive.dashboard.views.panel import Hint, Look, Panel
from gazelive.dashboard.views.plotting import (
    HairCurve,
    PaintedItem,
    minus,
    plain,
    set_ticks,
    style_axes,
)
from gazelive.dashboard.views.theme import Theme, scaled_font
from gazelive.gaze import SingleFloats

WINDOWS_S = (2.0, 5.0, 10.0)
ROWS = (("x (°)", 2.0), ("y (°)", 2.0), ("°/s", 100.0))
"""Label and smallest span of each row."""
FIRST_LIMITS = ((-10.0, 10.0), (-10.0, 10.0), (0.0, 400.0))
CENTRAL = (0.5, 99.5)
"""Percentiles that the axes show: at a blink the gaze may be anywhere."""
FASTEST_DEG_S = 800.0
"""Limit of the speed axis: faster samples come from blinks."""


Stretch = tuple[float, float, QColor]
"""Start and end, in seconds relative to the newest sample, and the colour."""
FIT_EVERY = 5
"""Frames between updates of the axis limits."""


class BandsItem(PaintedItem):
    """Shaded bands over the whole height of a plot."""

    def __init__(self) -> None:
        super().__init__()
        self._stretches: list[Stretch] = []

    def set_content(self, stretches: list[Stretch], view: QRectF) -> None:
        """Set the bands; `view` is the visible area of the plot."""
        self.set_bounds(view)
        self._stretches = stretches

    def draw(self, painter: QPainter) -> None:
        """Draw the bands."""
        area = self.boundingRect()
        for start_s, end_s, colour in self._stretches:
            painter.fillRect(QRectF(start_s, area.top(), end_s - start_s, area.height()), colour)


def stretches_of(bands: list[Band], newest_us: int, seconds: float, theme: Theme) -> list[Stretch]:
    """Return the bands of the last seconds with their colours."""
    saccade, loss = QColor(theme.saccade_band), QColor(theme.loss_band)
    colours = {
        "saccade": saccade,
        "saccade begun": saccade,
        "artefact": QColor(theme.artefact_band),
        "pursuit": QColor(theme.pursuit_band),
        "blink": loss,
        "loss": loss,
    }
    stretches = []
    for band in bands:
        end_us = newest_us if band.offset_us is None else band.offset_us
        start_s = max((band.onset_us - newest_us) / 1e6, -seconds)
        end_s = min((end_us - newest_us) / 1e6, 0.0)
        stretches.append((start_s, end_s, colours[band.kind]))
    return stretches


class Traces(Panel):
    """Three rows over the same time: horizontal, vertical, and speed with the threshold."""

    key = "traces"
    title = "Traces"
    about = "Horizontal and vertical position and speed of the last seconds"

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._drawn: object = None
        self._limits: list[Limits | None] = [None] * len(ROWS)
        self._frame = 0
        self.seconds = 5.0
        self._canvas = pg.GraphicsLayoutWidget()
        self._canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._canvas.setMinimumSize(60, 60)
        self._canvas.ci.layout.setVerticalSpacing(4)
        self._canvas.ci.layout.setContentsMargins(0, 2, 0, 0)
        self._plots: list[Any] = [self._canvas.addPlot(row=i, col=0) for i in range(len(ROWS))]
        self._bands = [BandsItem() for _ in ROWS]
        self._curves = [HairCurve() for _ in ROWS]
        for plot, bands, curve in zip(self._plots, self._bands, self._curves, strict=True):
            plain(plot)
            plot.getViewBox().addItem(bands, ignoreBounds=True)
            plot.addItem(curve, ignoreBounds=True)
        self._plots[1].getViewBox().invertY(True)
        self._threshold = pg.InfiniteLine(angle=0, movable=False)
        self._threshold.setVisible(False)
        self._plots[2].addItem(self._threshold, ignoreBounds=True)
        self._legend = Legend()
        self._choice = QComboBox()
        self._choice.setAccessibleName("Length of the traces")
        for seconds in WINDOWS_S:
            self._choice.addItem(f"{seconds:g} s", seconds)
        self._choice.setCurrentIndex(WINDOWS_S.index(self.seconds))
        self._choice.currentIndexChanged.connect(self._choose)
        self._hint = Hint("Waiting for samples.")
        self._lay_out_plot(self._canvas, self._hint, self._legend, self._choice)

    def _choose(self) -> None:
        self.seconds = self._choice.currentData()
        self._drawn = None
        self._set_time_axis()

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self._drawn = None
        theme = look.theme
        self._canvas.setBackground(theme.plot)
        colours = (theme.horizontal, theme.vertical, theme.speed)
        for number, (plot, curve) in enumerate(zip(self._plots, self._curves, strict=True)):
            last = number == len(ROWS) - 1
            style_axes(plot, look, ROWS[number][0], "time before now (s)" if last else None)
            if not last:
                plot.getAxis("bottom").setStyle(showValues=False)
                plot.getAxis("bottom").setHeight(4)
            if self._limits[number] is None:
                self._set_limits(number, FIRST_LIMITS[number])
                self._limits[number] = None
            curve.set_hair(colours[number], 1 if look.scale < 1.6 else 2)
        self._threshold.setPen(
            pg.mkPen(theme.threshold, width=1.5 * look.scale, style=Qt.PenStyle.DashLine)
        )
        self._choice.setFont(scaled_font(look.scale, 0.88))
        self._legend.set_look(look)
        self._hint.set_look(look)
        self._set_time_axis()

    def _set_time_axis(self) -> None:
        for plot in self._plots:
            plot.setXRange(-self.seconds, 0, padding=0)
        ticks = round_ticks((-self.seconds, 0.0), 5)
        for plot in self._plots:
            set_ticks(plot, "bottom", [(t, minus(f"{t:g}")) for t in ticks])

    def refresh(self, state: DashboardState) -> None:
        """Draw the latest samples."""
        revision = (state.traces.revision, state.bands.revision)
        look = self._look
        if look is None or revision == self._drawn:
            return
        self._drawn = revision
        newest_us = state.traces.newest_us
        self._hint.setVisible(newest_us is None)
        if newest_us is None:
            for curve in self._curves:
                curve.setData([], [])
            return
        width = self._plots[0].getViewBox().width()
        window = state.traces.window(self.seconds, max(round(width / look.scale**1.6), 50))
        bands = state.bands.between(newest_us - round(1e6 * self.seconds), newest_us)
        stretches = stretches_of(bands, newest_us, self.seconds, look.theme)
        rows = (window.x_deg, window.y_deg, window.speed_deg_s)
        for number, values in enumerate(rows):
            limits = self._limits[number]
            if limits is None or self._frame % FIT_EVERY == 0:
                limits = self._fit(number, values, state.threshold_deg_s)
            self._curves[number].setData(window.times_s, values)
            area = QRectF(-self.seconds, limits[0], self.seconds, limits[1] - limits[0])
            self._bands[number].set_content(stretches, area)
        self._frame += 1
        self._show_threshold(state.threshold_deg_s, look)

    def _fit(self, number: int, values: SingleFloats, threshold: float | None) -> Limits:
        seen = values[np.isfinite(values)]
        low, high = math.nan, math.nan
        if len(seen) and number < 2:
            low, high = np.percentile(seen, CENTRAL).tolist()
        elif len(seen):
            low, high = 0.0, min(max(float(seen.max()), 3 * (threshold or 0.0)), FASTEST_DEG_S)
        limits = steady_limits(low, high, self._limits[number], ROWS[number][1])
        if number == 2:
            limits = (0.0, limits[1])
        if limits != self._limits[number]:
            self._set_limits(number, limits)
        return limits

    def _set_limits(self, number: int, limits: Limits) -> None:
        self._limits[number] = limits
        self._plots[number].setYRange(*limits, padding=0)
        ticks = round_ticks(limits, 4, 0.08)
        set_ticks(self._plots[number], "left", [(t, minus(f"{t:g}")) for t in ticks])

    def _show_threshold(self, threshold: float | None, look: Look) -> None:
        self._threshold.setVisible(threshold is not None)
        theme = look.theme
        entries = [
            Entry("line", "x", theme.horizontal),
            Entry("line", "y", theme.vertical),
            Entry("line", "speed", theme.speed),
        ]
        if threshold is not None:
            self._threshold.setValue(threshold)
            dashed = Qt.PenStyle.DashLine
            entries.append(Entry("line", f"threshold {threshold:.0f} °/s", theme.threshold, dashed))
        entries.append(Entry("band", "saccade", theme.saccade_band))
        entries.append(Entry("band", "blink or loss", theme.loss_band))
        entries.append(Entry("band", "artefact", theme.artefact_band))
        entries.append(Entry("band", "pursuit", theme.pursuit_band))
        self._legend.set_entries(entries)
