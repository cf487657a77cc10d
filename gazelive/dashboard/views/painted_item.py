"""What is painted by hand into a plot: an item with bounds, and a painter to fill them with."""

from __future__ import annotations

from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QPainter
from PyQt6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget


class PaintedItem(QGraphicsItem):
    """Base of such items: `draw` is theirs to fill."""

    def __init__(self) -> None:
        super().__init__()
        self._bounds = QRectF()

    def set_bounds(self, bounds: QRectF) -> None:
        """Say what is covered from now on."""
        self.prepareGeometryChange()
        self._bounds = bounds

    def boundingRect(self) -> QRectF:  # noqa: N802
        """Return what is covered."""
        return self._bounds

    def paint(
        self,
        painter: QPainter | None,
        option: QStyleOptionGraphicsItem | None,
        widget: QWidget | None = None,
    ) -> None:
        """Draw where Qt asks for it."""
        if painter is not None:
            self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Fill the bounds."""
        raise NotImplementedError
