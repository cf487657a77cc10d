"""A model file with a valid checksum is refused in one sentence, or it scores."""

from __future__ import annotations

import functools
import hashlib
import tempfile
import warnings
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from gazelive.errors import GazeliveError, ModelFormatError
from gazelive.identification import (
    Provenance,
    SourceKind,
    fit_method,
    load_model,
    new_model,
    registry,
    save_model,
)
from gazelive.models import storage

from ...support.crafted_models import ARRAYS, DROP, VALUES, Source
from ...support.people import people, training_of

OF_0_1 = sorted((Path(__file__).parents[2] / "golden/v0_1/models").glob("*.model"))
ALL = [
    *(path.name for path in OF_0_1),
    *(f"{method.name} {kind}" for method in registry.METHODS for kind in method.sources),
]


@functools.cache
def source_of(name: str) -> Source:
    """Return the parts of a model of 0.1, or of a new one of a method and kind of data."""
    if name.endswith(".model"):
        return Source.read(OF_0_1[0].with_name(name))
    method, _, kind = name.rpartition(" ")
    of_kind: SourceKind = "samples" if kind == "samples" else "fixations"
    n_viewers, n_scanpaths, n_saccades = (2, 3, 7) if "scenewalk" in method else (3, 6, 10)
    training = training_of(people(n_viewers), of_kind, n_scanpaths, n_saccades)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = new_model(fit_method(method, training), training, None, Provenance(source="x"))
    with tempfile.TemporaryDirectory(prefix="gazelive-test-") as folder:
        path = Path(folder) / "a.model"
        save_model(model, path)
        return Source.read(path)


def score(model) -> None:
    """Identify somebody, as live and as offline."""
    probe = model.identifier.probe()
    probe.estimate()
    path = people(4)[3].looks(model.kind, 8, 50, "image1.jpg")
    probe.begin(path.image)
    for number, row in enumerate(path.saccades):
        if number:
            probe.complete_saccade(path.saccades[number - 1])
        probe.add_fixation(*path.fixations[number].tolist())
        probe.add_saccade(row)
    probe.estimate(0.5)
    probe.settle(path)
    estimate = probe.estimate()
    assert estimate.log_probabilities.shape == (len(model.identifier.viewer_ids),)
    assert np.isfinite(estimate.log_probabilities).all()
    model.identifier.contributions([path])


def refused_or_scores(source: Source, folder: Path) -> None:
    path = folder / "crafted.model"
    source.write(path)
    try:
        model = load_model(path)
    except GazeliveError as refused:
        error = str(refused)
    else:
        score(model)
        return
    assert error.startswith(str(path))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("crafted")


@pytest.mark.parametrize("name", ALL)
def test_models_as_they_were_stored_score(folder, name):
    source_of(name).write(folder / "a.model")
    score(load_model(folder / "a.model"))


@given(data=st.data())
def test_a_changed_array(folder, data):
    source = source_of(data.draw(st.sampled_from(ALL)))
    name = data.draw(st.sampled_from(sorted(source.arrays)))
    refused_or_scores(source.with_array(name, data.draw(st.sampled_from(sorted(ARRAYS)))), folder)


@given(data=st.data())
def test_a_changed_field(folder, data):
    source = source_of(data.draw(st.sampled_from(ALL)))
    place = data.draw(st.sampled_from(source.places()))
    value = data.draw(st.sampled_from(VALUES))
    assume(value is not DROP or not isinstance(place[-1], int))
    refused_or_scores(source.with_field(place, value), folder)


@pytest.mark.parametrize("name", ALL)
def test_a_missing_array(folder, name):
    source = source_of(name)
    for array in source.arrays:
        source.with_array(array, "missing").write(folder / "a.model")
        try:
            model = load_model(folder / "a.model")
        except ModelFormatError:
            continue
        score(model)


@pytest.mark.parametrize(
    "place",
    [
        {"dtype": "O"},
        {"dtype": "<f2"},
        {"dtype": "nonsense"},
        {"shape": [-1]},
        {"shape": [1 << 40]},
        {"shape": [0, 1 << 60]},
        {"shape": [1] * 40},
        {"offset": -8},
        {"offset": 1 << 62},
        {"offset": 400},
    ],
)
def test_an_array_that_is_not_in_the_file(folder, place):
    path = folder / "a.model"
    storage.write_arrays(path, {"format_version": 1}, {"a": np.arange(50.0)})
    content = path.read_bytes()
    at = len(b"gazelive model 1\n")
    stop = at + 8 + int.from_bytes(content[at : at + 8], "little")
    head = msgspec.json.decode(content[at + 8 : stop])
    head["arrays"][0] |= place
    body = content[:at] + len(made := msgspec.json.encode(head)).to_bytes(8, "little") + made
    body += bytes(-len(body) % storage.ALIGNMENT) + np.arange(50.0).tobytes()
    path.write_bytes(body + hashlib.blake2b(body, digest_size=storage.DIGEST_BYTES).digest())
    with pytest.raises(ModelFormatError, match=r"a\.model: array a is not in the file"):
        load_model(path)
