"""The session folder: an append-only journal and a manifest.

::

    session.json    what the session is about (`SessionManifest`)
    gaze.journal    samples, messages and block descriptions, by the process that owns the device
    events.jsonl    documents, by the engine
    *.edf           the tracker's own file, where it has one
    writer.lock     present while a process writes, and after that process died

`docs/session-folder.md` describes the bytes.
"""
