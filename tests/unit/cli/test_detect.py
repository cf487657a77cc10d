"""`gazelive detect` and `compare` as a user runs them."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from gazelive.cli.app import app
from gazelive.errors import ConfigError, RecordingError
from gazelive.recordings.open import read_recording
from gazelive.recordings.trials import DEFAULT_PATTERNS
from gazelive.workflows.event_tables import FIXATION_COLUMNS, SACCADE_COLUMNS

FLAGS = ["--screen", "1920x1080", "--size-mm", "535x301", "--distance-mm", "600"]


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)


@pytest.fixture
def table(tmp_path, eye_steps):
    times, x, y = eye_steps
    path = tmp_path / "gaze.csv"
    rows = [f"{t / 1000},{a:.5f},{b:.5f}" for t, a, b in zip(times, x, y, strict=True)]
    path.write_text("t_ms,x_deg,y_deg\n" + "\n".join(rows) + "\n")
    return path


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_one_row_per_saccade_with_the_promised_columns(table, tmp_path):
    out, fixations = tmp_path / "out.csv", tmp_path / "fixations.csv"
    result = run("detect", table, "-o", out, "--fixations", fixations)
    assert result.exit_code == 0
    rows = read(out)
    assert tuple(rows[0]) == SACCADE_COLUMNS
    assert len(rows) == 6
    first, second = rows[:2]
    assert float(first["onset_ms"]) == pytest.approx(300, abs=6)
    assert float(first["offset_ms"]) - float(first["onset_ms"]) + 1 == float(first["duration_ms"])
    assert float(first["amplitude_deg"]) == pytest.approx(5, abs=0.2)
    assert float(first["direction_deg"]) == pytest.approx(0, abs=2)
    assert (first["turn"], second["turn"]) == ("", "reverse")
    assert (
        first["trial"] == first["image"] == first["since_image_onset_ms"] == first["vigor_y"] == ""
    )
    assert float(first["vigor_x"]) == pytest.approx(
        float(first["peak_velocity_deg_s"]) / (1 - np.exp(-5 / 7)), rel=0.05
    )
    assert first["near_loss"] == "false"
    assert tuple(read(fixations)[0]) == FIXATION_COLUMNS
    assert len(read(fixations)) == 7


def test_everything_that_was_used_is_stored_beside_the_table(table, tmp_path):
    out = tmp_path / "out.csv"
    run("detect", table, "-o", out, "--preset", "noisy")
    meta = json.loads((tmp_path / "out.csv.meta.json").read_text())
    assert meta["method"] == "settled"
    assert meta["parameters"]["threshold_floor_deg_s"] == 25.0
    assert meta["vigor_rate_deg"] == 7.0
    assert meta["intervals"][0]["n_saccades"] == 6
    assert meta["intervals"][0]["outcome"] == "found"


@pytest.mark.parametrize(("option", "name"), [("--fixations", "f.csv"), ("--plot", "f.svg")])
def test_it_is_stored_beside_fixations_and_figures_alone(table, tmp_path, option, name):
    run("detect", table, "-q", option, tmp_path / name, "--method", "online", "--eye", "R")
    meta = json.loads((tmp_path / f"{name}.meta.json").read_text())
    assert (meta["method"], meta["eye"], meta["carries_noise"]) == ("online", "R", True)
    assert meta["trial_patterns"]["start"] == DEFAULT_PATTERNS.start


class TestTrialPatterns:
    @pytest.fixture
    def marked(self, table):
        sidecar = {"messages": [[250, "show 7"], [900, "hide"], [1500, "show 8"], [2200, "hide"]]}
        table.with_name("gaze.csv.meta.json").write_text(json.dumps(sidecar))
        return table

    def test_custom_messages_mark_trials(self, marked, tmp_path):
        out = tmp_path / "out.csv"
        run("detect", marked, "-q", "-o", out, "--trial-start", "show", "--trial-stop", "hide")
        assert {row["trial"] for row in read(out)} == {"7", "8"}
        meta = json.loads((tmp_path / "out.csv.meta.json").read_text())
        assert meta["trial_patterns"] == {"start": "show", "stop": "hide"}
        assert [i["start_us"] for i in meta["intervals"]] == [250_000, 1_500_000]

    def test_info_and_convert_know_them_too(self, marked, tmp_path):
        flags = ["--trial-start", "show", "--trial-stop", "hide"]
        assert json.loads(run("info", marked, "--json").stdout)["trials"] == 0
        assert json.loads(run("info", marked, "--json", *flags).stdout)["trials"] == 2
        run("convert", marked, tmp_path / "session", "-q", *flags)
        assert json.loads(run("info", tmp_path / "session", "--json").stdout)["trials"] == 2

    def test_patterns_without_a_match_are_reported(self, marked):
        result = run("detect", marked, "-q", "--trial-start", "TRIAL")
        assert "no message starts a trial with 'TRIAL'" in result.stderr
        assert "'show 7', 'hide', 'show 8'" in result.stderr

    def test_an_invalid_pattern_is_named(self, marked):
        with pytest.raises(ConfigError, match="--trial-stop: '\\('"):
            run("detect", marked, "--trial-stop", "(")


def test_without_an_output_the_table_goes_to_standard_output(table):
    result = run("detect", table, "-q", "--method", "engbert-kliegl", "--lambda", "8")
    assert result.stdout.splitlines()[0] == ",".join(SACCADE_COLUMNS)
    assert result.stderr == ""


def test_parquet_holds_the_same(table, tmp_path):
    import pyarrow.parquet

    run("detect", table, "-o", tmp_path / "out.csv")
    run("detect", table, "-o", tmp_path / "out.parquet")
    parquet = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert tuple(parquet.column_names) == SACCADE_COLUMNS
    onsets = [float(row["onset_ms"]) for row in read(tmp_path / "out.csv")]
    assert parquet["onset_ms"].to_pylist() == onsets


def test_the_figure_is_drawn(table, tmp_path):
    for suffix in (".png", ".svg"):
        assert run("detect", table, "-q", "--plot", tmp_path / f"f{suffix}").exit_code == 0
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "f.svg").read_text()[:2000]


def test_pixels_without_a_screen_name_the_options(tmp_path):
    path = tmp_path / "gaze.csv"
    path.write_text("t_ms,x_px,y_px\n" + "\n".join(f"{t},{t % 7},5" for t in range(50)))
    with pytest.raises(RecordingError, match="--screen 1920x1080 --size-mm"):
        run("detect", path)
    assert run("detect", path, "-q", *FLAGS).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.xlsx"], "must end in .csv"),
        (["--plot", "out.gif"], "must end in .png"),
        (["-o", "nowhere/out.csv"], "no such folder"),
        (["--method", "engbert-kliegl", "--sigma", "3"], "centred or 2003"),
        (["--eye", "R"], None),
    ],
)
def test_mistakes_are_named_before_anything_is_written(table, arguments, message, tmp_path):
    before = set(tmp_path.iterdir())
    if message is None:
        assert run("detect", table, "-q", *arguments).exit_code == 0
        return
    with pytest.raises((ConfigError, RecordingError), match=message):
        run("detect", table, *arguments)
    assert set(tmp_path.iterdir()) == before


def test_unused_flags_of_another_method_are_reported(table):
    result = run("detect", table, "-q", "--lambda", "5", "--sigma", "2003")
    assert "--lambda is not used" in result.stderr
    assert "--sigma is not used" in result.stderr
    result = run("detect", table, "-q", "--method", "engbert-kliegl", "--preset", "noisy")
    assert "--preset noisy is not used" in result.stderr


def test_a_rate_without_saccades_names_the_recording(tmp_path):
    path = tmp_path / "slow.csv"
    rows = "\n".join(f"{16.6667 * k:.3f},{k % 7},5" for k in range(50))
    path.write_text("t_ms,x_deg,y_deg\n" + rows)
    with pytest.raises(RecordingError, match=r"slow\.csv: .*block 1 .*60"):
        run("detect", path)


def test_compare_with_labels_with_events_and_with_itself(table, tmp_path, eye_steps):
    out = tmp_path / "out.csv"
    run("detect", table, "-q", "-o", out)
    times, *_ = eye_steps
    labels = np.ones(len(times), int)
    for row in read(out):
        labels[int(float(row["onset_ms"])) : int(float(row["offset_ms"])) + 1] = 2
    labels[:20] = 0
    path = tmp_path / "labels.csv"
    path.write_text(
        "t_ms,label\n" + "\n".join(f"{t / 1000},{v}" for t, v in zip(times, labels, strict=True))
    )
    for reference in (path, out):
        facts = json.loads(run("compare", out, reference, "--json").stdout)
        assert facts["kappa"] == 1
        assert facts["f1"] == 1
        assert facts["onset_error_ms"] == {"median": 0, "sd": 0}
    assert facts["n_matched"] == 6
    shifted = np.roll(labels, 4)
    path.write_text(
        "t_ms,label\n" + "\n".join(f"{t / 1000},{v}" for t, v in zip(times, shifted, strict=True))
    )
    facts = json.loads(run("compare", out, path, "--json").stdout)
    assert 0.8 < facts["kappa"] < 1
    assert facts["onset_error_ms"]["median"] == -4
    text = run("compare", out, path).stdout
    assert "sample κ" in text
    assert "fixation" in text


def test_compare_writes_what_was_missed_and_extra(tmp_path):
    events, labels, out = (tmp_path / name for name in ("events.csv", "labels.csv", "out.csv"))
    events.write_text("onset_ms,offset_ms\n100,120\n")
    labels.write_text("t_ms,label\n" + "".join(f"{t},{3 if t < 200 else 2}\n" for t in range(220)))
    text = run("compare", events, labels, "--codes", "gazecom", "--mismatches", out)
    assert "Wrote" in text.stderr
    assert "1 missed, 1 extra" in text.stderr
    assert "samples of 1 ms" in text.stdout
    assert out.read_text().splitlines() == [
        "what,onset_ms,offset_ms,label",
        "extra,100,120,pursuit",
        "missed,200,219,saccade",
    ]
    for target in ("out.txt", tmp_path / "nowhere" / "out.csv", events):
        with pytest.raises(ConfigError, match=r"must end in|no such folder|would overwrite"):
            run("compare", events, labels, "--mismatches", target)


def test_compare_refuses_fixations(table, tmp_path):
    out, fixations = tmp_path / "out.csv", tmp_path / "fixations.csv"
    run("detect", table, "-q", "-o", out, "--fixations", fixations)
    for pair in ((fixations, out), (out, fixations)):
        with pytest.raises(RecordingError, match=r"fixations\.csv: .*table of fixations"):
            run("compare", *pair)


class TestCompareWithTruth:
    TRUTH = (
        "trial,image,phase,kind,eye,onset_us,offset_us,amplitude_deg,oscillation_end_us,lost\n"
        ",,,fixation,R,0,100000,,,\n"
        ",,,saccade,R,100000,140000,5,160000,false\n"
        ",,,fixation,R,140000,300000,,,\n"
        ",,,microsaccade,R,300000,315000,0.3,316000,false\n"
        ",,,blink,R,400000,500000,,,\n"
        ",,,saccade,R,450000,480000,2,490000,true\n"
        ",,,fixation,R,500000,900000,,,\n"
    )

    @pytest.fixture
    def truth(self, tmp_path):
        path = tmp_path / "truth.csv"
        path.write_text(self.TRUTH)
        return path

    def test_every_kind_is_distinguished(self, truth, tmp_path):
        events = tmp_path / "events.csv"
        events.write_text("onset_ms,offset_ms\n101,141\n600,610\n")
        facts = json.loads(run("compare", events, truth, "--json").stdout)
        assert (facts["n_matched"], facts["n_events"], facts["n_labels"]) == (1, 2, 2)
        assert set(facts["confusion"]) == {
            *("fixation", "saccade", "microsaccade", "blink", "oscillation"),
            *("no saccade", "undefined"),
        }
        assert facts["confusion"]["saccade"] == {"saccade": 40, "no saccade": 1}
        assert facts["confusion"]["fixation"]["saccade"] == 11
        assert facts["confusion"]["oscillation"]["saccade"] == 1
        assert facts["onset_error_ms"]["median"] == 1

    def test_only_the_eye_that_was_searched_counts(self, truth, tmp_path):
        events = tmp_path / "events.csv"
        events.write_text("onset_ms,offset_ms\n101,141\n")
        (tmp_path / "events.csv.meta.json").write_text('{"eye": "L"}')
        with pytest.raises(RecordingError, match="of eye L"):
            run("compare", events, truth)

    def test_as_events_it_is_refused(self, truth):
        with pytest.raises(RecordingError, match="give it as LABELS"):
            run("compare", truth, truth)


@pytest.mark.parametrize(
    ("events", "labels", "says"),
    [
        (
            "onset_ms,offset_ms\n1,20\n",
            "t_ms,label\n0,A\n1,B\n",
            "label.csv: column label says a, b",
        ),
        ("onset_ms,offset_ms\n1,20\n", "t_ms,label\n1,2\n0,1\n", "must increase"),
        (
            "onset_ms,offset_ms\n1,20\n",
            "t_ms,label\n" + "".join(f"{k / 1000},1\n" for k in range(50)),
            "in seconds, and must be in milliseconds",
        ),
        (
            "onset_ms,offset_ms\n5000,5020\n",
            "t_ms,label\n" + "".join(f"{k},{1 + k % 2}\n" for k in range(50)),
            "5000 and 5020 ms, and none of them within the times of label.csv .0 to 49 ms",
        ),
        ("event,onset_ms,offset_ms\nFIXA,1,20\n", "", "no event in this table is a saccade"),
    ],
)
def test_compare_names_incomparable_inputs(tmp_path, events, labels, says):
    (tmp_path / "events.csv").write_text(events)
    (tmp_path / "label.csv").write_text(labels)
    with pytest.raises(RecordingError, match=says):
        run("compare", tmp_path / "events.csv", tmp_path / "label.csv")


def test_compare_names_missing_columns(table, tmp_path):
    with pytest.raises(RecordingError, match="onset_ms and offset_ms"):
        run("compare", table, table)


@pytest.mark.parametrize("options", [["-o", "gaze.csv"], ["-o", "a.csv", "--fixations", "a.csv"]])
def test_no_output_is_written_over_the_recording_or_another(table, options, monkeypatch):
    monkeypatch.chdir(table.parent)
    before = table.read_bytes()
    with pytest.raises(ConfigError, match="choose another name"):
        run("detect", table, *options)
    assert table.read_bytes() == before


def test_damage_is_reported(table):
    table.write_text(table.read_text() + "12,34\n")
    assert "skipped" in run("detect", table).stderr


@pytest.mark.parametrize(
    "rows",
    [
        [f"{t},," for t in range(50)],
        [f"{t},1,2" for t in range(50)],
        ["0,1,2", "1,2,3"],
        [f"{t},{t // 300 % 2 * 5},{t % 3 * 0.01}" for t in range(12_000)],
    ],
    ids=["all lost", "constant", "two samples", "longer than a panel"],
)
def test_a_figure_of_anything(tmp_path, rows):
    table, figure = tmp_path / "gaze.csv", tmp_path / "f.png"
    table.write_text("t_ms,x_deg,y_deg\n" + "\n".join(rows) + "\n")
    assert run("detect", table, "-q", "--plot", figure).exit_code == 0
    assert figure.stat().st_size > 10_000


def test_equal_damage_is_reported_once(table):
    lines = table.read_text().splitlines()
    for row in range(99, 105):
        lines[row] = "12,34"
    table.write_text("\n".join(lines) + "\n")
    told = run("detect", table).stderr
    # a line number between colons is no emoji
    assert "gaze.csv:100: row of 2 cells instead of 3 skipped (and 5 more lines)" in told


def test_the_screen_of_a_corpus_is_used(tmp_path):
    (tmp_path / "gaze.csv").write_text(
        "t_ms,x_px,y_px\n" + "\n".join(f"{t},{t % 7},5" for t in range(50))
    )
    (tmp_path / "corpus.csv").write_text(
        "recording,viewer,session,screen_px,size_mm,distance_mm\n"
        "gaze.csv,anna,1,1920x1080,535x301,600\n"
    )
    run("detect", tmp_path / "gaze.csv", "-q", "-o", tmp_path / "out.csv")
    meta = json.loads((tmp_path / "out.csv.meta.json").read_text())
    assert meta["geometry"][0]["source"] == "corpus"


def test_compare_refuses_clocks_that_cannot_be_one(tmp_path):
    (tmp_path / "a.csv").write_text("onset_ms,offset_ms\n1,20\n")
    (tmp_path / "b.csv").write_text("onset_ms,offset_ms\n1e15,1.00000000000002e15\n")
    with pytest.raises(RecordingError, match="one clock"):
        run("compare", tmp_path / "a.csv", tmp_path / "b.csv")
    (tmp_path / "a.csv.meta.json").write_text("[]")
    assert run("compare", tmp_path / "a.csv", tmp_path / "a.csv").exit_code == 0


def test_the_trackers_saccades_in_a_real_recording_are_found(real_file, tmp_path):
    path, out = real_file("test_2_raw.edf"), tmp_path / "out.csv"
    assert run("detect", path, *FLAGS, "-o", out, "-q").exit_code == 0
    rows = read(out)
    recording = read_recording(path)
    assert {row["trial"] for row in rows} <= {trial.name for trial in recording.trials}
    ours = [(1000 * float(row["onset_ms"]), 1000 * float(row["offset_ms"])) for row in rows]
    spans = [(trial.start_us, trial.end_us) for trial in recording.trials]
    blinks = [(e.start_us, e.end_us) for e in recording.tracker_events if e.kind == "blink"]
    theirs = [
        event
        for event in recording.tracker_events
        if event.kind == "saccade"
        and 1 < (event.amplitude_deg or 0) < 20
        and any(start <= event.start_us and event.end_us <= end for start, end in spans)
        and not any(start <= event.end_us and event.start_us <= end for start, end in blinks)
    ]
    assert len(theirs) == 51
    for event in theirs:
        assert any(
            event.start_us <= offset_us and onset_us <= event.end_us for onset_us, offset_us in ours
        )
