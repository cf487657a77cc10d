"""Messages that mark trials, for recordings whose trials came from elsewhere.

A table may name trial and image in columns. Whoever reads the recording as a stream (the live
engine, an ASC file's reader) knows only messages, so these say the same in the vendor's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gazelive.gaze.stream import Message
from gazelive.recordings.recording import Recording, Trial
from gazelive.recordings.trials import find_trials

_ENDS_IN_NUMBER = re.compile(r"\s-?\d+(?:\.\d+)?$")


def marked_messages(recording: Recording) -> tuple[Message, ...]:
    """Return the recording's messages, with its trials marked where they are not."""
    if not recording.trials or find_trials(recording.messages, recording.blocks):
        return recording.messages
    marks = [message for trial in recording.trials for message in _marks(trial)]
    together = (*recording.messages, *marks)
    return tuple(sorted(together, key=lambda message: message.tracker_time_us))


def _marks(trial: Trial) -> Iterator[Message]:
    """Yield the messages from which `find_trials` makes the trial again."""
    yield Message(trial.start_us, f"TRIALID {trial.name}")
    onset_us = trial.image_onset_us
    if onset_us is not None:
        yield Message(onset_us, "image_onset")
    if trial.image is not None:
        # numbers at the end are taken for a position and a size
        place = " 0 0 0 0" if _ENDS_IN_NUMBER.search(trial.image) else ""
        shown_us = trial.start_us if onset_us is None else onset_us
        yield Message(shown_us, f"!V IMGLOAD FILL {trial.image}{place}")
    if trial.image_offset_us is not None:
        yield Message(trial.image_offset_us, "image_offset")
    for key, value in trial.variables.items():
        yield Message(trial.end_us, f"!V TRIAL_VAR {key} {value}")
    yield Message(trial.end_us, f"TRIAL_RESULT {trial.result or ''}".strip())
