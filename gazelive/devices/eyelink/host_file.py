"""EDF file on the Host PC: opened under a short name, fetched under its full name."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from gazelive.devices.eyelink.link import Link
from gazelive.errors import ConfigError, DeviceError
from gazelive.system import replace_file

LONGEST_NAME = 8
"""The Host PC's file system is DOS's."""
OFFLINE_S = 0.5
"""The vendor's pause before closing the file."""


def host_name(stem: str) -> str:
    """Return the name on the Host PC for the file `stem`.

    Short names are kept. Others keep their start and get a hash of the whole, so sessions do not
    overwrite each other.
    """
    if not stem.strip():
        raise ConfigError("must not be empty", key="host_file_stem")
    legal = re.sub(r"[^A-Z0-9_]", "_", stem.upper())
    if legal == stem.upper() and len(legal) <= LONGEST_NAME:
        return f"{legal}.EDF"
    number = hashlib.blake2b(stem.encode(), digest_size=2).hexdigest().upper()
    return f"{legal[: LONGEST_NAME - len(number)]}{number}.EDF"


class HostEdf:
    """One EDF on the Host PC."""

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self.name = name
        self.is_open = False

    def open(self) -> None:
        """Open the file; one of the same name is overwritten."""
        code = self._link.tracker.openDataFile(self.name)
        if code != 0:
            raise DeviceError(
                f"the EyeLink could not open {self.name} on the Host PC (code {code}): is its disk "
                "full, or is a session still open there?"
            )
        self.is_open = True
        self._link.command("add_file_preamble_text 'RECORDED BY gazelive'")

    def close(self) -> None:
        """Close the file; nothing can be added any more."""
        if self.is_open:
            self._link.tracker.setOfflineMode()
            self._link.clock.sleep_until_s(self._link.clock.now_s() + OFFLINE_S)
            self._link.tracker.closeDataFile()
            self.is_open = False

    def receive(
        self, folder: Path, stem: str, progress: Callable[[float], None] | None = None
    ) -> Path:
        """Fetch the file as `stem`.edf, atomically; it stays on the Host PC."""
        target = folder / f"{stem}.edf"
        aside: Path | None = None
        try:
            # a separate folder: pylink would choose another name if the file exists
            aside = Path(tempfile.mkdtemp(prefix=f".{stem}.", suffix=".part", dir=folder))
            self._fetch(aside / self.name, progress)
            replace_file(aside / self.name, target)
        except OSError as error:  # the disk is full, for example
            raise self._not_received(str(error)) from error
        finally:
            if aside is not None:
                shutil.rmtree(aside, ignore_errors=True)
        if progress is not None:
            progress(1.0)
        return target

    def _fetch(self, path: Path, progress: Callable[[float], None] | None) -> None:
        tracker = self._link.tracker
        tracker.progressUpdate = _progress_hook(progress)
        try:
            self.close()
            # by its bare name: the native library on Windows fails on paths such as C:/Users/Jürgen
            with contextlib.chdir(path.parent):
                size = tracker.receiveDataFile(self.name, path.name)
        except RuntimeError as error:
            raise self._not_received(str(error)) from error
        finally:
            del tracker.progressUpdate
        received = path.stat().st_size if path.exists() else 0
        if not received or received != size:
            raise self._not_received(f"{received} of {size} bytes received")

    def _not_received(self, why: str) -> DeviceError:
        return DeviceError(
            f"the EDF was not received ({why}): it is on the Host PC as {self.name}, copy it from "
            "there before the next session"
        )


def _progress_hook(
    progress: Callable[[float], None] | None,
) -> Callable[[str, int, int], int]:
    """Return a progress callback for pylink."""

    def update(_name: str, size: int, received: int) -> int:
        if progress is not None and size > 0:
            progress(min(received / size, 0.999))
        return 0

    return update
