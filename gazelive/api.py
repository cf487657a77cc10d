"""What a notebook calls: read a recording, find its saccades, learn who is who, identify.

`import gazelive` offers all of it and imports nothing heavy before it is used. What a user should
know of the data comes as a `GazeliveWarning`, what cannot be done as a `GazeliveError`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from gazelive.detection import Method, preset
from gazelive.errors import ConfigError, GazeliveError, GazeliveWarning
from gazelive.features.interval import Parameters
from gazelive.features.vigor import DEFAULT_RATE_DEG
from gazelive.gaze.screen import ScreenGeometry
from gazelive.identification.fitted import Accuracy
from gazelive.identification.methods import Options
from gazelive.identification.model_file import TrainedModel, load_model, save_model
from gazelive.identification.stimuli import image_problems, looks_at_images, with_stimuli
from gazelive.offline import event_tables
from gazelive.offline import identification as offline_identification
from gazelive.offline import training as offline_training
from gazelive.offline.analysis import Analysis, EyeChoice, analyse
from gazelive.offline.identification import Floats, ProbeResult
from gazelive.offline.scanpaths import Detector, gather, source_kind
from gazelive.recordings.columns import Columns, recording_of_columns
from gazelive.recordings.corpus import screen_in_corpus
from gazelive.recordings.geometry import GeometryFlags
from gazelive.recordings.opening import read_recording
from gazelive.recordings.recording import Problem, Recording
from gazelive.recordings.trials import DEFAULT_PATTERNS, TrialPatterns
from gazelive.simulation.corpus import CorpusPlan, write_corpus
from gazelive.simulation.image_pool import default_stimuli

__all__ = [
    "Detected",
    "GazeliveError",
    "GazeliveWarning",
    "Identified",
    "Model",
    "Recording",
    "ScreenGeometry",
    "TrialPatterns",
    "detect",
    "from_columns",
    "read",
    "simulate",
    "train",
]

PathLike: TypeAlias = str | os.PathLike[str]


def read(path: PathLike, *, trial_patterns: TrialPatterns = DEFAULT_PATTERNS) -> Recording:
    """Read a recording: ASC, EDF, a session folder or a sample table.

    `trial_patterns` say which messages start and stop trials, where they are not the usual ones.
    """
    recording = read_recording(Path(path), trial_patterns=trial_patterns)
    _warn(f"{recording.path}: {problem.text}" for problem in recording.problems)
    return recording


def from_columns(
    columns: Columns,
    *,
    sampling_rate_hz: float | None = None,
    screen: ScreenGeometry | None = None,
) -> Recording:
    """Return arrays (or a pandas, polars or Arrow table) as a recording.

    The names are those of a sample table: `t_ms` and `x_deg`, `y_deg` or `x_px`, `y_px`; two eyes
    as `left_x_deg` … `right_y_deg`; optionally `pupil`, `trial`, `image`, `valid`, `block`.
    """
    recording = recording_of_columns(columns, sampling_rate_hz=sampling_rate_hz, screen=screen)
    _warn(f"{recording.path}: {problem.text}" for problem in recording.problems)
    return recording


@dataclass(frozen=True)
class Detected:
    """The events of a recording, as tables with one row each; units stand in the names."""

    analysis: Analysis
    """Everything: the gaze of each interval in degrees, its events, features and thresholds."""

    @cached_property
    def saccades(self) -> Any:
        """A `pyarrow.Table` with the columns that `gazelive detect` writes."""
        return event_tables.saccade_table(self.analysis)

    @cached_property
    def fixations(self) -> Any:
        """A `pyarrow.Table` with the columns that `gazelive detect --fixations` writes."""
        return event_tables.fixation_table(self.analysis)

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that the tables rest on, as JSON can hold it."""
        return event_tables.provenance(self.analysis, DEFAULT_RATE_DEG)


