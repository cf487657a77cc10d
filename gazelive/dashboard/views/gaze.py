"""Panel `Gaze on the image`: the stimulus on the screen, with gaze, fixations and saccades."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PyQt6.QtCore import QRectF, QSize, Qt
from PyQt6.QtGui import QImageReader, QPixmap, QResizeEvent, QTransform
from PyQt6.QtWidgets import (
    QGraphicsItem,
    QGraphicsPixmapItem,
    QGraphicsRectItem,
    QLabel,
)

from gazelive.dashboard.state.gaze_scene import ScreenView, nice_degrees
from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.gaze_items import OUTLINE, ScanpathItem, TrailItem
from gazelive.dashboard.views.legend import Entry, Legend
from gazelive.dashboard.views.panel import Hint, Look, Panel
from gazelive.dashboard.views.plotting import minus, plot_widget, set_ticks, style_axes
from gazelive.dashboard.views.theme import TURN_STYLES, TURN_WORDS, scaled_font
from gazelive.features import Turn
from gazelive.gaze import TrialStarted

TRAIL_S = 0.5
TRAIL_POINTS = 120
TEXT_EVERY = 5
"""Frames between updates of the position in numbers."""
LARGEST_IMAGE_PX = 2400
FindImage = Callable[[str], Path | None]


class GazeOnImage(Panel):
    """The screen in its true proportions; positions in pixels, axes in degrees."""

    key = "gaze"
    title = "Gaze on the image"
    about = "The stimulus with the gaze, fixations and saccades on it"

    def __init__(self, find_image: FindImage) -> None:
        super().__init__()
        self._find_image = find_image
        self._look: Look | None = None
        self._screen: ScreenView | None = None
        self._trial: TrialStarted | None = None
        self._drawn: tuple[int, int] = (-1, -1)
        self._frame, self._seen = 0, False
        self._plot = plot_widget()
        self._view = self._plot.getViewBox()
        self._view.invertY(True)
        self._border = QGraphicsRectItem()
        self._image = QGraphicsPixmapItem()
        self._image.setTransformationMode(Qt.TransformationMode.SmoothTransformation)
        self._image.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)
        self._place = QGraphicsRectItem()
        self._scanpath, self._trail = ScanpathItem(), TrailItem()
        for item in (self._border, self._place, self._image, self._scanpath, self._trail):
            self._view.addItem(item, ignoreBounds=True)
        self._legend = Legend()
        self._where = QLabel()
        self._where.setObjectName("faint")
        self._hint = Hint("No gaze yet.")
        self._lay_out_plot(self._plot, self._hint, self._legend, self._where)

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look = look
        self._drawn = (-1, -1)
        self._plot.setBackground(look.theme.plot)
        style_axes(self._plot.getPlotItem(), look, "y (°), down", "x (°)")
        self._border.setPen(pg.mkPen(look.theme.faint, width=1))
        self._border.setBrush(pg.mkBrush(look.theme.raised))
        self._place.setPen(pg.mkPen(look.theme.faint, width=1, style=Qt.PenStyle.DashLine))
        self._legend.set_look(look)
        self._legend.set_entries(_legend_entries(look))
        self._where.setFont(scaled_font(look.scale, 0.88))
        self._hint.set_look(look)
        self._set_ticks()

    def resizeEvent(self, event: QResizeEvent | None) -> None:  # noqa: N802
        """Choose ticks for the new size."""
        super().resizeEvent(event)
        self._set_ticks()

    def refresh(self, state: DashboardState) -> None:
        """Show new gaze and events."""
        revision = (state.scene.revision, state.traces.revision)
        if self._look is None or revision == self._drawn:
            return
        if state.screen != self._screen:
            self._set_screen(state.screen)
        if state.trial != self._trial:
            self._trial = state.trial
            self._set_image(state.screen)
        if state.scene.revision != self._drawn[0]:
            self._scanpath.set_content(
                state.scene.fixations, state.scene.turned_saccades(), state.screen, self._look
            )
        self._show_gaze(state, self._look)
        self._hint.setVisible(not len(state.traces) and state.trial is None)
        self._drawn = revision

    def _set_screen(self, screen: ScreenView) -> None:
        self._screen = screen
        whole = QRectF(-0.5, -0.5, screen.width_px, screen.height_px)
        self._border.setRect(whole)
        self._view.setAspectLocked(True, screen.pixel_aspect)
        self._view.setRange(whole, padding=0.015, disableAutoRange=True)
        self._set_ticks()

    def _set_ticks(self) -> None:
        screen, look = self._screen, self._look
        if screen is None or look is None:
            return
        (left, right), (top, bottom) = screen.geometry.px_to_deg(
            np.array([-0.5, screen.width_px - 0.5]), np.array([-0.5, screen.height_px - 0.5])
        )
        room = 42 * look.scale
        for side, low, high, length in (
            ("bottom", left, right, self._plot.width()),
            ("left", top, bottom, self._plot.height()),
        ):
            degrees = nice_degrees(float(low), float(high), int(length / room))
            flat = np.zeros_like(degrees)
            x_px, y_px = screen.to_px(*((degrees, flat) if side == "bottom" else (flat, degrees)))
            places = x_px if side == "bottom" else y_px
            ticks = [(float(p), minus(f"{d:g}")) for p, d in zip(places, degrees, strict=True)]
            set_ticks(self._plot, side, ticks)

    def _set_image(self, screen: ScreenView) -> None:
        trial = self._trial
        path = None if trial is None or trial.image is None else self._find_image(trial.image)
        pixmap = QPixmap() if path is None else _load(path)
        found = not pixmap.isNull()
        self._image.setVisible(found)
        rectangle = _image_rectangle(trial, pixmap.size(), screen)
        self._place.setVisible(rectangle is not None and not found)
        if rectangle is None:
            return
        self._place.setRect(rectangle)
        if found:
            stretch = QTransform.fromTranslate(rectangle.left(), rectangle.top())
            stretch.scale(rectangle.width() / pixmap.width(), rectangle.height() / pixmap.height())
            self._image.setPixmap(pixmap)
            self._image.setTransform(stretch)

    def _show_gaze(self, state: DashboardState, look: Look) -> None:
        _times, values = state.traces.newest(TRAIL_S)
        every = max(values.shape[1] // TRAIL_POINTS, 1)
        x_deg, y_deg = (values[channel, ::-1][::every][::-1] for channel in (0, 1))
        x_px, y_px = state.screen.to_px(x_deg, y_deg)
        radius = 6.0 * look.scale * self._view.viewPixelSize()[0]
        self._trail.set_content(x_px, y_px, radius, look)
        seen = len(x_deg) > 0 and bool(np.isfinite(x_deg[-1]))
        text = minus(f"x {x_deg[-1]:+5.1f}°  y {y_deg[-1]:+5.1f}°") if seen else "no gaze"
        self._frame += 1
        if seen != self._seen or self._frame % TEXT_EVERY == 0:
            self._seen = seen
            self._where.setText(text)


def _image_rectangle(trial: TrialStarted | None, size: QSize, screen: ScreenView) -> QRectF | None:
    """Return the image's rectangle: as reported, else centred and no larger than the screen."""
    if trial is None:
        return None
    if trial.image_rectangle_px is not None:
        return QRectF(*trial.image_rectangle_px).translated(-0.5, -0.5)
    if size.isEmpty():
        return None
    shrink = min(1.0, screen.width_px / size.width(), screen.height_px / size.height())
    width, height = size.width() * shrink, size.height() * shrink
    return QRectF(
        (screen.width_px - width) / 2 - 0.5, (screen.height_px - height) / 2 - 0.5, width, height
    )


def _load(path: Path) -> QPixmap:
    """Read an image; shrink a very large one."""
    reader = QImageReader(str(path))
    reader.setAutoTransform(True)
    size = reader.size()
    if max(size.width(), size.height()) > LARGEST_IMAGE_PX:
        reader.setScaledSize(
            size.scaled(LARGEST_IMAGE_PX, LARGEST_IMAGE_PX, Qt.AspectRatioMode.KeepAspectRatio)
        )
    return QPixmap.fromImage(reader.read())


def _legend_entries(look: Look) -> list[Entry]:
    theme = look.theme
    turns = (Turn.MAINTAIN, Turn.RIGHT, Turn.LEFT, Turn.REVERSE, Turn.NONE)
    return [
        Entry("circle", "gaze", theme.gaze, size=1.6),
        Entry("circle", "fixation, area by duration", theme.faint, size=2.0, filled=False),
        *(
            Entry("line", TURN_WORDS[turn], theme.turn(turn), TURN_STYLES[turn], backing=OUTLINE)
            for turn in turns
        ),
    ]
