"""Kernels of the simulated eye (`eye.py`), on plain arrays.

Everything that changes from sample to sample advances one sample at a time in a fixed order, so a
trace does not depend on how it was split into calls.
"""

from __future__ import annotations

import math

import numpy as np

from gazelive.gaze import Floats
from gazelive.system import kernel

GRID_S = 0.0002
"""Saccades are integrated on this grid and read off it at the sample times."""
TAIL_S = 0.4
"""Longest simulated oscillation and glissade after the end of the eye's own movement."""
REST_DEG = 1e-4
"""Remaining amplitude at which they count as over."""

CHECK_EVERY = 50

ONSET_FRACTION = 0.05
ONSET_FLOOR_DEG_S = 5.0
OSCILLATION_FLOOR_DEG = 0.05

# columns of the saccade parameters
DX, DY, DURATION, PEAK, SHARPNESS, CURVATURE, GLISSADE, GLISSADE_TAU = range(8)
FREQUENCY, DAMPING, GAIN_X, GAIN_Y = range(8, 12)
N_SACCADE_PARAMETERS = 12

# rows of the landmarks
ONSET, OFFSET, PEAK_TIME, OSCILLATION_END, PEAK_VELOCITY, OSCILLATION = range(6)
START_X, START_Y, END_X, END_Y = range(6, 10)
N_LANDMARKS = 10


@kernel
def saccade_path(parameters: Floats) -> Floats:
    """Return what is left of a saccade's displacement at each grid point, shape (n, 2), degrees.

    The path starts at minus the displacement and ends at 0. The eyeball's speed along it is a
    beta function of time; a part of it (the glissade) follows through a first-order lag. The
    pupil hangs on a damped spring in the eyeball; when the eyeball brakes, it swings on.
    """
    dx, dy = parameters[DX], parameters[DY]
    duration, sharpness = parameters[DURATION], parameters[SHARPNESS]
    rise = sharpness * parameters[PEAK]
    fall = sharpness - rise
    n_moving = math.ceil(duration / GRID_S)
    n = n_moving + int(TAIL_S / GRID_S)
    profile = np.empty(n_moving)
    total = 0.0
    for i in range(n_moving):
        phase = (i + 0.5) * GRID_S / duration  # speed in the middle of a step
        profile[i] = phase**rise * (1.0 - phase) ** fall if phase < 1.0 else 0.0
        total += profile[i]

    glissade = parameters[GLISSADE]
    lag = GRID_S / parameters[GLISSADE_TAU]
    bulge = 4.0 * parameters[CURVATURE]
    # the spring in units of the grid: swing and its step from one grid point to the next
    omega = 2.0 * math.pi * parameters[FREQUENCY] * GRID_S
    friction = 2.0 * parameters[DAMPING] * omega
    stiffness = omega * omega
    kick_x, kick_y = parameters[GAIN_X] * dx, parameters[GAIN_Y] * dy
    path = np.empty((n, 2))
    progress = late = along = pace = 0.0
    eye_x = eye_y = 0.0
    swing_x = swing_y = step_x = step_y = 0.0
    for i in range(n):
        path[i, 0] = eye_x - dx + swing_x
        path[i, 1] = eye_y - dy + swing_y
        if i < n_moving:
            progress += profile[i] / total
        elif i % CHECK_EVERY == 0:
            left = abs(path[i, 0]) + abs(path[i, 1]) + (abs(step_x) + abs(step_y)) / omega
            if left < REST_DEG:
                return path[: i + 1].copy()
        late += (progress - late) * lag
        before, along = along, (1.0 - glissade) * progress + glissade * late
        braking = max(pace - (along - before), 0.0)
        pace = along - before
        aside = bulge * along * (1.0 - along)
        eye_x = along * dx - aside * dy
        eye_y = along * dy + aside * dx
        step_x += kick_x * braking - friction * step_x - stiffness * swing_x
        step_y += kick_y * braking - friction * step_y - stiffness * swing_y
        swing_x += step_x
        swing_y += step_y
    return path


