"""Figures of a study, in the paper's form: accuracy, execution time, errors, calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.evaluation.tables import Row, Rows, Study
from gazelive.gaze import Floats
from gazelive.reporting import COLOURS, FAINT, INK, drawing
from gazelive.system import replacing

BLUE, VERMILION, GREEN, PINK, OCHRE = COLOURS
DASHED, DOTTED = (0, (5, 2)), (0, (1, 1.5))
DOTS_PER_INCH = 200
SIZE_INCHES = (7.2, 4.4)
FEWEST_IN_BIN = 10
"""Bins of the reliability diagram with fewer probes are not drawn."""
LEAST_GAP = 0.042
"""Least distance of two labels, as a share of the figure's height."""
_STYLES: dict[str, tuple[str, Any, str]] = {
    "gazelive": (PINK, "-", "o"),
    "fisher-markov-dynamics": (VERMILION, "-", "s"),
    "markov-dynamics": (VERMILION, DASHED, "s"),
    "fisher-markov": (BLUE, "-", "^"),
    "markov": (BLUE, DASHED, "^"),
    "fisher-scenewalk": (GREEN, "-", "v"),
    "scenewalk": (GREEN, DASHED, "v"),
    "fisher-abdelwahab-dynamics": (INK, "-", "d"),
    "fisher-abdelwahab": (INK, "-", "D"),
    "abdelwahab-dynamics": (INK, DASHED, "d"),
    "abdelwahab": (INK, DASHED, "D"),
    "cem-b-dynamics": (OCHRE, "-", "P"),
    "cem-b": (OCHRE, DASHED, "P"),
    "holland-2011": (FAINT, "-", "X"),
}
"""Colour by family, solid for Fisher SVMs and dashed for their generative models."""


@dataclass(frozen=True)
class Figure:
    """A figure and what it shows."""

    name: str
    caption: str
    draw: Callable[[Any], None]


def figures_of(study: Study) -> list[Figure]:
    """Return the figures that the tables allow."""
    found = []
    by_images = [row for row in study.summary if row["n_images"] is not None]
    by_seconds = [row for row in study.summary if row["n_images"] is None]
    if len({row["n_images"] for row in by_images}) > 1:
        found.append(
            Figure(
                "accuracy",
                "Accuracy against the number of test images; bars are standard errors over splits.",
                lambda axes: _accuracy(axes, by_images, "n_images", "test images"),
            )
        )
    if by_seconds:
        found.append(
            Figure(
                "accuracy-seconds",
                "Accuracy against the length of the probe; bars are standard errors over splits.",
                lambda axes: _accuracy(axes, by_seconds, "seconds", "seconds of gaze"),
            )
        )
    if study.timing:
        found.append(
            Figure(
                "execution-time",
                "Time of one identification (features given) against the number of enrolled "
                "persons.",
                lambda axes: _timing(axes, study.timing),
            )
        )
    amount = usual_amount(study.summary)
    at = amount_words(amount)
    if study.det:
        found.append(
            Figure(
                "strangers",
                f"Strangers accepted (FPIR) against enrolled persons missed (FNIR), {at}. Half of "
                "the viewers are enrolled.",
                lambda axes: _det(axes, _at(study.det, amount)),
            )
        )
    found.append(
        Figure(
            "calibration",
            f"Accuracy against the leading posterior, {at}. On the diagonal, probabilities are "
            "right.",
            lambda axes: _reliability(axes, _at(study.reliability, amount)),
        )
    )
    return found


def usual_amount(summary: Rows) -> tuple[int | None, float | None]:
    """Return the amount of evidence at which errors and calibration are drawn.

    About ten images, or 20 s.
    """
    seconds = [row["seconds"] for row in summary if row["n_images"] is None]
    if seconds:
        return None, min(seconds, key=lambda s: abs(s - 20.0))
    images = [row["n_images"] for row in summary]
    return min(images, key=lambda n: abs(n - 10)), None


def amount_words(amount: tuple[int | None, float | None]) -> str:
    """Return an amount in words."""
    n_images, seconds = amount
    if n_images is None:
        return f"{seconds:g} s"
    return "one image" if n_images == 1 else f"{n_images} images"


def save_figures(study: Study, folder: Path) -> list[Figure]:
    """Write each figure as PNG and SVG."""
    figures = figures_of(study)
    for figure in figures:
        with drawn(figure) as made:
            for suffix in ("png", "svg"):
                with replacing(folder / f"{figure.name}.{suffix}") as aside:
                    made.savefig(aside, format=suffix, dpi=DOTS_PER_INCH)
    return figures


@contextmanager
def drawn(figure: Figure) -> Iterator[Any]:
    """Yield a figure in the report's style."""
    with drawing(*SIZE_INCHES) as made:
        figure.draw(made.add_subplot())
        yield made


