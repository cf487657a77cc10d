"""Learn how enrolled people stand out from strangers, and write `shipped/strangers.json`.

    python docs/scripts/ship_strangers.py CORPORA [--cache FOLDER] [--methods NAME,…] [--kinds …]

CORPORA is the output of `study_corpora.py`. BioEye 2015 (`ran` and `tex`; enrolled in one session,
probed with pieces of the other, both ways) and SAVAM (`savam`; halves of the clips) are used, as
recordings and as fixation tables. Half of the people are enrolled, the others are strangers;
`gazelive` gets its shipped profiles from people who are neither. For each method: the usual spread
of strangers' best matches, the distance of enrolled people from them, weight and outliers of the
likelihood ratio, and the tails of one decision and of a decision after every saccade. Every length
of probe of every set counts the same. `gazelive` on recordings also learns the usual median of
strangers and how it grows with the gallery, from two draws with 5 and with all of the enrolled.
`--methods` and `--kinds` renew only these.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np
from scipy import special
from scipy.optimize import minimize
from ship_profiles import TASKS, learned, read

from gazelive.evaluation.reading import StudyData
from gazelive.features.scanpath import LATE_COLUMN, Scanpath, scanpath_of_fixations
from gazelive.gaze.arrays import Floats, Integers
from gazelive.identification import (
    Identifier,
    Options,
    TrainingSet,
    fit_method,
    open_set,
)
from gazelive.identification.comparison import linear, similarity_training
from gazelive.identification.contract import Match
from gazelive.identification.methods import abdelwahab, gazelive_samples
from gazelive.identification.open_set import Genuine
from gazelive.identification.shipped import strangers as shipped_strangers
from gazelive.identification.training_data import SourceKind, training_set

OUT = Path(shipped_strangers.__file__).with_name(shipped_strangers.FILE)
METHODS: dict[SourceKind, tuple[str, ...]] = {
    "samples": (
        "gazelive",
        "markov",
        "fisher-markov",
        "markov-dynamics",
        "fisher-markov-dynamics",
        "abdelwahab",
        "abdelwahab-dynamics",
        "cem-b",
        "cem-b-dynamics",
        "holland-2011",
    ),
    "fixations": ("gazelive", "markov", "fisher-markov", "abdelwahab", "cem-b", "holland-2011"),
}
MANY_GALLERIES = ("gazelive", "samples")
SEEDS, FEW_ENROLLED = (0, 2), 5
CLIPS = (1, 2, 5)
TABLE_PIECE_S = 5.0
TABLE_PIECES = (1, 2, 4, 12)
COURSE_SACCADES = 300
RATE = 0.01
TAIL = 0.5 * RATE
"""Share of strangers above the shipped threshold for `RATE`: the spread among a lab's own few
people varies, and that lets more of them pass."""
NEUTRAL = Genuine(
    distance=1.0,
    per_log=0.0,
    amount=1.0,
    weight=1.0,
    changed=0.0,
    alike=0.0,
    once=1.0,
    repeated=1.0,
)


@dataclass(frozen=True, eq=False)
class Trial:
    """A gallery, and what it is probed with."""

    name: str
    training: TrainingSet
    probes: list[tuple[str, str, list[Scanpath]]]
    """Length, viewer, scanpaths."""
    others: Integers | None
    """People who may teach `gazelive` how profiles vary; None: all of BioEye."""
    everybody: TrainingSet
    """The same enrolment, of the strangers too."""


@dataclass
class Found:
    """Matches of one method."""

    cell: list[str] = field(default_factory=list)
    """Set and length."""
    stranger: list[bool] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    amount: list[float] = field(default_factory=list)
    gallery: list[int] = field(default_factory=list)
    curves: list[open_set.Strangers] = field(default_factory=list)
    """Strangers of each gallery, with the medians and spreads of its own."""
    n_viewers: list[int] = field(default_factory=list)
    """Of each gallery."""
    courses: list[tuple[int, Floats, Floats]] = field(default_factory=list)
    """Gallery, matches and amounts of a stranger after every saccade."""


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--methods", default="")
    parser.add_argument("--kinds", default="samples,fixations")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cache = arguments.cache or Path(folder)
        data = {name: read(arguments.corpora, name, cache) for name in (*TASKS, "savam")}
    content = json.loads(OUT.read_text("utf-8")) if OUT.exists() else {"genuine": {}}
    content["origin"] = (
        "docs/scripts/ship_strangers.py: BioEye 2015 (random dots and reading, 77 people, across "
        "sessions) and SAVAM (24 people, CC BY 4.0, within a session)"
    )
    wanted = [name for name in arguments.methods.split(",") if name]
    for kind, methods in METHODS.items():
        if kind not in arguments.kinds.split(","):
            continue
        for method in wanted or methods:
            if method in methods:
                trials = list(trials_of(data, kind))
                if (method, kind) == MANY_GALLERIES:
                    trials = list(many_galleries(data, kind))
                genuine = learn(method, kind, trials, data)
                content["genuine"].setdefault(kind, {})[method] = msgspec.to_builtins(genuine)
                OUT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"Wrote {OUT}.")


def trials_of(data: dict[str, StudyData], kind: SourceKind, seed: int = 0) -> Iterator[Trial]:
    """Yield galleries of all sets."""
    rng = np.random.default_rng(seed)
    for name in TASKS:
        whole = data[name].whole
        people = rng.permutation(whole.n_viewers)
        half = len(people) // 2
        for tested, others in ((people[half:], people[:half]), (people[:half], people[half:])):
            enrolled = np.sort(rng.permutation(tested)[: len(tested) // 2])
            for first, second in (("1", "2"), ("2", "1")):
                probes = _bioeye_probes(data[name], second, tested, kind)
                source = whole if kind == "samples" else as_tables(data[name].pieces[TABLE_PIECE_S])
                enrolment = _session(source, first)
                training, everybody = enrolment.select(enrolled), enrolment.select(np.sort(tested))
                yield Trial(name, training, probes, np.sort(others), everybody)
    clips = data["savam"].whole if kind == "samples" else as_tables(data["savam"].whole)
    images = sorted({str(path.image) for path in clips.scanpaths})
    shown = np.array([str(path.image) for path in clips.scanpaths])
    for _ in range(2):
        order = rng.permutation(images)
        seen = np.isin(shown, order[: len(order) // 2])
        people = rng.permutation(clips.n_viewers)
        half = len(people) // 2
        for enrolled in (np.sort(people[:half]), np.sort(people[half:])):
            training = clips.subset(seen).select(enrolled)
            probes = []
            test = clips.subset(~seen)
            for viewer in range(test.n_viewers):
                paths = list(test.of_viewer(viewer))
                for n in CLIPS:
                    probes += [
                        (f"{n}", test.viewer_ids[viewer], paths[i : i + n])
                        for i in range(0, len(paths) - n + 1, n)
                    ]
            yield Trial("savam", training, probes, None, clips.subset(seen))


def many_galleries(data: dict[str, StudyData], kind: SourceKind) -> Iterator[Trial]:
    """Yield several draws, with all and with few of their enrolled people."""
    for seed in SEEDS:
        for trial in trials_of(data, kind, seed):
            yield trial
            yield fewer_enrolled(trial, FEW_ENROLLED, seed)


def fewer_enrolled(trial: Trial, n: int, seed: int) -> Trial:
    """Return a trial with n of its enrolled people; the others are nobody, the strangers stay."""
    names = trial.training.viewer_ids
    kept = np.sort(np.random.default_rng(seed).permutation(len(names))[:n])
    dropped = set(names) - {names[i] for i in kept}
    probes = [probe for probe in trial.probes if probe[1] not in dropped]
    return replace(trial, training=trial.training.select(kept), probes=probes)


def _bioeye_probes(
    data: StudyData, session: str, tested: Integers, kind: SourceKind
) -> list[tuple[str, str, list[Scanpath]]]:
    probes = []
    if kind == "samples":
        for seconds, source in (*data.pieces.items(), (0.0, data.whole)):
            chosen = _session(source, session)
            for viewer in tested:
                probes += [
                    (f"{seconds:g} s", chosen.viewer_ids[viewer], [path])
                    for path in chosen.of_viewer(int(viewer))
                ]
        return probes
    tables = _session(as_tables(data.pieces[TABLE_PIECE_S]), session)
    for viewer in tested:
        paths = list(tables.of_viewer(int(viewer)))
        for n in TABLE_PIECES:
            probes += [
                (f"{n}", tables.viewer_ids[viewer], paths[i : i + n])
                for i in range(0, len(paths) - n + 1, n)
            ]
    return probes


def _session(training: TrainingSet, name: str) -> TrainingSet:
    return training.subset(np.array([session == name for session in training.sessions]))


def as_tables(recorded: TrainingSet) -> TrainingSet:
    """Return scanpaths as a fixation table would give them; pieces of recordings are images."""
    labelled = []
    numbers: dict[tuple[int, str], int] = {}
    for path, viewer, session in zip(
        recorded.scanpaths, recorded.viewers, recorded.sessions, strict=True
    ):
        number = numbers[int(viewer), session] = numbers.get((int(viewer), session), -1) + 1
        fixations = path.fixations[np.isfinite(path.fixations).all(axis=1)]
        x_deg, y_deg, duration_s = fixations.T
        image = path.image or f"piece {number}"
        made = scanpath_of_fixations(x_deg, y_deg, duration_s, image)
        labelled.append((recorded.viewer_ids[viewer], session, made))
    return training_set("fixations", labelled)


def learn(
    method: str, kind: SourceKind, trials: list[Trial], data: dict[str, StudyData]
) -> Genuine:
    """Return what ships for a method."""
    found = Found()
    for number, trial in enumerate(trials):
        collect_matches(found, number, fitted(method, trial, data), trial)
    amounts, gallery = np.array(found.amount), np.array(found.gallery)
    reference = 10.0 if method == "gazelive" and kind == "samples" else 1.0
    genuine = msgspec.structs.replace(NEUTRAL, amount=reference, **usual_spread(found))
    if (method, kind) == MANY_GALLERIES:
        genuine = msgspec.structs.replace(genuine, **usual_middle(found, genuine))
    pairs = zip(found.curves, found.n_viewers, strict=True)
    shrunken = [_shrunken(curve, n_viewers, genuine) for curve, n_viewers in pairs]
    standing = np.array(
        [
            shrunken[g].standing(Match(value, amount))
            for value, amount, g in zip(found.value, amounts, gallery, strict=True)
        ]
    )
    enrolled = np.array([curve.enrolled for curve in found.curves])[gallery]
    cells, cell = np.unique(found.cell, return_inverse=True)
    stranger = np.array(found.stranger)
    weights = np.zeros(len(standing))
    for number in range(len(cells)):
        for is_stranger in (False, True):
            own = (cell == number) & (stranger == is_stranger)
            weights[own] = 1 / max(own.sum(), 1)
    genuine = fit_ratio(genuine, standing, stranger, amounts, enrolled, weights)
    tails = [np.quantile(standing[stranger & (cell == c)], 1 - RATE) for c in range(len(cells))]
    highest = [
        np.max([shrunken[g].standing(Match(v, n)) for v, n in zip(values, ns, strict=True)])
        for g, values, ns in found.courses
    ]
    normal = -float(special.ndtri(RATE))
    pooled = weighted_quantile(standing[stranger], weights[stranger], 1 - TAIL)
    genuine = msgspec.structs.replace(
        genuine,
        once=round(pooled / normal, 3),
        repeated=round(max(float(np.quantile(highest, 1 - TAIL)), pooled) / normal, 3),
    )
    print(f"{method} on {kind}: {genuine}")
    print(
        f"  strangers' 99 % by cell: {dict(zip(cells.tolist(), np.round(tails, 2), strict=True))}"
    )
    print(f"  of courses 95, 99 %: {np.quantile(highest, [0.95, 0.99])}", flush=True)
    return genuine


def fitted(method: str, trial: Trial, data: dict[str, StudyData]) -> Identifier:
    """Fit a method to a gallery, without anything from the people who probe it."""
    _, variation = learned([data[task].whole for task in TASKS], trial.others)
    setattr(gazelive_samples, "shipped_variation", lambda _names: variation)  # noqa: B010
    for module in (gazelive_samples, *_USERS):
        setattr(module, "shipped_genuine", lambda *_: NEUTRAL)  # noqa: B010
    return fit_method(method, trial.training, Options()).identifier


def collect_matches(found: Found, number: int, identifier: Identifier, trial: Trial) -> None:
    """Add the matches of all probes, and the courses of strangers."""
    for length, viewer, paths in trial.probes:
        stranger = viewer not in identifier.viewer_ids
        probe = identifier.probe()
        for path in paths:
            probe.begin(path.image)
            probe.settle(path)
        _, match = probe.judge()  # type: ignore[attr-defined]
        if match is not None and match.amount > 0:
            found.cell.append(f"{trial.name} {length}")
            found.stranger.append(stranger)
            found.value.append(match.value)
            found.amount.append(match.amount)
            found.gallery.append(number)
    found.curves.append(identifier.strangers)  # type: ignore[attr-defined]
    found.n_viewers.append(len(identifier.viewer_ids))
    size = max(len(paths[0].saccades) * len(paths) for _, _, paths in trial.probes)
    for _, viewer, paths in trial.probes:
        stranger = viewer not in identifier.viewer_ids
        if stranger and len(paths[0].saccades) * len(paths) > size / 2:
            found.courses.append((number, *course(identifier, paths)))


def course(identifier: Identifier, paths: list[Scanpath]) -> tuple[Floats, Floats]:
    """Return matches and amounts after every saccade and every scanpath."""
    probe = identifier.probe()
    seen = []
    for path in paths:
        probe.begin(path.image)
        for row, fixation in zip(path.saccades, path.fixations, strict=False):
            probe.add_fixation(*fixation.tolist())
            known = row.copy()
            known[LATE_COLUMN] = np.nan
            probe.add_saccade(known)
            seen.append(probe.judge()[1])  # type: ignore[attr-defined]
            if len(seen) > COURSE_SACCADES:
                break
        probe.settle(path)
        seen.append(probe.judge()[1])  # type: ignore[attr-defined]
    kept = [match for match in seen if match is not None and match.amount > 0]
    return np.array([m.value for m in kept]), np.array([m.amount for m in kept])


def usual_spread(found: Found) -> dict[str, float]:
    """Return the power law of strangers' spreads."""
    logs = np.concatenate([curve.log_amounts for curve in found.curves])
    spreads = np.log(np.concatenate([curve.spreads for curve in found.curves]))
    power, level = np.polyfit(logs, spreads, 1)
    return {"spread": round(float(np.exp(level)), 4), "spread_power": round(float(power), 3)}


