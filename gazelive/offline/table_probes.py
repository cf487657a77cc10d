"""From a fixation table to probes: one for each session of each viewer label."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gazelive.errors import RecordingError
from gazelive.features.running import running_of_fixations
from gazelive.features.scanpath import Scanpath, scanpath_of_fixations
from gazelive.gaze.samples import Coordinates
from gazelive.gaze.screen import ScreenGeometry
from gazelive.offline.probes import Gathered, Probe, Reading
from gazelive.recordings.fixation_table import FixationTable
from gazelive.recordings.geometry import HOW_TO_GIVE, GeometryFlags
from gazelive.recordings.trials import DEFAULT_PATTERNS


def table_probes(table: FixationTable, reading: Reading) -> Gathered:
    """Return what a table says; it is taken as it is, without detection."""
    x_deg, y_deg = _table_degrees(table, reading.flags)
    codes = (table.viewer, table.session, table.image)
    order = np.lexsort((table.fixation, table.image, table.session, table.viewer))
    label = np.stack([code[order] for code in codes])
    borders = np.flatnonzero((np.diff(label, axis=1) != 0).any(axis=0)) + 1
    paths: dict[tuple[int, int], list[Scanpath]] = {}
    for rows in np.split(order, borders) if len(order) else ():
        viewer, session, image = (int(code[rows[0]]) for code in codes)
        path = scanpath_of_fixations(
            x_deg[rows], y_deg[rows], table.duration_ms[rows] / 1000, table.image_names[image]
        )
        paths.setdefault((viewer, session), []).append(path)
    probes = []
    for (viewer, session), found in paths.items():
        name = table.viewer_names[viewer]
        steps = [tuple(running_of_fixations(path)) for path in found] if reading.running else ()
        probes.append(Probe(name, name, table.session_names[session], tuple(found), tuple(steps)))
    warnings = [f"{table.path}: {problem.text}" for problem in table.problems]
    if reading.trial_patterns != DEFAULT_PATTERNS:
        warnings.append(f"{table.path}: a fixation table has no messages, so none start a trial")
    return Gathered("fixations", tuple(probes), tuple(warnings))


def _table_degrees(
    table: FixationTable, flags: GeometryFlags | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    if table.coordinates is Coordinates.DEGREES:
        return table.x, table.y
    screen: ScreenGeometry | None = table.screen
    if flags is not None and flags.given:
        screen = flags.screen_geometry()
    if screen is None:
        raise RecordingError(
            "has positions in pixels and says nothing about the screen: add " + HOW_TO_GIVE,
            path=table.path,
        )
    return screen.px_to_deg(table.x, table.y)
