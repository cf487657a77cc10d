from pathlib import Path

import pytest

from gazelive.system import files as atomic
from gazelive.system.files import replace_file, replacing, write_bytes


def test_a_file_is_replaced_completely(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    write_bytes(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_keeps_the_old_file(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="boom"), replacing(target) as aside:
        aside.write_text("half")
        assert aside.suffix == ".csv"
        raise RuntimeError("boom")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("waits", [True, False])
def test_on_windows_replacing_waits_for_a_reader(tmp_path, monkeypatch, waits):
    (tmp_path / "aside").write_text("new")
    replace, refusals = Path.replace, [PermissionError("somebody reads it")] * 3

    def refused(self, target):
        if refusals:
            raise refusals.pop()
        return replace(self, target)

    slept = []
    monkeypatch.setattr(Path, "replace", refused)
    monkeypatch.setattr(atomic.time, "sleep", slept.append)
    monkeypatch.setattr(atomic, "WAITS", waits)
    if not waits:
        with pytest.raises(PermissionError):
            replace_file(tmp_path / "aside", tmp_path / "out")
        return
    replace_file(tmp_path / "aside", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "new"
    assert slept == [atomic.RETRY_S] * 3