def _accuracy(axes: Any, rows: Rows, x_name: str, x_label: str) -> None:
    lines = []
    for method in _methods(rows):
        own = sorted((r for r in rows if r["method"] == method), key=lambda r: r[x_name])
        x = np.array([float(r[x_name]) for r in own])
        y = np.array([r["accuracy"] for r in own])
        errors = np.array([r["standard_error"] or 0.0 for r in own])
        colour, dash, marker = _style(method)
        axes.errorbar(x, y, errors, color=colour, ls=dash, marker=marker, ms=3.5, lw=1.3, capsize=2)
        lines.append(_Line(method, x, y, colour))
    axes.set_xscale("log")
    ticks = sorted({float(r[x_name]) for r in rows})
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set(xlabel=x_label, ylabel="accuracy", ylim=(0, 1.02))
    n_viewers = max(row["n_viewers"] for row in rows)
    axes.axhline(1 / n_viewers, color=FAINT, lw=0.8, ls=DOTTED)
    axes.text(ticks[0], 1 / n_viewers + 0.01, "chance", color=FAINT, fontsize=7)
    _label_lines(axes, lines)


def _timing(axes: Any, rows: Rows) -> None:
    lines = []
    for method in _methods(rows):
        own = [row for row in rows if row["method"] == method]
        x = np.array([float(row["n_viewers"]) for row in own])
        y = np.array([1000 * row["seconds"] for row in own])
        colour, dash, marker = _style(method)
        axes.plot(x, y, color=colour, ls=dash, marker=marker, ms=3.5, lw=1.3)
        lines.append(_Line(method, x, y, colour))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set(xlabel="enrolled persons", ylabel="milliseconds per identification")
    _label_lines(axes, lines)


def _det(axes: Any, rows: Rows) -> None:
    lines = []
    for method in _methods(rows):
        own = [row for row in rows if row["method"] == method]
        x, y = (np.array([row[name] for row in own]) for name in ("fpir", "fnir"))
        colour, dash, _ = _style(method)
        axes.plot(x, y, color=colour, ls=dash, lw=1.3)
        lines.append(_Line(method, x, y, colour))
    axes.set_xscale("log")
    axes.set(xlabel="FPIR: strangers accepted", ylabel="FNIR: enrolled missed", ylim=(0, 1.02))
    _label_lines(axes, lines)


def _reliability(axes: Any, rows: Rows) -> None:
    axes.plot([0, 1], [0, 1], color=FAINT, lw=0.8, ls=DOTTED)
    lines = []
    for method in _methods(rows):
        own = [r for r in rows if r["method"] == method and r["n_probes"] >= FEWEST_IN_BIN]
        if not own:
            continue
        own.sort(key=lambda r: float(r["confidence"]))
        x, y = (np.array([row[name] for row in own]) for name in ("confidence", "accuracy"))
        sizes = np.array([row["n_probes"] for row in own], np.float64)
        colour, dash, marker = _style(method)
        axes.plot(x, y, color=colour, ls=dash, lw=1.0)
        axes.scatter(x, y, 4 + 60 * sizes / sizes.sum(), color=colour, marker=marker)
        lines.append(_Line(method, x, y, colour))
    axes.set(xlabel="leading posterior", ylabel="accuracy", xlim=(0, 1.02), ylim=(0, 1.02))
    _label_lines(axes, lines)


@dataclass(frozen=True, eq=False)
class _Line:
    """A line whose end gets a label."""

    name: str
    x: Floats
    y: Floats
    colour: str


def _label_lines(axes: Any, lines: list[_Line]) -> None:
    """Write each line's name beside its end, with a thin leader, without overlap."""
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = np.array([to_axes.transform((line.x[-1], line.y[-1]))[1] for line in lines])
    means = np.array([line.y.mean() for line in lines])  # the order of lines that end together
    for line, place in zip(lines, _spread(heights + 1e-6 * means), strict=True):
        axes.annotate(
            line.name,
            (line.x[-1], line.y[-1]),
            (1.03, place),
            textcoords="axes fraction",
            color=line.colour,
            fontsize=7.5,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": line.colour,
                "lw": 0.4,
                "relpos": (0, 0.5),  # from the name's left edge, not through the name
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )


def _spread(heights: Floats) -> Floats:
    """Return heights moved apart to at least `LEAST_GAP`, in their order."""
    order = np.argsort(heights)
    placed = heights[order].clip(0, 1)
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + LEAST_GAP)
    if len(placed):
        placed[-1] = min(placed[-1], 1.0)
    for i in range(len(placed) - 2, -1, -1):
        placed[i] = min(placed[i], placed[i + 1] - LEAST_GAP)
    result = np.empty(len(heights))
    result[order] = placed
    return result


def _style(method: str) -> tuple[str, Any, str]:
    """Return colour, dash and marker; literal forms and ablations are dotted."""
    if method in _STYLES:
        return _STYLES[method]
    base = next(
        (name for name in sorted(_STYLES, key=len, reverse=True) if method.startswith(name)), None
    )
    colour, _, marker = _STYLES[base] if base is not None else (FAINT, "-", ".")
    return colour, DOTTED, marker


def _methods(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["method"] for row in rows))


def _at(rows: Rows, amount: tuple[int | None, float | None]) -> Rows:
    n_images, seconds = amount
    return [
        row
        for row in rows
        if row["n_images"] == n_images and (n_images is not None or row["seconds"] == seconds)
    ]
