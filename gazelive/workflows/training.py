"""Training: from a corpus, a table or recordings to a model; enrolment and refitting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from gazelive.detection import DETECTOR_REVISION, DetectorParameters, EngbertKlieglParameters
from gazelive.errors import ConfigError, ModelError
from gazelive.identification import (
    DetectorChoice,
    Fitted,
    Options,
    Provenance,
    TrainedModel,
    TrainingSet,
    enrol,
    fit_method,
    image_problems,
    new_model,
    training_set,
)
from gazelive.observer import Observer
from gazelive.recordings import DEFAULT_PATTERNS, GeometryFlags, TrialPatterns, own_patterns
from gazelive.workflows.gathering import IN_MEMORY, gather, source_kind
from gazelive.workflows.identification import (
    check_fits,
    check_kind,
    detector_of,
    warn_of_detector,
)
from gazelive.workflows.probes import Detector, Gathered, Labelled

FEWEST_SACCADES = 20
"""Fewest saccades of a viewer; a viewer with fewer is left out."""
FEW_SACCADES = 100
FEW_IMAGES = 30
"""Below these a model is made, with a warning."""


@dataclass(frozen=True, eq=False)
class Training:
    """A trained model, with warnings."""

    model: TrainedModel
    warnings: tuple[str, ...]


def train_source(
    source: Path | Sequence[Labelled],
    observer: Observer,
    *,
    method: str,
    options: Options,
    sessions: Collection[str] = (),
    images: Collection[str] = (),
    exclude_viewers: Sequence[str] = (),
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> TrainedModel:
    """Read a source (`gather`) and train a method on it; the rest are the choices of `gather`."""
    path = source if isinstance(source, Path) else IN_MEMORY
    with observer.progress(f"Reading {path.name}") as report:
        gathered = gather(
            source,
            flags=flags,
            trial_patterns=trial_patterns,
            sessions=sessions,
            images=images,
            exclude_viewers=exclude_viewers,
            progress=report,
        )
    for warning in gathered.warnings:
        observer.warn(warning)
    left_out = tuple(f"viewer {name}: asked for" for name in exclude_viewers)
    with observer.progress(f"Training {method}") as report:
        options = replace(options, report=report)
        trained = train_gathered(gathered, path, method, options, Detector(), left_out)
    for warning in trained.warnings:
        observer.warn(warning)
    return trained.model


def enrol_source(
    model: TrainedModel,
    source: Path,
    observer: Observer,
    *,
    viewers: Collection[str] = (),
    sessions: Collection[str] = (),
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> tuple[TrainedModel, tuple[str, ...]]:
    """Return the model with the viewers of a source (or some of them), and who was added."""
    check_kind(model, source_kind(source))
    warn_of_detector(model, observer)
    with observer.progress(f"Reading {source.name}") as report:
        gathered = gather(
            source,
            detector=detector_of(model),
            flags=flags,
            trial_patterns=trial_patterns,
            sessions=sessions,
            progress=report,
        )
    missing = sorted(set(viewers) - {probe.viewer for probe in gathered.probes})
    if missing:
        raise ConfigError(f"not in {source}: {', '.join(missing)}", key="--viewers")
    if viewers:
        kept = tuple(probe for probe in gathered.probes if probe.viewer in viewers)
        gathered = replace(gathered, probes=kept)
    check_fits(model, gathered)
    added, warnings = usable(gathered, source)
    unseen = image_problems(model.identifier, (path.image for path in added.scanpaths))
    for warning in (*gathered.warnings, *warnings, *unseen):
        observer.warn(warning)
    return enrol(model, added), added.viewer_ids


def train_gathered(
    gathered: Gathered,
    source: Path,
    method: str,
    options: Options,
    detector: Detector,
    left_out: tuple[str, ...] = (),
) -> Training:
    """Train a method on gathered probes; raise if that is not possible."""
    training, warnings = usable(gathered, source)
    fitted = fit_method(method, training, options)
    sessions = tuple(sorted(set(training.sessions)))
    provenance = Provenance(
        source=source.resolve().name,
        sessions=sessions,
        n_scanpaths=len(training),
        n_saccades=sum(path.n_saccades for path in training.scanpaths),
        seconds=float(sum(path.seconds for path in training.scanpaths)),
        left_out=left_out,
        false_acceptance_rate=options.false_acceptance_rate,
        texture=options.texture,
        stimuli=options.stimuli is not None and method.endswith("scenewalk"),
        trial_patterns=own_patterns(gathered.trial_patterns),
    )
    choice = None if training.kind == "fixations" else _choice(detector)
    model = new_model(fitted, training, choice, provenance)
    unseen = image_problems(fitted.identifier, (path.image for path in training.scanpaths))
    return Training(model, (*warnings, *unseen, *_warnings_of(training, fitted)))


def usable(gathered: Gathered, source: Path) -> tuple[TrainingSet, list[str]]:
    """Return the training set, without viewers who have too few saccades."""
    warnings = []
    labelled = []
    saccades: dict[str, int] = {}
    for probe in gathered.probes:
        if probe.viewer is not None:
            saccades[probe.viewer] = saccades.get(probe.viewer, 0) + probe.n_saccades
    if not saccades:
        raise ModelError(
            f"{source}: no viewers are named; a corpus needs a viewer for each recording"
        )
    for viewer, n in sorted(saccades.items()):
        if n < FEWEST_SACCADES:
            warnings.append(
                f"{viewer} is left out: {n} saccade{' is' if n == 1 else 's are'} too few "
                f"(at least {FEWEST_SACCADES})"
            )
    for probe in gathered.probes:
        if probe.viewer is not None and saccades[probe.viewer] >= FEWEST_SACCADES:
            labelled += [(probe.viewer, probe.session, path) for path in probe.scanpaths]
    training = training_set(gathered.kind, labelled)
    if not len(training):
        raise ModelError(
            f"{source}: no viewer has {FEWEST_SACCADES} saccades or more: record longer"
        )
    return training, warnings


def refit(
    model: TrainedModel, report: Callable[[float], None] = lambda _fraction: None
) -> Training:
    """Retrain on all scanpaths that the model keeps."""
    options = Options(
        model.provenance.false_acceptance_rate, model.provenance.texture, report=report
    )
    fitted = fit_method(model.identifier.method, model.training, options)
    changes = (*model.provenance.changes, "refitted")
    # a model does not keep the images' files: from now on it does without
    provenance = msgspec.structs.replace(model.provenance, changes=changes, stimuli=False)
    again = new_model(fitted, model.training, model.detector, provenance)
    return Training(again, _warnings_of(model.training, fitted))


def _choice(detector: Detector) -> DetectorChoice:
    """Return all settings, defaults too: those of another version may be others."""
    parameters = detector.parameters
    if parameters is None:
        by_paper = detector.method == "engbert-kliegl"
        parameters = EngbertKlieglParameters() if by_paper else DetectorParameters()
    if isinstance(parameters, DetectorParameters):
        return DetectorChoice(
            method=detector.method, parameters=parameters, revision=DETECTOR_REVISION
        )
    return DetectorChoice(
        method=detector.method, engbert_kliegl=parameters, revision=DETECTOR_REVISION
    )


def _warnings_of(training: TrainingSet, fitted: Fitted) -> tuple[str, ...]:
    warnings = []
    n_viewers = training.n_viewers
    if n_viewers == 1:
        warnings.append(
            "only one viewer: every probe is identified as this viewer, and strangers cannot be "
            "recognised"
        )
    elif n_viewers < 4:
        warnings.append(
            f"{n_viewers} viewers are too few to recognise strangers: unknown stays at 0.5"
        )
    counts = np.zeros(n_viewers)
    paths = np.zeros(n_viewers)
    for path, viewer in zip(training.scanpaths, training.viewers, strict=True):
        counts[viewer] += path.n_saccades
        paths[viewer] += 1
    few = [training.viewer_ids[i] for i in np.flatnonzero(counts < FEW_SACCADES)]
    if few:
        warnings.append(
            f"fewer than {FEW_SACCADES} saccades of {_some(few)}: their results are uncertain"
        )
    if training.kind == "fixations" and paths.min() < FEW_IMAGES:
        warnings.append(
            f"only {int(paths.min())} scanpath{'' if paths.min() == 1 else 's'} of a viewer: with "
            f"fewer than {FEW_IMAGES} the probabilities are overconfident"
        )
    if training.n_sessions < 2 and training.kind == "samples":
        warnings.append(
            f"one session per viewer: how much people change between sessions is not known from "
            f"these data; calibration: {fitted.calibration}"
        )
    return tuple(warnings)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more