def detect(
    recording: Recording | PathLike,
    *,
    method: Method = "settled",
    parameters: Parameters | str | None = None,
    eye: EyeChoice | None = None,
    screen: ScreenGeometry | None = None,
    whole_blocks: bool = False,
) -> Detected:
    """Find the saccades and fixations of every viewing interval.

    `method` is `settled`, `online` or `engbert-kliegl`; `parameters` are those of the method, or
    the name of a preset (`scene-viewing`, `microsaccades`, `noisy`). A recording in pixels needs
    a `screen` where it does not tell of one.
    """
    problems: tuple[Problem, ...] = ()
    if not isinstance(recording, Recording):
        recording = read_recording(Path(recording))
        problems = recording.problems
    if isinstance(parameters, str):
        parameters = preset(parameters)
    analysis = analyse(
        recording,
        method=method,
        parameters=parameters,
        eye=eye,
        flags=_flags(screen),
        corpus_screen=screen_in_corpus(recording.path) if recording.path.exists() else None,
        whole_blocks=whole_blocks,
    )
    told = (*(problem.text for problem in problems), *analysis.warnings)
    _warn(f"{recording.path}: {sentence}" for sentence in told)
    return Detected(analysis)


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
        source: PathLike,
        *,
        sessions: Collection[str] = (),
        prior: Mapping[str, float] | None = None,
        screen: ScreenGeometry | None = None,
        stimuli: PathLike | None = None,
    ) -> list[Identified]:
        """Say who it is, for each recording of a corpus (or a single one) or label of a table.

        `prior` gives viewers weights before anything is seen; those it does not name count 1.
        `stimuli` is the folder of the images, for models that were trained with them.
        """
        path = Path(source)
        model = self.trained
        if stimuli is not None:
            model = with_stimuli(model, [Path(stimuli)])
        elif looks_at_images(model):
            raise ConfigError("the model was trained with the images' files: give their folder")
        offline_identification.check_kind(model, source_kind(path))
        gathered = gather(
            path,
            detector=offline_training.detector_of(model),
            flags=_flags(screen),
            sessions=sessions,
            running=True,
        )
        shown = (each.image for probe in gathered.probes for each in probe.scanpaths)
        _warn((*gathered.warnings, *image_problems(model.identifier, shown)))
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
    source: PathLike,
    *,
    method: str = "gazelive",
    sessions: Collection[str] = (),
    images: Collection[str] = (),
    exclude_viewers: Collection[str] = (),
    screen: ScreenGeometry | None = None,
    stimuli: PathLike | None = None,
    false_acceptance_rate: float = Options.false_acceptance_rate,
    texture: bool = Options.texture,
) -> Model:
    """Learn to recognise the viewers of a corpus or of a fixation table.

    `sessions`, `images` and `exclude_viewers` choose what is learned from (empty: everything);
    `stimuli` is the folder of the images, for the saliency that `scenewalk` needs; `texture`
    False leaves out the fixation before each saccade, whose noise may be the tracker's.
    """
    path = Path(source)
    gathered = gather(
        path,
        flags=_flags(screen),
        sessions=sessions,
        images=images,
        exclude_viewers=exclude_viewers,
    )
    options = Options(
        false_acceptance_rate=false_acceptance_rate,
        texture=texture,
        stimuli=None if stimuli is None else Path(stimuli),
    )
    left_out = tuple(f"viewer {name}: asked for" for name in exclude_viewers)
    trained = offline_training.train(gathered, path, method, options, Detector(), left_out)
    _warn((*gathered.warnings, *trained.warnings))
    return Model(trained.model)


def simulate(
    folder: PathLike,
    *,
    n_viewers: int = 32,
    n_images: int = 106,
    n_sessions: int = 1,
    seconds: float = 8.0,
    sampling_rate_hz: float = 1000.0,
    seed: int = 0,
) -> Path:
    """Write a corpus of simulated viewers into a new folder, and return the folder.

    The same seed is the same people; what really happened stands in its folder `truth`.
    """
    plan = CorpusPlan(
        n_viewers=n_viewers,
        n_images=n_images,
        n_sessions=n_sessions,
        seconds=seconds,
        sampling_rate_hz=sampling_rate_hz,
        seed=seed,
        stimuli=default_stimuli(),
    )
    write_corpus(plan, Path(folder))
    return Path(folder)


def _flags(screen: ScreenGeometry | None) -> GeometryFlags | None:
    return None if screen is None else GeometryFlags.of(screen)


def _warn(sentences: Iterable[str]) -> None:
    """Say it to whoever called the function that calls this."""
    for sentence in sentences:
        warnings.warn(sentence, GazeliveWarning, stacklevel=3)
