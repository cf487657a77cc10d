"""The study: no leakage, the same numbers everywhere, and no work done twice."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gazelive
from gazelive.errors import ConfigError, ModelError
from gazelive.evaluation import (
    Choices,
    Protocol,
    Selection,
    Study,
    run_study,
    study as study_module,
)
from gazelive.evaluation.reading import StudyData
from gazelive.evaluation.splits import splits_of
from gazelive.evaluation.tasks import _RUN, Outcome, Task, fit_split, run_task
from gazelive.identification import TrainingSet
from gazelive.observer import Observer

from ...support.people import Person, labelled_looks, people, training_of

METHODS = ("markov", "fisher-markov")
HEAD = "viewer,session,image,fixation,x_deg,y_deg,duration_ms"


def fixation_lines(persons: list[Person], n_images: int, sessions: tuple[str, ...]) -> list[str]:
    looks = labelled_looks(persons, "fixations", n_images, 8, sessions=sessions)
    return [
        f"{viewer},{session},{path.image},{number},{x:.3f},{y:.3f},{1000 * duration_s:.0f}"
        for viewer, session, path in looks
        for number, (x, y, duration_s) in enumerate(path.fixations, start=1)
    ]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "fixations.csv"
    path.write_text("\n".join([HEAD, *fixation_lines(people(5), 12, ("1", "2"))]) + "\n")
    return path


def choices_of(table: Path, **more: Any) -> Choices:
    protocol = more.pop("protocol", Protocol(n_splits=2))
    more = {"methods": METHODS, "open_set": False, "timing": False, "search": False} | more
    return Choices(Selection(table), protocol, **more)


@pytest.fixture(scope="module")
def serial(table: Path, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return run_study(choices_of(table), tmp_path_factory.mktemp("serial"), Observer())


def data_with(data: TrainingSet, viewers: Any) -> TrainingSet:
    return replace(data, viewers=viewers)


def test_with_permuted_labels_accuracy_is_at_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the viewers' gaze tells them apart."""
    data = training_of(people(5), "fixations", 40, 10)
    rng = np.random.default_rng(3)
    shuffled = data_with(data, rng.permutation(data.viewers))
    accuracy = {}
    for name, labelled in (("true", data), ("permuted", shuffled)):
        monkeypatch.setattr("gazelive.evaluation.tasks._data", lambda _, d=labelled: StudyData(d))
        task = Task(
            kind="accuracy", method="fisher-markov", protocol=Protocol(), split="0", search=True
        )
        columns = run_task(task, "").columns
        right = np.array(columns["best"]) == np.array(columns["viewer"])
        accuracy[name] = right[np.array(columns["amount"]) == 0].mean()
    assert accuracy["true"] > 0.5
    assert accuracy["permuted"] == pytest.approx(1 / 5, abs=0.12)  # n = 100, SE 0.04


@pytest.mark.parametrize("kind", ["images", "sessions"])
@pytest.mark.parametrize("method", ["markov", "fisher-markov", "gazelive"])
def test_labels_of_the_test_part_change_nothing(method: str, kind: str) -> None:
    """Models and posteriors are equal to the bit with the test's labels destroyed."""
    data = training_of(people(5), "fixations", 12, 10, sessions=("1", "2"))
    protocol = Protocol(kind=kind, n_splits=1)  # type: ignore[arg-type]
    split = splits_of(data, protocol)[0]
    codes = data.viewers.copy()
    codes[split.test] = np.random.default_rng(4).permutation(codes[split.test])
    task = Task(kind="accuracy", method=method, protocol=protocol, split=split.name, search=True)
    everybody = np.arange(5)
    fitted = [fit_split(task, d, split, everybody) for d in (data, data_with(data, codes))]
    assert fitted[0].hyperparameters == fitted[1].hyperparameters
    states = [one.identifier.state() for one in fitted]
    assert states[0].content == states[1].content
    assert states[0].arrays.keys() == states[1].arrays.keys()
    for name in states[0].arrays:
        np.testing.assert_array_equal(states[0].arrays[name], states[1].arrays[name], name)
    for number in np.flatnonzero(split.test)[:10]:
        posteriors = []
        for one in fitted:
            probe = one.identifier.probe()
            probe.begin(data.scanpaths[number].image)
            probe.settle(data.scanpaths[number])
            posteriors.append(probe.estimate().log_probabilities)
        np.testing.assert_array_equal(*posteriors)


