"""Theme: colours and sizes, light and dark.

Colours of viewers, turns and levels come from Okabe and Ito's palette, which is safe for all kinds
of colour vision; each also has its own shape, line style or word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PyQt6.QtCore import Qt
from PyQt6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PyQt6.QtWidgets import QApplication

from gazelive.dashboard.state.gauges import Level
from gazelive.features import Turn

ThemeName = Literal["light", "dark"]
ThemeChoice = Literal["system", "light", "dark"]

BASE_POINT_SIZE = 9.5
SMALLEST_WINDOW = (1280, 800)
SCALES = (1.0, 1.25, 1.5, 1.75, 2.0)


@dataclass(frozen=True)
class Theme:
    """Colours as #rrggbb."""

    name: ThemeName
    window: str
    panel: str
    plot: str
    raised: str
    border: str
    text: str
    faint: str
    grid: str
    accent: str
    on_accent: str
    viewers: tuple[str, ...]
    unknown: str
    others: str
    horizontal: str
    vertical: str
    speed: str
    threshold: str
    saccade_band: str
    loss_band: str
    artefact_band: str
    pursuit_band: str
    population: str
    gaze: str
    good: str
    fair: str
    poor: str

    def level(self, level: Level) -> str:
        """Return the colour of a level."""
        return (self.good, self.fair, self.poor, self.faint)[level]

    def turn(self, turn: Turn) -> str:
        """Return the colour of a saccade by its turn."""
        return (*TURN_COLOURS, "#ffffff")[turn]


LIGHT = Theme(
    name="light",
    window="#eceef1",
    panel="#ffffff",
    plot="#ffffff",
    raised="#f5f6f8",
    border="#c9ced6",
    text="#1b1f24",
    faint="#59626e",
    grid="#d9dde3",
    accent="#0b62a4",
    on_accent="#ffffff",
    viewers=(
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#b8588f",
        "#b87900",
        "#3b9ad6",
        "#7a5230",
        "#5b5bd6",
    ),
    unknown="#6b7280",
    others="#c3c8d0",
    horizontal="#0072b2",
    vertical="#c04f00",
    speed="#374151",
    threshold="#b0306a",
    saccade_band="#f3d98b",
    loss_band="#cbd1da",
    artefact_band="#e9b9cf",
    pursuit_band="#c3e3d0",
    population="#9cc3de",
    gaze="#d1127b",
    good="#00795a",
    fair="#a86400",
    poor="#c23b0c",
)
DARK = Theme(
    name="dark",
    window="#15181c",
    panel="#1e2227",
    plot="#1a1d22",
    raised="#272c33",
    border="#3a414b",
    text="#e9ecf0",
    faint="#a3adba",
    grid="#333a43",
    accent="#4aa3e0",
    on_accent="#0d1116",
    viewers=(
        "#56b4e9",
        "#f08a3c",
        "#2fc495",
        "#e39ac4",
        "#e6b422",
        "#8fa8ff",
        "#c9a27e",
        "#f0e442",
    ),
    unknown="#a3adba",
    others="#4a525e",
    horizontal="#56b4e9",
    vertical="#f08a3c",
    speed="#d5dae1",
    threshold="#f078b4",
    saccade_band="#5c4a17",
    loss_band="#3d4551",
    artefact_band="#5a2f45",
    pursuit_band="#274a38",
    population="#2c5a7a",
    gaze="#ff4fb0",
    good="#3ccf9d",
    fair="#f0b440",
    poor="#ff8050",
)

TURN_COLOURS = ("#56b4e9", "#e69f00", "#f0e442", "#ff7a45")
"""Maintain, right, left, reverse: the same in both themes, since they lie on images."""
TURN_WORDS = {
    Turn.MAINTAIN: "straight on",
    Turn.RIGHT: "right turn",
    Turn.LEFT: "left turn",
    Turn.REVERSE: "reversal",
    Turn.NONE: "first",
}
TURN_STYLES = {
    Turn.MAINTAIN: Qt.PenStyle.SolidLine,
    Turn.RIGHT: Qt.PenStyle.DashLine,
    Turn.LEFT: Qt.PenStyle.DotLine,
    Turn.REVERSE: Qt.PenStyle.DashDotLine,
    Turn.NONE: Qt.PenStyle.SolidLine,
}
VIEWER_SYMBOLS = ("o", "s", "t1", "d", "t", "p", "h", "star")
UNKNOWN_SYMBOL = "x"