@kernel
def saccade_landmarks(path: Floats, dx: float, dy: float) -> Floats:
    """Return onset, offset, peak … of a path (see `truth.py`); times in seconds from its start."""
    n = len(path)
    length = math.sqrt(dx * dx + dy * dy)
    ux, uy = dx / length, dy / length
    peak_squared, i_peak = 0.0, 0
    for i in range(n - 1):
        squared = (path[i + 1, 0] - path[i, 0]) ** 2 + (path[i + 1, 1] - path[i, 1]) ** 2
        if squared > peak_squared:
            peak_squared, i_peak = squared, i
    peak_step = math.sqrt(peak_squared)
    threshold = max(ONSET_FRACTION * peak_step, ONSET_FLOOR_DEG_S * GRID_S)
    threshold = min(threshold, 0.5 * peak_step)

    # step i is the movement from point i to i + 1, its velocity that of the time i + 1/2
    i_onset, before, after = i_peak, peak_step, peak_step
    while before >= threshold and i_onset > 0:
        i_onset -= 1
        after = before
        x_step = path[i_onset + 1, 0] - path[i_onset, 0]
        y_step = path[i_onset + 1, 1] - path[i_onset, 1]
        before = math.sqrt(x_step * x_step + y_step * y_step)
    onset = i_onset + 0.5
    if before < threshold:
        onset += (threshold - before) / (after - before)
    else:
        onset = 0.0
    i_offset, before, after = i_peak, peak_step, peak_step
    while after >= threshold and i_offset < n - 2:
        i_offset += 1
        before = after
        after = ux * (path[i_offset + 1, 0] - path[i_offset, 0])
        after += uy * (path[i_offset + 1, 1] - path[i_offset, 1])
    offset = i_offset + 0.5
    if after < threshold:
        offset -= (threshold - after) / (before - after)

    largest, i_end = 0.0, offset
    for i in range(math.ceil(offset), n):
        squared = path[i, 0] ** 2 + path[i, 1] ** 2
        largest = max(largest, squared)
        if squared > OSCILLATION_FLOOR_DEG**2:
            i_end = i
    marks = np.empty(N_LANDMARKS)
    marks[ONSET], marks[OFFSET] = onset * GRID_S, offset * GRID_S
    marks[PEAK_TIME], marks[OSCILLATION_END] = (i_peak + 0.5) * GRID_S, i_end * GRID_S
    marks[PEAK_VELOCITY], marks[OSCILLATION] = peak_step / GRID_S, math.sqrt(largest)
    for axis in range(2):
        marks[START_X + axis] = _between(path, onset, axis)
        marks[END_X + axis] = _between(path, offset, axis)
    return marks


@kernel
def _between(path: Floats, where: float, axis: int) -> float:
    """Return the path at a fractional grid point."""
    below = min(int(where), len(path) - 2)
    part = where - below
    return float((1.0 - part) * path[below, axis] + part * path[below + 1, axis])


@kernel
def add_path(
    gaze: Floats, first_sample: int, sample_interval_s: float, onset_s: float, path: Floats
) -> None:
    """Add a saccade's remaining displacement to samples (n, 2) that began at or after its onset."""
    for i in range(len(gaze)):
        where = ((first_sample + i) * sample_interval_s - onset_s) / GRID_S
        below = int(where)
        if below >= len(path) - 1:
            break
        gaze[i, 0] += _between(path, where, 0)
        gaze[i, 1] += _between(path, where, 1)


# state of the fixational processes: four numbers of the shared drift, two of the pupil, then
# per eye and axis two of tremor and two of noise
STATE_PUPIL = 4
STATE_EYES = 6
STATE_PER_EYE = 8

# their coefficients
DRIFT_KEEP, DRIFT_KICK_X, DRIFT_KICK_Y, DRIFT_STEP, DRIFT_RETURN = range(5)
TREMOR_1, TREMOR_2, TREMOR_KICK = range(5, 8)
NOISE_1, NOISE_2 = range(8, 10)
PUPIL_KEEP, PUPIL_KICK, PUPIL_LIGHT_KEEP, PUPIL_NOISE = range(10, 14)
NOISE_KICK = 14
"""First of the noise kicks, two per eye: x and y."""