def test_no_image_is_in_both_halves() -> None:
    data = training_of(people(3), "fixations", 9, 8, sessions=("1", "2"))
    protocols = [
        Protocol(n_splits=3),
        Protocol(kind="sessions", n_splits=3, disjoint_images=True),
        Protocol(n_splits=3, max_images=2),
    ]
    for protocol in protocols:
        for split in splits_of(data, protocol):
            seen = [
                {data.scanpaths[i].image for i in np.flatnonzero(part)}
                for part in (split.training, split.test)
            ]
            assert seen[0]
            assert seen[1]
            assert not seen[0] & seen[1]
            assert protocol.max_images is None or len(seen[0]) == protocol.max_images


def test_no_session_is_in_both_parts() -> None:
    data = training_of(people(3), "fixations", 4, 8, sessions=("a", "b"))
    names = [split.name for split in splits_of(data, Protocol(kind="sessions"))]
    assert names == ["a→b", "b→a"]
    for split in splits_of(data, Protocol(kind="sessions")):
        sessions = np.array(data.sessions)
        assert set(sessions[split.training]).isdisjoint(sessions[split.test])


def test_one_session_cannot_be_split_along_sessions(table: Path, tmp_path: Path) -> None:
    selection = Selection(table, sessions=("1",))
    choices = Choices(selection, Protocol(kind="sessions"), methods=METHODS)
    with pytest.raises(ConfigError, match="one session only"):
        run_study(choices, tmp_path, Observer())


def test_a_stopped_study_goes_on_where_it_was(
    table: Path, tmp_path: Path, serial: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[Task] = []

    def stops_after_two(task: Task, path: str) -> Outcome:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(task)
        return run_task(task, path)

    monkeypatch.setattr(study_module, "run_task", stops_after_two)
    with pytest.raises(KeyboardInterrupt):
        run_study(choices_of(table), tmp_path, Observer())

    def counts(task: Task, path: str) -> Outcome:
        done.append(task)
        return run_task(task, path)

    monkeypatch.setattr(study_module, "run_task", counts)
    again = run_study(choices_of(table), tmp_path, Observer())
    assert len(done) == len(set(done)) == 4  # two methods, two splits, each once
    assert again.results == serial.results
    assert again.calibration == serial.calibration
    run_study(choices_of(table, methods=(*METHODS, "gazelive")), tmp_path, Observer())
    assert [task.method for task in done[4:]] == ["gazelive", "gazelive"]


def test_several_processes_give_the_numbers_of_one(
    table: Path, tmp_path: Path, serial: Study
) -> None:
    parallel = run_study(choices_of(table, n_jobs=2), tmp_path, Observer())
    assert parallel.results == serial.results
    assert parallel.reliability == serial.reliability


def test_python_returns_what_the_command_writes(table: Path, tmp_path: Path) -> None:
    found = gazelive.evaluate(
        table, tmp_path, methods=["markov", "fisher-markov"], splits=2, seconds=[4], n_jobs=1
    )
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    head = ["method", "n_images", "seconds", "split", "accuracy", "n_viewers", "n_probes"]
    assert list(rows[0]) == head
    assert len(rows) == len(found.results)
    assert [float(row["accuracy"]) for row in rows] == pytest.approx(
        [row["accuracy"] for row in found.results], rel=1e-5
    )
    assert any(row["n_images"] == "" and row["seconds"] == "4" for row in rows)
    for name in ("timing", "open_set", "calibration", "hyperparameters", "summary", "tests"):
        assert (tmp_path / f"{name}.csv").stat().st_size > 40
    assert {row["name"] for row in found.hyperparameters}
    assert json.loads((tmp_path / "manifest.json").read_text())["n_viewers"] == 5
    page = (tmp_path / "report.html").read_text()
    assert "fisher-markov is more accurate than markov" in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")
    for figure in ("accuracy", "execution-time", "strangers", "calibration"):
        assert (tmp_path / f"{figure}.png").stat().st_size > 10_000
        assert (tmp_path / f"{figure}.svg").exists()


def test_a_method_that_fails_is_named(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_arguments: Any) -> Outcome:
        raise ModelError("too few saccades to learn from")

    monkeypatch.setitem(_RUN, "accuracy", fails)
    choices = choices_of(table, methods=("cem-b",))
    with pytest.raises(ModelError, match=r"cem-b, .*\(accuracy\): too few"):
        run_study(choices, tmp_path, Observer())


def test_ablations_are_rows_of_their_own(table: Path, tmp_path: Path) -> None:
    choices = choices_of(table, methods=("markov",), without=("positions",))
    found = run_study(choices, tmp_path, Observer())
    assert {row["method"] for row in found.results} == {"markov", "markov without positions"}
