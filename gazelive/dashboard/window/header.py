"""Header in the window's corner: the state of the connection."""

from __future__ import annotations

from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QWidget

from gazelive.dashboard.state.connection import Connection, Phase
from gazelive.dashboard.views.panel import Look
from gazelive.dashboard.views.theme import scaled_font

SIGNS: dict[Phase, str] = {
    "waiting": "◌",
    "lost": "✖",
    "idle": "◌",
    "stopped": "■",
    "paused": "▮▮",
    "silent": "▲",
    "running": "●",
}


class Header(QWidget):
    """A symbol and a sentence, coloured by how good the state is."""

    def __init__(self) -> None:
        super().__init__()
        self._look: Look | None = None
        self._shown: Connection | None = None
        self.label = QLabel()
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setAccessibleName("Engine")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(4, 2, 8, 2)
        layout.addWidget(self.label)

    def set_look(self, look: Look) -> None:
        """Apply colours and sizes."""
        self._look, self._shown = look, None
        self.label.setFont(scaled_font(look.scale, bold=True))

    def show_connection(self, connection: Connection) -> bool:
        """Show the connection; return True if it has changed."""
        if self._look is None or connection == self._shown:
            return False
        self._shown = connection
        theme = self._look.theme
        colour = {
            "running": theme.good,
            "lost": theme.poor,
            "waiting": theme.fair,
            "silent": theme.fair,
            "paused": theme.accent,
        }.get(connection.phase, theme.faint)
        self.label.setText(f"{SIGNS[connection.phase]} {connection.text}")
        self.label.setAccessibleDescription(connection.text)
        self.label.setStyleSheet(
            f"color: {colour}; border: 1px solid {colour}; border-radius: 4px; padding: 1px 8px;"
        )
        return True
