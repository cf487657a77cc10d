"""Scanpath pictures: gaze and fixations on the image, one small picture per viewing interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.analysis import AnalysedInterval
from gazelive.gaze import AngularResolution, Geometry
from gazelive.recordings import Recording, RectanglePx, image_rectangle_px
from gazelive.reporting.figure_style import RESOLUTION_DPI, as_jpeg, drawing
from gazelive.reporting.session_facts import SessionFacts
from gazelive.simulation import default_stimuli
from gazelive.stimuli import find_image, open_image

WIDTH_IN = 4.2
PATH, FIXATION, FIRST = "#ffffff", "#ffd23f", "#3bceac"
EMPTY = "#aab1bb"
MS_PER_POINT2 = 3.5
"""Milliseconds of fixation per square point of the circle's area."""
NUMBERED = 40
"""Scanpaths with more fixations have no numbers."""


@dataclass(frozen=True)
class ScanpathPicture:
    """A picture of one viewing interval."""

    trial: str
    image: str | None
    address: str
    """Data URL of the picture."""
    is_on_image: bool
    """False if the image file was not found or is not readable."""
    n_fixations: int
    seconds: float


def image_folders(facts: SessionFacts, asked: Sequence[Path]) -> list[Path]:
    """Return folders that may contain images: requested, configured, session's, shipped."""
    folders = list(asked)
    config = facts.manifest.config
    stimuli = config.get("stimuli")
    if isinstance(stimuli, dict) and isinstance(stimuli.get("folder"), str):
        base = Path(str(config.get("config_file") or "")).parent
        folders += [base / stimuli["folder"], Path(stimuli["folder"])]
    folders.append(facts.folder)
    shipped = default_stimuli()
    return folders if shipped is None else [*folders, shipped]


def scanpath_pictures(facts: SessionFacts, folders: Sequence[Path]) -> Iterator[ScanpathPicture]:
    """Yield a picture for each interval with fixations."""
    if facts.analysis is None:
        return
    for analysed in facts.analysis.intervals:
        geometry = facts.analysis.geometries[analysed.interval.block].geometry
        fixations = analysed.gaze.detection.fixations
        if not fixations:
            continue
        name = analysed.interval.image
        rectangle, screen = None, None
        if geometry is None:  # positions are angles, without a screen
            geometry = AngularResolution(x_px_per_deg=1.0, y_px_per_deg=1.0)
        else:
            rectangle = _rectangle(facts.recording, analysed)
            screen = _screen(facts.recording)
        stimulus = None
        if rectangle is not None and name is not None:
            stimulus = _stimulus(find_image(name, folders))
        address = _draw(analysed, geometry, screen, rectangle, stimulus)
        yield ScanpathPicture(
            trial=analysed.interval.trial or f"block {analysed.interval.block + 1}",
            image=name,
            address=address,
            is_on_image=stimulus is not None,
            n_fixations=len(fixations),
            seconds=(analysed.interval.end_us - analysed.interval.start_us) / 1e6,
        )


def _rectangle(recording: Recording, analysed: AnalysedInterval) -> RectanglePx | None:
    """Return the image's rectangle, from the last such message of its trial."""
    interval = analysed.interval
    stream = recording.blocks[interval.block].stream
    trial = next(
        (t for t in recording.trials if t.name == interval.trial and t.start_us <= interval.end_us
         and t.end_us >= interval.start_us),
        None,
    )  # fmt: skip
    if trial is None:
        return None
    found = [
        rectangle
        for message in recording.messages
        if trial.start_us <= message.tracker_time_us <= trial.end_us
        and (rectangle := image_rectangle_px(message.text, stream)) is not None
    ]
    return found[-1] if found else None


def _screen(recording: Recording) -> RectanglePx | None:
    """Return the whole screen."""
    size_px = recording.screen_px
    if recording.screen is not None:
        size_px = recording.screen.width_px, recording.screen.height_px
    return None if size_px is None else (0.0, 0.0, float(size_px[0]), float(size_px[1]))


def _draw(
    analysed: AnalysedInterval,
    geometry: Geometry,
    screen: RectanglePx | None,
    rectangle: RectanglePx | None,
    stimulus: Any,
) -> str:
    gaze_x, gaze_y = geometry.deg_to_px(analysed.gaze.x_deg, analysed.gaze.y_deg)
    shown = rectangle or screen or _around(gaze_x, gaze_y)
    left, top, width, height = shown
    height_in = min(max(WIDTH_IN * height / width, 1.5), 2 * WIDTH_IN)
    with drawing(WIDTH_IN, height_in) as figure:
        figure.set_layout_engine("none")
        axis = figure.add_axes((0, 0, 1, 1))
        axis.set_axis_off()
        figure.set_facecolor(EMPTY)
        if stimulus is not None:
            extent = (left, left + width, top + height, top)
            axis.imshow(stimulus, extent=extent, aspect="auto", zorder=0)
        from matplotlib import patheffects

        outline = [patheffects.withStroke(linewidth=2.2, foreground="#00000090")]
        axis.plot(gaze_x, gaze_y, color=PATH, linewidth=0.9, alpha=0.9, path_effects=outline)
        _draw_fixations(axis, analysed, geometry)
        axis.set_xlim(left, left + width)
        axis.set_ylim(top + height, top)
        return as_jpeg(figure)


def _stimulus(file: Path | None) -> Any:
    """Return the image, no larger than drawn; None if it is missing or damaged."""
    from PIL import ImageOps

    if file is None:
        return None
    pixels = round(WIDTH_IN * RESOLUTION_DPI)
    try:
        with open_image(file) as picture:
            picture.draft("RGB", (pixels, pixels))  # decode a JPEG at the needed size
            small = ImageOps.exif_transpose(picture).convert("RGB")  # upright, as shown
            small.thumbnail((pixels, pixels))
            return small
    except (OSError, SyntaxError, ValueError):
        return None


def _draw_fixations(axis: Any, analysed: AnalysedInterval, geometry: Geometry) -> None:
    fixations = analysed.gaze.detection.fixations
    x_px, y_px = geometry.deg_to_px([f.x_deg for f in fixations], [f.y_deg for f in fixations])
    duration_ms = np.array([(f.offset_us - f.onset_us) / 1000 for f in fixations])
    axis.scatter(
        x_px,
        y_px,
        s=np.clip(duration_ms, 20, 2000) / MS_PER_POINT2,
        c=[FIRST] + [FIXATION] * (len(fixations) - 1),
        alpha=0.78,
        edgecolors="black",
        linewidths=0.6,
        zorder=3,
    )
    if len(fixations) > NUMBERED:
        return
    for number, (x, y) in enumerate(zip(x_px, y_px, strict=True), start=1):
        axis.annotate(
            str(number), (x, y), ha="center", va="center", fontsize=5.5, zorder=4,
            annotation_clip=True, color="black",
        )  # fmt: skip


def _around(x_px: Any, y_px: Any) -> RectanglePx:
    """Return a rectangle around the gaze, for an unknown screen."""
    left, right = np.nanpercentile(x_px, [0.5, 99.5])
    top, bottom = np.nanpercentile(y_px, [0.5, 99.5])
    width = 1.2 * float(max(right - left, bottom - top, 1.0))
    height = max(1.2 * float(bottom - top), 0.6 * width)  # not a mere strip
    middle_x, middle_y = float(left + right) / 2, float(top + bottom) / 2
    return middle_x - width / 2, middle_y - height / 2, width, height
