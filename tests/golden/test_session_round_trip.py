"""Real recordings through a session folder and back: nothing changes."""

from dataclasses import replace

import numpy as np
import pytest

from gazelive.recordings.open import read_recording
from gazelive.recordings.session.conversion import manifest_of, session_losses, write_session
from gazelive.recordings.session.reader import read_session


@pytest.mark.parametrize(
    "name",
    [
        *("bino500_unclosed", "binoRemote250", "mono1000_trials", "mono2000"),
        *("test_raw.edf", "test_raw_binocular.edf", "test_2_raw.edf"),
    ],
)
def test_a_real_recording_comes_back_as_it_was(real_file, tmp_path, name):
    recording = read_recording(real_file(name))
    folder = tmp_path / name
    write_session(recording, folder, manifest_of(recording, started_at=""))
    found = read_session(folder)
    for block, expected in zip(found.blocks, recording.blocks, strict=True):
        assert block.samples.tobytes() == expected.samples.tobytes()
        assert block.extras.keys() == expected.extras.keys()
        for column in expected.extras:
            np.testing.assert_array_equal(block.extras[column], expected.extras[column])
        same_arrays = {"samples": expected.samples, "extras": expected.extras}
        assert replace(block, **same_arrays) == expected
    assert session_losses(recording) == []
    assert replace(found, blocks=recording.blocks, problems=recording.problems) == replace(
        recording, path=folder, format="session", session=recording.session or recording.path.stem
    )
