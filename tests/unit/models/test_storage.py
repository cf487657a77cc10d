import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from gazelive.errors import ModelError, ModelFormatError, StorageError
from gazelive.models.storage import read_arrays, write_arrays

names = st.text(min_size=1, max_size=20)
any_array = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)


@given(arrays=st.dictionaries(names, any_array, max_size=5))
def test_written_arrays_are_read_back(tmp_path_factory, arrays):
    path = tmp_path_factory.mktemp("m") / "a.model"
    manifest = {"method": "x", "viewers": ["ä", "b"], "n": 3}
    write_arrays(path, manifest, arrays)
    again, read = read_arrays(path)
    assert again == manifest
    assert list(read) == list(arrays)
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype
        np.testing.assert_array_equal(read[name], array)


def test_an_array_that_is_kept_does_not_keep_the_file(tmp_path):
    path = tmp_path / "a.model"
    write_arrays(path, {}, {"small": np.arange(3.0), "large": np.zeros((100, 100))})
    _, arrays = read_arrays(path)
    assert all(array.flags.owndata and array.flags.writeable for array in arrays.values())


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "a.model"
    write_arrays(path, {"method": "x"}, {"a": np.arange(50.0)})
    return path


@given(at=st.integers(0, 10_000), change=st.integers(1, 255))
def test_any_changed_byte_is_refused(tmp_path_factory, at, change):
    path = tmp_path_factory.mktemp("m") / "a.model"
    write_arrays(path, {"method": "x"}, {"a": np.arange(50.0)})
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= change
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"a\.model"):
        read_arrays(path)


def test_a_file_cut_off_is_refused(model):
    content = model.read_bytes()
    for n in (0, 5, 20, len(content) // 2, len(content) - 1):
        model.write_bytes(content[:n])
        with pytest.raises(ModelFormatError):
            read_arrays(model)


def test_another_version_is_named(model):
    model.write_bytes(model.read_bytes().replace(b"gazelive model 1\n", b"gazelive model 9\n"))
    with pytest.raises(ModelFormatError, match="version 9"):
        read_arrays(model)


@pytest.mark.parametrize(
    "first_line", [b"gazelive model \x07\n", b"gazelive model 1;", b"gazelive model "]
)
def test_a_first_line_that_is_none_is_not_shown(model, first_line):
    model.write_bytes(model.read_bytes().replace(b"gazelive model 1\n", first_line))
    with pytest.raises(ModelFormatError, match="is damaged"):
        read_arrays(model)


def test_no_file(tmp_path):
    with pytest.raises(ModelError, match="no such model"):
        read_arrays(tmp_path / "none.model")


def test_objects_are_refused_and_leave_the_old_file(model):
    before = model.read_bytes()
    with pytest.raises(ModelError, match="cannot be stored"):
        write_arrays(model, {}, {"a": np.array([{}], object)})
    assert model.read_bytes() == before


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="cannot be written"):
        write_arrays(tmp_path / "no" / "a.model", {}, {})
