"""Commands whose outputs the goldens hold, in the order in which they run in one working folder.

Only the public surface: command lines, and `import gazelive` in `api.py`. All paths are relative to
the working folder, which starts with the content of `inputs.zip` and of `models/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Precision = Literal["double", "single", "fitted", "scenewalk"]


@dataclass(frozen=True)
class Case:
    """One command line, and the outputs that are stored besides the exit code."""

    name: str
    argv: tuple[str, ...]
    stdout: str = ""
    """`json`, `options` (names of options in a help page), or nothing: only prose."""
    files: tuple[str, ...] = ()
    """Files and folders that it writes, to compare."""
    precision: Precision = "double"
    """Tolerance of numbers on other machines (see `comparison`)."""
    like: str = ""
    """The case that has to give the same, where that is not this one in 0.1."""

    @property
    def golden(self) -> str:
        return self.like or self.name


def _case(
    name: str, line: str, *files: str, precision: Precision = "double", like: str = ""
) -> Case:
    argv = tuple(line.split())
    return Case(name, argv, "json" if "--json" in argv else "", files, precision, like)


SIMULATE = {
    "corpus": "--viewers 8 --sessions 2 --images 3 --pool 3 --seconds 2.5 --rate 500 --seed 11 "
    "--format asc",
    "both": "--viewers 1 --images 2 --pool 4 --seconds 1.5 --rate 1000 --eyes LR --seed 12",
    "short": "--viewers 1 --images 1 --pool 1 --seconds 0.5 --rate 250 --eyes LR --seed 13 "
    "--format asc",
}
"""The inputs: a corpus to learn from, a session folder of two eyes, and a very short recording."""

_ENROLLED = "--exclude-viewers v007,v008 --sessions 1"
_OF_SAMPLES = (
    "gazelive",
    "fisher-markov-dynamics",
    "fisher-markov",
    "fisher-scenewalk",
    "markov-dynamics",
    "markov",
    "scenewalk",
)
_OF_FIXATIONS = ("gazelive", "fisher-markov", "fisher-scenewalk", "markov", "scenewalk")
TRAIN = (
    {name: f"corpus {_ENROLLED} --method {name}" for name in _OF_SAMPLES}
    | {f"fixations-{name}": f"fixations.csv {_ENROLLED} --method {name}" for name in _OF_FIXATIONS}
    | {
        "gazelive-sessions": "corpus --exclude-viewers v007,v008",
        "gazelive-no-texture": f"corpus {_ENROLLED} --no-texture --far 0.05",
        "scenewalk-stimuli": f"corpus {_ENROLLED} --method scenewalk --stimuli images",
    }
)
"""Arguments of `train` for every golden model."""

ENROLLED = {
    "gazelive-enrolled": "gazelive",
    "fisher-markov-dynamics-enrolled": "fisher-markov-dynamics",
}
"""Golden models that viewers were enrolled into, and forgotten from, by 0.1."""

REFITTED = ("gazelive", "fisher-markov-dynamics", "markov", "fixations-gazelive")


def source_of(model: str) -> str:
    """Return what a model was trained on and takes."""
    return "fixations.csv" if model.startswith("fixations-") else "corpus"


def _precision_of(model: str) -> Precision:
    """Return how exact a model's posteriors are: gazelive on samples computes in float32."""
    return "single" if model.startswith("gazelive") else "double"


def _precision_of_fit(model: str) -> Precision:
    if "scenewalk" in model:
        return "scenewalk"
    return "single" if model.startswith("gazelive") else "fitted"


def _with_stimuli(model: str) -> str:
    return "--stimuli images" if model.endswith("-stimuli") else ""


def simulate_cases(prefix: str) -> Iterator[Case]:
    for name, options in SIMULATE.items():
        folder = prefix + name
        line = f"simulate {folder} {options} --jobs 1 --json"
        yield _case(f"simulate-{name}", line, folder)


def train_cases(folder: str) -> Iterator[Case]:
    for name, arguments in TRAIN.items():
        out = f"{folder}/{name}.model"
        line = f"train {arguments} -o {out} --json"
        yield _case(f"train-{name}", line, out, precision=_precision_of_fit(name))


def enrolled_cases() -> Iterator[Case]:
    """Make the models of `ENROLLED`."""
    for name, model in ENROLLED.items():
        out = f"models/{name}.model"
        line = f"model enrol models/{model}.model {source_of(model)} --viewers v007 --sessions 1"
        yield _case("enrol", f"{line} -o {out}")
        yield _case("forget", f"model forget {out} v002")


