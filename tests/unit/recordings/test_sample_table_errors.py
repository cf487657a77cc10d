"""Unreadable sample tables: clear errors."""

from __future__ import annotations

import contextlib
import gzip
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies as st

from gazelive.errors import RecordingError
from gazelive.recordings.tables.sample_writer import write_sample_table
from gazelive.recordings.tables.samples import read_sample_table
from gazelive.recordings.tables.sidecar import sidecar_path

from .sample_tables import SUFFIXES, write


class TestErrors:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("x_px,y_px\n1,2\n", "needs t_ms .* has x_px, y_px"),
            ("t_ms,x_px\n1,2\n", "has t_ms, x_px"),
            ("t_ms;x_px;y_px\n0;1;2\n", "semicolons: save it with commas"),
            ("t_ms\tx_px\ty_px\n0\t1\t2\n", "tabs"),
            ("t_ms,x_px,x_px,y_px\n0,1,1,2\n", "same name"),
            (
                "t_ms,x_px,y_px\n0,1,1\n1,one,1\n",
                r"samples\.csv:3: column x_px: invalid value 'one'",
            ),
            ("t_ms,eye,x_px,y_px\n0,L,1,1\n0,R,1,1\n1,L,1,1\n", "column eye has L, R"),
            ("t_ms,eye,x_px,y_px\n0,middle,1,1\n1,middle,1,1\n", "column eye has MIDDLE"),
            ("", "is empty"),
            ("\n", "no columns"),
            (
                "t_ms,x_px,y_px\n" + "".join(f"{100 - k},1,1\n" for k in range(50)),
                "not in the order of column t_ms: sort the table",
            ),
            (
                "t_ms,x_px,y_px\n" + "".join(f"{k * 37 % 101},1,1\n" for k in range(101)),
                "not in the order of column t_ms: sort the table",
            ),
            ("\0\1\2\xff" * 50, "needs t_ms"),
        ],
    )
    def test_are_clear_errors(self, tmp_path: Path, text: str, says: str) -> None:
        with pytest.raises(RecordingError, match=says):
            read_sample_table(write(tmp_path, text))

    def test_another_encoding(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.csv"
        path.write_bytes("t_ms,x_px,y_px,trial\n0,1,1,é\n1,1,1,é\n".encode("latin-1"))
        with pytest.raises(RecordingError, match=r"column trial .*UTF-8"):
            read_sample_table(path)

    @settings(max_examples=60)
    @given(
        st.sampled_from(SUFFIXES),
        st.lists(st.tuples(st.floats(0, 1), st.integers(0, 8), st.binary(max_size=4)), max_size=4),
    )
    def test_are_the_only_thing_that_damage_does(
        self, suffix: str, damages: list[tuple[float, int, bytes]]
    ) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), "t_ms,x_px,y_px,trial\n0,1,1,a\n1,,,a\n2,1,1,\n", "a.csv")
            damaged = Path(folder) / f"damaged{suffix}"
            write_sample_table(read_sample_table(path), damaged)
            content = bytearray(damaged.read_bytes())
            for where, n_removed, inserted in damages:
                at = int(where * len(content))
                content[at : at + n_removed] = inserted
            damaged.write_bytes(content)
            with contextlib.suppress(RecordingError):
                assert read_sample_table(damaged).n_samples <= 3 + sum(
                    bytes_.count(b"\n") + bytes_.count(b"\r") for *_, bytes_ in damages
                )

    def test_a_packed_table_cut_off(self, tmp_path: Path) -> None:
        rows = "".join(f"{t},{t % 977},{t % 911}\n" for t in range(20_000))
        packed = gzip.compress(b"t_ms,x_px,y_px\n" + rows.encode())
        path = tmp_path / "samples.csv.gz"
        path.write_bytes(packed[: len(packed) // 2])
        with pytest.raises(RecordingError, match="damaged"):
            read_sample_table(path)

    def test_a_parquet_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "samples.parquet"
        pyarrow.parquet.write_table(pa.table({"t_ms": [0.0], "x_px": [1.0], "y_px": [1.0]}), path)
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(RecordingError, match="damaged"):
            read_sample_table(path)

    @pytest.mark.parametrize(
        ("sidecar", "says"),
        [
            ("{", "not a description"),
            ('{"sampling_rate_hz": "fast"}', "sampling_rate_hz"),
            ('{"sampling_rate_hz": -5}', "positive"),
            ('{"version": 99}', "newer"),
            ('{"screen": {"width_px": 0}}', "not a description"),
            ('{"sampling_rate_hz": 1e300}', "sampling_rate_hz must be"),
            ('{"px_per_deg": [0, 30]}', "px_per_deg must be two positive"),
            ('{"screen_px": [-1, 5]}', "screen_px must be two positive"),
            ('{"messages": [[1e200, "TRIALID 1"]]}', r"messages\[0\] has the time 1e\+200"),
            ('{"trials": [{"name": "a", "start_us": 5, "end_us": 1}]}', r"trials\[0\] \(a\) ends"),
            ("[1, 2]", "not a description"),
        ],
    )
    def test_in_the_sidecar_name_it(self, tmp_path: Path, sidecar: str, says: str) -> None:
        path = write(tmp_path, "t_ms,x_px,y_px\n0,1,1\n1,1,1\n")
        sidecar_path(path).write_text(sidecar)
        with pytest.raises(RecordingError, match=rf"samples\.csv\.meta\.json: .*{says}"):
            read_sample_table(path)
