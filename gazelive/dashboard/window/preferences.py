"""Preferences of the user, kept in one small file."""

from __future__ import annotations

from pathlib import Path
from typing import cast, get_args

import platformdirs
from PyQt6.QtCore import QByteArray, QSettings

from gazelive.dashboard.state.posteriors import Against
from gazelive.dashboard.views.theme import ThemeChoice

FILE_NAME = "dashboard.ini"


def user_file() -> Path:
    """Return the preferences file in the system's usual place."""
    return platformdirs.user_config_path("gazelive", appauthor=False) / FILE_NAME


class Preferences:
    """Typed access to the file; damaged values count as not set."""

    def __init__(self, path: Path) -> None:
        self._settings = QSettings(str(path), QSettings.Format.IniFormat)

    @property
    def geometry(self) -> QByteArray | None:
        """Position and size of the window."""
        return self._bytes("window/geometry")

    @geometry.setter
    def geometry(self, value: QByteArray) -> None:
        self._settings.setValue("window/geometry", value)

    @property
    def layout(self) -> QByteArray | None:
        """Layout of the panels, if the user has arranged them."""
        return self._bytes("window/layout")

    @layout.setter
    def layout(self, value: QByteArray | None) -> None:
        if value is None:
            self._settings.remove("window/layout")
        else:
            self._settings.setValue("window/layout", value)

    @property
    def theme(self) -> ThemeChoice:
        """Light, dark, or the desktop's theme."""
        value = self._settings.value("look/theme", "system")
        return cast("ThemeChoice", value) if value in get_args(ThemeChoice) else "system"

    @theme.setter
    def theme(self, value: ThemeChoice) -> None:
        self._settings.setValue("look/theme", value)

    @property
    def zoom(self) -> float:
        """Text size relative to normal."""
        try:
            zoom = float(self._settings.value("look/zoom", 1.0))
        except (TypeError, ValueError):
            return 1.0
        return zoom if 0.5 <= zoom <= 3 else 1.0

    @zoom.setter
    def zoom(self, value: float) -> None:
        self._settings.setValue("look/zoom", value)

    @property
    def hide_viewer(self) -> bool:
        """True if the viewer's name is hidden."""
        return str(self._settings.value("session/hide_viewer", "false")).lower() == "true"

    @hide_viewer.setter
    def hide_viewer(self, value: bool) -> None:
        self._settings.setValue("session/hide_viewer", value)

    @property
    def against(self) -> Against:
        """Horizontal axis of the posterior over time."""
        value = self._settings.value("posterior/against", "saccades")
        return cast("Against", value) if value in get_args(Against) else "saccades"

    @against.setter
    def against(self, value: Against) -> None:
        self._settings.setValue("posterior/against", value)

    def save(self) -> None:
        """Write the file now."""
        self._settings.sync()

    def _bytes(self, key: str) -> QByteArray | None:
        value = self._settings.value(key)
        return value if isinstance(value, QByteArray) else None
