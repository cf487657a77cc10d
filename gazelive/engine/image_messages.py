"""Where an image is on the screen, as Data Viewer's messages tell it."""

from __future__ import annotations

import re

from gazelive.gaze.stream import StreamDescription

RectanglePx = tuple[float, float, float, float]
"""Left, top, width and height."""

_NUMBER = r"-?\d+(?:\.\d+)?"
_IMAGE = re.compile(
    rf"!V IMGLOAD\s+(?P<how>FILL|CENTER|TOP_LEFT)\s+\S.*?"
    rf"(?:\s+(?P<x>{_NUMBER})\s+(?P<y>{_NUMBER})(?:\s+(?P<w>{_NUMBER})\s+(?P<h>{_NUMBER}))?)?\s*$"
)


def image_rectangle_px(text: str, stream: StreamDescription | None) -> RectanglePx | None:
    """Return the rectangle that an IMGLOAD message gives, None where it gives none.

    `FILL` is the whole screen; `CENTER x y w h` has its middle at x, y and `TOP_LEFT x y w h` its
    corner. Without a size nobody knows how large the image is.
    """
    match = _IMAGE.match(text)
    if match is None:
        return None
    if match["how"] == "FILL":
        size_px = _screen_px(stream)
        return None if size_px is None else (0.0, 0.0, float(size_px[0]), float(size_px[1]))
    if match["w"] is None:
        return None
    x, y, width, height = (float(match[name]) for name in ("x", "y", "w", "h"))
    if match["how"] == "CENTER":
        return x - width / 2, y - height / 2, width, height
    return x, y, width, height


def _screen_px(stream: StreamDescription | None) -> tuple[int, int] | None:
    if stream is None:
        return None
    if stream.screen is not None:
        return stream.screen.width_px, stream.screen.height_px
    return stream.screen_px
