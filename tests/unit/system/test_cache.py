"""Caches of old versions are removed, never one that may be in use."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gazelive.system import cache as keeping, jit as compilation
from gazelive.system.cache import DAY_S, FRESH_S, LONGEST_S, N_KEPT, mark_used, prune

NOW_S = 2_000_000_000.0


def kept(folder: Path, name: str, unused_s: float) -> Path:
    path = folder / name
    (path / "detection").mkdir(parents=True)
    (path / "detection" / "kernels.1.nbc").write_bytes(b"machine code")
    os.utime(path, (NOW_S, NOW_S - unused_s))
    return path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_entries_unused_for_long_are_removed(tmp_path: Path) -> None:
    kept(tmp_path, "old", LONGEST_S)
    kept(tmp_path, "used", LONGEST_S - DAY_S)
    model = tmp_path / "old.model"
    model.write_bytes(b"a file")
    os.utime(model, (NOW_S, NOW_S - LONGEST_S))
    prune(tmp_path, now_s=NOW_S)
    assert names(tmp_path) == {"used"}


def test_only_a_few_are_kept_and_those_used_last(tmp_path: Path) -> None:
    for days in range(1, N_KEPT + 4):
        kept(tmp_path, f"{days:02}", FRESH_S + days * DAY_S)
    prune(tmp_path, now_s=NOW_S)
    assert names(tmp_path) == {f"{days:02}" for days in range(1, N_KEPT + 1)}


def test_recently_used_entries_are_kept_however_many(tmp_path: Path) -> None:
    for number in range(3 * N_KEPT):
        kept(tmp_path, f"{number}", FRESH_S - 1.0)
    prune(tmp_path, now_s=NOW_S)
    assert len(names(tmp_path)) == 3 * N_KEPT


def test_using_it_keeps_it(tmp_path: Path) -> None:
    path = kept(tmp_path, "old but used", 99 * DAY_S)
    mark_used(path)
    prune(tmp_path)
    assert names(tmp_path) == {"old but used"}
    mark_used(tmp_path / "nowhere")


def test_entries_that_cannot_be_removed_stay_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows refuses to rename a folder while a file in it is open."""
    rename = Path.rename

    def refuse(path: Path, target: Path) -> Path:
        if path.name == "open":
            raise PermissionError(13, "it is being used by another process")
        return rename(path, target)

    kept(tmp_path, "open", 2 * LONGEST_S)
    kept(tmp_path, "old", 2 * LONGEST_S)
    monkeypatch.setattr(Path, "rename", refuse)
    prune(tmp_path, now_s=NOW_S)
    assert names(tmp_path) == {"open"}
    assert (tmp_path / "open" / "detection" / "kernels.1.nbc").is_file()


def test_half_removed_entries_are_removed_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept(tmp_path, "old", LONGEST_S)
    with monkeypatch.context() as killed:
        killed.setattr(shutil, "rmtree", lambda *_arguments, **_options: None)
        prune(tmp_path, now_s=NOW_S)
    (left,) = names(tmp_path)
    assert left.startswith(keeping.GOING)
    prune(tmp_path, now_s=NOW_S)
    assert names(tmp_path) == set()


def test_a_missing_folder_is_ignored(tmp_path: Path) -> None:
    prune(tmp_path / "nowhere")


def test_processes_that_start_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    for number in range(40):
        kept(tmp_path, f"{number}", LONGEST_S)
    kept(tmp_path, "used", 0.0)
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=let_go_at_once, args=(tmp_path,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert names(tmp_path) == {"used"}


def let_go_at_once(folder: Path) -> None:
    prune(folder, now_s=NOW_S)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "kernels" / "0.1.0-this"
    monkeypatch.setattr(compilation, "cache_directory", lambda: folder)
    compilation._used_cache.cache_clear()
    yield folder
    compilation._used_cache.cache_clear()


def test_a_new_version_begins_its_folder_and_lets_go_of_old_ones(own_cache: Path) -> None:
    old = kept(own_cache.parent, "0.0.1-old", 0.0)
    os.utime(old, (0, 0))
    assert compilation._used_cache() == str(own_cache)
    assert names(own_cache.parent) == {own_cache.name}


def test_a_version_that_is_there_is_marked_and_others_are_left_alone(own_cache: Path) -> None:
    own_cache.mkdir(parents=True)
    old = kept(own_cache.parent, "0.0.1-old", 0.0)
    for path in (own_cache, old):
        os.utime(path, (0, 0))
    before_s = time.time() - DAY_S
    compilation._used_cache()
    assert own_cache.stat().st_mtime > before_s
    assert old.is_dir()


def test_a_cache_that_may_not_be_written_is_left_to_numba(own_cache: Path) -> None:
    own_cache.parent.write_bytes(b"no folder")
    assert compilation._used_cache() == str(own_cache)
