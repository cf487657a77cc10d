"""Graphics items on the image: fixations and saccades, the fading trail, the gaze.

Positions are screen pixels; lines keep their width at any zoom.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import QColor, QPainter, QPen, QPolygonF
from PyQt6.QtWidgets import QGraphicsItem

from gazelive.dashboard.state.gaze_scene import ScreenView, TurnedSaccade
from gazelive.dashboard.views.panel import Look
from gazelive.dashboard.views.plotting import PaintedItem
from gazelive.dashboard.views.theme import TURN_STYLES
from gazelive.gaze import Fixation, Floats

RADIUS_DEG = 0.7
"""Radius of a fixation of 250 ms; the area grows with the duration."""
TRAIL_SLICES = 6
STILL = 0.25
"""Steps smaller than this fraction of the gaze's radius are not drawn."""
OUTLINE = "#101418"
"""Dark edge that keeps everything visible on any image."""


def fixation_radius_deg(duration_ms: float) -> float:
    """Return the radius of a fixation's circle, whose area is proportional to its duration."""
    return RADIUS_DEG * float(np.sqrt(np.clip(duration_ms, 20, 2000) / 250.0))


def _cosmetic(
    colour: QColor | str, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine
) -> QPen:
    pen = QPen(QColor(colour), width, style, Qt.PenCapStyle.RoundCap)
    pen.setCosmetic(True)
    return pen


def _moving(points: Floats, grid: float) -> list[list[float]]:
    """Drop points in the same cell as the one before: a resting eye is one dot, not fifty."""
    cells = np.floor(points / grid)
    moved = np.ones(len(points), bool)
    moved[1:] = (np.diff(cells, axis=0) != 0).any(axis=1)
    kept: list[list[float]] = points[moved].tolist()
    return kept


class ScanpathItem(PaintedItem):
    """Fixations and saccades; painted once, then cached by Qt."""

    def __init__(self) -> None:
        super().__init__()
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
        self._circles: list[tuple[QPointF, float, float]] = []
        self._lines: list[tuple[QPointF, QPointF, TurnedSaccade]] = []
        self._look: Look | None = None

    def set_content(
        self,
        fixations: Sequence[Fixation],
        saccades: Sequence[TurnedSaccade],
        screen: ScreenView,
        look: Look,
    ) -> None:
        """Set the events to paint."""
        self.set_bounds(QRectF(0, 0, screen.width_px, screen.height_px))
        self._look = look
        self._circles = []
        for fixation in fixations:
            centre = _point(screen, fixation.x_deg, fixation.y_deg)
            radius = fixation_radius_deg((fixation.offset_us - fixation.onset_us) / 1000)
            edge = _point(screen, fixation.x_deg + radius, fixation.y_deg + radius)
            if _finite(centre, edge):
                self._circles.append((centre, edge.x() - centre.x(), edge.y() - centre.y()))
        self._lines = []
        for turned in saccades:
            saccade = turned.saccade
            start = _point(screen, saccade.start_x_deg, saccade.start_y_deg)
            end = _point(screen, saccade.end_x_deg, saccade.end_y_deg)
            if _finite(start, end):
                self._lines.append((start, end, turned))
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Draw saccades with a dark edge, then fixations."""
        if self._look is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = 1.7 * self._look.scale
        painter.setPen(_cosmetic(OUTLINE, width + 1.8))
        for start, end, _turned in self._lines:
            painter.drawLine(start, end)
        for start, end, turned in self._lines:
            colour = self._look.theme.turn(turned.turn)
            painter.setPen(_cosmetic(colour, width, TURN_STYLES[turned.turn]))
            painter.drawLine(start, end)
        fill = QColor("#ffffff")
        fill.setAlphaF(0.38)
        for centre, radius_x, radius_y in self._circles:
            painter.setBrush(fill)
            painter.setPen(_cosmetic(OUTLINE, width + 0.8))
            painter.drawEllipse(centre, radius_x, radius_y)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(_cosmetic("#ffffff", 0.55 * width))
            painter.drawEllipse(centre, radius_x, radius_y)


class TrailItem(PaintedItem):
    """The gaze and its fading trail."""

    def __init__(self) -> None:
        super().__init__()
        self._slices: list[QPolygonF] = []
        self._gaze: QPointF | None = None
        self._radius_px = 1.0
        self._look: Look | None = None

    def set_content(self, x_px: Floats, y_px: Floats, radius_px: float, look: Look) -> None:
        """Set the positions, shapes (n,); the last is the gaze, the others its trail."""
        self._look, self._radius_px = look, radius_px
        seen = np.isfinite(x_px) & np.isfinite(y_px)
        self._gaze = QPointF(x_px[-1], y_px[-1]) if len(seen) and seen[-1] else None
        self._slices = []
        grid = radius_px * STILL
        bounds = QRectF()
        if seen.any():
            left, right = float(x_px[seen].min()), float(x_px[seen].max())
            top, bottom = float(y_px[seen].min()), float(y_px[seen].max())
            around = 3 * radius_px
            bounds = QRectF(left, top, right - left, bottom - top).adjusted(
                -around, -around, around, around
            )
            edges = np.linspace(0, len(seen) - 1, TRAIL_SLICES + 1).round().astype(int)
            for first, last in itertools.pairwise(edges):
                inside = slice(first, last + 1)
                points = np.column_stack((x_px[inside], y_px[inside]))[seen[inside]]
                self._slices.append(QPolygonF([QPointF(*at) for at in _moving(points, grid)]))
        self.set_bounds(bounds)

    def draw(self, painter: QPainter) -> None:
        """Draw the trail, older parts fainter, and the gaze."""
        if self._look is None:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(self._look.theme.gaze)
        for number, points in enumerate(self._slices):
            colour.setAlphaF((number + 1) / TRAIL_SLICES)
            painter.setPen(_cosmetic(colour, 2.4 * self._look.scale))
            painter.drawPolyline(points)
        if self._gaze is not None:
            painter.setBrush(QColor(self._look.theme.gaze))
            painter.setPen(_cosmetic("#ffffff", 2.0 * self._look.scale))
            painter.drawEllipse(self._gaze, self._radius_px, self._radius_px)


def _finite(*points: QPointF) -> bool:
    return all(math.isfinite(point.x()) and math.isfinite(point.y()) for point in points)


def _point(screen: ScreenView, x_deg: float, y_deg: float) -> QPointF:
    x_px, y_px = screen.to_px(x_deg, y_deg)
    return QPointF(float(x_px), float(y_px))
