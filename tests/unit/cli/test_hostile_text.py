"""Texts of recordings reach terminal, log and spreadsheets as text."""

from __future__ import annotations

import io
import logging

import pyarrow as pa
from hypothesis import given, strategies as st
from rich.console import Console
from rich.table import Table

from gazelive.cli.terminal.console import _ToPrintable, escape
from gazelive.recordings.corpus import CorpusEntry, read_corpus, write_corpus_csv
from gazelive.recordings.tables.files import read_table_file, write_table_file
from gazelive.recordings.tables.formulas import guarded, unguarded
from gazelive.system.log import log_to_file
from gazelive.wording import printable

HOSTILE = "\x1b]0;owned\x07\x1b[2Jcat\x9b31m\r\x08.jpg\u202egpj"
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(ANY_TEXT)
def test_a_printed_text_has_no_control_character(text):
    shown = printable(text)
    assert all(character.isprintable() or character in "\n\t" or not is_control(character)
               for character in shown)  # fmt: skip
    if text.isprintable():
        assert shown == text


def is_control(character: str) -> bool:
    return ord(character) < 32 or 127 <= ord(character) < 160 or character in "\u202e\u2066"


def test_the_console_adds_escapes_of_its_own_only():
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, color_system="standard", highlight=False)
    console.push_render_hook(_ToPrintable())
    table = Table("image")
    table.add_row(escape(HOSTILE))
    console.print(f"[bold red]error:[/bold red] {escape(HOSTILE)}")
    console.print(table)
    shown = file.getvalue()
    assert "\x1b[1;31merror:" in shown, "colours still work"
    assert shown.count("\\x1b]0;owned") == 2
    for hostile in ("\x1b]", "\x1b[2J", "\x07", "\x9b", "\x08", "\r", "\u202e"):
        assert hostile not in shown


def test_commands_print_with_it():
    from gazelive.cli.terminal.console import errors, output

    for console in (errors, output):
        with console.capture() as captured:
            console.print(escape(HOSTILE))
        assert "\x1b" not in captured.get()


def test_a_log_line_is_one_line_without_escapes(tmp_path):
    with log_to_file(tmp_path / "a.log"):
        logging.getLogger("gazelive.test").warning("image %s", HOSTILE)
    assert "\x1b" not in (tmp_path / "a.log").read_text(encoding="utf-8")


@given(ANY_TEXT | ANY_TEXT.map(lambda text: "=" + text) | ANY_TEXT.map(lambda text: "'-" + text))
def test_guarded_cells_come_back_and_are_no_formulas(text):
    stored = guarded(text)
    assert unguarded(stored) == text
    assert not stored.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_formulas_in_tables_are_stored_as_text_and_numbers_as_they_are(tmp_path):
    path = tmp_path / "a.csv"
    texts = ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "\rx", "'=x", "'plain", "a=b", None]
    numbers = [-1.5, *range(-8, 1)]
    table = pa.table({"image": texts, "x": pa.array(numbers, pa.float64())})
    write_table_file(table, path)
    lines = path.read_text(encoding="utf-8")
    assert "'=cmd" in lines
    assert ",-1.5" in lines
    assert not any(line.lstrip('"').startswith(("=", "+", "@")) for line in lines.split("\n"))
    read = read_table_file(path, {"image": pa.string(), "x": pa.float64()}).table
    assert read["image"].to_pylist()[:9] == texts[:9]
    assert read["x"].to_pylist() == numbers


def test_viewers_in_a_corpus_come_back(tmp_path):
    (tmp_path / "a.asc").write_text("x")
    entry = CorpusEntry(recording=tmp_path / "a.asc", viewer="=1+1", session="-2")
    assert ",'=1+1,'-2" in write_corpus_csv([entry], tmp_path).read_text()
    [again] = read_corpus(tmp_path).entries
    assert (again.viewer, again.session) == ("=1+1", "-2")
