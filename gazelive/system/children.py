"""Python child processes: the command that starts one, and a process group of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

OWN_GROUP: dict[str, Any] = {"start_new_session": True}
"""Arguments of `Popen` for a child that does not receive Ctrl-C from this process's terminal."""
if sys.platform == "win32":
    OWN_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}


def python_module(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `module`, without the working directory on its path.

    A `random.py` there must not take the place of Python's own. PYTHONPATH keeps its meaning.
    """
    return [sys.executable, "-P", "-m", module, *arguments]
