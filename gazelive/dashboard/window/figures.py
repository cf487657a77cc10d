"""Figures: save a panel or the whole window as PNG (slides) or SVG (papers)."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import QPoint, QRect, QSize
from PyQt6.QtGui import QImage, QPainter
from PyQt6.QtSvg import QSvgGenerator
from PyQt6.QtWidgets import QWidget

from gazelive.errors import ConfigError

PNG_SCALE = 2.0
"""File pixels per window pixel, for sharp print."""
SUFFIXES = (".png", ".svg")


def save_figure(widget: QWidget, path: Path, *, scale: float = PNG_SCALE) -> None:
    """Save the widget's picture; the suffix selects the format."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(
            f"the name of a figure must end in {' or '.join(SUFFIXES)}, not {path.name!r}",
            path=path,
        )
    written = _save_svg(widget, path) if suffix == ".svg" else _save_png(widget, path, scale)
    if not written:
        raise ConfigError("cannot write the figure", path=path)


def _save_png(widget: QWidget, path: Path, scale: float) -> bool:
    size = widget.size()
    image = QImage(
        round(size.width() * scale), round(size.height() * scale), QImage.Format.Format_RGB32
    )
    image.setDevicePixelRatio(scale)
    image.fill(widget.palette().window().color())
    painter = QPainter(image)
    widget.render(painter, QPoint())
    painter.end()
    return image.save(str(path), "PNG")


def _save_svg(widget: QWidget, path: Path) -> bool:
    size = widget.size()
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(QSize(size.width(), size.height()))
    generator.setResolution(widget.logicalDpiX())  # else text has another size
    generator.setViewBox(QRect(QPoint(), size))
    generator.setTitle(widget.accessibleName() or "gazelive dashboard")
    painter = QPainter()
    if not painter.begin(generator):
        return False
    widget.render(painter, QPoint())
    return painter.end()
