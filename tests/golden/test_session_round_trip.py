"""Real recordings through a session folder and back: nothing changes."""

from dataclasses import replace

import numpy as np
import pytest

from gazelive.recordings.asc_reader import read_asc
from gazelive.recordings.session_folder import (
    manifest_of,
    read_session,
    what_is_lost,
    write_session,
)


@pytest.mark.parametrize(
    "name", ["bino500_unclosed", "binoRemote250", "mono1000_trials", "mono2000"]
)
def test_a_real_recording_comes_back_as_it_was(shared_data, tmp_path, name):
    recording = read_asc(shared_data / "asc" / f"{name}.asc.gz")
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
    assert what_is_lost(recording) == []
    assert replace(found, blocks=recording.blocks, problems=recording.problems) == replace(
        recording, path=folder, format="session", session=recording.session or recording.path.stem
    )