_DETECT = {
    "settled": "both/v001_s1",
    "online": "both/v001_s1 --method online",
    "engbert-kliegl": "both/v001_s1 --method engbert-kliegl",
    "asc": "corpus/v001_s1.asc",
    "asc-online": "corpus/v001_s1.asc --method online",
    "asc-engbert-kliegl": "corpus/v001_s1.asc --method engbert-kliegl --lambda 5 "
    "--min-duration-ms 10 --sigma 2003",
    "microsaccades": "both/v001_s1 --preset microsaccades --eye L",
    "noisy-online": "corpus/v002_s1.asc --method online --preset noisy",
    "whole-blocks": "corpus/v003_s2.asc --whole-blocks",
    "vigor-of-model": "corpus/v004_s1.asc --model models/gazelive.model",
    "patterns": "corpus/v001_s1.asc --trial-start cross --trial-stop TRIAL_RESULT",
    "other-screen": "corpus/v001_s1.asc --screen 1920x1080 --size-mm 400x225 --distance-mm 700",
}


def _detect_cases() -> Iterator[Case]:
    for name, arguments in _DETECT.items():
        saccades, fixations = f"{name}.csv", f"{name}-fixations.csv"
        line = f"detect {arguments} -o {saccades} --fixations {fixations}"
        yield _case(f"detect-{name}", line, saccades, fixations, *_meta(saccades, fixations))
    yield _case("detect-parquet", "detect both/v001_s1 -o s.parquet", "s.parquet")
    for name, events, labels in (
        ("settled", "settled.csv", "both/truth/v001_s1.csv"),
        ("online", "online.csv", "both/truth/v001_s1.csv"),
        ("engbert-kliegl", "engbert-kliegl.csv", "both/truth/v001_s1.csv"),
        ("tracker", "asc.csv", "corpus/v001_s1.asc"),
        ("table", "asc.csv", "asc-online.csv"),
        ("other-recording", "asc.csv", "both/truth/v001_s1.csv"),
    ):
        yield _case(f"compare-{name}", f"compare {events} {labels} --json")


def _meta(*tables: str) -> tuple[str, ...]:
    return tuple(f"{table}.meta.json" for table in tables)


def _recording_cases() -> Iterator[Case]:
    for name, recording in {
        "corpus": "corpus",
        "asc": "corpus/v001_s1.asc",
        "session": "both/v001_s1",
        "short": "short/v001_s1.asc",
        "fixations": "fixations.csv",
    }.items():
        yield _case(f"info-{name}", f"info {recording} --json")
    for name, source, out in (
        ("csv", "short/v001_s1.asc", "short.csv"),
        ("csv-asc", "short.csv", "csv.asc"),
        ("session", "short/v001_s1.asc", "short-session/"),
        ("session-asc", "short-session", "session.asc"),
        ("asc-gz", "short-session", "again.asc.gz"),
        ("parquet", "short/v001_s1.asc", "short.parquet"),
        ("parquet-csv", "short.parquet", "parquet.csv"),
        ("both-asc", "both/v001_s1", "both.asc"),
    ):
        meta = _meta(out) if out.endswith(".csv") else ()
        yield _case(f"convert-{name}", f"convert {source} {out}", out.rstrip("/"), *meta)
    yield _case("info-table", "info short.csv --json")
    yield _case("info-converted", "info short-session --json")
    bids = "export both/v001_s1 --bids bids --name golden --author A --license CC0"
    yield _case("export", bids, "bids")
    more = "export short/v001_s1.asc --bids bids --subject two --session b --screen 1920x1080 "
    yield _case("export-more", f"{more} --size-mm 535x301 --distance-mm 600", "bids")


