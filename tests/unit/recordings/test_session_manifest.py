"""Manifest of a session folder, valid or damaged."""

import pytest

from gazelive.errors import RecordingError
from gazelive.gaze.stream import Chunk, Message
from gazelive.recordings.recording import Calibration, DriftCorrection
from gazelive.recordings.session.manifest import (
    MANIFEST_NAME,
    ClockFit,
    is_session_folder,
    read_manifest,
)
from gazelive.recordings.session.reader import read_session
from gazelive.recordings.session.writer import SessionWriter

from .session_folders import MANIFEST, STREAM, make_samples, snapshot


class TestManifest:
    def test_it_is_kept(self, folder, writer):
        assert read_manifest(folder) == MANIFEST
        fit = ClockFit(
            host_reference_s=1.5,
            tracker_reference_us=2e6,
            tracker_us_per_host_s=1e6 + 3.25,
            residual_us=12.5,
            n_queries=40,
        )
        writer.update(clock_fit=fit, config={"a": [1, None, "ä"]})
        manifest = read_manifest(folder)
        assert manifest.clock_fit == fit
        assert manifest.config == {"a": [1, None, "ä"]}
        assert manifest.finished_at is None

    def test_unreadable_manifests_are_not_written(self, folder, writer):
        before = snapshot(folder)
        with pytest.raises(RecordingError, match=r"session\.json.*mode"):
            writer.update(mode="play")
        with pytest.raises(TypeError):
            writer.update(colour="blue")
        assert snapshot(folder) == before
        assert writer.manifest == MANIFEST

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            (lambda text: "", "not a session description"),
            (lambda text: "\0\xff", "not a session description"),
            (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "newer"),
            (lambda text: text.replace("1920", "-1920"), "width_px: must be a positive"),
            (lambda text: text.replace('"device"', '"gadget"'), "device"),
        ],
    )
    def test_damage_is_a_clear_error(self, folder, change, complaint):
        SessionWriter.create(folder, MANIFEST).close()
        path = folder / MANIFEST_NAME
        path.write_text(change(path.read_text("utf-8")), "latin-1")
        with pytest.raises(RecordingError, match=rf"session\.json: .*{complaint}"):
            read_session(folder)

    def test_lists_in_lists_without_end_are_refused(self, folder, writer):
        text = (folder / MANIFEST_NAME).read_text()
        deep = text.replace('"config": {', '"config": {"a":' + "[" * 5000)
        (folder / MANIFEST_NAME).write_text(deep)
        with pytest.raises(RecordingError, match="not a session description"):
            read_session(folder)

    def test_other_folders_are_no_sessions(self, tmp_path):
        with pytest.raises(RecordingError, match="not a session folder"):
            read_session(tmp_path)
        with pytest.raises(RecordingError, match="not a session folder"):
            SessionWriter.resume(tmp_path / "nowhere")
        assert not is_session_folder(tmp_path)

    def test_calibration_results_are_in_the_recording(self, folder, writer):
        found = Calibration(tracker_time_us=5, kind="validation", eye="L", mean_error_deg=0.4)
        drift = DriftCorrection(
            tracker_time_us=6,
            eye="L",
            target_x_px=960,
            target_y_px=540,
            offset_deg=0.3,
            offset_x_px=4,
            offset_y_px=-3,
        )
        writer.update(calibrations=(found,), drift_corrections=(drift,))
        recording = read_session(folder)
        assert recording.calibrations == (found,)
        assert recording.drift_corrections == (drift,)

    def test_results_in_messages_are_in_the_recording_once(self, folder, writer):
        told = (
            "DISPLAY_COORDS 0 0 1279 1023",
            "!CAL VALIDATION HV9 L LEFT GOOD ERROR 0.40 avg. 0.80 max OFFSET 0.1 deg. 1.0,2.0 pix.",
            "TRIALID 3",
            "!V IMGLOAD CENTER forest.jpg 640 512",
            "TRIAL_RESULT 0",
        )
        messages = tuple(Message(1000 * at, text) for at, text in enumerate(told))
        block = writer.start_block(STREAM)
        writer.append(Chunk(0, block, make_samples(10), messages))
        found = read_session(folder)
        assert [(trial.name, trial.image) for trial in found.trials] == [("3", "forest.jpg")]
        assert [item.mean_error_deg for item in found.calibrations] == [0.4]
        assert found.screen_px == (1920, 1080)  # session.json goes before the messages
        writer.update(calibrations=found.calibrations, screen=None)
        again = read_session(folder)
        assert again.calibrations == found.calibrations
        assert again.screen_px == (1280, 1024)
