"""The `gazelive` command and its exit codes.

0 is success, 2 an error in usage or input, 130 Ctrl-C, 1 any other failure. Every failure prints
one sentence.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from gazelive import __version__
from gazelive.cli.compare import compare
from gazelive.cli.config import app as config_app
from gazelive.cli.convert import convert
from gazelive.cli.dashboard import dashboard
from gazelive.cli.demo import demo
from gazelive.cli.detect import detect
from gazelive.cli.doctor import doctor
from gazelive.cli.evaluate import evaluate
from gazelive.cli.export import export
from gazelive.cli.identify import identify
from gazelive.cli.info import info
from gazelive.cli.keys import keys
from gazelive.cli.model import app as model_app
from gazelive.cli.record import record
from gazelive.cli.replay import replay
from gazelive.cli.run import run
from gazelive.cli.session import app as session_app
from gazelive.cli.simulate import simulate
from gazelive.cli.terminal.console import fail
from gazelive.cli.terminal.help import PlainApp, PlainGroup
from gazelive.cli.train import train
from gazelive.cli.watch import watch
from gazelive.errors import GazeliveError
from gazelive.system import get_logger, log_to_stderr, replace_unencodable

INTERRUPTED = 130
log = get_logger(__name__)


class _Commands(PlainGroup):
    """Acknowledges Ctrl-C, which Typer does not."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("stopped")
            raise typer.Exit(INTERRUPTED) from None


app = PlainApp(
    name="gazelive",
    cls=_Commands,
    help="Live saccade detection and viewer identification for eye-tracking labs.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"gazelive {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    log_level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="Log on standard error: debug, info, warning or error (default: GAZELIVE_LOG).",
        ),
    ] = None,
) -> None:
    log_to_stderr(log_level)
    log.info("gazelive %s: %s", __version__, " ".join(sys.argv[1:]))


_COMMANDS = {
    "Start here": (demo, doctor),
    "Recordings": (info, convert, detect, compare, simulate),
    "Identification": (train, identify, evaluate),
    "In the lab": (record, export),
    "Live": (replay, run, dashboard, watch, keys),
}
_GROUPS = {
    "model": ("Identification", model_app),
    "config": ("In the lab", config_app),
    "session": ("In the lab", session_app),
}
for _panel, _functions in _COMMANDS.items():
    for _function in _functions:
        app.command(rich_help_panel=_panel)(_function)
for _name, (_panel, _group) in _GROUPS.items():
    app.add_typer(_group, name=_name, rich_help_panel=_panel)


def main() -> None:
    """Run the command line; errors that gazelive raises have no traceback."""
    replace_unencodable()
    try:
        app()
    except GazeliveError as error:
        log.debug("failed", exc_info=True)
        fail(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        log.debug("failed", exc_info=True)
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}")
        sys.exit(1)
