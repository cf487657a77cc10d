"""Plots of the panels: axes in the theme's colours, curves, symbols, hand-painted items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyqtgraph as pg
from PyQt6.QtCore import QRectF, Qt
from PyQt6.QtGui import QPainter, QPainterPath, QTransform
from PyQt6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from pyqtgraph.Qt.internals import PrimitiveArray

from gazelive.dashboard.views.panel import Look
from gazelive.dashboard.views.theme import scaled_font

Tick = tuple[float, str]


def plain(plot: Any) -> None:
    """Remove menus, buttons and dragging: a slip of the mouse must not lose the live view."""
    plot.setMenuEnabled(False)
    plot.hideButtons()
    plot.setMouseEnabled(x=False, y=False)
    plot.getViewBox().setDefaultPadding(0.0)
    plot.getViewBox().disableAutoRange()
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.enableAutoSIPrefix(False)
        axis.setStyle(
            tickLength=-4,
            autoReduceTextSpace=False,
            autoExpandTextSpace=False,
            hideOverlappingLabels=False,
        )


class HairCurve(pg.PlotCurveItem):  # type: ignore[misc]
    """A curve for frequent redrawing: thick lines are made of hair lines side by side.

    Qt draws two hair lines in a fifth of the time of one thick line.
    """

    def __init__(self) -> None:
        super().__init__(connect="finite")
        self._n_hairs = 1

    def set_hair(self, colour: str, n_px: int) -> None:
        """Set colour and thickness."""
        self._n_hairs = n_px
        self.setPen(pg.mkPen(colour, width=1))

    def paint(self, painter: Any, option: Any, widget: Any) -> None:
        """Draw the curve once per pixel of its thickness."""
        drawn = painter.transform()
        for shift_px in range(self._n_hairs):
            painter.setTransform(drawn * QTransform.fromTranslate(shift_px, shift_px))
            super().paint(painter, option, widget)
        painter.setTransform(drawn)


class SymbolPoints(pg.ScatterPlotItem):  # type: ignore[misc]
    """Symbols for frequent redrawing in constant memory.

    pyqtgraph draws from slices of a `sip.array`, each of which leaks 80 bytes; a list leaks none.
    It also keeps a picture for every pen and brush object: set them once, not with the data.
    """

    def __init__(self, symbol: str = "o") -> None:
        super().__init__(symbol=symbol, antialias=True)
        self._pixmapFragments = PrimitiveArray(QPainter.PixmapFragment, 10, use_array=False)


def plot_widget() -> Any:
    """Return a plain plot widget."""
    widget = pg.PlotWidget()
    plain(widget.getPlotItem())
    widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    widget.setFrameStyle(0)
    widget.setMinimumSize(40, 30)
    return widget


def style_axes(plot: Any, look: Look, left: str | None, bottom: str | None) -> None:
    """Set colours, sizes and labels of the axes of a plot item."""
    font = scaled_font(look.scale, 0.88)
    for side, text in (("left", left), ("bottom", bottom)):
        axis = plot.getAxis(side)
        axis.setTickFont(font)
        axis.setPen(pg.mkPen(look.theme.border))
        axis.setTextPen(pg.mkPen(look.theme.faint))
        if text is not None:
            axis.setLabel(
                text, color=look.theme.faint, **{"font-size": f"{font.pointSizeF():.1f}pt"}
            )
            axis.label.setFont(font)
    # room for half a label past the end of the axis
    plot.layout.setContentsMargins(0, round(4 * look.scale), round(11 * look.scale), 0)
    plot.getAxis("left").setWidth(round((48 if left is not None else 34) * look.scale))
    plot.getAxis("bottom").setHeight(round((34 if bottom is not None else 20) * look.scale))


def set_ticks(plot: Any, side: str, ticks: Iterable[Tick]) -> None:
    """Replace the ticks of an axis."""
    plot.getAxis(side).setTicks([list(ticks)])


def minus(text: str) -> str:
    """Return a number with a true minus sign."""
    return text.replace("-", "−")


def symbol_path(name: str) -> QPainterPath:
    """Return the path of a symbol, of size one around the origin."""
    path: QPainterPath = Symbols[name]
    return path


class PaintedItem(QGraphicsItem):
    """Base class of hand-painted items in a plot; they implement `draw`."""

    def __init__(self) -> None:
        super().__init__()
        self._bounds = QRectF()

    def set_bounds(self, bounds: QRectF) -> None:
        """Set the area that the item covers."""
        self.prepareGeometryChange()
        self._bounds = bounds

    def boundingRect(self) -> QRectF:  # noqa: N802
        """Return the area that the item covers."""
        return self._bounds

    def paint(
        self,
        painter: QPainter | None,
        option: QStyleOptionGraphicsItem | None,
        widget: QWidget | None = None,
    ) -> None:
        """Draw at Qt's request."""
        if painter is not None:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Paint the item."""
        raise NotImplementedError
