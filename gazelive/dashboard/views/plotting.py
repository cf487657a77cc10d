"""Plots that look alike: plain, without menus, with axes in the theme's colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyqtgraph as pg
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QTransform

from gazelive.dashboard.theme import scaled_font
from gazelive.dashboard.views.panel import Look

Tick = tuple[float, str]


def plain(plot: Any) -> None:
    """Take away menus, buttons and dragging: a live picture is not to be lost by a slip."""
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
    """A curve that is redrawn all the time: as thick as asked for, made of hair lines.

    One pixel beside the other, two hair lines take Qt a fifth of the time of one thick line.
    """

    def __init__(self) -> None:
        super().__init__(connect="finite")
        self._n_hairs = 1

    def set_hair(self, colour: str, n_px: int) -> None:
        """Draw in this colour and thickness."""
        self._n_hairs = n_px
        self.setPen(pg.mkPen(colour, width=1))

    def paint(self, painter: Any, option: Any, widget: Any) -> None:
        """Draw the curve again for each pixel of its thickness."""
        drawn = painter.transform()
        for shift_px in range(self._n_hairs):
            painter.setTransform(drawn * QTransform.fromTranslate(shift_px, shift_px))
            super().paint(painter, option, widget)
        painter.setTransform(drawn)


def plot_widget() -> Any:
    """Return a plain plot in a widget of its own."""
    widget = pg.PlotWidget()
    plain(widget.getPlotItem())
    widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    widget.setFrameStyle(0)
    widget.setMinimumSize(40, 30)
    return widget


def style_axes(plot: Any, look: Look, left: str | None, bottom: str | None) -> None:
    """Give the axes of a plot item their colours, sizes and labels."""
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
    # room for half a label beyond the end of the axis
    plot.layout.setContentsMargins(0, round(4 * look.scale), round(11 * look.scale), 0)
    plot.getAxis("left").setWidth(round((48 if left is not None else 34) * look.scale))
    plot.getAxis("bottom").setHeight(round((34 if bottom is not None else 20) * look.scale))


def set_ticks(plot: Any, side: str, ticks: Iterable[Tick]) -> None:
    """Put these ticks and no others."""
    plot.getAxis(side).setTicks([list(ticks)])


def minus(text: str) -> str:
    """Return a number with a true minus sign."""
    return text.replace("-", "−")
