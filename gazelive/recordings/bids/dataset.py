"""BIDS dataset: its description, its participants, and the target of an export."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from gazelive import __version__
from gazelive.errors import ConfigError, RecordingError
from gazelive.system import write_bytes

BIDS_VERSION = "1.11.1"
"""Version of the BIDS specification (`docs/bids.md`)."""
DESCRIPTION_NAME = "dataset_description.json"
PARTICIPANTS_NAME = "participants.tsv"
DATATYPE = "beh"
"""Eye tracking without brain recording is behaviour."""
README = """{name}

Eye-tracking recordings in the Brain Imaging Data Structure (BIDS), exported by gazelive {version}.

Each session has, for each run: the samples of each eye (_physio.tsv.gz), what the eye tracker's
own parser found in it together with all messages (_physioevents.tsv.gz), and what was shown
(_events.tsv). The JSON file beside each table says what its columns are.

Write here who recorded these data, with which task and instructions, and who may use them.
"""


@dataclass(frozen=True)
class BidsTarget:
    """Place of a recording in a dataset."""

    dataset: Path
    subject: str
    session: str | None
    task: str
    name: str | None = None
    """Name of a new dataset; else that of its folder."""
    authors: tuple[str, ...] = ()
    licence: str | None = None
    """Both for a new dataset."""

    def __post_init__(self) -> None:
        for key, label in (
            ("--subject", self.subject),
            ("--session", self.session),
            ("--task", self.task),
        ):
            if label is not None and not is_label(label):
                raise ConfigError(
                    f"{label!r} is not a BIDS label, which has letters and digits only: "
                    f"try {label_of(label) or 'another'}",
                    key=key,
                )

    @property
    def is_new(self) -> bool:
        """True if there is nothing yet."""
        return not self.dataset.exists() or not any(self.dataset.iterdir())

    @property
    def folder(self) -> Path:
        """The folder of this subject and session, within the dataset."""
        subject = Path(f"sub-{self.subject}")
        return subject if self.session is None else subject / f"ses-{self.session}"

    def stem(self, run: int | None) -> str:
        """Return the start of the names of a run's files."""
        parts = [f"sub-{self.subject}"]
        if self.session is not None:
            parts.append(f"ses-{self.session}")
        parts.append(f"task-{self.task}")
        if run is not None:
            parts.append(f"run-{run}")
        return "_".join(parts)


def is_label(text: str) -> bool:
    """Return whether `text` is a valid label in a BIDS file name."""
    return re.fullmatch(r"[0-9a-zA-Z]+", text) is not None


def label_of(text: str) -> str:
    """Return a name without everything but letters and digits."""
    return re.sub(r"[^0-9a-zA-Z]", "", text)


def check_dataset(target: BidsTarget) -> None:
    """Raise if the recording cannot be added safely."""
    dataset = target.dataset
    if dataset.exists() and not dataset.is_dir():
        raise RecordingError("is a file: name the folder of a dataset", path=dataset)
    if not dataset.absolute().parent.is_dir():
        raise RecordingError("no such folder", path=dataset.parent)
    if target.is_new:
        if dataset.resolve() == Path.cwd():
            raise RecordingError(
                "is the working folder, which cannot be replaced: name a folder in it", path=dataset
            )
        return
    if not (dataset / DESCRIPTION_NAME).is_file():
        raise RecordingError(
            f"is not a BIDS dataset (no {DESCRIPTION_NAME}) and not empty: name another folder",
            path=dataset,
        )
    where = dataset / target.folder
    if where.exists():
        what = "" if target.session is None else f", session {target.session},"
        raise RecordingError(
            f"subject {target.subject}{what} is in this dataset already: remove it, or choose "
            "another --subject or --session",
            path=where,
        )
    subject = dataset / f"sub-{target.subject}"
    if subject.is_dir() and any(not p.name.startswith("ses-") for p in subject.iterdir()):
        raise RecordingError(
            "this subject has data without a session, and BIDS requires sessions for all or none: "
            "choose another --subject",
            path=subject,
        )
    _participants_with(target)  # raises if the table cannot be extended


def write_dataset_files(target: BidsTarget, root: Path) -> None:
    """Write the top-level files of a new dataset."""
    name = target.name or target.dataset.resolve().name
    description: dict[str, Any] = {
        "Name": name,
        "BIDSVersion": BIDS_VERSION,
        "DatasetType": "raw",
        "GeneratedBy": [{"Name": "gazelive", "Version": __version__}],
    }
    if target.authors:
        description["Authors"] = list(target.authors)
    if target.licence is not None:
        description["License"] = target.licence
    write_json(root / DESCRIPTION_NAME, description)
    (root / "README").write_bytes(README.format(name=name, version=__version__).encode())
    (root / PARTICIPANTS_NAME).write_bytes(f"participant_id\nsub-{target.subject}\n".encode())
    write_json(
        root / "participants.json",
        {"participant_id": {"Description": "Who looked; the same in all sessions."}},
    )


def add_participant(target: BidsTarget) -> None:
    """Add the subject to the participants of an existing dataset, if missing."""
    content = _participants_with(target)
    if content is not None:
        write_bytes(target.dataset / PARTICIPANTS_NAME, content)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON file that people can read."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")


def _participants_with(target: BidsTarget) -> bytes | None:
    """Return the participants including the subject, None if it is included already.

    Other bytes do not change; columns that only the lab can fill are `n/a`.
    """
    path = target.dataset / PARTICIPANTS_NAME
    participant = f"sub-{target.subject}"
    if not path.exists():
        others = sorted(p.name for p in target.dataset.glob("sub-*") if p.is_dir())
        rows = "\n".join(dict.fromkeys([*others, participant]))
        return f"participant_id\n{rows}\n".encode()
    content = path.read_bytes()
    text = content.decode("utf-8-sig", errors="replace")
    columns, *rows_there = [line.split("\t") for line in text.splitlines()] or [[""]]
    if columns[0] != "participant_id":
        raise RecordingError("its first column must be participant_id", path=path, line=1)
    if any(row[0] == participant for row in rows_there):
        return None
    end = b"\r\n" if b"\r\n" in content else b"\n"
    row = "\t".join([participant, *["n/a"] * (len(columns) - 1)]).encode()
    return content + (b"" if content.endswith(b"\n") else end) + row + end
