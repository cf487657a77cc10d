"""From a corpus or a table to a trained model, with what a user should know of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from gazelive.detection import DetectorParameters, EngbertKlieglParameters
from gazelive.errors import ModelError
from gazelive.identification.fitted import Fitted
from gazelive.identification.methods import Options, fit_method
from gazelive.identification.model_file import (
    DetectorChoice,
    Provenance,
    TrainedModel,
    new_model,
    own_patterns,
)
from gazelive.identification.stimuli import image_problems
from gazelive.identification.training_set import TrainingSet, training_set
from gazelive.offline.probes import Detector, Gathered

FEWEST_SACCADES = 20
"""Of a viewer; with fewer nothing can be learned of them."""
FEW_SACCADES = 100
FEW_IMAGES = 30
"""Below these a model is made, with a warning."""


@dataclass(frozen=True, eq=False)
class Training:
    """A trained model, and what should be said."""

    model: TrainedModel
    warnings: tuple[str, ...]


def train(
    gathered: Gathered,
    source: Path,
    method: str,
    options: Options,
    detector: Detector,
    left_out: tuple[str, ...] = (),
) -> Training:
    """Train a method on what was gathered, or say why it cannot be."""
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
    """Return what can be learned from, without viewers of whom there is too little."""
    warnings = []
    labelled = []
    saccades: dict[str, int] = {}
    for probe in gathered.probes:
        if probe.viewer is not None:
            saccades[probe.viewer] = saccades.get(probe.viewer, 0) + probe.n_saccades
    if not saccades:
        raise ModelError(
            f"{source}: nobody is named in it: a corpus needs a viewer for each recording"
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
            f"{source}: nobody in it has {FEWEST_SACCADES} saccades or more: record longer"
        )
    return training, warnings


def refit(
    model: TrainedModel, report: Callable[[float], None] = lambda _fraction: None
) -> Training:
    """Train again on everything that the model keeps."""
    options = Options(
        model.provenance.false_acceptance_rate, model.provenance.texture, report=report
    )
    fitted = fit_method(model.identifier.method, model.training, options)
    changes = (*model.provenance.changes, "refitted")
    # a model does not keep the images' files: from now on it does without
    provenance = msgspec.structs.replace(model.provenance, changes=changes, stimuli=False)
    again = new_model(fitted, model.training, model.detector, provenance)
    return Training(again, _warnings_of(model.training, fitted))


def detector_of(model: TrainedModel) -> Detector:
    """Return how saccades must be found for a model."""
    if model.detector is None:
        return Detector()
    choice = model.detector
    return Detector(choice.method, choice.parameters or choice.engbert_kliegl)


def _choice(detector: Detector) -> DetectorChoice:
    """Return all settings, defaults too: those of another version may be others."""
    parameters = detector.parameters
    if parameters is None:
        by_paper = detector.method == "engbert-kliegl"
        parameters = EngbertKlieglParameters() if by_paper else DetectorParameters()
    if isinstance(parameters, DetectorParameters):
        return DetectorChoice(method=detector.method, parameters=parameters)
    return DetectorChoice(method=detector.method, engbert_kliegl=parameters)


def _warnings_of(training: TrainingSet, fitted: Fitted) -> tuple[str, ...]:
    warnings = []
    n_viewers = training.n_viewers
    if n_viewers == 1:
        warnings.append(
            "only one viewer: there is nobody to compare with, so every probe is theirs and "
            "nothing tells a stranger"
        )
    elif n_viewers < 4:
        warnings.append(f"{n_viewers} viewers are too few to tell strangers: unknown stays at 0.5")
    counts = np.zeros(n_viewers)
    paths = np.zeros(n_viewers)
    for path, viewer in zip(training.scanpaths, training.viewers, strict=True):
        counts[viewer] += path.n_saccades
        paths[viewer] += 1
    few = [training.viewer_ids[i] for i in np.flatnonzero(counts < FEW_SACCADES)]
    if few:
        warnings.append(
            f"fewer than {FEW_SACCADES} saccades of {_some(few)}: what is said of them is uncertain"
        )
    if training.kind == "fixations" and paths.min() < FEW_IMAGES:
        warnings.append(
            f"only {int(paths.min())} scanpath{'' if paths.min() == 1 else 's'} of a viewer: with "
            f"fewer than {FEW_IMAGES} the probabilities are too sure of themselves"
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
