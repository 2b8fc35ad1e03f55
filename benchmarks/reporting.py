"""What benchmarks share: the command line, timing, and a report as tables or as one JSON object."""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def make_parser(description: str | None, repeats: int | None = None) -> argparse.ArgumentParser:
    """A parser with the option --json and, with a default for it, --repeats."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats, help="runs, of which the fastest counts")
    return parser


def report(figures: Any, as_json: bool, *tables: Table | str, width: int | None = None) -> None:
    """Print the figures as one JSON object, or the tables."""
    if as_json:
        print(json.dumps(figures))
        return
    console = Console(width=width)
    for table in tables:
        console.print(table)


def rows_table(rows: Sequence[Mapping[str, Any]], title: str | None = None, form: str = ",.4g") -> Table:
    """A line for each row, and a column for each name in any of them; floats are formatted by `form`."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(*names, title=title)
    for row in rows:
        table.add_row(*(_text(row.get(name, ""), form) for name in names))
    return table


def figures_table(figures: Mapping[str, Any], title: str, form: str = ",.3f") -> Table:
    """A line for each figure."""
    return rows_table([{"figure": name, "value": value} for name, value in figures.items()], title, form)


def _text(value: Any, form: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:{form}}"
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def fastest(work: Callable[[], Any], repeats: int) -> float:
    """Processor seconds of the fastest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)
