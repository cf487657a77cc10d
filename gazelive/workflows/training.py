"""Training: from a corpus, a table or recordings to a model; enrolment and refitting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np

from gazelive.detection import DETECTOR_REVISION, DetectorParameters, EngbertKlieglParameters
from gazelive.errors import ChanceError, ConfigError, ModelError
from gazelive.identification import (
    DetectorChoice,
    Fitted,
    Options,
    Provenance,
    TrainedModel,
    TrainingSet,
    enrol,
    expect,
    fit_method,
    image_problems,
    new_model,
    training_set,
)
from gazelive.observer import Observer
from gazelive.recordings import DEFAULT_PATTERNS, GeometryFlags, TrialPatterns, own_patterns
from gazelive.verdict import FEWEST_VIEWERS
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
MOST_ENROLMENT_S = 1800.0
"""More seconds than this are not asked of a viewer."""


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
    force: bool = False,
) -> TrainedModel:
    """Read a source (`gather`), train a method on it, and estimate what to expect.

    Raise `ChanceError` for a model that is no better than chance, unless forced. The other
    arguments are the choices of `gather`.
    """
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
    model = trained.model
    at_chance = chance_problem(model)
    if at_chance is not None and not force:
        raise ChanceError(f"{path}: {at_chance}")
    if at_chance is not None:
        observer.warn(at_chance)
    with observer.progress("Estimating what to expect") as report:
        options = replace(options, report=report)
        expectation = expect(method, model.training, model.identifier, options)
    if expectation.needed_s is not None:
        observer.warn(_short_enrolment(expectation.enrolled_s, expectation.needed_s))
    return replace(model, expectation=expectation)


def chance_problem(model: TrainedModel) -> str | None:
    """Return why a model is no better than chance, and what to do; None if it is better."""
    accuracy, n_viewers = model.fitted.accuracy, len(model.identifier.viewer_ids)
    if accuracy is None or accuracy.lower_bound > 1 / n_viewers:
        return None
    return (
        f"{model.identifier.method} recognises these {n_viewers} viewers no better than chance "
        f"(accuracy {accuracy.estimate:.2f}, lower 95 % bound {max(accuracy.lower_bound, 0):.2f}, "
        f"chance {1 / n_viewers:.2f}): record more of each viewer; --force writes the model anyway"
    )


def _short_enrolment(enrolled_s: float, needed_s: float) -> str:
    record = f"record at least {needed_s:.0f} s each"
    if needed_s > MOST_ENROLMENT_S:
        record = "record much more of each, or allow a higher false-acceptance rate (--far)"
    return (
        f"enrolment is short (about {enrolled_s:.0f} s per viewer): on another day many of these "
        f"viewers will not be accepted; {record}"
    )


def enrol_source(
    model: TrainedModel,
    source: Path | Sequence[Labelled],
    observer: Observer,
    *,
    viewers: Collection[str] = (),
    sessions: Collection[str] = (),
    flags: GeometryFlags | None = None,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> tuple[TrainedModel, tuple[str, ...]]:
    """Return the model with the viewers and sessions of a source, and whose they are.

    `viewers` and `sessions` choose (empty: all).
    """
    path = source if isinstance(source, Path) else IN_MEMORY
    check_kind(model, source_kind(source))
    warn_of_detector(model, observer)
    with observer.progress(f"Reading {path.name}") as report:
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
        raise ConfigError(f"not in {path}: {', '.join(missing)}", key="--viewers")
    if viewers:
        kept = tuple(probe for probe in gathered.probes if probe.viewer in viewers)
        gathered = replace(gathered, probes=kept)
    check_fits(model, gathered)
    added, warnings = usable(gathered, path)
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
        shipped=options.shipped,
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
    made = model.provenance
    options = Options(made.false_acceptance_rate, made.texture, made.shipped, report=report)
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
    elif n_viewers < FEWEST_VIEWERS:
        warnings.append(
            f"{n_viewers} viewers are too few: strangers cannot be detected with fewer than "
            f"{FEWEST_VIEWERS} enrolled people"
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
