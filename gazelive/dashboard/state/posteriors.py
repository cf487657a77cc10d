"""Posteriors: the current ranking of viewers, their history, and a slot (colour) for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from gazelive.gaze import ModelLoaded, Posterior
from gazelive.verdict import Verdict, verdict_of

ROWS = 8
"""Rows of the ranking, including the unknown viewer."""
MOST_POINTS = 1_500
"""Posteriors kept; older ones are thinned out."""
MOST_BOUNDARIES = 300
KEPT_VIEWERS = 12
"""Viewers kept of each posterior."""

UNKNOWN = -1
"""Position of the unknown viewer."""

Against = Literal["saccades", "seconds"]


@dataclass(frozen=True)
class Candidate:
    """One row: a viewer, the unknown viewer, or all the others together."""

    kind: Literal["viewer", "unknown", "others"]
    position: int
    """In `ModelLoaded.viewer_ids`; `UNKNOWN` for the other kinds."""
    name: str
    probability: float


@dataclass(frozen=True)
class Ranking:
    """The most probable viewers, and the evidence so far."""

    candidates: tuple[Candidate, ...]
    """Most probable first; the others together come last."""
    n_enrolled: int | None
    n_saccades: int
    n_images: int
    seconds: float
    settled: bool
    verdict: Verdict

    @property
    def leader(self) -> Candidate | None:
        """The candidate of the headline: the best viewer, or the unknown viewer."""
        kind = "unknown" if self.verdict.status == "stranger" else "viewer"
        return next((one for one in self.candidates if one.kind == kind), None)


def viewer_name(position: int, model: ModelLoaded | None) -> str:
    """Return the viewer's name, or a number while names are unknown."""
    if position == UNKNOWN:
        return "Unknown viewer"
    if model is not None and 0 <= position < len(model.viewer_ids):
        return model.viewer_ids[position]
    return f"viewer no. {position + 1}"


def shown_probabilities(posterior: Posterior, most: int | None = None) -> dict[int, float]:
    """Return p·(1 − unknown) of each leading viewer, and the probability of the unknown one."""
    unknown = None if posterior.log_unknown is None else _exp(posterior.log_unknown)
    known = 1.0 - (unknown or 0.0)
    pairs = zip(posterior.leading[:most], posterior.log_probabilities[:most], strict=False)
    shown = {position: _exp(log_p) * known for position, log_p in pairs}
    if unknown is not None:
        shown[UNKNOWN] = unknown
    return shown


def ranking(posterior: Posterior, model: ModelLoaded | None, rows: int = ROWS) -> Ranking:
    """Return the most probable candidates, and the rest as one row."""
    shown = shown_probabilities(posterior)
    order = sorted(shown, key=lambda position: -shown[position])
    taken = order[:rows]
    if UNKNOWN in shown and UNKNOWN not in taken:
        taken = [*taken[:-1], UNKNOWN]
    candidates = [
        Candidate(
            "unknown" if position == UNKNOWN else "viewer",
            position,
            viewer_name(position, model),
            shown[position],
        )
        for position in taken
    ]
    n_enrolled = None if model is None else len(model.viewer_ids)
    n_rest = (n_enrolled or len(posterior.leading)) - sum(c.kind == "viewer" for c in candidates)
    if n_rest > 0:
        rest = max(1.0 - sum(c.probability for c in candidates), 0.0)
        name = "1 other" if n_rest == 1 else f"{n_rest:,} others"
        candidates.append(Candidate("others", UNKNOWN, name, rest))
    return Ranking(
        candidates=tuple(candidates),
        n_enrolled=n_enrolled,
        n_saccades=posterior.n_saccades,
        n_images=posterior.n_images,
        seconds=posterior.seconds,
        settled=posterior.settled,
        verdict=verdict(posterior, model),
    )


