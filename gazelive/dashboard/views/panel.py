"""What every panel is: a widget with a title that reads the state and takes on a look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from PyQt6.QtCore import QMargins, Qt
from PyQt6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLayout, QWidget

from gazelive.dashboard.state import DashboardState
from gazelive.dashboard.theme import Theme, scaled_font


@dataclass(frozen=True)
class Look:
    """Colours, and how large text is."""

    theme: Theme
    scale: float


REST_FRAMES = 6
"""Between two drawings of what is costly to draw: five a second are enough for what is read."""


class Panel(QWidget):
    """Base of the panels: `refresh` and `set_look` are theirs to fill."""

    key: ClassVar[str]
    """Name by which the layout is remembered."""
    title: ClassVar[str]
    about: ClassVar[str]
    """For those who hear the window instead of seeing it."""

    def __init__(self) -> None:
        super().__init__()
        self._frames_to_rest = 0
        self._spacing: dict[QLayout, tuple[QMargins, int]] = {}
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.title)
        self.setAccessibleDescription(self.about)

    def scale_spacing(self, scale: float) -> None:
        """Give layouts margins and gaps in proportion to the text."""
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
        """Put a plot over its legend, what is said without data over the plot, and a corner."""
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

    def _rested(self) -> bool:
        """Say, once per frame, whether enough of them have passed since `_tire`."""
        self._frames_to_rest = max(self._frames_to_rest - 1, 0)
        return self._frames_to_rest == 0

    def _tire(self) -> None:
        """Rest some frames: a replay at many times real time changes everything in each."""
        self._frames_to_rest = REST_FRAMES

    def set_look(self, look: Look) -> None:
        """Take on colours and sizes."""
        raise NotImplementedError


class Hint(QLabel):
    """What a panel says as long as it has nothing to show."""

    def __init__(self, text: str, *, on_plot: bool = True) -> None:
        super().__init__(text)
        self._axis_px = 50 if on_plot else 0
        self.setObjectName("faint")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setWordWrap(True)
        self.setMargin(12)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set_look(self, look: Look) -> None:
        """Take on the size of text; stay clear of the axes of a plot."""
        self.setFont(scaled_font(look.scale))
        self.setContentsMargins(round(self._axis_px * look.scale), 0, 0, 0)


def over_each_other(layout: QGridLayout, row: int, below: QWidget, above: QWidget) -> None:
    """Put two widgets into the same place."""
    layout.addWidget(below, row, 0)
    layout.addWidget(above, row, 0)
    above.raise_()
