"""What the operating system refused, in words that a user of a lab computer can act on."""

from __future__ import annotations

import errno
from pathlib import Path

from gazelive.errors import StorageError

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
_NO_PERMISSION = {errno.EACCES, errno.EPERM, errno.EROFS}


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return the `StorageError` that says why `path` cannot be written and what to do."""
    reason = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        text = f"the disk is full ({reason}): free some space or choose another folder"
    elif error.errno in _NO_PERMISSION:
        text = f"may not be written ({reason}): choose another folder or change its permissions"
    else:
        text = f"cannot be written ({reason})"
    return StorageError(text, path=path)
