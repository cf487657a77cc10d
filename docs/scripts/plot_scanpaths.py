"""Draw simulated scanpaths on images, and the gaze of one of them over time.

python docs/scripts/plot_scanpaths.py docs/figures/simulated_scanpaths.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.image import imread

from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.simulation.image_pool import ImagePool, default_stimuli
from gazelive.simulation.lab_session import IMAGE_PX, image_rect_px
from gazelive.simulation.truth import SimulatedTrace
from gazelive.simulation.viewer import ViewerSimulation

VIEWERS = ("v001", "v002", "v003")
N_IMAGES = 3
SECONDS = 8.0
RATE_HZ = 1000.0
SHOWN_S = (1.0, 5.0)


def view(viewer_id: str, pool: ImagePool) -> list[SimulatedTrace]:
    """Return the gaze of a viewer at each image, after a cross, one after the other."""
    viewer = ViewerSimulation(
        viewer_id, seed=0, session=1, sampling_rate_hz=RATE_HZ, eyes="R", screen=PAPER_SCREEN
    )
    traces = []
    for name in pool.names:
        viewer.show_cross(960.0, 540.0)
        viewer.advance(round(RATE_HZ))
        viewer.show_image(pool.image(name).saliency, image_rect_px())
        traces.append(viewer.advance(round(SECONDS * RATE_HZ))[1])
    return traces


def draw_scanpath(axes: Axes, trace: SimulatedTrace, pool: ImagePool, name: str) -> None:
    """Draw the fixations of a trace on the image, or on its saliency if it does not exist."""
    left, top, width, height = image_rect_px()
    extent = (left, left + width, top + height, top)
    stimuli = default_stimuli()
    if name.startswith("generated") or stimuli is None:
        axes.imshow(pool.image(name).saliency.density, extent=extent, cmap="gray")
    else:
        axes.imshow(imread(stimuli / Path(name).name), extent=extent)
    fixations = trace.fixations
    x_px, y_px = PAPER_SCREEN.deg_to_px([f.x_deg for f in fixations], [f.y_deg for f in fixations])
    axes.plot(x_px, y_px, color="gold", lw=0.8)
    areas = [f.duration_ms / 3 for f in fixations]
    axes.scatter(x_px, y_px, s=areas, c=np.arange(len(areas)), cmap="plasma", ec="white", lw=0.4)
    axes.set(xlim=(left, left + IMAGE_PX[0]), ylim=(top + IMAGE_PX[1], top), xticks=[], yticks=[])


def draw_trace(axes: tuple[Axes, Axes], trace: SimulatedTrace) -> None:
    """Draw position and speed over some seconds; true saccades are shaded."""
    start, stop = (round(second * RATE_HZ) for second in SHOWN_S)
    time_s = (trace.tracker_time_us[start:stop] - trace.tracker_time_us[0]) / 1e6
    gaze = trace.gaze_deg[start:stop, 0]
    velocity = np.gradient(gaze, axis=0) * RATE_HZ
    kernel = np.ones(5) / 5
    smooth = [np.convolve(velocity[:, k], kernel, mode="same") for k in range(2)]
    axes[0].plot(time_s, gaze[:, 0], lw=0.7, label="x")
    axes[0].plot(time_s, gaze[:, 1], lw=0.7, label="y")
    axes[0].set(ylabel="gaze (°)")
    axes[0].legend(loc="upper right", ncol=2, frameon=False)
    axes[1].plot(time_s, np.hypot(*smooth), lw=0.7, color="black")
    axes[1].set(ylabel="speed (°/s)", xlabel="time after image onset (s)", xlim=SHOWN_S)
    for saccade in trace.saccades:
        onset_s, offset_s = (
            (time_us - trace.tracker_time_us[0]) / 1e6
            for time_us in (saccade.onset_us, saccade.offset_us)
        )
        if SHOWN_S[0] < onset_s < SHOWN_S[1]:
            colour = "tab:green" if saccade.kind == "microsaccade" else "tab:orange"
            for each in axes:
                each.axvspan(onset_s, offset_s, color=colour, alpha=0.3, lw=0)


def main() -> None:
    """Draw everything into one picture."""
    mpl.use("Agg")
    pool = ImagePool(N_IMAGES, default_stimuli())
    figure = plt.figure(figsize=(11, 11), layout="constrained")
    grid = figure.add_gridspec(
        len(VIEWERS) + 2, N_IMAGES, height_ratios=[1] * len(VIEWERS) + [0.8] * 2
    )
    traces = {viewer_id: view(viewer_id, pool) for viewer_id in VIEWERS}
    for row, viewer_id in enumerate(VIEWERS):
        for column, name in enumerate(pool.names):
            axes = figure.add_subplot(grid[row, column])
            draw_scanpath(axes, traces[viewer_id][column], pool, name)
            if column == 0:
                axes.set_ylabel(viewer_id)
            if row == 0:
                axes.set_title(Path(name).stem, fontsize=9)
    upper = figure.add_subplot(grid[-2, :])
    lower = figure.add_subplot(grid[-1, :], sharex=upper)
    draw_trace((upper, lower), traces[VIEWERS[0]][0])
    figure.savefig(Path(sys.argv[1]), dpi=90)


if __name__ == "__main__":
    main()
