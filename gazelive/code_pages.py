"""Consoles and files that cannot hold every letter: what they lack is replaced, nothing fails."""

from __future__ import annotations

import io
import sys


def forgive_code_pages() -> None:
    """Let standard output and error write `?` for letters that they do not have.

    An old Windows code page has no κ, and the name of an image may have anything.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
