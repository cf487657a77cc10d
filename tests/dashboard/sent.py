"""Short ways to make documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from gazelive.gaze import documents as d
from gazelive.gaze.screen import PAPER_SCREEN
from gazelive.gaze.stream import StreamDescription

STREAM = StreamDescription(
    device="EyeLink 1000", sampling_rate_hz=1000.0, eyes="R", screen=PAPER_SCREEN
)
NAMES = ("Ada", "Bea", "Cleo", "Dora", "Emmy", "Fanny", "Grace", "Hedy", "Ida", "Jane")


def run(session: str = "s01", **changes: Any) -> d.RunStarted:
    return d.RunStarted(session=session, stream=STREAM, **changes)


def model(n: int = len(NAMES), **changes: Any) -> d.ModelLoaded:
    names = NAMES[:n] if n <= len(NAMES) else tuple(f"v{i:05d}" for i in range(n))
    return d.ModelLoaded(model="lab.model", method="fisher-svm", viewer_ids=names, **changes)


def trial(number: int = 1, time_us: int = 0, **changes: Any) -> d.TrialStarted:
    return d.TrialStarted(
        trial=f"trial {number}", tracker_time_us=time_us, index=number, n_trials=9, **changes
    )


def trace(first_us: int, x: Any, y: Any = None, speed: Any = None, **changes: Any) -> d.GazeTrace:
    x = np.asarray(x, "<f4")
    y = np.zeros_like(x) if y is None else np.asarray(y, "<f4")
    speed = np.zeros_like(x) if speed is None else np.asarray(speed, "<f4")
    return d.GazeTrace(
        first_us=first_us,
        interval_us=changes.pop("interval_us", 1000.0),
        x_deg=x.tobytes(),
        y_deg=y.tobytes(),
        speed_deg_s=speed.tobytes(),
        **changes,
    )


def saccade(
    onset_ms: int,
    start: tuple[float, float] = (0.0, 0.0),
    end: tuple[float, float] = (5.0, 0.0),
    **changes: Any,
) -> d.Saccade:
    return d.Saccade(
        eye="R",
        onset_us=1000 * onset_ms,
        offset_us=1000 * (onset_ms + 40),
        start_x_deg=start[0],
        start_y_deg=start[1],
        end_x_deg=end[0],
        end_y_deg=end[1],
        peak_velocity_deg_s=changes.pop("peak_velocity_deg_s", 220.0),
        **changes,
    )


def fixation(onset_ms: int, offset_ms: int, x: float = 0.0, y: float = 0.0) -> d.Fixation:
    return d.Fixation(
        eye="R", onset_us=1000 * onset_ms, offset_us=1000 * offset_ms, x_deg=x, y_deg=y
    )


def blink(onset_ms: int, offset_ms: int) -> d.Blink:
    return d.Blink(eye="R", onset_us=1000 * onset_ms, offset_us=1000 * offset_ms)


def posterior(
    shares: dict[int, float] | None = None,
    *,
    unknown: float | None = 0.1,
    time_ms: int = 1000,
    n_saccades: int = 12,
    settled: bool = False,
    n_images: int = 2,
    seconds: float = 4.5,
    accepted: bool | None = None,
    more_s: float | None = None,
) -> d.Posterior:
    shares = {0: 0.7, 1: 0.2, 2: 0.1} if shares is None else shares
    return d.Posterior(
        tracker_time_us=1000 * time_ms,
        leading=tuple(shares),
        log_probabilities=tuple(float(np.log(share)) for share in shares.values()),
        log_unknown=None if unknown is None else float(np.log(unknown)),
        n_saccades=n_saccades,
        n_images=n_images,
        seconds=seconds,
        settled=settled,
        accepted=accepted,
        more_s=more_s,
    )


def summary(time_ms: int = 1000, **changes: Any) -> d.QualitySummary:
    facts: dict[str, Any] = dict(
        rate_asked_hz=1000.0,
        rate_received_hz=999.0,
        n_lost_samples=0,
        missing_fraction=0.02,
        rms_s2s_deg=0.02,
        latency_ms=3.0,
        clock_drift_ppm=5.0,
    )
    return d.QualitySummary(tracker_time_us=1000 * time_ms, **{**facts, **changes})


def validated(eye: str = "R", mean: float = 0.3, most: float = 0.6) -> d.Validated:
    return d.Validated(eye=eye, mean_error_deg=mean, max_error_deg=most)


def a_whole_run() -> list[d.Document]:
    """Two images, the second under way, with everything that a panel can show."""
    rng = np.random.default_rng(0)
    band = d.MainSequence(
        amplitude_deg=(0.5, 5.0, 20.0),
        low_deg_s=(30.0, 150.0, 350.0),
        median_deg_s=(45.0, 220.0, 480.0),
        high_deg_s=(70.0, 300.0, 600.0),
    )
    sent: list[d.Document] = [
        run(viewer="Ada"),
        model(main_sequence=band),
        validated(),
        summary(),
    ]
    for number in (1, 2):
        start = 4000 * (number - 1)
        sent.append(
            trial(
                number,
                1000 * start,
                image=("harbour.jpg", "cat.jpg")[number - 1],
                image_rectangle_px=(210.0, 40.0, 1500.0, 1000.0),
            )
        )
        here = (0.0, 0.0)
        for k in range(12):
            onset = start + 300 * k + 250
            there = tuple(rng.uniform((-12, -8), (12, 8)).tolist())
            steps = np.concatenate((np.full(250, here[0]), np.linspace(here[0], there[0], 50)))
            speed = np.concatenate((rng.uniform(0, 8, 250), np.hanning(50) * 300))
            sent += [
                trace(1000 * (onset - 250), steps, speed=speed, threshold_deg_s=30.0),
                saccade(onset, here, there),
                fixation(onset - 250, onset - 1, *here),
                posterior(
                    {0: 0.5 + 0.02 * k, 3: 0.3 - 0.01 * k, 5: 0.1},
                    time_ms=onset + 60,
                    n_saccades=12 * (number - 1) + k + 1,
                    n_images=number,
                    seconds=(onset + 60) / 1000,
                ),
            ]
            here = there
        if number == 1:
            sent += [
                d.TrialStopped(trial="trial 1", tracker_time_us=3_900_000),
                posterior(
                    {0: 0.8, 3: 0.1, 5: 0.05},
                    time_ms=3900,
                    n_saccades=12,
                    n_images=1,
                    seconds=3.9,
                    settled=True,
                ),
            ]
    return sent
