"""What the session panel says: names, numbers and states as lines of text."""

from __future__ import annotations

from pathlib import PureWindowsPath

from gazelive.dashboard.state import DashboardState
from gazelive.dashboard.wording import THIN, clock_time, counted

NOTHING = "–"
HIDDEN = "hidden"
EYES = {"L": "left eye", "R": "right eye", "LR": "both eyes"}

Facts = dict[str, str]


def session_facts(state: DashboardState, *, hide_viewer: bool) -> Facts:
    """Return label and text of each line, in their order."""
    run = state.run
    return {
        "Session": NOTHING if run is None else run.session,
        "Viewer": _viewer(state, hide_viewer),
        "Trial": _trial(state),
        "Image": _image(state),
        "Elapsed": _elapsed(state),
        "Device": _device(state),
        "Model": _model(state),
    }


def _viewer(state: DashboardState, hide: bool) -> str:
    if state.run is None:
        return NOTHING
    if hide:
        return HIDDEN
    return state.run.viewer or "not told"


def _trial(state: DashboardState) -> str:
    trial = state.trial
    if trial is None:
        return NOTHING
    if trial.index is None:
        text = trial.trial
    elif trial.n_trials is None:
        text = f"{trial.index}"
    else:
        text = f"{trial.index} of {trial.n_trials}"
    return text if state.trial_open else f"{text}, over"


def _image(state: DashboardState) -> str:
    if state.trial is None:
        return NOTHING
    return PureWindowsPath(state.trial.image).name if state.trial.image else "none named"


def _elapsed(state: DashboardState) -> str:
    elapsed = clock_time(state.elapsed_s)
    playback = state.playback if state.stopped is None else None
    share = None if playback is None else playback.share
    return elapsed if share is None else f"{elapsed}, {100 * share:.0f}{THIN}% of the replay"


def _device(state: DashboardState) -> str:
    if state.run is None:
        return NOTHING
    stream = state.run.stream
    return f"{stream.device}, {stream.sampling_rate_hz:g}{THIN}Hz, {EYES[stream.eyes]}"


def _model(state: DashboardState) -> str:
    model = state.model
    if model is None:
        return "none"
    name = PureWindowsPath(model.model).name
    return f"{name} ({model.method}), {counted(len(model.viewer_ids), 'viewer')}"
