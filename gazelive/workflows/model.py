"""Models of viewers from Python: `train`, and `Model` with load, save, enrol and identify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gazelive.gaze import ScreenGeometry
from gazelive.identification import (
    Accuracy,
    Expectation,
    Options,
    TrainedModel,
    load_model,
    save_model,
    trial_patterns_of,
)
from gazelive.observer import Observer
from gazelive.recordings import DEFAULT_PATTERNS, TrialPatterns
from gazelive.verdict import STRANGER_PRIOR
from gazelive.wording import counted
from gazelive.workflows.identification import (
    ProbeResult,
    check_folder,
    identify_source,
    judged_once,
    log_prior,
    with_images,
)
from gazelive.workflows.sources import (
    LabelledSource,
    Names,
    PathLike,
    Source,
    flags_of,
    labelled,
    names_of,
    unlabelled,
    warn_caller,
)
from gazelive.workflows.training import enrol_source, train_source


@dataclass(frozen=True, eq=False)
class Identified:
    """Identification of one recording, or of one label of a fixation table."""

    probe: str
    """The recording's name, or the label; it was not looked at to identify."""
    best: str | None
    """The most probable of the enrolled; None without a saccade."""
    posterior: dict[str, float]
    """Probability of each viewer, given that the person is enrolled; sums to 1."""
    unknown: float | None
    """Probability that it is none of them; None if strangers cannot be detected."""
    accepted: bool | None
    """Whether the best match is accepted at the false-acceptance rate; None as above."""
    more_s: float | None
    """Seconds of viewing until it would probably be accepted; None if it is, or if that cannot be
    expected."""
    headline: str
    """Who, how sure, and whether that is enough, in the words of all displays."""
    n_saccades: int
    seconds: float
    """Viewing time."""
    course: tuple[tuple[float, int, str, float], ...]
    """(seconds, saccades, best, probability) as the evidence grew."""

    def __repr__(self) -> str:
        return f"<Identified {self.probe}: {self.headline}>"

    @property
    def probability(self) -> float:
        """Probability of the best match."""
        return max(self.posterior.values())


