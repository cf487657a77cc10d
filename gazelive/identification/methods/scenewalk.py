"""SceneWalk as an identifier: `scenewalk` and `fisher-scenewalk`.

`scenewalk`: each viewer has parameters of their own; evidence is the log likelihood ratio to the
pooled ones times one temperature. `fisher-scenewalk`: the gradient at the pooled parameters goes
through a linear machine. Both carry their maps forward fixation by fixation.

A probe may be any of the enrolled, so the saliency of an image never comes from their fixations on
it: it is the learned centre bias, times the saliency computed from the image if its file is given.
Training uses the same rule. Where a file is not found or cannot be read, the centre bias is used
alone, with a warning.

The paper takes the fixations of others instead. `Options.saliency` and `with_saliency_of` do so for
the study: the saliency of an image comes from everybody's fixations on it but those of the viewer
who looks, in training as in a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self
from weakref import WeakKeyDictionary

import msgspec
import numpy as np

from gazelive.errors import ModelError, ModelFormatError
from gazelive.features import Rows, Scanpath
from gazelive.gaze import Flags, Floats, Integers
from gazelive.identification.calibration import (
    evidence_scale,
    fit_temperature,
    held_out_loss,
    session_correlation,
)
from gazelive.identification.comparison.linear import CONSTANT
from gazelive.identification.comparison.plda import VIEWER_AXIS, Plda, PldaMatch, fit_strangers
from gazelive.identification.contract import (
    DEFAULT_TERMS,
    Arrays,
    Contributions,
    Match,
    State,
    Terms,
)
from gazelive.identification.fitted import (
    SCANPATHS_HELD_OUT,
    Fitted,
    Options,
    accuracy_by_images,
    accuracy_of,
)
from gazelive.identification.hyperparameters import Grid, Hyperparameters
from gazelive.identification.learning import Linear, Machine, MachineKind
from gazelive.identification.methods.fisher_svm import choose_for_svm, fit_fisher_svm
from gazelive.identification.open_set import Strangers, no_strangers
from gazelive.identification.posterior_kernels import log_posterior
from gazelive.identification.probe import CountingProbe
from gazelive.identification.shipped.strangers import shipped_genuine
from gazelive.identification.training_data import TrainingSet
from gazelive.models import (
    VIEWER_SD,
    ImageFixations,
    ImageGrid,
    LiveScore,
    SaliencyBank,
    SceneWalkModel,
    SceneWalkParameters,
    Viewing,
    check_bounds,
)
from gazelive.stimuli import SaliencyMap, find_image

GRID_CELLS = 64
"""Rows and columns; 128 would be four times the work, and the parameters are the same."""
MARGIN = 0.05
"""Margin on each side, as a fraction of the extent of the training fixations."""
GRID = Grid({"viewer_sd": (0.1, 0.3, 1.0)}, {"viewer_sd": VIEWER_SD})
"""Standard deviation of a viewer's parameters (θ) around the pooled ones. It is searched on two
halves of the images instead of three folds, and on cells twice as wide."""
DEFAULT_TEMPERATURE = 0.5
N_PARAMETERS = len(SceneWalkParameters.__struct_fields__)
N_HALVES = 2
"""Folds for the temperature of the likelihood ratio; every viewer is fitted once for each."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Place and saliency of the images."""

    grid: ImageGrid
    bank: SaliencyBank
    stimuli: tuple[Path, ...] | None = None
    """Folders of the image files, which a model does not keep; None if they are not used."""
    left_out: frozenset[str] | None = None
    """Viewers whose fixations on an image are not part of its saliency; None: everybody."""

    def saliency(self, image: str | None) -> tuple[Floats, str]:
        """Return the map of an image without the fixations of those left out, and its source."""
        chosen, _ = self._choose(image)
        return chosen.density, chosen.source

    def image_problem(self, image: str | None) -> str | None:
        """Return why an image's file cannot be used; None if it can or is not needed."""
        return self._choose(image)[1]

    def _choose(self, image: str | None) -> tuple[SaliencyMap, str | None]:
        problem = None
        if self.stimuli is not None and image is not None:
            stimulus = find_image(image, self.stimuli)
            if stimulus is not None:
                try:
                    return self._map(image, stimulus), None
                except ModelError as error:
                    problem = str(error)
            elif self.stimuli:
                problem = f"{image} is not in {', '.join(map(str, self.stimuli))}"
            else:
                problem = "the model uses the image files, and their folder is not given"
            problem += ": the centre bias is used instead"
        return self._map(image, None), problem

    def _map(self, image: str | None, stimulus: Path | None) -> SaliencyMap:
        without = self.bank.viewers if self.left_out is None else self.left_out
        return self.bank.choose(image, without=without, shape=self.grid.shape, stimulus=stimulus)

    def seen_by(self, viewer: str) -> Scene:
        """Return the scene whose saliency comes from everybody's fixations but one viewer's."""
        return replace(self, left_out=frozenset((viewer,)))

    def viewing(self, scanpath: Scanpath) -> Viewing:
        """Return the fixations of a scanpath with the saliency of its image."""
        density, source = self.saliency(scanpath.image)
        fixations = scanpath.fixations[np.isfinite(scanpath.fixations).all(axis=1)]
        x_deg, y_deg, duration_s = fixations.T
        return Viewing(x_deg, y_deg, duration_s, density, self.grid, source)


