"""Placement of windows: on which screen, how large, and beside what."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QMargins, QRect, QSize, Qt
from PyQt6.QtWidgets import QApplication, QWidget

from gazelive.dashboard.views.theme import SMALLEST_WINDOW
from gazelive.system import WINDOW_SHARE

FRAME = QMargins(8, 40, 8, 8)
"""Room for the frame that the desktop draws around a window."""
FILLING = 0.9
"""Share of a large screen that the window takes."""


def screen_areas() -> list[QRect]:
    """Return the part of each screen that the desktop leaves free, less a window's frame."""
    return [screen.availableGeometry().marginsRemoved(FRAME) for screen in QApplication.screens()]


def first_place(area: QRect) -> QRect:
    """Return the place of a window that has none yet: all of a small screen, most of a large."""
    width = max(round(FILLING * area.width()), min(SMALLEST_WINDOW[0], area.width()))
    height = max(round(FILLING * area.height()), min(SMALLEST_WINDOW[1], area.height()))
    return centred(QSize(width, height), area)


def left_of_experiment(area: QRect) -> QRect:
    """Return the place that the window of an experiment leaves on the same screen."""
    whole = area.marginsAdded(FRAME)
    room = round(WINDOW_SHARE * whole.width())
    return whole.adjusted(0, 0, -room, 0).marginsRemoved(FRAME)


def fitted(place: QRect, area: QRect) -> QRect:
    """Return the place, shrunk and moved where it does not fit the screen."""
    size = place.size().boundedTo(area.size())
    left = min(max(place.left(), area.left()), area.right() + 1 - size.width())
    top = min(max(place.top(), area.top()), area.bottom() + 1 - size.height())
    return QRect(left, top, size.width(), size.height())


def area_of(place: QRect, areas: Sequence[QRect]) -> QRect:
    """Return the area of the screen that a place is on, else of the first."""
    return next((area for area in areas if area.contains(place.center())), areas[0])


def free_place(size: QSize, window: QRect, areas: Sequence[QRect]) -> QRect | None:
    """Return a place of this size that covers nothing of the window; None without room."""
    for area in areas:
        if not area.intersects(window):
            return centred(size.boundedTo(area.size()), area)
    area = area_of(window, areas)
    size = size.boundedTo(area.size())
    top = min(max(window.top(), area.top()), area.bottom() + 1 - size.height())
    for left in (window.right() + 1 + FRAME.left(), window.left() - size.width() - FRAME.right()):
        place = QRect(left, top, size.width(), size.height())
        if area.contains(place):
            return place
    return None


def put_beside(panel: QWidget, window: QWidget) -> None:
    """Move a floating panel to where it covers nothing; if there is no room, the window shrinks."""
    areas = screen_areas()
    place = free_place(panel.size(), window.geometry(), areas)
    if place is None:
        window_place, place = shared(panel.size(), area_of(window.geometry(), areas))
        if window_place.width() < window.minimumSizeHint().width():
            return
        window.setWindowState(Qt.WindowState.WindowNoState)
        window.setGeometry(window_place)
    panel.setGeometry(place)


def shared(size: QSize, area: QRect) -> tuple[QRect, QRect]:
    """Return places for the window and, right of it, for a floating panel of at most this size."""
    size = size.boundedTo(QSize(area.width() // 3, area.height()))
    panel = QRect(area.topLeft(), size)
    panel.moveRight(area.right())
    room = size.width() + FRAME.left() + FRAME.right()
    return area.adjusted(0, 0, -room, 0), panel


def centred(size: QSize, area: QRect) -> QRect:
    """Return the place of this size in the middle of a screen."""
    place = QRect(area.topLeft(), size)
    place.moveCenter(area.center())
    return place
