"""Who is in a recording: the same probes as live, fed with the same saccades and scanpaths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gazelive.errors import IncompatibleModelError
from gazelive.identification.contract import Estimate, Identifier
from gazelive.identification.model_file import TrainedModel
from gazelive.identification.running import take_running
from gazelive.identification.training_set import SourceKind
from gazelive.offline.probes import Gathered, Probe

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


def check_kind(model: TrainedModel, kind: SourceKind) -> None:
    """Raise `IncompatibleModelError` where the model was made from another kind of data."""
    if model.kind != kind:
        made, given = (
            "recordings" if one == "samples" else "a fixation table" for one in (model.kind, kind)
        )
        raise IncompatibleModelError(
            f"the model was made from {made}, and this is {given}: train one on such data"
        )


def check_fits(model: TrainedModel, gathered: Gathered) -> None:
    """Raise `IncompatibleModelError` where the model was not made for such data."""
    check_kind(model, gathered.kind)
    for rate_hz in gathered.sampling_rates_hz:
        model.check_rate(rate_hz)


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
        together[probe.name] = probe if before is None else before.followed_by(probe)
    return list(together.values())


def identify_probe(
    identifier: Identifier, probe: Probe, log_prior: Floats | None = None
) -> ProbeResult:
    """Identify one probe: a running estimate after each saccade, a settled one per scanpath.

    The running ones are those of the live engine, to the bit, if the probe was gathered with what
    was known while it ran.
    """
    person = identifier.probe(log_prior)
    course: list[tuple[float, int, int, float]] = []
    single = []
    for number, path in enumerate(probe.scanpaths):
        person.begin(path.image)
        for saccade in probe.running[number] if probe.running else ():
            _note(course, take_running(person, saccade))
        person.settle(path)
        _note(course, person.estimate())
        alone = identifier.probe(log_prior)
        alone.begin(path.image)
        alone.settle(path)
        single.append(ScanpathResult(path.image, alone.estimate().log_probabilities))
    return ProbeResult(probe, person.estimate(), tuple(course), tuple(single))


def _note(course: list[tuple[float, int, int, float]], estimate: Estimate) -> None:
    best = estimate.best
    probability = float(np.exp(estimate.log_probabilities[best]))
    course.append((estimate.seconds, estimate.n_saccades, best, probability))


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
