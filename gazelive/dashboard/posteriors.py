"""Who is ahead now, and how it came to that: posteriors as rows and as lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gazelive.gaze.documents import ModelLoaded, Posterior

ROWS = 8
"""Rows shown of the leading, the unknown viewer among them."""
MOST_POINTS = 1_500
"""Posteriors kept; beyond that older ones are thinned out."""
MOST_BOUNDARIES = 300
KEPT_VIEWERS = 12
"""Viewers kept of each posterior."""

UNKNOWN = -1
"""Stands for the unknown viewer where positions of viewers are meant."""

Against = Literal["saccades", "seconds"]


@dataclass(frozen=True)
class Contender:
    """One row: a viewer, the unknown viewer, or all the others together."""

    kind: Literal["viewer", "unknown", "others"]
    position: int
    """In `ModelLoaded.viewer_ids`; `UNKNOWN` for the other kinds."""
    name: str
    probability: float


@dataclass(frozen=True)
class Standing:
    """Who is ahead after so much evidence."""

    contenders: tuple[Contender, ...]
    """Most probable first; the others together come last."""
    n_enrolled: int | None
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool

    @property
    def leader(self) -> Contender | None:
        """The most probable, which may be the unknown viewer."""
        return self.contenders[0] if self.contenders else None


def viewer_name(position: int, model: ModelLoaded | None) -> str:
    """Return the viewer's name, or what there is as long as no names have come."""
    if position == UNKNOWN:
        return "Unknown viewer"
    if model is not None and 0 <= position < len(model.viewer_ids):
        return model.viewer_ids[position]
    return f"viewer no. {position + 1}"


def shown_probabilities(posterior: Posterior, most: int | None = None) -> dict[int, float]:
    """Return what is shown of each leading viewer, p·(1 − unknown), and of the unknown one."""
    unknown = None if posterior.log_unknown is None else _exp(posterior.log_unknown)
    known = 1.0 - (unknown or 0.0)
    pairs = zip(posterior.leading[:most], posterior.log_probabilities[:most], strict=False)
    shown = {position: _exp(log_p) * known for position, log_p in pairs}
    if unknown is not None:
        shown[UNKNOWN] = unknown
    return shown


def standing(posterior: Posterior, model: ModelLoaded | None, rows: int = ROWS) -> Standing:
    """Return the rows to show: the most probable, and what is left for all the others."""
    shown = shown_probabilities(posterior)
    order = sorted(shown, key=lambda position: -shown[position])
    taken = order[:rows]
    if UNKNOWN in shown and UNKNOWN not in taken:
        taken = [*taken[:-1], UNKNOWN]
    contenders = [
        Contender(
            "unknown" if position == UNKNOWN else "viewer",
            position,
            viewer_name(position, model),
            shown[position],
        )
        for position in taken
    ]
    n_enrolled = None if model is None else len(model.viewer_ids)
    n_rest = (n_enrolled or len(posterior.leading)) - sum(c.kind == "viewer" for c in contenders)
    if n_rest > 0:
        rest = max(1.0 - sum(c.probability for c in contenders), 0.0)
        name = "1 other" if n_rest == 1 else f"{n_rest:,} others"
        contenders.append(Contender("others", UNKNOWN, name, rest))
    return Standing(
        contenders=tuple(contenders),
        n_enrolled=n_enrolled,
        n_saccades=posterior.n_saccades,
        n_images=posterior.n_images,
        seconds=posterior.seconds,
        settled=posterior.settled,
    )


@dataclass(frozen=True)
class HistoryPoint:
    """A posterior as the lines need it."""

    tracker_time_us: int
    n_saccades: int
    seconds: float
    settled: bool
    shown: dict[int, float]

    def along(self, against: Against) -> float:
        """Return its place on the horizontal axis."""
        return self.seconds if against == "seconds" else float(self.n_saccades)


