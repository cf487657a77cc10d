"""Identification of recordings, by the same probes as live, from the same scanpaths."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gazelive.errors import ConfigError, IncompatibleModelError
from gazelive.gaze import Floats
from gazelive.identification import (
    Estimate,
    Identifier,
    SourceKind,
    Terms,
    TrainedModel,
    image_problems,
    looks_at_images,
    take_running,
    trial_patterns_of,
    with_stimuli,
)
from gazelive.observer import Observer
from gazelive.recordings import GeometryFlags, TrialPatterns
from gazelive.verdict import STRANGER_PRIOR, Verdict, check_prior, check_rate, verdict_of
from gazelive.workflows.gathering import IN_MEMORY, gather, source_kind
from gazelive.workflows.probes import Detector, Gathered, Labelled, Probe


@dataclass(frozen=True, eq=False)
class ScanpathResult:
    """Posterior of one scanpath by itself."""

    image: str | None
    log_posterior: Floats


@dataclass(frozen=True, eq=False)
class ProbeResult:
    """Result of a probe after all of its scanpaths."""

    probe: Probe
    estimate: Estimate
    course: tuple[tuple[float, int, int, float], ...]
    """(seconds, saccades, best viewer, probability) as the evidence grew."""
    scanpaths: tuple[ScanpathResult, ...]
    """Empty unless details were asked for."""

    viewer_ids: tuple[str, ...]
    false_acceptance_rate: float | None = None

    @property
    def best(self) -> str | None:
        """The most probable of the enrolled; None without a saccade."""
        return self.viewer_ids[self.estimate.best] if self.estimate.n_saccades else None

    @property
    def unknown(self) -> float | None:
        """Probability of a stranger; None if strangers cannot be detected."""
        log_unknown = self.estimate.log_unknown
        return None if log_unknown is None else math.exp(log_unknown)

    @property
    def accepted(self) -> bool | None:
        """Whether the best match is accepted; None if strangers cannot be detected."""
        estimate = self.estimate
        return estimate.accepted if estimate.n_saccades or estimate.accepted is None else False

    @property
    def verdict(self) -> Verdict:
        """Who, how sure, and whether that is enough."""
        estimate, unknown = self.estimate, self.unknown
        p = math.exp(estimate.log_probabilities[estimate.best])
        return verdict_of(
            self.best,
            p * (1.0 - (unknown or 0.0)),
            unknown=unknown,
            accepted=self.accepted,
            more_s=estimate.more_s,
            false_acceptance_rate=self.false_acceptance_rate,
            n_enrolled=len(self.viewer_ids),
        )


JUDGED_ONCE: Terms = Terms(repeated=False)
"""A recording is judged once, at its end."""


def judged_once(
    false_acceptance_rate: float | None = None,
    stranger_prior: float = STRANGER_PRIOR,
) -> Terms:
    """Return the terms for a recording; the rate is by default that of the training.

    Raise `ConfigError` for values out of range.
    """
    check_rate(false_acceptance_rate, "false_acceptance_rate")
    check_prior(stranger_prior, "stranger_prior")
    return replace(
        JUDGED_ONCE, false_acceptance_rate=false_acceptance_rate, stranger_prior=stranger_prior
    )


def check_kind(model: TrainedModel, kind: SourceKind) -> None:
    """Raise `IncompatibleModelError` where the model was made from another kind of data."""
    if model.kind != kind:
        made, given = (
            "recordings" if one == "samples" else "a fixation table" for one in (model.kind, kind)
        )
        raise IncompatibleModelError(
            f"the model was trained on {made}, but this is {given}: train a model on such data"
        )


def warn_of_detector(model: TrainedModel, observer: Observer) -> None:
    """Warn where the detector has changed since the training."""
    for warning in () if model.detector is None else model.detector.warnings:
        observer.warn(warning)


def check_fits(model: TrainedModel, gathered: Gathered) -> None:
    """Raise `IncompatibleModelError` where the model was not made for such data."""
    check_kind(model, gathered.kind)
    for rate_hz in gathered.sampling_rates_hz:
        model.check_rate(rate_hz)


def detector_of(model: TrainedModel) -> Detector:
    """Return how saccades must be found for a model."""
    if model.detector is None:
        return Detector()
    choice = model.detector
    return Detector(choice.method, choice.parameters or choice.engbert_kliegl)


def with_images(model: TrainedModel, stimuli: Path | None, key: str) -> TrainedModel:
    """Return a model that finds the images in a folder; raise if it needs one that is not there.

    `key` is what errors call the folder.
    """
    check_folder(stimuli, key)
    if stimuli is not None:
        return with_stimuli(model, [stimuli])
    if looks_at_images(model):
        raise ConfigError(
            "the model was trained with the images' files: give their folder", key=key
        )
    return model


def check_folder(folder: Path | None, key: str) -> None:
    """Raise if a folder is given and does not exist; `key` is what the error calls it."""
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"{folder}: there is no such folder", key=key)


def log_prior(model: TrainedModel, weights: Mapping[str, float], key: str) -> Floats:
    """Return the logs of prior probabilities in proportion to weights, 1 for those not named.

    `key` is what errors call the weights.
    """
    names = model.identifier.viewer_ids
    strangers = sorted(set(weights) - set(names))
    if strangers:
        raise ConfigError(f"not in the model: {', '.join(strangers)}", key=key)
    values = np.array([weights.get(name, 1.0) for name in names], np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ConfigError("needs numbers above 0", key=key)
    logs = np.log(values)
    return np.asarray(logs - np.logaddexp.reduce(logs), np.float64)


def identify_source(
    model: TrainedModel,
    source: Path | Sequence[Labelled],
    observer: Observer,
    *,
    prior: Floats | None = None,
    terms: Terms = JUDGED_ONCE,
    sessions: Collection[str] = (),
    images: Collection[str] = (),
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns | None = None,
    details: bool = True,
) -> list[ProbeResult]:
    """Identify every recording of a source, or every label of a fixation table.

    `prior` are log probabilities; `terms` say how strangers are judged; `trial_patterns` are by
    default those of the training; without `details` the course has only the estimates after each
    scanpath, and no scanpath is judged by itself.
    """
    check_kind(model, source_kind(source))
    warn_of_detector(model, observer)
    name = source.name if isinstance(source, Path) else IN_MEMORY.name
    with observer.progress(f"Reading {name}") as report:
        gathered = gather(
            source,
            detector=detector_of(model),
            flags=flags,
            trial_patterns=trial_patterns_of(model) if trial_patterns is None else trial_patterns,
            sessions=sessions,
            images=images,
            running=details,
            progress=report,
        )
    shown = (path.image for probe in gathered.probes for path in probe.scanpaths)
    for warning in (*gathered.warnings, *image_problems(model.identifier, shown)):
        observer.warn(warning)
    check_fits(model, gathered)
    with observer.progress("Identifying") as report:
        return identify_gathered(model, gathered, prior, report, terms=terms, details=details)


def identify_gathered(
    model: TrainedModel,
    gathered: Gathered,
    log_prior: Floats | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    terms: Terms = JUDGED_ONCE,
    details: bool = True,
) -> list[ProbeResult]:
    """Identify every probe (`identify_probe`); labels are not used."""
    check_fits(model, gathered)
    terms = model.complete(terms)
    results = []
    probes = gathered.probes if gathered.kind == "samples" else by_label(gathered.probes)
    for done, probe in enumerate(probes):
        results.append(
            identify_probe(model.identifier, probe, log_prior, terms=terms, details=details)
        )
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
    identifier: Identifier,
    probe: Probe,
    log_prior: Floats | None = None,
    *,
    terms: Terms = JUDGED_ONCE,
    details: bool = True,
) -> ProbeResult:
    """Identify one probe: a running estimate after each saccade, a settled one per scanpath.

    With `details` each scanpath is judged by itself, too. The running estimates are those of the
    live engine, to the bit, if the probe was gathered with what was known while it ran.
    """
    person = identifier.probe(log_prior, terms)
    course: list[tuple[float, int, int, float]] = []
    single = []
    for number, path in enumerate(probe.scanpaths):
        person.begin(path.image)
        for saccade in probe.running[number] if probe.running else ():
            _note(course, take_running(person, saccade))
        person.settle(path)
        _note(course, person.estimate())
        if details:
            alone = identifier.probe(log_prior, terms)
            alone.begin(path.image)
            alone.settle(path)
            single.append(ScanpathResult(path.image, alone.estimate().log_probabilities))
    return ProbeResult(
        probe,
        person.estimate(),
        tuple(course),
        tuple(single),
        identifier.viewer_ids,
        terms.false_acceptance_rate,
    )


def _note(course: list[tuple[float, int, int, float]], estimate: Estimate) -> None:
    best = estimate.best
    probability = float(np.exp(estimate.log_probabilities[best]))
    course.append((estimate.seconds, estimate.n_saccades, best, probability))


def results_json(
    model: TrainedModel, results: list[ProbeResult], *, details: bool = True
) -> dict[str, Any]:
    """Return the results as `gazelive identify --json` writes them; `details`: with `--course`."""
    viewers = model.identifier.viewer_ids

    def by_name(values: Floats) -> dict[str, float]:
        return dict(zip(viewers, values.tolist(), strict=True))

    probes = []
    for result in results:
        estimate = result.estimate
        logs = estimate.log_probabilities
        probe: dict[str, Any] = {
            "probe": result.probe.name,
            "n_scanpaths": len(result.probe.scanpaths),
            "n_saccades": estimate.n_saccades,
            "seconds": round(estimate.seconds, 3),
            "posterior": by_name(np.exp(logs)),
            "log_posterior": by_name(logs),
            "best": result.best,
            "unknown": result.unknown,
            "verdict": result.best if result.accepted else None,
            "accepted": result.accepted,
            "more_s": estimate.more_s,
            "headline": result.verdict.headline,
        }
        if details:
            probe["course"] = [
                {"t_s": round(t, 3), "n_saccades": n, "best": viewers[best], "p": p}
                for t, n, best, p in result.course
            ]
            probe["scanpaths"] = [
                {"image": single.image, "log_posterior": by_name(single.log_posterior)}
                for single in result.scanpaths
            ]
        probes.append(probe)
    return {"viewers": list(viewers), "probes": probes}
