import pytest

from gazelive.atomic import write_bytes, written_aside


def test_what_was_there_is_replaced_whole(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    write_bytes(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_what_was_there(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(RuntimeError, match="boom"), written_aside(target) as aside:
        aside.write_text("half")
        assert aside.suffix == ".csv"
        raise RuntimeError("boom")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
