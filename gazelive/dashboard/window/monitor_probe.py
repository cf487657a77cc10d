"""Monitor probe: `python -m gazelive.dashboard.window.monitor_probe FILE`.

Only Qt knows monitor sizes in millimetres on every system. `gazelive doctor` runs this in a child
process and never imports it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from PyQt6.QtGui import QGuiApplication


def monitors() -> list[dict[str, object]]:
    """Return name, size in px and in mm, and rate of each monitor."""
    application = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    assert isinstance(application, QGuiApplication)
    found: list[dict[str, object]] = []
    for screen in application.screens():
        scale, size = screen.devicePixelRatio(), screen.size()
        found.append(
            {
                "name": " ".join(filter(None, (screen.manufacturer(), screen.model()))).strip()
                or screen.name(),
                "width_px": round(size.width() * scale),
                "height_px": round(size.height() * scale),
                "width_mm": screen.physicalSize().width(),
                "height_mm": screen.physicalSize().height(),
                "refresh_rate_hz": screen.refreshRate(),
            }
        )
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(msgspec.json.encode(monitors()))
