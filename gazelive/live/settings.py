"""Settings of a live session: one struct from the command line to the pipeline.

It travels as JSON on the command lines of the engine and of the experiment.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from gazelive.errors import ConfigError
from gazelive.live.wire.addresses import DEFAULT_ADDRESS, Addresses
from gazelive.live.wire.keys import load_server_keys, require_keys
from gazelive.recordings import DEFAULT_PATTERNS, GeometryFlags, TrialPatterns
from gazelive.verdict import STRANGER_PRIOR

if TYPE_CHECKING:
    from gazelive.identification import Terms

Settings = TypeVar("Settings", bound=msgspec.Struct)


class DashboardSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Settings of the dashboard that a session opens."""

    monitor: int | None = None
    """Number of the screen, from 0; None: where it was last."""
    beside: int | None = None
    """Number of the experiment's screen; there the dashboard leaves room for its window."""
    hide_viewer: bool = False
    save: Path | None = None
    """Figure to save at the end of the run; then the dashboard closes by itself."""
    size: str | None = None
    """Size of the window in pixels, such as 1280x800."""


class LiveSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session to record and analyse."""

    folder: Path
    """Session folder; the owner of the device writes it, the engine may be there before."""
    address: str | None = DEFAULT_ADDRESS
    """Address of the engine; None: no engine."""
    model: Path | None = None
    """Without a model the engine only finds events."""
    stranger_prior: float = STRANGER_PRIOR
    """Probability of a stranger before any evidence."""
    false_acceptance_rate: float | None = None
    """Share of strangers that are accepted; None: as in the model's training."""
    images: tuple[Path, ...] = ()
    """Folders of the images, for the dashboard and for models that use their saliency."""
    keys: Path | None = None
    """Folder of the engine's keys; needed when other computers may connect."""
    lsl: bool = False
    """True if gaze and posteriors also go to the lab streaming layer."""
    geometry: GeometryFlags = GeometryFlags()
    eye: Literal["L", "R", "both"] | None = None
    patterns: TrialPatterns = DEFAULT_PATTERNS
    stays: bool = False
    """True if the engine keeps answering after the session until it is asked to stop."""
    dashboard: DashboardSettings | None = None
    """None: the session opens no dashboard."""

    @property
    def addresses(self) -> Addresses:
        """The sockets' addresses; only for settings with an engine."""
        assert self.address is not None
        return Addresses.parse(self.address)

    @property
    def terms(self) -> Terms:
        """On what terms the viewer is judged: again and again."""
        from gazelive.identification import Terms

        return Terms(self.stranger_prior, self.false_acceptance_rate, repeated=True)

    def check(self) -> None:
        """Raise if an engine could not run with these settings, before any process starts."""
        addresses = self.addresses
        require_keys(
            str(addresses), is_loopback=addresses.is_loopback, has_keys=self.keys is not None
        )
        if self.keys is not None:
            load_server_keys(self.keys)
        if self.lsl:
            from gazelive.live.lsl import load_pylsl

            load_pylsl()
        for folder in self.images:
            if not folder.is_dir():
                raise ConfigError("there is no such folder of images", path=folder)


def encode_settings(settings: msgspec.Struct) -> str:
    """Return settings as JSON; paths become text."""
    return msgspec.json.encode(settings, enc_hook=str).decode()


def decode_settings(text: str, kind: type[Settings]) -> Settings:
    """Return settings of a kind from JSON."""
    return msgspec.json.decode(text, type=kind, dec_hook=_from_text)


def _from_text(kind: type[Any], value: Any) -> Any:
    return kind(value)