@kernel
def advance_fixation(
    normals: Floats,
    state: Floats,
    coefficients: Floats,
    locus: Floats,
    light: float,
    gaze: Floats,
    noise: Floats,
    pupil: Floats,
    rest_sum: Floats,
) -> None:
    """Simulate drift, tremor, noise and pupil for `len(normals)` samples.

    Fills `gaze` (n_eyes, n, 2) with the point of fixation plus drift and tremor, `noise`
    (n_eyes, n, 2) with the tracker's noise and `pupil` (n_eyes, n) with the log area around its
    mean; `light` is the log area that the pupil is driven to. `normals` is (n, 3 + 5·n_eyes)
    standard normal numbers. Adds the positions without tremor to `rest_sum`.
    """
    c = coefficients
    n_eyes = len(gaze)
    for i in range(len(normals)):
        for axis in range(2):
            velocity = c[DRIFT_KEEP] * state[2 + axis] + c[DRIFT_KICK_X + axis] * normals[i, axis]
            state[2 + axis] = velocity
            state[axis] = c[DRIFT_RETURN] * state[axis] + c[DRIFT_STEP] * velocity
            rest_sum[axis] += locus[axis] + state[axis]
        state[STATE_PUPIL] = c[PUPIL_KEEP] * state[STATE_PUPIL] + c[PUPIL_KICK] * normals[i, 2]
        reached = c[PUPIL_LIGHT_KEEP] * (state[STATE_PUPIL + 1] - light) + light
        state[STATE_PUPIL + 1] = reached
        for eye in range(n_eyes):
            drawn = 3 + 5 * eye
            pupil[eye, i] = state[STATE_PUPIL] + reached + c[PUPIL_NOISE] * normals[i, drawn + 4]
            for axis in range(2):
                at = STATE_EYES + STATE_PER_EYE * eye + 4 * axis
                tremor = c[TREMOR_1] * state[at] + c[TREMOR_2] * state[at + 1]
                tremor += c[TREMOR_KICK] * normals[i, drawn + axis]
                state[at + 1] = state[at]
                state[at] = tremor
                error = c[NOISE_1] * state[at + 2] + c[NOISE_2] * state[at + 3]
                error += c[NOISE_KICK + 2 * eye + axis] * normals[i, drawn + 2 + axis]
                state[at + 3] = state[at + 2]
                state[at + 2] = error
                gaze[eye, i, axis] = locus[axis] + state[axis] + tremor
                noise[eye, i, axis] = error


@kernel
def cover_with_lid(
    gaze: Floats,
    pupil: Floats,
    first_sample: int,
    sample_interval_s: float,
    times_s: Floats,
    excursion_x_deg: float,
    excursion_y_deg: float,
) -> None:
    """Apply a blink to one eye's samples: `gaze` (n, 2), `pupil` (n,).

    `times_s`: the lid comes down, the pupil is lost, found again, the lid is up. While the lid
    covers the upper half of the pupil the tracker follows the centre of what is left, so gaze
    seems to run down (and a little sideways) and the area shrinks.
    """
    for i in range(len(gaze)):
        t = (first_sample + i) * sample_interval_s
        if t < times_s[0] or t >= times_s[3]:
            continue
        if times_s[1] <= t < times_s[2]:
            gaze[i, 0] = gaze[i, 1] = pupil[i] = math.nan
            continue
        if t < times_s[1]:
            closed = (t - times_s[0]) / (times_s[1] - times_s[0])
        else:
            closed = (times_s[3] - t) / (times_s[3] - times_s[2])
        covered = closed * closed
        gaze[i, 0] += excursion_x_deg * covered * covered
        gaze[i, 1] += excursion_y_deg * covered
        pupil[i] *= 1.0 - 0.5 * covered
