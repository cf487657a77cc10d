"""Facts of the session as lines of text, for the session panel."""

from __future__ import annotations

from gazelive.dashboard.state.state import DashboardState
from gazelive.wording import EYE_NAMES, NOTHING, THIN, clock_time, counted, file_name

HIDDEN = "hidden"

Facts = dict[str, str]


def session_name(state: DashboardState, *, hide_viewer: bool) -> str:
    """Return the name of the session for titles: of its folder, which may contain the viewer's."""
    run = state.run
    if run is None:
        return ""
    return f"session {run.session}" if hide_viewer or not run.folder else file_name(run.folder)


def session_facts(state: DashboardState, *, hide_viewer: bool) -> Facts:
    """Return label and text of each line, in order."""
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
    return state.run.viewer or "not given"


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
    return text if state.trial_open else f"{text}, ended"


def _image(state: DashboardState) -> str:
    if state.trial is None:
        return NOTHING
    return file_name(state.trial.image) if state.trial.image else "not given"


def _elapsed(state: DashboardState) -> str:
    elapsed = clock_time(state.elapsed_s)
    playback = state.playback if state.stopped is None else None
    share = None if playback is None else playback.share
    return elapsed if share is None else f"{elapsed}, {100 * share:.0f}{THIN}% of the replay"


def _device(state: DashboardState) -> str:
    if state.run is None:
        return NOTHING
    stream = state.run.stream
    return f"{stream.device}, {stream.sampling_rate_hz:g}{THIN}Hz, {EYE_NAMES[stream.eyes]}"


def _model(state: DashboardState) -> str:
    model = state.model
    if model is None:
        return "none"
    kind = "" if model.method_kind is None else f" ({model.method_kind})"
    n_viewers = counted(len(model.viewer_ids), "viewer")
    return f"{file_name(model.model)}, {n_viewers}, {model.method}{kind}"
