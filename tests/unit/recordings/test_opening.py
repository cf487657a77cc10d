from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gazelive.errors import RecordingError
from gazelive.recordings.open import Kind, kind_of, read_recording

ASC = b"""** CONVERTED FROM some.edf\r
MSG\t999 TRIALID 1\r
START\t1000 \tLEFT\tSAMPLES\tEVENTS\r
SAMPLES\tGAZE\tLEFT\tRATE\t 500.00\tTRACKING\tCR\tFILTER\t2\r
1000\t  752.1\t  712.9\t 1142.0\t...\r
1002\t  752.1\t  712.9\t 1142.0\t...\r
END\t1004 \tSAMPLES\tEVENTS\tRES\t  33.00\t  34.00\r
"""
TABLE = b"t_ms,x_px,y_px\n1000,1,2\n1002,1,2\n"
FIXATIONS = b"viewer,image,fixation,x_px,y_px,duration_ms\na,b,0,1,2,200\n"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.asc", ASC, "asc"),
        ("a.ASC", ASC, "asc"),
        ("a.asc.gz", gzip.compress(ASC, mtime=0), "asc"),
        ("named.txt", ASC, "asc"),
        ("packed but not named so.asc", gzip.compress(ASC, mtime=0), "asc"),
        ("lying.csv", ASC, "asc"),
        ("no suffix", ASC, "asc"),
        ("a.edf", b"SR_RESEARCH_1000FILE\n", "edf"),
        ("lying.asc", b"SR_RESEARCH_1000FILE\n", "edf"),
        ("a.csv", TABLE, "sample table"),
        ("a.csv.gz", gzip.compress(TABLE, mtime=0), "sample table"),
        ("export.txt", TABLE, "sample table"),
        ("excel.txt", b"\xef\xbb\xbf" + TABLE, "sample table"),
        ("a.csv", FIXATIONS, "fixation table"),
        ("fixations.txt", FIXATIONS, "fixation table"),
    ],
)
def test_content_decides_then_the_name(
    tmp_path: Path, name: str, content: bytes, kind: Kind
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert kind_of(path) == kind
    if kind in ("asc", "sample table"):
        recording = read_recording(path)
        assert recording.n_samples == 2
        assert recording.path == path


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("none.asc", None, "no such file or folder"),
        ("picture.png", b"\x89PNG", r"EyeLink \.asc .* session folders, and sample tables"),
        ("packed.gz", gzip.compress(b"hello", mtime=0), "unknown file format"),
        ("fixations.csv", FIXATIONS, "this is a fixation table, which has no samples"),
        ("notes.txt", b"Dear diary,\n", "unknown file format"),
        ("empty.csv", b"", "is empty"),
        ("wide.csv", "t_ms,x_px,y_px\n0,1,2\n".encode("utf-16"), "is in UTF-16: save it as UTF-8"),
        ("empty", b"", "unknown file format"),
    ],
)
def test_other_files_are_a_clear_error(
    tmp_path: Path, name: str, content: bytes | None, says: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordingError, match=says) as caught:
        read_recording(path)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_folder_must_be_a_session(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"session .*nor a corpus"):
        read_recording(tmp_path)
    (tmp_path / "corpus.csv").write_text("recording,viewer,session\n")
    assert kind_of(tmp_path) == "corpus"
    with pytest.raises(RecordingError, match="name one of them"):
        read_recording(tmp_path)


@pytest.mark.parametrize(
    ("magic", "name"), [(b"0       ", "European Data Format"), (b"\xffBIOSEMI", "BioSemi")]
)
def test_an_eeg_file_is_named(tmp_path: Path, magic: bytes, name: str) -> None:
    path = tmp_path / "eeg.edf"
    path.write_bytes(magic + b"X X X X".ljust(248) + bytes(1000))
    with pytest.raises(RecordingError, match=f"this is a {name}.* file, as EEG systems write it"):
        read_recording(path)