def verdict(posterior: Posterior, model: ModelLoaded | None) -> Verdict:
    """Return who it is, how sure that is, and whether it is enough."""
    shown = shown_probabilities(posterior)
    best = posterior.leading[0] if posterior.leading and posterior.n_saccades else None
    return verdict_of(
        None if best is None else viewer_name(best, model),
        0.0 if best is None else shown.get(best, 0.0),
        unknown=shown.get(UNKNOWN),
        accepted=posterior.accepted,
        more_s=posterior.more_s,
        false_acceptance_rate=None if model is None else model.false_acceptance_rate,
        n_enrolled=None if model is None else len(model.viewer_ids),
    )


@dataclass(frozen=True)
class HistoryPoint:
    """A posterior as a point of the lines."""

    tracker_time_us: int
    n_saccades: int
    seconds: float
    settled: bool
    shown: dict[int, float]

    def along(self, against: Against) -> float:
        """Return its position on the horizontal axis."""
        return self.seconds if against == "seconds" else float(self.n_saccades)


@dataclass(frozen=True)
class Boundary:
    """Start of an image, in units of the evidence before it."""

    ordinal: int
    """Counts from 1."""
    n_saccades: int
    seconds: float
    label: str

    def along(self, against: Against) -> float:
        """Return its position on the horizontal axis."""
        return self.seconds if against == "seconds" else float(self.n_saccades)


@dataclass(frozen=True)
class Line:
    """One viewer's probability; NaN where the viewer was not among the leaders."""

    position: int
    settled_x: list[float]
    settled_p: list[float]
    running_x: list[float]
    running_p: list[float]
    """Line from each settled point through the running ones after it; NaN between images."""


class PosteriorHistory:
    """Posteriors of a run, thinned if there are too many."""

    def __init__(self) -> None:
        self.points: list[HistoryPoint] = []
        self.boundaries: list[Boundary] = []
        self.revision = 0

    def clear(self) -> None:
        """Remove all points."""
        self.points, self.boundaries = [], []
        self.revision += 1

    def add(self, posterior: Posterior) -> bool:
        """Add a posterior; return False if it is not newer than the last."""
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
        """Mark the start of an image; without `ordinal` it is counted."""
        last = self.points[-1] if self.points else None
        place = (last.n_saccades, last.seconds) if last else (0, 0.0)
        if ordinal is None:
            ordinal = self.boundaries[-1].ordinal + 1 if self.boundaries else 1
        if (
            self.boundaries
            and (self.boundaries[-1].n_saccades, self.boundaries[-1].seconds) == place
        ):
            self.boundaries.pop()  # no evidence from the image before
        self.boundaries = [*self.boundaries, Boundary(ordinal, *place, label)][-MOST_BOUNDARIES:]
        self.revision += 1

    def leading(self, most: int) -> list[int]:
        """Return the positions to draw: the last leaders, and the unknown viewer."""
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
    """Return whether `point` is later than `last`, or settles it."""
    settles = point.settled and not last.settled
    return settles or point.tracker_time_us > last.tracker_time_us


def _thinned(points: Sequence[HistoryPoint]) -> list[HistoryPoint]:
    """Keep the last quarter, and older points at equal steps in the number of saccades."""
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


N_SLOTS = 8


class ViewerSlots:
    """Gives each leading viewer a slot; the one that led longest ago makes room."""

    def __init__(self) -> None:
        self._slot_of: dict[int, int] = {}
        """Ordered by when a viewer last led, the longest ago first."""

    def clear(self) -> None:
        """Free all slots."""
        self._slot_of.clear()

    def lead(self, positions: Iterable[int]) -> None:
        """Give slots to the current leaders (the first `N_SLOTS`)."""
        leading = list(dict.fromkeys(positions))[:N_SLOTS]
        for position in reversed(leading):
            if position in self._slot_of:
                self._slot_of[position] = self._slot_of.pop(position)
        for position in leading:
            if position in self._slot_of:
                continue
            free = set(range(N_SLOTS)) - set(self._slot_of.values())
            if free:
                slot = min(free)
            else:
                loser = next(other for other in self._slot_of if other not in leading)
                slot = self._slot_of.pop(loser)
            self._slot_of[position] = slot

    def slot(self, position: int) -> int | None:
        """Return the viewer's slot; None if the viewer never led, or long ago."""
        return self._slot_of.get(position)
