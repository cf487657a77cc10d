"""Models of viewers: learned, kept in a file, asked who is looking."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from gazelive.api.common import Names, PathLike, flags_of, folder_of, names_of, tell
from gazelive.api.sources import (
    LabelledSource,
    Source,
    labelled_recordings,
    recordings_of,
)
from gazelive.errors import ConfigError
from gazelive.gaze.screen import ScreenGeometry
from gazelive.identification.fitted import Accuracy
from gazelive.identification.methods import Options
from gazelive.identification.model_file import (
    TrainedModel,
    load_model,
    save_model,
    trial_patterns_of,
)
from gazelive.identification.stimuli import image_problems, looks_at_images, with_stimuli
from gazelive.offline import identification as offline_identification
from gazelive.offline import training as offline_training
from gazelive.offline.identification import Floats, ProbeResult
from gazelive.offline.probes import Detector
from gazelive.offline.scanpaths import IN_MEMORY, gather, gather_recordings, source_kind
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns


class How(TypedDict, total=False):
    """How scanpaths are gathered, be it from files or from memory."""

    detector: Detector
    flags: GeometryFlags | None
    trial_patterns: TrialPatterns
    sessions: tuple[str, ...]
    images: tuple[str, ...]
    exclude_viewers: tuple[str, ...]
    running: bool


@dataclass(frozen=True, eq=False)
class Identified:
    """Who one recording (or one label of a fixation table) is said to be."""

    probe: str
    """The recording's name, or the label; it was not looked at to identify."""
    best: str | None
    """The most probable of the enrolled; None without a saccade."""
    posterior: dict[str, float]
    """Of each enrolled viewer, if it is one of them; sums to 1."""
    unknown: float
    """Probability that it is none of them."""
    n_saccades: int
    seconds: float
    """How long was looked."""
    course: tuple[tuple[float, int, str, float], ...]
    """(seconds, saccades, best, probability) as the evidence grew."""

    @property
    def probability(self) -> float:
        """Of the best."""
        return max(self.posterior.values())


@dataclass(frozen=True, eq=False)
class Model:
    """Enrolled viewers, and how they are recognised."""

    trained: TrainedModel

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

    def identify(
        self,
        source: Source,
        *,
        sessions: Names = (),
        prior: Mapping[str, float] | None = None,
        screen: ScreenGeometry | None = None,
        stimuli: PathLike | None = None,
        trial_patterns: TrialPatterns | None = None,
    ) -> list[Identified]:
        """Say who it is, for each recording (of a corpus, or as given) or label of a table.

        `source` is a path, a recording (`read`, `from_columns`), or a list of them.
        `prior` gives viewers weights before anything is seen; those it does not name count 1.
        `stimuli` is the folder of the images, for models that were trained with them.
        `trial_patterns` are for what must still be read, by default those of the training.
        """
        model = self.trained
        images = folder_of(stimuli, "stimuli")
        if images is not None:
            model = with_stimuli(model, [images])
        elif looks_at_images(model):
            raise ConfigError(
                "the model was trained with the images' files: give their folder", key="stimuli"
            )
        patterns = trial_patterns_of(model) if trial_patterns is None else trial_patterns
        how = How(
            detector=offline_training.detector_of(model),
            flags=flags_of(screen),
            trial_patterns=patterns,
            sessions=names_of(sessions),
            running=True,
        )
        if isinstance(source, str | os.PathLike):
            offline_identification.check_kind(model, source_kind(Path(source)))
            gathered = gather(Path(source), **how)
        else:
            offline_identification.check_kind(model, "samples")
            gathered = gather_recordings(recordings_of(source), **how)
        shown = (each.image for probe in gathered.probes for each in probe.scanpaths)
        tell((*gathered.warnings, *image_problems(model.identifier, shown)))
        results = offline_identification.identify(model, gathered, self._log_prior(prior))
        return [self._identified(result) for result in results]

    def _identified(self, result: ProbeResult) -> Identified:
        estimate, names = result.estimate, self.viewers
        return Identified(
            probe=result.probe.name,
            best=names[estimate.best] if estimate.n_saccades else None,
            posterior=dict(zip(names, np.exp(estimate.log_probabilities).tolist(), strict=True)),
            unknown=float(np.exp(estimate.log_unknown)),
            n_saccades=estimate.n_saccades,
            seconds=estimate.seconds,
            course=tuple((t_s, n, names[best], p) for t_s, n, best, p in result.course),
        )

    def _log_prior(self, prior: Mapping[str, float] | None) -> Floats | None:
        if prior is None:
            return None
        strangers = sorted(set(prior) - set(self.viewers))
        if strangers:
            raise ConfigError(f"not in the model: {', '.join(strangers)}", key="prior")
        weights = np.array([prior.get(name, 1.0) for name in self.viewers], np.float64)
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise ConfigError("needs numbers above 0", key="prior")
        return np.asarray(np.log(weights / weights.sum()), np.float64)


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
    trial_patterns: TrialPatterns = DEFAULT_PATTERNS,
) -> Model:
    """Learn to recognise viewers.

    `source` is the path of a corpus or of a fixation table, or recordings in memory: a dict of
    viewers and their recordings (one or a list), or a list of recordings that name their viewer.
    Each of a viewer's recordings counts as a session of its own unless its `session` says another.

    `sessions`, `images` and `exclude_viewers` choose what is learned from (empty: everything);
    `stimuli` is the folder of the images, for the saliency that `scenewalk` needs; `texture`
    False leaves out the fixation before each saccade, whose noise may be the tracker's.
    `trial_patterns` are for what must still be read, and the model keeps them.
    """
    options = Options(
        false_acceptance_rate=false_acceptance_rate,
        texture=texture,
        stimuli=folder_of(stimuli, "stimuli"),
    )
    excluded = names_of(exclude_viewers)
    how = How(
        flags=flags_of(screen),
        trial_patterns=trial_patterns,
        sessions=names_of(sessions),
        images=names_of(images),
        exclude_viewers=excluded,
    )
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        gathered = gather(path, **how)
    else:
        path = IN_MEMORY
        gathered = gather_recordings(labelled_recordings(source), **how)
    left_out = tuple(f"viewer {name}: asked for" for name in excluded)
    trained = offline_training.train(gathered, path, method, options, Detector(), left_out)
    tell((*gathered.warnings, *trained.warnings))
    return Model(trained.model)
