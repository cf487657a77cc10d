"""Every method by its name: how it is trained, and on what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gazelive.errors import ModelError
from gazelive.identification import gazelive_samples as samples
from gazelive.identification.embedding import EmbeddingIdentifier
from gazelive.identification.fitted import PARTS_HELD_OUT, Fitted, MachineKind, accuracy_of
from gazelive.identification.folds import unit_folds
from gazelive.identification.gazelive_fixations import fit_gazelive_fixations
from gazelive.identification.linear import LinearIdentifier
from gazelive.identification.markov_methods import (
    LinearFit,
    fit_fisher_svm,
    fit_generative,
    known_vigor_rate_deg,
)
from gazelive.identification.open_set import no_threshold
from gazelive.identification.plda import FEWEST_VIEWERS, fit_plda, strangers_threshold
from gazelive.identification.scenewalk_methods import fit_fisher_scenewalk, fit_scenewalk
from gazelive.identification.training_set import SourceKind, TrainingSet


@dataclass(frozen=True)
class Options:
    """What a user may say about training."""

    false_acceptance_rate: float = 0.01
    """Share of strangers that pass for somebody enrolled."""
    texture: bool = True
    """Whether `gazelive` looks at the fixation before a saccade, noise included."""
    stimuli: Path | None = None
    """Where the images are, for their saliency."""
    report: Callable[[float], None] = lambda _fraction: None
    """Told how far training is, 0 to 1."""


SESSION_CORRELATION: dict[MachineKind, float] = {"likelihood": 0.1, "svm": 0.3, "logistic": 0.3}
"""ρ of recordings, fitted across the sessions of BioEye 2015 (`LinearIdentifier.correlation`)."""

FitMethod = Callable[[TrainingSet, Options], Fitted]


def session_correlation(training: TrainingSet, kind: MachineKind) -> float:
    """Return ρ: what a fixation table tells is taken as it is."""
    return SESSION_CORRELATION[kind] if training.kind == "samples" else 0.0


@dataclass(frozen=True)
class Method:
    """A way to identify viewers."""

    name: str
    summary: str
    sources: tuple[SourceKind, ...]
    fit: FitMethod


def fit_method(name: str, training: TrainingSet, options: Options | None = None) -> Fitted:
    """Train a method, or say why it cannot be."""
    method = METHODS.get(name)
    if method is None:
        raise ModelError(f"there is no method {name}; there are {', '.join(METHODS)}")
    if training.kind not in method.sources:
        raise ModelError(
            f"{name} looks at how the eye moves, which a fixation table does not tell: choose "
            "gazelive, fisher-markov or markov, or give recordings"
        )
    if not len(training):
        raise ModelError("there is no scanpath with a saccade to learn from")
    options = options or Options()
    fitted = method.fit(training, options)
    options.report(1.0)
    return fitted


def _fit_linear(name: str, fit: Callable[[TrainingSet], LinearFit]) -> FitMethod:
    def fit_it(training: TrainingSet, options: Options) -> Fitted:
        fitted = fit(training)
        options.report(0.7)
        n_viewers = training.n_viewers
        plda, threshold = None, no_threshold("too few viewers to know what strangers are like")
        scores, viewers = fitted.raw_scores, fitted.machine.viewers
        if n_viewers > FEWEST_VIEWERS:
            plda = fit_plda(scores, viewers, n_viewers)
            threshold = strangers_threshold(
                scores, viewers, n_viewers, options.false_acceptance_rate
            )
        identifier = LinearIdentifier(
            name,
            training.viewer_ids,
            fitted.weights,
            fitted.constant,
            fitted.usual_saccades,
            threshold,
            plda,
            fitted.closing,
            fitted.closing_weights,
            session_correlation(training, fitted.machine.kind),
        )
        return Fitted(
            identifier,
            fitted.calibration,
            fitted.accuracy,
            fitted.machine,
            known_vigor_rate_deg(training),
        )

    return fit_it


def _fit_gazelive(training: TrainingSet, options: Options) -> Fitted:
    if training.kind == "fixations":
        return _fit_linear("gazelive", fit_gazelive_fixations)(training, options)
    block = samples.fit_block(training, texture=options.texture)
    options.report(0.1)
    windows = samples.tempered_windows(training.scanpaths, block)
    options.report(0.4)
    embedding = samples.fit_embedding(block, windows)
    vectors = samples.embedded(embedding, windows)
    viewers = training.viewers[windows.scanpath]
    temperature, how = samples.calibrated_temperature(training, windows, vectors)
    if training.n_sessions > 1:
        folds = samples.session_folds(training, windows)
        protocol = "whole sessions held out"
    else:
        images = [training.scanpaths[i].image for i in windows.scanpath]
        folds = unit_folds(images, windows.scanpath, viewers)
        protocol = PARTS_HELD_OUT
    cosines, labels = samples.held_out_cosines(training, windows, vectors, folds)
    options.report(0.6)
    identifier = EmbeddingIdentifier(
        "gazelive",
        training.viewer_ids,
        embedding,
        samples.directions_of(vectors, windows.weight, viewers, training.n_viewers),
        temperature,
        samples.strangers_threshold(training, block, windows, options.false_acceptance_rate),
    )
    return Fitted(
        identifier,
        how,
        accuracy_of(cosines, labels, protocol, training.n_viewers),
        vigor_rate_deg=known_vigor_rate_deg(training),
    )


FitSceneWalk = Callable[[TrainingSet, float, Path | None, float, Callable[[float], None]], Fitted]


def _fit_scenewalk(fit: FitSceneWalk, kind: MachineKind) -> FitMethod:
    def fit_it(training: TrainingSet, options: Options) -> Fitted:
        return fit(
            training,
            options.false_acceptance_rate,
            options.stimuli,
            session_correlation(training, kind),
            options.report,
        )

    return fit_it


_BOTH: tuple[SourceKind, ...] = ("samples", "fixations")
METHODS = {
    method.name: method
    for method in (
        Method("gazelive", "our own best", _BOTH, _fit_gazelive),
        Method(
            "fisher-markov-dynamics",
            "the paper's Fisher SVM on the Markov model with saccade dynamics",
            ("samples",),
            _fit_linear("fisher-markov-dynamics", lambda t: fit_fisher_svm(t, dynamics=True)),
        ),
        Method(
            "fisher-markov",
            "the paper's Fisher SVM on the Markov model",
            _BOTH,
            _fit_linear("fisher-markov", lambda t: fit_fisher_svm(t, dynamics=False)),
        ),
        Method(
            "fisher-scenewalk",
            "the paper's Fisher SVM on SceneWalk",
            _BOTH,
            _fit_scenewalk(fit_fisher_scenewalk, "svm"),
        ),
        Method(
            "markov-dynamics",
            "the paper's Markov model with saccade dynamics",
            ("samples",),
            _fit_linear("markov-dynamics", lambda t: fit_generative(t, dynamics=True)),
        ),
        Method(
            "markov",
            "the paper's Markov model",
            _BOTH,
            _fit_linear("markov", lambda t: fit_generative(t, dynamics=False)),
        ),
        Method(
            "scenewalk",
            "the paper's SceneWalk",
            _BOTH,
            _fit_scenewalk(fit_scenewalk, "likelihood"),
        ),
    )
}