def usual_middle(found: Found, genuine: Genuine) -> dict[str, float]:
    """Return how the median of strangers grows with evidence and gallery, in usual spreads."""
    stranger = np.array(found.stranger)
    values, amounts = np.array(found.value)[stranger], np.array(found.amount)[stranger]
    gallery = np.array(found.gallery)[stranger]
    n_viewers = np.array(found.n_viewers)[gallery]
    cells = np.unique(
        [f"{c} {n}" for c, n in zip(np.array(found.cell)[stranger], n_viewers, strict=True)],
        return_inverse=True,
    )[1]
    units = np.array([genuine.usual_spread(amount) for amount in amounts])
    rows = [
        [
            np.median((values / units)[own]),
            np.log(np.median(amounts[own])),
            np.log(n_viewers[own][0]),
        ]
        for own in (cells == cell for cell in range(cells.max() + 1))
    ]
    middles, log_amounts, log_viewers = np.array(rows).T
    known = np.stack((np.ones(len(rows)), log_amounts, log_viewers), axis=1)
    middle, per_log, per_log_viewers = np.linalg.lstsq(known, middles, rcond=None)[0]
    return {
        "middle": round(float(middle), 3),
        "middle_per_log": round(float(per_log), 3),
        "per_log_viewers": round(float(per_log_viewers), 3),
    }


