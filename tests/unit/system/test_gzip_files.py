import gzip

import pytest

from gazelive.errors import RecordingError
from gazelive.recordings import read_recording
from gazelive.system import BoundedGzip, gzip_files

ASC_START = b"START\t0 RIGHT SAMPLES EVENTS\nSAMPLES\tGAZE\tRIGHT\tRATE\t1000.00\n"


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(gzip_files, "ALWAYS_BYTES", 100_000)


@pytest.mark.parametrize("how", ["read", "readline", "readinto", "all"])
def test_a_bomb_is_refused_while_it_is_unpacked(tmp_path, how):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(bytes(10_000_000)))
    with BoundedGzip(path) as file, pytest.raises(RecordingError, match="unpacks to more"):
        while True:
            match how:
                case "read":
                    file.read(5000)
                case "readline":
                    file.readline(5000)
                case "readinto":
                    file.readinto1(bytearray(5000))
                case _:
                    file.read()


def test_other_files_are_read_whole(tmp_path):
    path = tmp_path / "a.gz"
    content = b"".join(b"%d\n" % n for n in range(100_000))
    path.write_bytes(gzip.compress(content))
    with BoundedGzip(path) as file:
        assert file.read() == content


@pytest.mark.parametrize(
    ("name", "start"), [("a.asc.gz", ASC_START), ("a.csv.gz", b"t_ms,x_px,y_px\n")]
)
def test_recordings_that_are_bombs(tmp_path, name, start):
    path = tmp_path / name
    path.write_bytes(gzip.compress(start + b"0" * 10_000_000))
    with pytest.raises(RecordingError, match="unpacks to more than 200 times its size"):
        read_recording(path)
