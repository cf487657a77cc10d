"""Panel: base class of a widget with a title that shows the state in a given look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from PyQt6.QtCore import QMargins, Qt
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLayout, QWidget

from gazelive.dashboard.state.state import DashboardState
from gazelive.dashboard.views.theme import Theme, scaled_font


@dataclass(frozen=True)
class Look:
    """Theme and text scale."""

    theme: Theme
    scale: float


SKIPPED_FRAMES = 6
"""Frames between two drawings of a costly panel: five drawings per second are enough."""


class Panel(QWidget):
    """Base class of panels; they implement `refresh` and `set_look`."""

    key: ClassVar[str]
    """Name in the saved layout."""
    title: ClassVar[str]
    about: ClassVar[str]
    """Description for screen readers."""

    def __init__(self) -> None:
        super().__init__()
        self._frames_to_skip = 0
        self._spacing: dict[QLayout, tuple[QMargins, int]] = {}
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.title)
        self.setAccessibleDescription(self.about)

    def scale_spacing(self, scale: float) -> None:
        """Scale the layouts' margins and gaps with the text."""
        for layout in self.findChildren(QLayout):
            if layout not in self._spacing:
                self._spacing[layout] = layout.contentsMargins(), layout.spacing()
            margins, spacing = self._spacing[layout]
            layout.setContentsMargins(margins * scale)
            if spacing > 0:
                layout.setSpacing(round(spacing * scale))

    def _lay_out_plot(
        self, plot: QWidget, hint: QWidget, legend: QWidget, corner: QWidget | None = None
    ) -> None:
        """Lay out a plot with a hint over it, the legend below it, and a widget in the corner."""
        below = QHBoxLayout()
        below.addWidget(legend, 1)
        if corner is not None:
            below.addWidget(corner, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        layout = QGridLayout(self)
        layout.setContentsMargins(4, 4, 8, 6)
        layout.setSpacing(2)
        over_each_other(layout, 0, plot, hint)
        layout.addLayout(below, 1, 0)
        layout.setRowStretch(0, 1)

    def refresh(self, state: DashboardState) -> None:
        """Show what has changed since the last call."""
        raise NotImplementedError

    def _may_draw(self) -> bool:
        """Return, once per frame, whether enough frames have passed since `_defer_drawing`."""
        self._frames_to_skip = max(self._frames_to_skip - 1, 0)
        return self._frames_to_skip == 0

    def _defer_drawing(self) -> None:
        """Skip some frames: in a fast replay everything changes in each frame."""
        self._frames_to_skip = SKIPPED_FRAMES

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        raise NotImplementedError


class Hint(QLabel):
    """Text of a panel without data."""

    def __init__(self, text: str, *, on_plot: bool = True) -> None:
        super().__init__(text)
        self._axis_px = 50 if on_plot else 0
        self.setObjectName("faint")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setMargin(12)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set_look(self, look: Look) -> None:
        """Apply the text size; stay clear of the axes of a plot."""
        self.setFont(scaled_font(look.scale))
        self.setContentsMargins(round(self._axis_px * look.scale), 0, 0, 0)


def over_each_other(layout: QGridLayout, row: int, below: QWidget, above: QWidget) -> None:
    """Put two widgets into the same cell."""
    layout.addWidget(below, row, 0)
    layout.addWidget(above, row, 0)
    above.raise_()