def _shrunken(curve: open_set.Strangers, n_viewers: int, genuine: Genuine) -> open_set.Strangers:
    n_compared = n_viewers * (1 - 1 / gazelive_samples.n_viewer_folds(n_viewers))
    amounts = [float(np.exp(log)) for log in curve.log_amounts]
    return msgspec.structs.replace(
        curve,
        spreads=tuple(
            genuine.shrunken_spread(spread, amount, n_viewers)
            for spread, amount in zip(curve.spreads, amounts, strict=True)
        ),
        middles=tuple(
            genuine.shrunken_middle(middle, amount, n_viewers, n_compared)
            for middle, amount in zip(curve.middles, amounts, strict=True)
        ),
    )


def fit_ratio(
    genuine: Genuine,
    standing: Floats,
    stranger: Floats,
    amounts: Floats,
    enrolled: Floats,
    weights: Floats,
) -> Genuine:
    """Fit distance, weight and outliers of the likelihood ratio by maximum likelihood."""

    def with_values(values: Floats) -> Genuine:
        distance, per_log, weight, changed, alike = values
        return msgspec.structs.replace(
            genuine,
            distance=round(float(distance), 3),
            per_log=round(float(np.exp(per_log)), 3),
            weight=round(float(np.exp(weight)), 3),
            changed=round(float(special.expit(changed)), 4),
            alike=round(float(special.expit(alike)), 4),
        )

    def loss(values: Floats) -> float:
        made = msgspec.structs.replace(
            genuine,
            distance=float(values[0]),
            per_log=float(np.exp(values[1])),
            weight=float(np.exp(values[2])),
            changed=float(special.expit(values[3])),
            alike=float(special.expit(values[4])),
        )
        effective = 1 / (1 / amounts + 1 / enrolled)
        distance = np.maximum(
            made.distance + made.per_log * np.log(effective / made.amount), open_set.LEAST_DISTANCE
        )
        ratio = np.exp(np.clip(made.weight * distance * (distance / 2 - standing), -40, 40))
        odds = np.log((1 - made.alike) * ratio + made.alike)
        odds -= np.log((1 - made.changed) + made.changed * ratio)
        fit = np.sum(weights * (np.logaddexp(0, odds) - stranger * odds)) / weights.sum()
        return float(fit + 1e-3 * (values[3] + 4) ** 2 + 1e-3 * (values[4] + 5) ** 2)

    start = np.array([1.5, np.log(0.5), 0.0, -4.0, -5.0])
    found = minimize(loss, start, method="Nelder-Mead", options={"maxfev": 5000, "maxiter": 5000})
    return with_values(found.x)


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return a quantile of weighted values."""
    order = np.argsort(values)
    passed = np.cumsum(weights[order]) / weights.sum()
    return float(values[order][np.searchsorted(passed, share)])


_USERS = (abdelwahab, linear, similarity_training)

if __name__ == "__main__":
    main()
