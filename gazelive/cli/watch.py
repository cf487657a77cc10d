"""`gazelive watch`: the documents of a run as text or JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gazelive.cli.terminal.console import Json
from gazelive.cli.terminal.options import ClientKeys, Connect, names_of

if TYPE_CHECKING:
    from gazelive.gaze import Document

MOST_CHARACTERS = 60
"""Longer values are left out of the text."""
LONGEST_WAIT_S = 0.2
"""Longest wait for a document before Ctrl-C is heeded."""


def watch(
    connect: Connect = None,
    keys: ClientKeys = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="TYPES",
            help="Only these types of documents, such as SaccadeOnset,Posterior.",
            show_default="all but GazeTrace",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the documents of a run while it goes on, one per line.

    Begins with those that describe the run so far, and ends with the run or by Ctrl-C.
    """
    from gazelive.gaze import encode_line
    from gazelive.live import subscribe
    from gazelive.system import EndSignals

    # a Ctrl-C while a socket is being opened would leave it open, and `close` would wait for it
    with EndSignals() as wishes, subscribe(connect, keys=keys, kinds=_kinds(only)) as run:
        while not (wishes.count or run.has_ended):
            document = run.receive(LONGEST_WAIT_S)
            if document is not None:
                line = encode_line(document).decode().rstrip() if as_json else _text(document)
                typer.echo(line)


def _kinds(only: str | None) -> tuple[type[Any], ...]:
    """Return the chosen types of documents."""
    from typing import get_args

    from gazelive.errors import ConfigError
    from gazelive.gaze import Document

    known = {kind.__name__: kind for kind in get_args(Document)}
    if only is None:
        return tuple(kind for name, kind in known.items() if name != "GazeTrace")
    names = names_of(only)
    for name in names:
        if name not in known:
            raise ConfigError(f"must be some of {', '.join(known)}, not {name!r}", key="--only")
    return tuple(known[name] for name in names)


def _text(document: Document) -> str:
    """Return a document as its type and its short values."""
    import msgspec

    values = msgspec.structs.asdict(document)
    shown = {name: _value(value) for name, value in values.items() if value is not None}
    pairs = [f"{name}={text}" for name, text in shown.items() if len(text) <= MOST_CHARACTERS]
    return " ".join([type(document).__name__, *pairs])


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
