"""The symbols of viewers, as paths of size one around the origin."""

from __future__ import annotations

from PyQt6.QtGui import QPainterPath
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols


def symbol_path(name: str) -> QPainterPath:
    """Return the path that the plots draw for this symbol."""
    path: QPainterPath = Symbols[name]
    return path