@dataclass(frozen=True, eq=False)
class Model:
    """Enrolled viewers, and how they are recognised."""

    trained: TrainedModel

    def __repr__(self) -> str:
        method = self.trained.identifier.method
        return f"<Model {method}: {counted(len(self.viewers), 'viewer')}>"

    @classmethod
    def load(cls, path: PathLike) -> Model:
        """Read a model file."""
        return cls(load_model(Path(path)))

    def save(self, path: PathLike) -> None:
        """Write a model file, which every command takes."""
        save_model(self.trained, Path(path))

    @property
    def viewers(self) -> tuple[str, ...]:
        """The enrolled."""
        return self.trained.identifier.viewer_ids

    @property
    def accuracy(self) -> Accuracy | None:
        """Cross-validated, where there were data enough for it."""
        return self.trained.fitted.accuracy

    @property
    def expectation(self) -> Expectation | None:
        """Who is recognised and accepted after how many seconds; None if the viewers changed."""
        return self.trained.expectation

    def identify(
        self,
        source: Source,
        *,
        sessions: Names = (),
        images: Names = (),
        prior: Mapping[str, float] | None = None,
        false_acceptance_rate: float | None = None,
        stranger_prior: float = STRANGER_PRIOR,
        screen: ScreenGeometry | None = None,
        stimuli: PathLike | None = None,
        trial_patterns: TrialPatterns | None = None,
    ) -> list[Identified]:
        """Identify each recording (of a corpus, or as given) or each label of a table.

        `source` is a path, a recording (`read`, `from_columns`), or a list of them.
        `sessions` and `images` choose (empty: all).
        `prior` gives viewers weights before anything is seen; those it does not name count 1.
        `false_acceptance_rate` is the share of strangers that are accepted, by default as in
        training; `stranger_prior` is the probability of a stranger before anything is seen.
        `stimuli` is the folder of the images, for models that were trained with them.
        `trial_patterns` are for what must still be read, by default those of the training.
        """
        folder = None if stimuli is None else Path(stimuli)
        model = with_images(self.trained, folder, "stimuli")
        observer = Observer()
        results = identify_source(
            model,
            unlabelled(source),
            observer,
            prior=None if prior is None else log_prior(model, prior, "prior"),
            terms=judged_once(false_acceptance_rate, stranger_prior),
            sessions=names_of(sessions),
            images=names_of(images),
            flags=flags_of(screen),
            trial_patterns=trial_patterns,
        )
        warn_caller(observer.warnings)
        return [self._identified(result) for result in results]

    def enrol(
        self,
        source: LabelledSource,
        *,
        viewers: Names = (),
        sessions: Names = (),
        screen: ScreenGeometry | None = None,
        stimuli: PathLike | None = None,
        trial_patterns: TrialPatterns | None = None,
    ) -> Model:
        """Return the model with more viewers, and more sessions of those it has.

        `source` is that of `train`. `viewers` and `sessions` choose (empty: all).
        `stimuli` is the folder of the images, for models that were trained with them.
        `trial_patterns` are for what must still be read, by default those of the training.
        """
        folder = None if stimuli is None else Path(stimuli)
        observer = Observer()
        changed, _ = enrol_source(
            with_images(self.trained, folder, "stimuli"),
            labelled(source),
            observer,
            viewers=names_of(viewers),
            sessions=names_of(sessions),
            flags=flags_of(screen),
            trial_patterns=trial_patterns or trial_patterns_of(self.trained),
        )
        warn_caller(observer.warnings)
        return Model(changed)

    def _identified(self, result: ProbeResult) -> Identified:
        estimate, names = result.estimate, self.viewers
        return Identified(
            probe=result.probe.name,
            best=result.best,
            posterior=dict(zip(names, np.exp(estimate.log_probabilities).tolist(), strict=True)),
            unknown=result.unknown,
            accepted=result.accepted,
            more_s=estimate.more_s,
            headline=result.verdict.headline,
            n_saccades=estimate.n_saccades,
            seconds=estimate.seconds,
            course=tuple((t_s, n, names[best], p) for t_s, n, best, p in result.course),
        )


def train(
    source: LabelledSource,
    *,
    method: str = "gazelive",
    sessions: Names = (),
    images: Names = (),
    exclude_viewers: Names = (),
    screen: ScreenGeometry | None = None,
    stimuli: PathLike | None = None,
    false_acceptance_rate: float = Options.false_acceptance_rate,
    texture: bool = Options.texture,
    shipped: bool = Options.shipped,
    force: bool = False,
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> Model:
    """Train a model that recognises viewers.

    `source` is the path of a corpus or of a fixation table, or recordings in memory: a dict of
    viewers and their recordings (one or a list), or a list of recordings that name their viewer.
    Each of a viewer's recordings counts as a session of its own unless its `session` is set.

    `sessions`, `images` and `exclude_viewers` choose the training data (empty: everything);
    `stimuli` is the folder of the images, for the saliency that `scenewalk` needs; `texture`
    False leaves out the fixation before each saccade, whose noise may be the tracker's; `shipped`
    False does without what was learned from other people's recordings.
    A model that is no better than chance raises `ChanceError`, unless `force` is True.
    `trial_patterns` are for what must still be read, and the model keeps them.
    """
    folder = None if stimuli is None else Path(stimuli)
    check_folder(folder, "stimuli")
    observer = Observer()
    model = train_source(
        labelled(source),
        observer,
        method=method,
        options=Options(
            false_acceptance_rate=false_acceptance_rate,
            texture=texture,
            shipped=shipped,
            stimuli=folder,
        ),
        sessions=names_of(sessions),
        images=names_of(images),
        exclude_viewers=names_of(exclude_viewers),
        flags=flags_of(screen),
        trial_patterns=trial_patterns,
        force=force,
    )
    warn_caller(observer.warnings)
    return Model(model)
