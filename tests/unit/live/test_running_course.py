"""Running posteriors: offline and live are bit-equal."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gazelive.analysis.recording import analyse
from gazelive.analysis.running import running_saccades
from gazelive.features.scanpath import scanpath_of
from gazelive.gaze.documents import IntervalSettled, Notice, Posterior, TrialStarted
from gazelive.gaze.stream import Message
from gazelive.identification import Options, load_model, save_model, with_stimuli
from gazelive.live.engine.model import load_engine_model
from gazelive.live.pipeline.pipeline import RunningModel
from gazelive.workflows.identification import identify_probe
from gazelive.workflows.probes import Detector, Gathered, Probe
from gazelive.workflows.training import train_gathered

from ...support.recordings import make_block, make_recording
from ...support.streams import IDENTIFIER, Cuts, run

IMAGES = ("a.png", "b.png", "c.png")
CHUNKS = Cuts(tuple(np.linspace(0, 1, 173)))


def recorded(seed=0, told="images", n_trials=4, **options):
    """Return a recording of some trials in blocks of their own, with a calibration between."""
    blocks, messages = [], []
    for k in range(n_trials):
        start_us = 1_000_000 + 6_000_000 * k
        block = make_block(10 * seed + k, 4.0, start_us, **options)
        blocks.append(block)
        if told != "nothing":
            messages.append(Message(start_us + 100_000, f"TRIALID {k}"))
        if told == "images":
            name = f"C:\\images\\{IMAGES[k % 3]}"
            messages.append(Message(start_us + 500_000, f"!V IMGLOAD FILL {name}"))
            messages.append(Message(start_us + 700_500, "image_onset"))
            messages.append(Message(start_us + 3_400_000, "image_offset"))
        if told != "nothing":
            messages.append(Message(start_us + 3_700_000, "TRIAL_RESULT 0"))
        if k == 1:
            messages.append(Message(start_us + 5_000_000, "!CAL CALIBRATION HV9 R RIGHT GOOD"))
    return make_recording(blocks, messages)


def probe_of(recording, name="somebody"):
    analysis = analyse(recording)
    paths = tuple(scanpath_of(one.gaze, one.interval.image) for one in analysis.intervals)
    return Probe(name, name, "1", paths, running_saccades(analysis))


def course_live(documents):
    """Return the course as `identify` has it, without what turned out to be no interval."""
    course, running = [], []
    for document in documents:
        match document:
            case TrialStarted():
                running = []
            case Posterior(settled=False):
                running.append(document)
            case IntervalSettled():
                course += running
                running = []
            case Posterior(settled=True):
                course.append(document)
    return [
        (p.seconds, p.n_saccades, p.leading[0], float(np.exp(p.log_probabilities[0])))
        for p in course
    ]


@pytest.mark.parametrize("told", ["images", "trials", "nothing"])
def test_the_course_is_that_of_the_engine(told):
    recording = recorded(told=told)
    offline = identify_probe(IDENTIFIER, probe_of(recording)).course
    assert len(offline) > 20
    assert course_live(run(recording, CHUNKS)) == list(offline)


@pytest.mark.parametrize(("rate_hz", "eyes"), [(250.0, "L"), (1000.0, "LR")])
def test_rates_and_eyes(rate_hz, eyes):
    recording = recorded(3, n_trials=2, rate_hz=rate_hz, eyes=eyes)
    offline = identify_probe(IDENTIFIER, probe_of(recording)).course
    assert len(offline) > 10
    assert course_live(run(recording, CHUNKS)) == list(offline)


def test_lost_samples():
    recording = recorded(5)
    blocks = []
    for block in recording.blocks:
        kept = np.ones(len(block.samples), bool)
        kept[300:304] = kept[700:790] = kept[1111] = False
        blocks.append(replace(block, samples=block.samples[kept]))
    recording = replace(recording, blocks=tuple(blocks))
    offline = identify_probe(IDENTIFIER, probe_of(recording)).course
    assert course_live(run(recording, CHUNKS)) == list(offline)


@pytest.fixture(scope="module")
def stimuli(tmp_path_factory):
    """A folder of images; the viewer's names of them have another."""
    folder = tmp_path_factory.mktemp("stimuli")
    rng = np.random.default_rng(3)
    for name in IMAGES:
        pixels = np.full((60, 80, 3), 90, np.uint8)
        for _ in range(4):
            y, x = rng.integers(5, 45), rng.integers(5, 65)
            pixels[y : y + 10, x : x + 10] = rng.integers(0, 255, 3)
        Image.fromarray(pixels).save(folder / name)
    return folder


