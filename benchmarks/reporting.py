"""What benchmarks share: the command line, clocks, and a report as tables or as one JSON object."""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

NARROWEST = 160
"""Columns of a report that is not shown on a terminal."""


def make_parser(description: str | None, repeats: int | None = None) -> argparse.ArgumentParser:
    """A parser with the options --json and --quick and, with a default for it, --repeats."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="only the smallest sizes, to see that it works")
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats, help="runs, of which the fastest counts")
    return parser


def report(tables: Mapping[str, Sequence[Mapping[str, Any]] | Mapping[str, Any]], as_json: bool) -> None:
    """Print tables by their titles, or all of them as one JSON object.

    A table is rows with named columns, or figures by name, one to a line.
    """
    if as_json:
        print(json.dumps(tables))
        return
    console = Console()
    console = Console(width=max(console.width, NARROWEST))
    for title, table in tables.items():
        rows = [{"": name, "value": one} for name, one in table.items()] if isinstance(table, Mapping) else table
        console.print(_table(title, rows))


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """A line for each row, and a column for each name in any of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = Table(*names, title=title)
    for row in rows:
        table.add_row(*(_text(row.get(name, "")) for name in names))
    return table


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)


def fastest(work: Callable[[], Any], repeats: int) -> float:
    """Processor seconds of the fastest of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


class Clock:
    """Seconds on the wall and of the processor, by name.

    Attributes:
        wall: seconds on the wall by name.
        processor: seconds of all cores by name.
    """

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.processor: dict[str, float] = {}

    def time(self, name: str, work: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
        """The result of some work, whose seconds are added to a name."""
        wall, processor = time.perf_counter(), time.process_time()
        result = work(*arguments, **settings)
        self.wall[name] = self.wall.get(name, 0.0) + time.perf_counter() - wall
        self.processor[name] = self.processor.get(name, 0.0) + time.process_time() - processor
        return result
