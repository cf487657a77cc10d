"""Who is in a recording: the same probes as live, fed with settled scanpaths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.errors import ConfigError, IncompatibleModelError
from gazelive.features.scanpath import LATE_COLUMN, Column
from gazelive.identification.contract import Estimate, Identifier
from gazelive.identification.model_file import TrainedModel
from gazelive.identification.scenewalk_identifier import SceneWalkIdentifier
from gazelive.offline.scanpaths import Gathered, Probe

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScanpathResult:
    """What one scanpath says by itself."""

    image: str | None
    log_posterior: Floats


@dataclass(frozen=True, eq=False)
class ProbeResult:
    """What a probe says after all of its scanpaths."""

    probe: Probe
    estimate: Estimate
    course: tuple[tuple[float, int, int, float], ...]
    """(seconds, saccades, best viewer, probability) as the evidence grew."""
    scanpaths: tuple[ScanpathResult, ...]


def check_fits(model: TrainedModel, gathered: Gathered) -> None:
    """Raise `IncompatibleModelError` where the model was not made for such data."""
    if model.kind != gathered.kind:
        made, given = (
            "recordings" if kind == "samples" else "a fixation table"
            for kind in (model.kind, gathered.kind)
        )
        raise IncompatibleModelError(
            f"the model was made from {made}, and this is {given}: train one on such data"
        )
    for rate_hz in gathered.sampling_rates_hz:
        model.check_rate(rate_hz)


def with_stimuli(model: TrainedModel, stimuli: Path | None) -> TrainedModel:
    """Return the model with the images' files at hand, for those whose saliency it computes."""
    identifier = model.identifier
    if isinstance(identifier, SceneWalkIdentifier):
        if model.provenance.stimuli and stimuli is None:
            raise ConfigError(
                "the model was trained with the images' files, so it needs them here too",
                key="--stimuli",
            )
        scene = replace(identifier.scene, stimuli=stimuli if model.provenance.stimuli else None)
        seeing = replace(identifier, scene=scene)
        return replace(model, fitted=replace(model.fitted, identifier=seeing))
    return model


def identify(
    model: TrainedModel,
    gathered: Gathered,
    log_prior: Floats | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[ProbeResult]:
    """Identify every probe; their labels are not looked at."""
    check_fits(model, gathered)
    results = []
    probes = gathered.probes if gathered.kind == "samples" else by_label(gathered.probes)
    for done, probe in enumerate(probes):
        results.append(identify_probe(model.identifier, probe, log_prior))
        if progress is not None:
            progress((done + 1) / len(probes))
    return results


def by_label(probes: Sequence[Probe]) -> list[Probe]:
    """Return one probe for each label of a table, its sessions one after the other."""
    together: dict[str, Probe] = {}
    for probe in probes:
        before = together.get(probe.name)
        paths = probe.scanpaths if before is None else before.scanpaths + probe.scanpaths
        together[probe.name] = replace(probe, scanpaths=paths)
    return list(together.values())


def identify_probe(
    identifier: Identifier, probe: Probe, log_prior: Floats | None = None
) -> ProbeResult:
    """Identify one probe: a running estimate after each saccade, a settled one per scanpath.

    The running ones know what was known then: not how long the fixation was that had just begun.
    """
    person = identifier.probe(log_prior)
    course: list[tuple[float, int, int, float]] = []
    single = []
    before_s = 0.0
    for path in probe.scanpaths:
        person.begin(path.image)
        for number, row in enumerate(path.saccades):
            if number:
                person.complete_saccade(path.saccades[number - 1])
            known = row.copy()
            known[LATE_COLUMN] = np.nan
            person.add_saccade(known)
            at_s = before_s + float(row[Column.ONSET_S])
            _note(course, person.estimate(at_s - before_s), at_s)
        person.settle(path)
        before_s += path.seconds
        _note(course, person.estimate(), before_s)
        alone = identifier.probe(log_prior)
        alone.begin(path.image)
        alone.settle(path)
        single.append(ScanpathResult(path.image, alone.estimate().log_probabilities))
    return ProbeResult(probe, person.estimate(), tuple(course), tuple(single))


def _note(course: list[tuple[float, int, int, float]], estimate: Estimate, at_s: float) -> None:
    best = estimate.best
    probability = float(np.exp(estimate.log_probabilities[best]))
    course.append((at_s, estimate.n_saccades, best, probability))


def results_json(model: TrainedModel, results: list[ProbeResult]) -> dict[str, Any]:
    """Return the results as `gazelive identify --json` writes them."""
    viewers = model.identifier.viewer_ids

    def by_name(values: Floats) -> dict[str, float]:
        return dict(zip(viewers, values.tolist(), strict=True))

    probes = []
    for result in results:
        estimate = result.estimate
        logs = estimate.log_probabilities
        probes.append(
            {
                "probe": result.probe.name,
                "n_scanpaths": len(result.scanpaths),
                "n_saccades": estimate.n_saccades,
                "seconds": round(estimate.seconds, 3),
                "posterior": by_name(np.exp(logs)),
                "log_posterior": by_name(logs),
                "best": viewers[estimate.best] if estimate.n_saccades else None,
                "unknown": float(np.exp(estimate.log_unknown)),
                "course": [
                    {"t_s": round(t, 3), "n_saccades": n, "best": viewers[best], "p": p}
                    for t, n, best, p in result.course
                ],
                "scanpaths": [
                    {"image": single.image, "log_posterior": by_name(single.log_posterior)}
                    for single in result.scanpaths
                ],
            }
        )
    return {"viewers": list(viewers), "probes": probes}
