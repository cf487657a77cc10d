"""A scanpath on its image: where a person looked, for how long, and in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gazelive.atomic import written_aside
from gazelive.gaze.screen import ScreenGeometry
from gazelive.offline.analysis import AnalysedInterval

PATH_COLOUR, START_COLOUR = "#ffd23f", "#3bceac"
MS_PER_AREA = 1.6
"""Fixations are circles whose area grows with their duration."""

RectPx = tuple[float, float, float, float]
"""Left, top, width and height on the screen."""


def draw_scanpath(
    analysed: AnalysedInterval, image: Path, rect_px: RectPx, screen: ScreenGeometry, path: Path
) -> None:
    """Write the figure; the image stood at `rect_px` on the screen."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt
    from PIL import Image

    left, top, width, height = rect_px
    figure, axis = plt.subplots(figsize=(9, 9 * height / width + 0.6), layout="constrained")
    with Image.open(image) as picture:
        axis.imshow(picture.convert("RGB"), extent=(left, left + width, top + height, top))
    gaze_x, gaze_y = screen.deg_to_px(analysed.gaze.x_deg, analysed.gaze.y_deg)
    axis.plot(gaze_x, gaze_y, color="white", linewidth=0.8, alpha=0.7)
    _draw_fixations(axis, analysed, screen)
    axis.set_xlim(left, left + width)
    axis.set_ylim(top + height, top)
    axis.set_xticks([])
    axis.set_yticks([])
    n_fixations = len(analysed.gaze.detection.fixations)
    seconds = (analysed.interval.end_us - analysed.interval.start_us) / 1e6
    axis.set_title(
        f"{Path(analysed.interval.image or image).name} · {n_fixations} fixations in "
        f"{seconds:.0f} s · circles grow with duration",
        fontsize=10,
        loc="left",
    )
    with written_aside(path) as aside:
        figure.savefig(aside, dpi=110)
    plt.close(figure)


def _draw_fixations(axis: Any, analysed: AnalysedInterval, screen: ScreenGeometry) -> None:
    fixations = analysed.gaze.detection.fixations
    if not fixations:
        return
    x_px, y_px = screen.deg_to_px([f.x_deg for f in fixations], [f.y_deg for f in fixations])
    duration_ms = np.array([(f.offset_us - f.onset_us) / 1000 for f in fixations])
    colours = [START_COLOUR] + [PATH_COLOUR] * (len(fixations) - 1)
    axis.scatter(
        x_px,
        y_px,
        s=duration_ms * MS_PER_AREA,
        c=colours,
        alpha=0.75,
        edgecolors="black",
        linewidths=0.8,
        zorder=3,
    )
    for number, (x, y) in enumerate(zip(x_px, y_px, strict=True), start=1):
        axis.annotate(str(number), (x, y), ha="center", va="center", fontsize=7, zorder=4)
