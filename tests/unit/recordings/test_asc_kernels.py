"""The byte parser and the order of times, against slow and simple definitions."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from gazelive.gaze.samples import EYE_FIELDS, missing_mask
from gazelive.gaze.time_order_kernels import longest_increasing
from gazelive.recordings.asc.reader import read_asc
from gazelive.recordings.recording import Recording

HEAD = "START\t1 \tLEFT\tSAMPLES\tEVENTS\nSAMPLES\tGAZE\tLEFT\tRATE\t1000.00\n"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels") / "numbers.asc"


def read_numbers(numbers: list[str], path: Path) -> Recording:
    lines = (f"{k + 1}\t{number}\t0\t1\t...\n" for k, number in enumerate(numbers))
    path.write_text(HEAD + "".join(lines) + f"END\t{len(numbers) + 2}\n")
    return read_asc(path)


def nearest_float32(number: str) -> np.float32:
    """Return the float32 nearest to the decimal, by exact arithmetic; ties go to even."""
    exact = Fraction(number)
    guess = np.float32(float(exact))
    around = [np.nextafter(guess, np.float32(side)) for side in (-np.inf, np.inf)] + [guess]
    return min(around, key=lambda f: (abs(Fraction(float(f)) - exact), int(f.view(np.uint32)) & 1))


decimals = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "-"]),
    st.integers(0, 99_999),
    st.sampled_from(["", "."]) | st.integers(0, 9999).map(".{:d}".format),
)


@settings(max_examples=100)
@given(st.lists(decimals, min_size=1, max_size=50))
@example(["16777217", "0.1", "8388608.5", "8388609.5", ".5", "-.25", "1.", "007.50", "00000001.1"])
def test_numbers_are_rounded_correctly(path: Path, numbers: list[str]) -> None:
    recording = read_numbers(numbers, path)
    assert recording.problems == ()
    expected = np.array([nearest_float32(number) for number in numbers], np.float32)
    expected[expected == -32768] = np.nan
    np.testing.assert_array_equal(recording.blocks[0].samples["left_x"], expected)


@pytest.mark.parametrize("number", [".", "MISSING_DATA", "-32768", "-32768.0"])
def test_missing(number: str, path: Path) -> None:
    (block,) = read_numbers([number], path).blocks
    assert np.isnan(block.samples["left_x"][0])


@pytest.mark.parametrize(
    "number",
    [
        "-",
        "-.",
        "..",
        "1.2.3",
        "1-2",
        "+1",
        "1e3",
        "nan",
        "0x10",
        "1,5",
        "1_0",
        "١",
        "1" * 19,
        "MISSING",
        "MISSING_DATA1",
        "-MISSING_DATA",
    ],
)
def test_a_cell_without_a_number(number: str, path: Path) -> None:
    recording = read_numbers(["1", number, "2"], path)
    assert recording.blocks[0].samples["left_x"].tolist() == [1, 2]
    assert [problem.line for problem in recording.problems] == [4]


def read_amplitude(number: str, path: Path) -> list[float | None]:
    """Read a saccade with this amplitude; none if it cannot be read."""
    saccade = f"ESACC L 1\t2\t2\t1\t2\t3\t4\t{number}\t99\n"
    path.write_text(f"{HEAD}1\t1\t2\t3\t...\n{saccade}END\t9\n")
    return [event.amplitude_deg for event in read_asc(path).tracker_events]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("1e3", 1000),
        ("-2.5E+002", -250),
        ("1.25e-1", 0.125),
        ("2.9e+006", 2_900_000),
        ("0e-999", 0),
    ],
)
def test_exponents_of_events(number: str, value: float, path: Path) -> None:
    assert read_amplitude(number, path) == [value]


@pytest.mark.parametrize(
    "number", ["e3", ".e3", "1e", "1e+", "1e3.5", "1e999", "1f3", "1" * 19 + "e1"]
)
def test_no_exponents_of_events(number: str, path: Path) -> None:
    assert read_amplitude(number, path) == []


@pytest.mark.parametrize(
    ("time", "time_us"),
    [
        ("1", 1_000),
        ("12.5", 12_500),
        ("12.", 12_000),
        ("7.0625", 7_062),
        ("4294967295", 4_294_967_295_000),
        ("1763262000000.125", 1_763_262_000_000_125),
    ],
)
def test_times(time: str, time_us: int, path: Path) -> None:
    path.write_text(HEAD.replace("START\t1", "START\t0") + f"{time}\t1\t2\t3\t...\nEND\t{time}9\n")
    (block,) = read_asc(path).blocks
    assert block.samples["tracker_time_us"].tolist() == [time_us]


@pytest.mark.parametrize("time", ["12345678901234", "1..5", "1.5.", "1x", "1-"])
def test_a_cell_without_a_time(time: str, path: Path) -> None:
    path.write_text(HEAD + f"5\t1\t2\t3\t...\n{time}\t1\t2\t3\t...\nEND\t9\n")
    recording = read_asc(path)
    assert recording.n_samples == 1
    assert [problem.line for problem in recording.problems] == [4]


LEFT = "  512.3\t  384.1\t 1500.0"
RIGHT = "    7.5\t99999.9\t    0.1"
usual_lines = {
    # what the SAMPLES line names: the line's numbers, its flags
    "LEFT": (LEFT, "..."),
    "RIGHT": (RIGHT, "..."),
    "LEFT\tRIGHT": (f"{LEFT}\t{RIGHT}", "....."),
    "LEFT\tINPUT": (f"{LEFT}\t    0.0", "..."),
    "RIGHT\tRES": (f"{RIGHT}\t   35.1\t   36.2", "..."),
    "LEFT\tRES\tINPUT": (f"{LEFT}\t   35.1\t   36.2\t  127.0", "..."),
    "LEFT\tRIGHT\tVEL": (f"{LEFT}\t{RIGHT}\t    1.5\t    2.5\t    3.5\t    0.0", "....."),
    "LEFT\tRIGHT\tVEL\tRES\tINPUT\tHTARGET": (
        f"{LEFT}\t{RIGHT}\t    1.5\t    2.5\t    3.5\t    0.0\t   35.1\t   36.2\t  127.0",
        ".....",
    ),
}


@settings(max_examples=300)
@given(
    names=st.sampled_from(sorted(usual_lines)),
    changes=st.lists(
        st.tuples(st.integers(0, 130), st.sampled_from("0123456789 .-\tCIx/:")), max_size=3
    ),
    n_digits=st.integers(3, 9),
)
def test_the_usual_line_is_read_as_any_other(
    path: Path, names: str, changes: list[tuple[int, str]], n_digits: int
) -> None:
    usual = "\t".join(usual_lines[names])
    time_ms = 10 ** (n_digits - 1)
    changed = list(f"{time_ms + 23}\t{usual}")
    for place, character in changes:
        changed[place % len(changed)] = character
    lines = [f"{time_ms + 1}\t{usual}", "".join(changed)]
    lines += [f"{time_ms + k}\t{usual}" for k in range(50, 55)]
    head = f"START\t1 \tLEFT\tSAMPLES\tEVENTS\nSAMPLES\tGAZE\t{names}\tRATE\t1000.00\n"
    read = []
    for end in ("\n", " \n", "\r\n"):  # a blank before the end leaves the line to the byte parser
        path.write_text(
            head + "".join(line + end for line in lines) + "END\t9999999999\n", newline=""
        )
        read.append(read_asc(path))
    for other in read[1:]:
        assert other.problems == read[0].problems
        assert other.blocks[0].samples.tobytes() == read[0].blocks[0].samples.tobytes()
        assert list(other.blocks[0].extras) == list(read[0].blocks[0].extras)
        for name, values in other.blocks[0].extras.items():
            assert values.tobytes() == read[0].blocks[0].extras[name].tobytes()
    if not changes:
        (block,) = read[0].blocks
        words = usual_lines[names][0].split()
        columns = [
            block.samples[field][1] for eye in block.stream.eyes for field in EYE_FIELDS[eye]
        ]
        columns += [values[1] for values in block.extras.values()]
        assert [float(value) for value in columns] == [float(np.float32(word)) for word in words]
        assert block.samples["tracker_time_us"][1] == (time_ms + 23) * 1000
        assert missing_mask(block.samples, "LR").sum() == 0


def longest_by_trying(times: list[int]) -> int:
    best: list[int] = []
    for k, time in enumerate(times):
        lengths = [best[j] for j in range(k) if times[j] < time]
        best.append(1 + max(lengths, default=0))
    return max(best, default=0)


@given(st.lists(st.integers(-10, 10), max_size=40))
def test_the_fewest_samples_are_left_out(times: list[int]) -> None:
    array = np.array(times, np.int64)
    keep = longest_increasing(array)
    assert (np.diff(array[keep]) > 0).all()
    assert keep.sum() == longest_by_trying(times)
