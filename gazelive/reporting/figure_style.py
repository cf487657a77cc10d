"""Style of report figures, and their encoding for the page: inline and without a date."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INK, FAINT, GRID = "#1b1f24", "#59626e", "#e3e6ea"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8588f", "#b87900")
"""Okabe and Ito's palette, safe for all kinds of colour vision."""
LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)), (0, (8, 3)))
"""Each curve also has its own dash pattern, for prints in grey."""
UNKNOWN, LOSS, GAP = "#6b7280", "#c23b0c", "#eef0f3"
RESOLUTION_DPI = 150

_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "svg.hashsalt": "gazelive",  # the same session gives the same page
}


@contextmanager
def drawing(width_in: float, height_in: float) -> Iterator[Any]:
    """Yield an empty figure in the report's style; global settings stay unchanged."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        yield Figure(figsize=(width_in, height_in), layout="constrained")


def as_svg(figure: Any) -> str:
    """Return the figure as a data URL with SVG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", dpi=RESOLUTION_DPI, metadata={"Date": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def as_jpeg(figure: Any) -> str:
    """Return the figure as a data URL with JPEG, for photographs."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="jpeg", dpi=RESOLUTION_DPI, pil_kwargs={"quality": 82})
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