@dataclass(frozen=True)
class Boundary:
    """Where a new image began, in units of the evidence before it."""

    ordinal: int
    """1 is the first image of the run."""
    n_saccades: int
    seconds: float
    label: str

    def along(self, against: Against) -> float:
        """Return its place on the horizontal axis."""
        return self.seconds if against == "seconds" else float(self.n_saccades)


@dataclass(frozen=True)
class Line:
    """One viewer's probability; NaN where the viewer was not among the leading."""

    position: int
    settled_x: list[float]
    settled_p: list[float]
    running_x: list[float]
    running_p: list[float]
    """From each settled point through the running ones after it; NaN between the images."""


class PosteriorHistory:
    """All posteriors of a run, thinned where they become too many."""

    def __init__(self) -> None:
        self.points: list[HistoryPoint] = []
        self.boundaries: list[Boundary] = []
        self.revision = 0

    def clear(self) -> None:
        """Forget everything."""
        self.points, self.boundaries = [], []
        self.revision += 1

    def add(self, posterior: Posterior) -> bool:
        """Take a posterior; return False for one that is older than the last, or the same."""
        point = HistoryPoint(
            posterior.tracker_time_us,
            posterior.n_saccades,
            posterior.seconds,
            posterior.settled,
            shown_probabilities(posterior, KEPT_VIEWERS),
        )
        if self.points and not _goes_on(self.points[-1], point):
            return False
        self.points.append(point)
        if len(self.points) > MOST_POINTS:
            self.points = _thinned(self.points)
        self.revision += 1
        return True

    def begin_image(self, label: str, ordinal: int | None = None) -> None:
        """Mark that a new image begins here: the `ordinal`-th where that is known."""
        last = self.points[-1] if self.points else None
        place = (last.n_saccades, last.seconds) if last else (0, 0.0)
        if ordinal is None:
            ordinal = self.boundaries[-1].ordinal + 1 if self.boundaries else 1
        if (
            self.boundaries
            and (self.boundaries[-1].n_saccades, self.boundaries[-1].seconds) == place
        ):
            self.boundaries.pop()  # nothing was seen of the image before
        self.boundaries = [*self.boundaries, Boundary(ordinal, *place, label)][-MOST_BOUNDARIES:]
        self.revision += 1

    def leading(self, most: int) -> list[int]:
        """Return who has lines: the leading of the last posterior, the unknown viewer too."""
        if not self.points:
            return []
        shown = self.points[-1].shown
        order = sorted(shown, key=lambda position: -shown[position])[:most]
        if UNKNOWN in shown and UNKNOWN not in order:
            order[-1] = UNKNOWN
        return order

    def line(self, position: int, against: Against) -> Line:
        """Return one viewer's line."""
        line = Line(position, [], [], [], [])
        was_settled = False
        for point in self.points:
            x, p = point.along(against), point.shown.get(position, math.nan)
            if point.settled:
                line.settled_x.append(x)
                line.settled_p.append(p)
                line.running_x.append(math.nan)
                line.running_p.append(math.nan)
            line.running_x.append(x)
            line.running_p.append(p)
            was_settled = point.settled
        if was_settled:  # the last settled point begins no running line yet
            del line.running_x[-1], line.running_p[-1]
        return line


def _goes_on(last: HistoryPoint, point: HistoryPoint) -> bool:
    """Say whether `point` is news: later, or what the running ones before it settled to."""
    settles = point.settled and not last.settled
    return settles or point.tracker_time_us > last.tracker_time_us


def _thinned(points: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    """Keep the last quarter, and of the older ones one for each of equal shares of saccades."""
    older, recent = points[: -MOST_POINTS // 4], points[-MOST_POINTS // 4 :]
    first, last = older[0].n_saccades, older[-1].n_saccades
    share = max(last - first, 1) / (MOST_POINTS // 2)
    kept: dict[int, HistoryPoint] = {}
    for point in older:
        place = int((point.n_saccades - first) / share)
        if point.settled or place not in kept or not kept[place].settled:
            kept[place] = point
    return [*kept.values(), *recent]


def _exp(log_probability: float) -> float:
    return math.exp(min(log_probability, 0.0)) if not math.isnan(log_probability) else 0.0
