"""Registry of identification methods: one line per method and kind of data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gazelive.errors import ModelError, ModelFormatError
from gazelive.identification.comparison.embedding import EmbeddingIdentifier
from gazelive.identification.comparison.linear import LinearIdentifier
from gazelive.identification.comparison.profile import ProfileIdentifier
from gazelive.identification.contract import Identifier
from gazelive.identification.fitted import Fitted, Options
from gazelive.identification.methods.abdelwahab import AbdelwahabIdentifier, fit_abdelwahab
from gazelive.identification.methods.cem_b import (
    CemBIdentifier,
    fit_cem_b,
    fit_cem_b_literal,
)
from gazelive.identification.methods.fisher_abdelwahab import (
    FisherAbdelwahabIdentifier,
    fit_fisher_abdelwahab,
)
from gazelive.identification.methods.fisher_svm import fit_fisher_markov
from gazelive.identification.methods.gazelive_fixations import fit_gazelive_fixations
from gazelive.identification.methods.gazelive_samples import fit_gazelive_samples
from gazelive.identification.methods.holland import (
    HollandIdentifier,
    fit_holland,
    fit_holland_literal,
)
from gazelive.identification.methods.markov import MarkovIdentifier, fit_markov
from gazelive.identification.methods.scenewalk import (
    SceneWalkIdentifier,
    fit_fisher_scenewalk,
    fit_scenewalk,
)
from gazelive.identification.training_data import SourceKind, TrainingSet, fit_vigor_rate_deg

Fit = Callable[[str, TrainingSet, Options], Fitted]
"""Fits an identifier; arguments are the method's name, a training set and options."""


@dataclass(frozen=True)
class Method:
    """A way to identify viewers."""

    name: str
    sources: tuple[SourceKind, ...]
    fit: Fit
    identifier: type[Identifier]
    kind: str
    """What it is in a few plain words, for people."""


_SAMPLES: tuple[SourceKind, ...] = ("samples",)
_FIXATIONS: tuple[SourceKind, ...] = ("fixations",)
_BOTH = _SAMPLES + _FIXATIONS
_FISHER, _FISHER_DYNAMICS = (partial(fit_fisher_markov, dynamics=d) for d in (False, True))
_MARKOV, _MARKOV_DYNAMICS = (partial(fit_markov, dynamics=d) for d in (False, True))
_FISHER_ABDELWAHAB_DYNAMICS = partial(fit_fisher_abdelwahab, dynamics=True)
_ABDELWAHAB_LITERAL = partial(fit_abdelwahab, literal=True)
_ABDELWAHAB_DYNAMICS = partial(fit_abdelwahab, dynamics=True)
_CEM_B, _CEM_B_DYNAMICS = (partial(fit_cem_b, dynamics=d) for d in (False, True))
_LITERAL, _LITERAL_DYNAMICS = (partial(fit_cem_b_literal, dynamics=d) for d in (False, True))

_PLDA, _LOGISTIC = "Fisher scores compared by PLDA", "Fisher scores, logistic regression"
_SVM, _GENERATIVE = "Fisher SVM", "generative"
_GENERATIVE_REFERENCE = "generative, reference"
_REFERENCE, _PUBLISHED = "reference", "reference, as published"

METHODS: list[Method] = [
    Method("gazelive", _SAMPLES, fit_gazelive_samples, ProfileIdentifier, _PLDA),
    Method("gazelive", _FIXATIONS, fit_gazelive_fixations, LinearIdentifier, _LOGISTIC),
    Method("fisher-markov-dynamics", _SAMPLES, _FISHER_DYNAMICS, LinearIdentifier, _SVM),
    Method("fisher-markov", _BOTH, _FISHER, LinearIdentifier, _SVM),
    Method("fisher-scenewalk", _BOTH, fit_fisher_scenewalk, SceneWalkIdentifier, _SVM),
    Method(
        "fisher-abdelwahab-dynamics",
        _SAMPLES,
        _FISHER_ABDELWAHAB_DYNAMICS,
        FisherAbdelwahabIdentifier,
        _SVM,
    ),
    Method("fisher-abdelwahab", _BOTH, fit_fisher_abdelwahab, FisherAbdelwahabIdentifier, _SVM),
    Method("markov-dynamics", _SAMPLES, _MARKOV_DYNAMICS, MarkovIdentifier, _GENERATIVE),
    Method("markov", _BOTH, _MARKOV, MarkovIdentifier, _GENERATIVE),
    Method(
        "abdelwahab-dynamics", _SAMPLES, _ABDELWAHAB_DYNAMICS, AbdelwahabIdentifier, _GENERATIVE
    ),
    Method("abdelwahab", _BOTH, fit_abdelwahab, AbdelwahabIdentifier, _GENERATIVE_REFERENCE),
    Method(
        "abdelwahab-literal",
        _BOTH,
        _ABDELWAHAB_LITERAL,
        AbdelwahabIdentifier,
        _GENERATIVE_REFERENCE,
    ),
    Method("scenewalk", _BOTH, fit_scenewalk, SceneWalkIdentifier, _GENERATIVE),
    Method("cem-b-dynamics", _SAMPLES, _CEM_B_DYNAMICS, CemBIdentifier, _REFERENCE),
    Method("cem-b", _BOTH, _CEM_B, CemBIdentifier, _REFERENCE),
    Method("holland-2011", _BOTH, fit_holland, HollandIdentifier, _REFERENCE),
    Method("cem-b-dynamics-literal", _SAMPLES, _LITERAL_DYNAMICS, CemBIdentifier, _PUBLISHED),
    Method("cem-b-literal", _BOTH, _LITERAL, CemBIdentifier, _PUBLISHED),
    Method("holland-2011-literal", _BOTH, fit_holland_literal, HollandIdentifier, _PUBLISHED),
]


def method_names(source: SourceKind | None = None) -> list[str]:
    """Return the names of all methods, or of those that learn from one kind of data."""
    return list(dict.fromkeys(m.name for m in METHODS if source is None or source in m.sources))


def method_kind(name: str, source: SourceKind) -> str | None:
    """Return what a method is, in plain words; None if there is no such method."""
    found = (m.kind for m in METHODS if m.name == name and source in m.sources)
    return next(found, None)


OF_0_1: dict[str, type[Identifier]] = {"embedding": EmbeddingIdentifier}
"""Classes of states that 0.1 wrote and this version only reads."""


def identifier_class(name: str, source: SourceKind, kind: str) -> type[Identifier]:
    """Return the class for a method's state of a kind, or raise `ModelFormatError`."""
    if kind in OF_0_1:
        return OF_0_1[kind]
    for method in METHODS:
        if method.name == name and source in method.sources:
            return method.identifier
    raise ModelFormatError(f"there is no method {name} for {source} in this version of gazelive")


def fit_method(name: str, training: TrainingSet, options: Options | None = None) -> Fitted:
    """Train a method, or raise `ModelError`."""
    if name not in method_names():
        raise ModelError(f"there is no method {name}; there are {', '.join(method_names())}")
    chosen = [m for m in METHODS if m.name == name and training.kind in m.sources]
    if not chosen:
        raise ModelError(
            f"{name} needs recordings, and this is a fixation table: choose one of "
            f"{', '.join(method_names('fixations'))}"
        )
    if not len(training):
        raise ModelError("no scanpath with a saccade to learn from")
    options = options or Options()
    fitted = chosen[0].fit(name, training, options)
    if training.kind == "samples":
        fitted = replace(fitted, vigor_rate_deg=fit_vigor_rate_deg(training))
    options.report(1.0)
    return fitted
