"""Outputs that differ from 0.1 on purpose, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Change:
    """Differences that are allowed in some cases."""

    cases: str
    """Names of the cases, with wildcards."""
    difference: str
    """Regular expression that the whole line of `comparison.differences` matches."""
    reason: str


def _new_options(commands: str, options: str, reason: str) -> list[Change]:
    """Return the changes for options that commands have now; 0.1's options stay."""
    difference = f"/stdout: key '--({'|'.join(options.split())})' is new"
    return [Change(f"help-{command}", difference, reason) for command in commands.split()]


CHANGES: tuple[Change, ...] = (
    Change(
        "config-*",
        "/(files/lab.toml|stdout/config)/stimuli/folder: expected '../stimuli', found 'stimuli'"
        "|/stdout/warnings: 1 items expected, 0 found",
        "config init paints images where there are none, so none are missing",
    ),
    Change(
        "info-*",
        "/stdout: key 'missing_fraction_of' is new",
        "info gives the loss of each eye",
    ),
    Change(
        "replay-events",
        "/stdout/n_saccades: expected 0, found [0-9]+",
        "without a model, n_saccades counts the detected saccades, as saccades does",
    ),
    Change(
        "compare-*",
        "/stdout: key 'sample_ms' is new"
        "|/stdout/(kappa|n_samples|(onset|offset)_error_ms/(median|sd)|confusion/.*): expected .*",
        "compare counts samples at their rate, not milliseconds, and none after an interval's end",
    ),
    *_new_options("compare", "mismatches codes", "compare lists mismatches, takes other codes"),
    *_new_options("info", "messages", "info lists messages and proposes patterns"),
    *_new_options("convert", "resolution", "RES is written to ASC files on request only"),
    *_new_options(
        "info convert detect export train identify model-enrol replay run",
        "trials image-onset",
        "conventions of other programs, and image onsets of one's own",
    ),
    Change(
        "*identify-*",
        "/stdout/probes\\[[0-9]+\\]: key '(course|scanpaths)' is missing",
        "identify --json is a summary; --course gives the course and the scanpaths",
    ),
    *(
        Change(
            cases,
            "/stdout/probes\\[[0-9]+\\]: key 'verdict' is new",
            "identify --json says whom it accepts",
        )
        for cases in ("*identify-*", "course-*")
    ),
    Change(
        "*",
        "(/.*)?: key 'accuracy_by_images' is new",
        "train reports accuracy for 1, 10 and all images",
    ),
    Change(
        "*", "(/.*)?: key 'method_kind' is new", "documents and model show say what a method is"
    ),
    Change("*", "(/.*)?: key 'expectation' is new", "train says what to expect"),
    Change("*", "(/.*)?: key 'shipped' is new", "models keep whether shipped priors were used"),
    *_new_options("train", "force", "train refuses models at chance unless forced"),
    *_new_options("train", "shipped no-shipped", "shipped priors can be switched off"),
    *_new_options("demo", "method", "the demo with any method"),
    *_new_options("dashboard", "beside with-parent", "beside an experiment, and after its end"),
    *_new_options("simulate", "first", "simulate makes newcomers"),
    *_new_options(
        "identify replay run record",
        "far stranger-prior",
        "the rate and the prior at which strangers are judged",
    ),
    *(
        Change(
            cases,
            f"/stdout{where}: key '(accepted|more_s|headline)' is new",
            "every surface says whether the best match is accepted",
        )
        for cases, where in (
            ("*identify-*", "/probes\\[[0-9]+\\]"),
            ("course-*", "/probes\\[[0-9]+\\]"),
            ("replay-*", ""),
            ("session-show-*", "(/identification)?"),
        )
    ),
    Change(
        "replay-*",
        "/files/replays/.*/events.jsonl\\[[0-9]+\\]: "
        "key '(accepted|more_s|false_acceptance_rate|stranger_prior)' is new",
        "documents say whether the best match is accepted, and on what terms",
    ),
    Change(
        "*-fixations-*",
        "/stdout/probes\\[[0-9]+\\]/(unknown|verdict): expected .*",
        "unknown is the probability of a stranger with a prior, and null for few viewers",
    ),
    Change(
        "*-fixations-*",
        "/files/.*\\.model/manifest/identifier: key '(strangers' is new|threshold' is missing)",
        "models keep strangers' matches instead of one threshold",
    ),
    Change(
        "config-*",
        "(/files/lab.toml|/stdout/config)/identify: "
        "key '(stranger_prior|false_acceptance_rate)' is new"
        "|/stdout/defaults: .*|/stdout/defaults\\[[0-9]+\\]: .*",
        "the rate and the prior of strangers can be set in the experiment's TOML",
    ),
    Change(
        "*",
        "/files/.*/?session.json: key 'id' is new",
        "chunks on the wire name their session",
    ),
    *_new_options("record", "bind keys lsl", "others may watch a session that is recorded"),
    *_new_options("identify", "course images", "the course on request; some images only"),
    *_new_options("detect", "jobs keep-overshoots", "several recordings; overshoots kept apart"),
)

RENEWED = (
    "detect-* compare-settled show-* identify-* enrol-* forget-* merge-* refit-* train-* replay-* "
    "session-show-* session-report api"
)
"""Cases, with wildcards, whose numbers depend on the detector, or on how models are trained.

Their goldens are outputs of detector revision 2 and of the training with profiles, strangers and
voted defaults (`renew.py`). The models and inputs are still those of 0.1. Fixation tables have no
detector: what models of 0.1 say of them is 0.1's, except `unknown`.
"""


def is_renewed(case: str) -> bool:
    """Return whether a golden is of a later version than 0.1."""
    depends = any(fnmatchcase(case, pattern) for pattern in RENEWED.split())
    return depends and ("fixations" not in case or case.startswith(("train-", "refit-")))


def not_intended(case: str, lines: Iterable[str]) -> list[str]:
    """Return the differences of a case that no change explains."""
    allowed = [change.difference for change in CHANGES if fnmatchcase(case, change.cases)]
    return [line for line in lines if not any(re.fullmatch(text, line) for text in allowed)]