@pytest.fixture(scope="module", params=["scenewalk", "fisher-scenewalk"])
def model_path(request, stimuli, tmp_path_factory):
    """A model that was trained with the images."""
    probes = []
    for seed in (1, 2):
        probe = probe_of(recorded(seed, n_trials=3), f"v{seed}")
        probes.append(probe)
    options = Options(stimuli=stimuli)
    gathered = Gathered("samples", tuple(probes))
    made = train_gathered(gathered, Path("made up"), request.param, options, Detector())
    assert not any("centre bias" in warning for warning in made.warnings)
    path = tmp_path_factory.mktemp("models") / f"{request.param}.model"
    save_model(made.model, path)
    return path


class TestImages:
    """Models that look at the images' files."""

    def documents(self, model_path, *folders):
        recording = recorded(6)
        running = load_engine_model(model_path, folders).running
        assert isinstance(running, RunningModel)
        return run(recording, CHUNKS, model=running)

    def offline(self, model_path, *folders):
        identifier = with_stimuli(load_model(model_path), folders).identifier
        return list(identify_probe(identifier, probe_of(recorded(6))).course)

    def test_live_is_offline(self, model_path, stimuli):
        documents = self.documents(model_path, stimuli)
        offline = self.offline(model_path, stimuli)
        assert course_live(documents) == offline
        assert not [d for d in documents if isinstance(d, Notice)]
        p_running = {p for seconds, _, _, p in offline if seconds < 2}
        assert len(p_running) > 3  # not flat until it settles
        assert offline != self.offline(model_path)  # the images count

    def test_folders_are_looked_through(self, model_path, stimuli, tmp_path):
        found = self.documents(model_path, tmp_path, stimuli)
        assert course_live(found) == self.offline(model_path, stimuli)

    def test_without_images_the_centre_bias_is_used(self, model_path):
        documents = self.documents(model_path)
        notices = [d for d in documents if isinstance(d, Notice)]
        assert [n.level for n in notices] == ["warning"]
        assert "centre bias" in notices[0].text
        assert course_live(documents) == self.offline(model_path)

    def test_one_is_missing_and_one_is_broken(self, model_path, stimuli, tmp_path):
        (tmp_path / "a.png").write_bytes((stimuli / "a.png").read_bytes())
        (tmp_path / "b.png").write_bytes(b"no image")
        documents = self.documents(model_path, tmp_path)
        texts = [d.text for d in documents if isinstance(d, Notice)]
        assert len(texts) == 2
        assert "b.png: " in texts[0]
        assert f"c.png is not in {tmp_path}" in texts[1]
        assert all("centre bias" in text for text in texts)
        assert course_live(documents) == self.offline(model_path, tmp_path)


@pytest.mark.parametrize("cut_short", [0, 1, 3])
def test_an_aborted_trial_is_no_evidence_live_nor_offline(cut_short):
    """Its running evidence is withdrawn when it ends."""
    recording = recorded(seed=5)
    offset_us = 1_000_000 + 6_000_000 * cut_short + 3_400_000
    said = Message(offset_us - 1000, "!V TRIAL_VAR evidence 0")
    told = sorted((*recording.messages, said), key=lambda message: message.tracker_time_us)
    cut = make_recording(recording.blocks, told)
    live = run(cut, CHUNKS)
    assert sum(isinstance(document, IntervalSettled) for document in live) == 4
    last = [document for document in live if isinstance(document, Posterior)][-1]
    assert last.n_images == 3
    counts = [one.interval.counts for one in analyse(cut).intervals]
    assert counts == [trial != cut_short for trial in range(4)]
    probe = probe_of(cut)
    paths = tuple(path for path, is_one in zip(probe.scanpaths, counts, strict=True) if is_one)
    offline = identify_probe(IDENTIFIER, replace(probe, scanpaths=paths, running=())).estimate
    assert last.settled
    assert last.n_saccades == offline.n_saccades
    assert last.log_probabilities[0] == offline.log_probabilities[last.leading[0]]