def theme_for(choice: ThemeChoice) -> Theme:
    """Return the chosen theme, or the desktop's."""
    if choice == "system":
        hints = QGuiApplication.styleHints()
        dark = hints is not None and hints.colorScheme() == Qt.ColorScheme.Dark
        return DARK if dark else LIGHT
    return DARK if choice == "dark" else LIGHT


def text_scale(width_px: int, height_px: int) -> float:
    """Return the text scale relative to the smallest window, in steps.

    Without it, text would be tiny in a window on a whole 4K screen without desktop scaling.
    """
    room = min(width_px / SMALLEST_WINDOW[0], height_px / SMALLEST_WINDOW[1])
    fitting = [scale for scale in SCALES if scale <= max(room * 0.75, 1.0)]
    return fitting[-1]


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Set the application's palette."""
    palette = QPalette()
    role = QPalette.ColorRole
    for roles, colour in (
        ((role.Window, role.Button), theme.window),
        ((role.Base, role.ToolTipBase), theme.panel),
        ((role.AlternateBase,), theme.raised),
        (
            (role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.BrightText),
            theme.text,
        ),
        ((role.PlaceholderText,), theme.faint),
        ((role.Highlight, role.Link), theme.accent),
        ((role.HighlightedText,), theme.on_accent),
        ((role.Mid, role.Dark), theme.border),
        ((role.Light, role.Midlight), theme.raised),
    ):
        for each in roles:
            palette.setColor(each, QColor(colour))
    for each in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, each, QColor(theme.faint))
    app.setPalette(palette)


def style_sheet(theme: Theme, scale: float) -> str:
    """Return the style sheet of docks, panels and buttons."""
    pad = round(4 * scale)
    return f"""
        QMainWindow, QMainWindow > QWidget {{ background: {theme.window}; }}
        QMainWindow::separator {{ background: {theme.window};
            width: {pad + 2}px; height: {pad + 2}px; }}
        QMainWindow::separator:hover {{ background: {theme.accent}; }}
        QWidget#docktitle {{ background: {theme.raised}; border: 1px solid {theme.border}; }}
        QToolButton#dockbutton {{ background: transparent; border: 1px solid transparent;
            padding: 1px; }}
        QToolButton#dockbutton:hover {{ border-color: {theme.accent}; }}
        QWidget#panel {{ background: {theme.panel}; border: 1px solid {theme.border};
            border-top: none; font-weight: 400; }}
        QWidget#panel:focus {{ border: 2px solid {theme.accent}; }}
        QLabel#faint {{ color: {theme.faint}; }}
        QPushButton, QToolButton, QLineEdit {{ background: {theme.raised};
            border: 1px solid {theme.border}; border-radius: {pad}px;
            padding: {pad}px {2 * pad}px; color: {theme.text}; }}
        QPushButton:hover, QToolButton:hover {{ border-color: {theme.accent}; }}
        QPushButton:focus, QToolButton:focus, QLineEdit:focus, QListView:focus {{
            border: 2px solid {theme.accent}; }}
        QPushButton:pressed, QToolButton:pressed, QPushButton:checked {{
            background: {theme.accent}; color: {theme.on_accent}; }}
        QPushButton:disabled, QToolButton:disabled, QLineEdit:disabled {{
            color: {theme.faint}; background: {theme.panel}; }}
        QToolButton::menu-indicator {{ image: none; }}
        QListView {{ background: {theme.plot}; border: 1px solid {theme.border}; }}
        QToolTip {{ background: {theme.panel}; color: {theme.text};
            border: 1px solid {theme.border}; }}
        QMenuBar, QStatusBar {{ background: {theme.window}; color: {theme.text}; }}
    """


def scaled_font(scale: float, factor: float = 1.0, *, bold: bool = False) -> QFont:
    """Return the application's font, scaled."""
    font = QFont(QApplication.font())
    font.setPointSizeF(BASE_POINT_SIZE * scale * factor)
    font.setBold(bold)
    return font