def _model_cases() -> Iterator[Case]:
    for name in (*TRAIN, *ENROLLED):
        model, source = f"models/{name}.model", source_of(name)
        stimuli = _with_stimuli(name)
        yield _case(f"show-{name}", f"model show {model} --json")
        line = f"identify {model} {source} --session 2 --explain --json {stimuli}"
        yield _case(f"identify-{name}", line, precision=_precision_of(name))
        course = f"{line} --course"
        like = f"identify-{name}"  # whose --json had the course in 0.1
        yield _case(f"course-{name}", course, precision=_precision_of(name), like=like)
    prior = "identify models/markov.model corpus/v001_s2.asc --prior v001=1,v002=5 --json"
    line = "identify models/gazelive.model short --json"
    yield _case("identify-lowest-rate", line, precision="single")
    yield _case("identify-prior", f"{prior} --screen 1920x1080 --size-mm 535x301 --distance-mm 600")
    for name in TRAIN:
        model, source, stimuli = f"models/{name}.model", source_of(name), _with_stimuli(name)
        enrol = f"model enrol {model} {source} --sessions 1 {stimuli}"
        for viewer in ("v007", "v008"):
            out = f"{name}-{viewer}.model"
            line = f"{enrol} --viewers {viewer} -o {out}"
            yield _case(f"enrol-{viewer}-{name}", line, out, precision="single")
        out = f"{name}-forgot.model"
        yield _case(f"forget-{name}", f"model forget {model} v002 v004 -o {out}", out)
        out = f"{name}-merged.model"
        line = f"model merge {name}-v007.model {name}-v008.model -o {out}"
        yield _case(f"merge-{name}", line, out, precision="single")
    for name in REFITTED:
        out = f"{name}-refitted.model"
        line = f"model refit models/{name}.model -o {out}"
        yield _case(f"refit-{name}", line, out, precision=_precision_of_fit(name))
    yield _case("merge-others", "model merge models/markov.model models/gazelive.model -o no.model")


def _fresh_cases() -> Iterator[Case]:
    yield from train_cases("fresh")
    for name in ("gazelive", "fisher-markov-dynamics", "markov", "fixations-gazelive"):
        line = f"identify fresh/{name}.model {source_of(name)} --session 2 --explain --json"
        yield _case(f"train-and-identify-{name}", line, precision="single")


def _live_cases() -> Iterator[Case]:
    for name, arguments in {
        "gazelive": "corpus/v003_s2.asc --model models/gazelive.model --screen 1920x1080 "
        "--size-mm 535x301 --distance-mm 600",
        "fisher-markov-dynamics": "both/v001_s1 --model models/fisher-markov-dynamics.model",
        "scenewalk": "both/v001_s1 --model models/scenewalk-stimuli.model --images images",
        "events": "both/v001_s1",
    }.items():
        out = f"replays/{name}"
        line = f"replay {arguments} --speed max --no-dashboard --out {out} --json"
        files = (f"{out}/events.jsonl", f"{out}/session.json")
        yield _case(f"replay-{name}", line, *files, precision=_precision_of(name))
    for name in ("gazelive", "events"):
        line = f"session show replays/{name} --json"
        yield _case(f"session-show-{name}", line, precision=_precision_of(name))
    yield _case("session-show-simulated", "session show both/v001_s1 --json")
    yield _case("session-list", "session list replays --json")
    report = "session report replays/gazelive -o report.html --images images"
    yield _case("session-report", report, "report.html")


_COMMANDS = {
    "": "demo doctor info convert detect compare simulate train identify record export replay run "
    "dashboard keys",
    "model": "show enrol forget refit merge",
    "config": "init check show",
    "session": "list show report",
}


def _surface_cases() -> Iterator[Case]:
    """Options of every command, and exit codes of mistakes."""
    for group, names in _COMMANDS.items():
        for name in names.split():
            command = tuple(filter(None, (group, name)))
            yield Case("-".join(("help", *command)), (*command, "--help"), "options")
    yield _case("config-init", "config init lab.toml", "lab.toml")
    yield _case("config-check", "config check lab.toml --json")
    yield _case("config-show", "config show lab.toml --json")
    for name, line in {
        "no-command": "paint",
        "no-file": "info nothing.asc --json",
        "no-model": "identify nothing.model corpus --json",
        "no-method": "train corpus --method best -o no.model --json",
        "method-of-table": "train fixations.csv --method markov-dynamics -o no.model --json",
        "other-source": "identify models/gazelive.model fixations.csv --json",
        "no-model-file": "model show fixations.csv --json",
        "no-viewer": "model forget models/markov.model v099 -o no.model",
        "not-empty": "simulate corpus --json",
        "out-is-there": "convert short.csv csv.asc",
        "half-a-screen": "detect short.csv --distance-mm 600",
        "no-session": "identify models/gazelive.model short --session 9 --json",
    }.items():
        yield _case(f"mistake-{name}", line)
    yield Case("api", ("python", "api.py"), "json")


def all_cases() -> list[Case]:
    """Return every case in its order."""
    return [
        *simulate_cases("again/"),
        *_recording_cases(),
        *_detect_cases(),
        *_model_cases(),
        *_fresh_cases(),
        *_live_cases(),
        *_surface_cases(),
    ]