@dataclass(frozen=True, eq=False)
class Judged:
    """What a scanpath says."""

    evidence: Floats
    """(viewers,)"""
    score: Floats | None
    """Fisher score; None if it has no fixation to judge by."""


@dataclass(frozen=True, eq=False)
class SceneWalkIdentifier:
    """Identifies by SceneWalk models or scores; see the module."""

    method: str
    viewer_ids: tuple[str, ...]
    scene: Scene
    pooled: SceneWalkModel
    own: tuple[SceneWalkModel, ...]
    """Model of each viewer; empty for a Fisher SVM."""
    temperature: float
    """Temperature of the likelihood ratio."""
    svm: Linear | None
    """Map from scores (8,) to evidence; None for likelihoods."""
    strangers: Strangers
    plda: Plda | None = None
    correlation: float = 0.0
    machine: Machine | None = None
    """For enrolment; None for likelihoods."""
    viewer_sd: float = VIEWER_SD
    """For enrolment (`GRID`)."""

    def probe(
        self, log_prior: Floats | None = None, terms: Terms = DEFAULT_TERMS
    ) -> SceneWalkProbe:
        """Begin to identify a person."""
        return SceneWalkProbe(self, log_prior, terms)

    def state(self) -> State:
        """Return everything as JSON and arrays."""
        arrays, bank = self.scene.bank.to_arrays()
        arrays |= {
            "x_edges_deg": self.scene.grid.x_edges_deg,
            "y_edges_deg": self.scene.grid.y_edges_deg,
            "pooled": self.pooled.natural.to_array(),
        }
        axis: dict[str, int] = {}
        if self.own:
            arrays["own"] = np.array([model.natural.to_array() for model in self.own])
            axis["own"] = 0
        if self.svm is not None:
            arrays |= {"machine_weights": self.svm.weights, "machine_bias": self.svm.bias}
            axis |= {"machine_weights": 1, "machine_bias": 0}
        if self.plda is not None:
            arrays |= self.plda.to_arrays()
            axis |= VIEWER_AXIS
        content = {
            "kind": "scenewalk",
            "bank": bank,
            "fitted_to": self.pooled.fitted_to,
            "temperature": self.temperature,
            "correlation": self.correlation,
            "strangers": msgspec.to_builtins(self.strangers),
        }
        if self.viewer_sd != VIEWER_SD:
            content["viewer_sd"] = self.viewer_sd
        state = State(content, arrays, axis)
        return state if self.machine is None else self.machine.add_to(state)

    @classmethod
    def from_state(cls, method: str, viewer_ids: tuple[str, ...], state: State) -> Self:
        """Return the identifier of a state; fixations of viewers who are not enrolled are lost."""
        state.check_kind("scenewalk")
        content, arrays = state.content, state.stored(viewer_ids)

        def model(values: Floats) -> SceneWalkModel:
            check_bounds(values)
            return SceneWalkModel(SceneWalkParameters.from_array(values), str(content["fitted_to"]))

        edges_deg = [
            arrays.take(name, GRID_CELLS + 1, least=-180, most=180)
            for name in ("x_edges_deg", "y_edges_deg")
        ]
        own = arrays.take("own", "viewers", N_PARAMETERS) if "own" in arrays else ()
        bank = SaliencyBank.from_arrays(arrays, content["bank"])
        for viewer in set(bank.viewers) - set(viewer_ids):
            bank = bank.forget(viewer)
        svm = None
        if "machine_weights" in arrays:
            svm = Linear(
                arrays.take("machine_weights", N_PARAMETERS, "viewers"),
                arrays.take("machine_bias", "viewers"),
            )
        elif "own" not in arrays:
            raise ModelFormatError("there is neither a model nor a machine of each viewer")
        return cls(
            method,
            viewer_ids,
            Scene(ImageGrid(*edges_deg), bank),
            model(arrays.take("pooled", N_PARAMETERS)),
            tuple(model(values) for values in own),
            state.number("temperature", least=0),
            svm,
            Strangers.from_content(content, shipped_genuine(method)),
            Plda.from_arrays(arrays, N_PARAMETERS),
            state.number("correlation", 0, 1),
            Machine.from_state(state, arrays),
            state.number("viewer_sd", least=1e-9) if "viewer_sd" in content else VIEWER_SD,
        )

    def viewer_arrays(self, scanpaths: Sequence[Scanpath], n_sessions: int = 1) -> Arrays:
        """Fit the parameters or the machine of one more viewer."""
        del n_sessions
        viewings = self._viewings(scanpaths)
        if not viewings:
            raise ModelError("there is no scanpath of two fixations or more")
        scores = np.array([self.pooled.fisher_score(viewing) for viewing in viewings])
        arrays = {} if self.plda is None else self.plda.viewer_arrays(scores)
        if self.svm is None:
            model = self.pooled.fit_viewer(viewings, sd=self.viewer_sd)
            arrays["own"] = model.natural.to_array()[None]
        if self.machine is not None:
            svm, of_machine = self.machine.fit_viewer(scores)
            arrays |= of_machine | {"machine_weights": svm.weights, "machine_bias": svm.bias}
        return arrays

    def contributions(self, scanpaths: Sequence[Scanpath]) -> Contributions | None:
        """Return what the slope by each parameter adds; None for likelihoods."""
        if self.svm is None:
            return None
        viewings = self._viewings(scanpaths)
        if not viewings:
            return []
        scale = evidence_scale(len(viewings), self.correlation)
        score = np.sum([self.pooled.fisher_score(viewing) for viewing in viewings], axis=0)
        parts = scale * score[:, None] * self.svm.weights
        names = [
            name.removesuffix("_hz").removesuffix("_deg").replace("_", " ")
            for name in SceneWalkParameters.__struct_fields__
        ]
        constant = scale * len(viewings) * self.svm.bias
        return [*zip(names, parts, strict=True), (CONSTANT, constant)]

    @property
    def stimuli(self) -> tuple[Path, ...] | None:
        """Folders of the images."""
        return self.scene.stimuli

    def with_stimuli(self, folders: Iterable[Path] | None) -> Self:
        """Return the identifier with the image files at hand."""
        stimuli = None if folders is None else tuple(folders)
        return replace(self, scene=replace(self.scene, stimuli=stimuli))

    def with_saliency_of(self, looks: Iterable[tuple[str, str, Scanpath]], *, probed: str) -> Self:
        """Return the identifier with the saliency of images from the fixations of others on them.

        `looks` are viewers, sessions and scanpaths on the images of a test. No fixation of
        `probed`, the viewer who is being identified, is used. Only evaluation knows who that is:
        this is for models trained with `Options.saliency` of `others`, and for nothing else.
        """
        others = [(viewer, path) for viewer, _, path in looks if viewer != probed]
        bank = self.scene.bank.joined(SaliencyBank.of(_seen(others, self.scene.grid)))
        return replace(self, scene=replace(self.scene, bank=bank).seen_by(probed))

    def image_problem(self, image: str | None) -> str | None:
        """Return why an image's file is not used as in training; None if it is."""
        return self.scene.image_problem(image)

    def judge(self, scanpath: Scanpath) -> Judged:
        """Return what a scanpath says; a study asks for the same one again and again."""
        known = self._judged.get(scanpath)
        if known is None:
            known = self._judged[scanpath] = self._judge(self.scene.viewing(scanpath))
        return known

    def _judge(self, viewing: Viewing) -> Judged:
        if not viewing.n_scored:
            return Judged(np.zeros(len(self.viewer_ids)), None)
        score = self.pooled.fisher_score(viewing)
        if self.svm is not None:
            return Judged(self.svm(score), score)
        reference = self.pooled.log_likelihood(viewing)
        ratios = [model.log_likelihood(viewing) - reference for model in self.own]
        return Judged(self.temperature * np.array(ratios), score)

    @cached_property
    def _judged(self) -> WeakKeyDictionary[Scanpath, Judged]:
        return WeakKeyDictionary()

    def _viewings(self, scanpaths: Sequence[Scanpath]) -> list[Viewing]:
        viewings = map(self.scene.viewing, scanpaths)
        return [viewing for viewing in viewings if viewing.n_scored]


