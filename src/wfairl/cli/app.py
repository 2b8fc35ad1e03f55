"""The application that the command modules register with, and what all of them share."""

import importlib
import inspect
import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from wfairl import __version__
from wfairl.errors import WfairlError

COMMAND_MODULES = (
    "tasks",
    "demonstrations",
    "evaluation",
    "automaton",
    "planning",
    "learning",
    "reproduction",
    "report",
)
"""Modules of this package that define commands, in the order in which `--help` lists them."""

app = typer.Typer(
    name="wfairl",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]

out = Console(highlight=False, markup=False, soft_wrap=True)


INTERRUPTED = 130
"""The exit code of a command that was stopped with Ctrl-C."""


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"wfairl {__version__}")
        raise typer.Exit


@app.callback()
def _wfairl(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Learn what a demonstrator was doing and what it cared about, and plan with both."""


def print_json(document: Any) -> None:
    """Print the one JSON object that a command with `--json` gives."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def main() -> None:
    """Run the command line; a known error is one line on standard error and an exit code."""
    for module in COMMAND_MODULES:
        importlib.import_module(f"wfairl.cli.{module}")
    for command in app.registered_commands:
        command.help = _reflowed(command.help or inspect.getdoc(command.callback) or "")
    try:
        app()
    except WfairlError as error:
        sys.stderr.write(f"wfairl: {error}\n")
        sys.exit(error.exit_code)
    except SystemExit as end:
        if end.code == INTERRUPTED:
            sys.stderr.write(
                "wfairl: interrupted; `train` and `run` go on with --resume, `reproduce` when it is started again\n"
            )
        raise


def _reflowed(text: str) -> str:
    """A help text whose prose is broken where the terminal ends, not where it was here; indented lines stay."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(part if part.startswith("    ") else part.replace("\n", " ") for part in paragraphs)
