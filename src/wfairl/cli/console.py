"""What commands print: text and tables for people, one JSON object for programs, warnings."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table

out = Console(highlight=False, markup=False, soft_wrap=True)


def print_json(document: Any) -> None:
    """Print the JSON object of a command with `--json`."""
    sys.stdout.write(json.dumps(document, allow_nan=False) + "\n")


def tell(document: Any, lines: Iterable[RenderableType], as_json: bool) -> None:
    """Print a result: as a document, or as lines for people."""
    if as_json:
        print_json(document)
    else:
        for line in lines:
            out.print(line)


def warn(message: str) -> None:
    """Print a warning on standard error."""
    sys.stderr.write(f"wfairl: {message}\n")


def facts_table(rows: Iterable[tuple[str, str]] = ()) -> Table:
    """A table without lines, of names and values; a name that is that of the row before is left out."""
    table, before = Table(show_header=False, box=None, padding=(0, 2, 0, 0)), None
    for name, value in rows:
        table.add_row("" if name == before else name, value)
        before = name
    return table