class SceneWalkProbe(CountingProbe):
    """One person being identified by a `SceneWalkIdentifier`."""

    def __init__(
        self,
        identifier: SceneWalkIdentifier,
        log_prior: Floats | None = None,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        n_viewers = len(identifier.viewer_ids)
        super().__init__(n_viewers, log_prior, terms, identifier.strangers)
        self._identifier = identifier
        self._settled = np.zeros(n_viewers)
        self._live: Sequence[LiveScore] = ()
        self._n_units = 0
        self._best = PldaMatch(identifier.plda)

    def begin(self, image: str | None) -> None:
        """Open an interval with the maps of its image."""
        super().begin(image)
        identifier = self._identifier
        density, _ = identifier.scene.saliency(image)
        grid = identifier.scene.grid
        self._live = [m.live(density, grid) for m in (identifier.pooled, *identifier.own)]

    def take_saccade(self, row: Rows) -> None:
        """Take a saccade: the fixation after it is the evidence."""

    def add_fixation(self, x_deg: float, y_deg: float, duration_s: float) -> None:
        """Let the maps evolve; the next fixation is scored by where it lies."""
        for live in self._live:
            live.add_fixation(x_deg, y_deg, duration_s)

    def take_scanpath(self, scanpath: Scanpath) -> None:
        """Replace the evidence of the open interval."""
        seen = self._identifier.judge(scanpath)
        self._keep(seen.evidence, is_unit=seen.score is not None)
        if seen.score is not None:
            leader = int(np.argmax(self._settled + self.log_prior))
            self._best.add(seen.score, 1, leader)

    def keep_open(self) -> None:
        """Keep the evidence of the open interval."""
        self._keep(self._open_evidence(), is_unit=self._has_spoken)

    def drop_open(self) -> None:
        """Drop the open interval."""
        self._live = ()

    def judge(self) -> tuple[Floats, Match | None]:
        """Return the posterior of settled and open evidence."""
        log_probabilities = np.empty(len(self._settled))
        units = self._n_units + self._has_spoken
        scale = evidence_scale(units, self._identifier.correlation)
        log_posterior(
            self._settled, self._open_evidence(), scale, self.log_prior, log_probabilities
        )
        return log_probabilities, self._best.match

    @property
    def _has_spoken(self) -> bool:
        """True if the open interval has any evidence yet."""
        return bool(self._live) and self._live[0].n_scored > 0

    def _open_evidence(self) -> Floats:
        identifier = self._identifier
        if not self._has_spoken:
            return np.zeros(len(self._settled))
        if identifier.svm is not None:
            return identifier.svm(self._live[0].fisher_score)
        reference = self._live[0].log_likelihood
        ratios = [live.log_likelihood - reference for live in self._live[1:]]
        return identifier.temperature * np.array(ratios)

    def _keep(self, evidence: Floats, *, is_unit: bool) -> None:
        self._settled += evidence
        self._n_units += is_unit
        self.drop_open()


def fit_scenewalk(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit the generative identifier: pooled parameters, then each viewer's own."""
    base, viewings = _fit_base(method, training, options)
    options.report(0.2)
    n_viewers = training.n_viewers
    folds = training.folds(np.arange(len(training))) % N_HALVES
    chosen = _choose(base.pooled, viewings, training, folds, search=options.search)
    viewer_sd = chosen["viewer_sd"]
    options.report(0.3)
    ratios = np.zeros((len(viewings), n_viewers))
    for fold in range(N_HALVES):
        out = folds == fold
        ratios[out] = _held_out_ratios(base.pooled, viewings, training, out, viewer_sd)
        options.report(0.3 + 0.4 * (fold + 1) / N_HALVES)
    temperature, how = DEFAULT_TEMPERATURE, "one temperature, the default (too few scanpaths)"
    if ratios.any():
        temperature = fit_temperature(ratios, training.viewers)
        how = "one temperature by cross-validation over scanpaths"
    own = []
    for viewer in range(n_viewers):
        mine = np.flatnonzero(training.viewers == viewer)
        own.append(base.pooled.fit_viewer([viewings[i] for i in mine], sd=viewer_sd))
        options.report(0.7 + 0.3 * (viewer + 1) / n_viewers)
    scores = np.array([base.pooled.fisher_score(viewing) for viewing in viewings])
    plda, strangers = fit_strangers(
        scores,
        training.viewers,
        n_viewers,
        options.false_acceptance_rate,
        shipped_genuine(method, training.kind),
    )
    identifier = replace(
        base,
        own=tuple(own),
        temperature=temperature,
        correlation=_correlation("likelihood", training, options),
        plda=plda,
        strangers=strangers,
        viewer_sd=viewer_sd,
    )
    accuracy = accuracy_of(ratios, training.viewers, SCANPATHS_HELD_OUT, n_viewers)
    every = np.arange(len(training))
    return Fitted(
        identifier,
        f"{how}: {temperature:.3g}",
        accuracy,
        hyperparameters=chosen,
        accuracy_by_images=accuracy_by_images(
            ratios, training.viewers, every, folds, np.ones(len(training), bool)
        ),
    )


def _choose(
    pooled: SceneWalkModel,
    viewings: Sequence[Viewing],
    training: TrainingSet,
    folds: Integers,
    *,
    search: bool,
) -> Hyperparameters:
    """Choose from `GRID`: viewers are fitted to one half of the images and judged on the other."""
    coarse = [viewing.coarsened(2) for viewing in viewings] if search else []
    out = folds == 0
    is_possible = bool(np.isin(training.viewers[out], training.viewers[~out]).all())

    def loss(at: Hyperparameters) -> float:
        ratios = _held_out_ratios(pooled, coarse, training, out, at["viewer_sd"])
        return held_out_loss(ratios, training.viewers[out])

    return GRID.choose(loss, search=search and is_possible)


def _held_out_ratios(
    pooled: SceneWalkModel,
    viewings: Sequence[Viewing],
    training: TrainingSet,
    out: Flags,
    viewer_sd: float,
) -> Floats:
    """Return log likelihood ratios (held out, viewers) by parameters fitted to the rest.

    They are 0 for a viewer without other scanpaths, and if there is only one viewer.
    """
    n_viewers = training.n_viewers
    judged = [viewings[i] for i in np.flatnonzero(out)]
    reference = np.array([pooled.log_likelihood(viewing) for viewing in judged])
    ratios = np.zeros((len(judged), n_viewers))
    for viewer in range(n_viewers):
        known = [viewings[i] for i in np.flatnonzero((training.viewers == viewer) & ~out)]
        if known and judged and n_viewers > 1:
            model = pooled.fit_viewer(known, sd=viewer_sd)
            own = [model.log_likelihood(viewing) for viewing in judged]
            ratios[:, viewer] = np.array(own) - reference
    return ratios


def fit_fisher_scenewalk(method: str, training: TrainingSet, options: Options) -> Fitted:
    """Fit the Fisher SVM on SceneWalk's gradients."""
    base, viewings = _fit_base(method, training, options)
    options.report(0.6)
    viewers, n_viewers = training.viewers, training.n_viewers
    scores = np.array([base.pooled.fisher_score(viewing) for viewing in viewings])
    every = np.arange(len(training))
    chosen = choose_for_svm(scores, training, every, search=options.search)
    folds = training.folds(every)
    svm = fit_fisher_svm(scores, viewers, folds, n_viewers, chosen)
    plda, strangers = fit_strangers(
        scores,
        viewers,
        n_viewers,
        options.false_acceptance_rate,
        shipped_genuine(method, training.kind),
    )
    identifier = replace(
        base,
        svm=svm.evidence,
        machine=svm.machine,
        correlation=_correlation("svm", training, options),
        plda=plda,
        strangers=strangers,
    )
    return Fitted(
        identifier,
        "multinomial logistic regression on decisions cross-validated over scanpaths",
        accuracy_of(svm.decisions, viewers, SCANPATHS_HELD_OUT, n_viewers),
        hyperparameters=chosen,
        accuracy_by_images=svm.accuracy_by_images(every),
    )


def _correlation(kind: MachineKind, training: TrainingSet, options: Options) -> float:
    """Return ρ of the training's scanpaths."""
    usual_saccades = float(np.mean([path.n_saccades for path in training.scanpaths]))
    return session_correlation(kind, usual_saccades, same=options.same_session)


def _fit_base(
    method: str, training: TrainingSet, options: Options
) -> tuple[SceneWalkIdentifier, list[Viewing]]:
    """Fit where images lie, the centre bias, and the pooled parameters."""
    grid = _grid(training)
    folders = None if options.stimuli is None else (options.stimuli,)
    viewers = [training.viewer_ids[viewer] for viewer in training.viewers]
    looks = list(zip(viewers, training.scanpaths, strict=True))
    scene = Scene(grid, SaliencyBank.of(_seen(looks, grid)), folders)
    if options.saliency == "others":
        viewings = [scene.seen_by(viewer).viewing(path) for viewer, path in looks]
    else:
        viewings = [scene.viewing(path) for path in training.scanpaths]
    pooled = SceneWalkModel.fit(viewings, n_threads=2)
    nobody = no_strangers("too few viewers to know what strangers are like")
    identifier = SceneWalkIdentifier(
        method, training.viewer_ids, scene, pooled, (), DEFAULT_TEMPERATURE, None, nobody
    )
    return identifier, viewings


def _grid(training: TrainingSet) -> ImageGrid:
    """Return cells over all fixations: images are shown at one place."""
    parts = [path.fixations[:, :2] for path in training.scanpaths if len(path.fixations)]
    places = np.concatenate(parts) if parts else np.empty((0, 2))
    places = places[np.isfinite(places).all(axis=1)]
    if len(places) < 2:
        raise ModelError("too few fixations for SceneWalk")
    low, high = np.percentile(places, (0.5, 99.5), axis=0)
    reach = MARGIN * (high - low) + 0.5
    edges = [np.linspace(low[k] - reach[k], high[k] + reach[k], GRID_CELLS + 1) for k in range(2)]
    return ImageGrid(*edges)


def _seen(looks: Iterable[tuple[str, Scanpath]], grid: ImageGrid) -> Iterator[ImageFixations]:
    """Yield the fixations of viewers' scanpaths; one without an image has one of its own."""
    for number, (viewer, path) in enumerate(looks):
        fixations = path.fixations[np.isfinite(path.fixations).all(axis=1)]
        image = path.image if path.image is not None else f"#{number}"
        yield ImageFixations(viewer, image, fixations[:, 0], fixations[:, 1], grid)
