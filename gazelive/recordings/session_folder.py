"""The session folder: everything about it that other packages use.

::

    session.json    what the session is about (`SessionManifest`)
    gaze.journal    samples, messages and block descriptions, by the process that owns the device
    events.jsonl    documents, by the engine
    *.edf           the tracker's own file, where it has one
    writer.lock     there while somebody writes, or after they died

`docs/session-folder.md` describes the bytes.
"""

from gazelive.recordings.journal_follower import JournalFollower
from gazelive.recordings.session_conversion import manifest_of, what_is_lost, write_session
from gazelive.recordings.session_manifest import (
    DOCUMENTS_NAME,
    JOURNAL_NAME,
    MANIFEST_NAME,
    SCHEMA_VERSION,
    ClockFit,
    SessionManifest,
    is_session_folder,
    read_manifest,
)
from gazelive.recordings.session_reader import follow, read_session
from gazelive.recordings.session_writer import SessionWriter

__all__ = [
    "DOCUMENTS_NAME",
    "JOURNAL_NAME",
    "MANIFEST_NAME",
    "SCHEMA_VERSION",
    "ClockFit",
    "JournalFollower",
    "SessionManifest",
    "SessionWriter",
    "follow",
    "is_session_folder",
    "manifest_of",
    "read_manifest",
    "read_session",
    "what_is_lost",
    "write_session",
]
