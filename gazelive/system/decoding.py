"""What decoders raise for data that is damaged, crafted or of another version."""

from __future__ import annotations

import msgspec

from gazelive.errors import ConfigError

UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, ConfigError)
"""Raised for JSON and msgpack; the last two for endless lists in lists, and by types that check
their values (`ScreenGeometry`)."""
NOT_TOML = (ValueError, RecursionError)
"""Raised by `tomllib`: besides its own error for text that is not UTF-8, numbers of more than 4300
digits (both ValueErrors too) and endless lists in lists."""
