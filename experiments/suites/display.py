"""Progress of a long computation: running and finished jobs, and the time left.

On a terminal it is a bar that redraws itself; otherwise, as in a log, one line for each job that ends.
"""

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text


class Display:
    """The state of jobs, on standard error.

    Args:
        title: of the jobs.
        expected: seconds that each job may take, by its name; only their ratios matter once some have ended.
        workers: how many jobs run at once; it may change.
    """

    def __init__(self, title: str, expected: Mapping[str, float], workers: int = 1):
        self.title, self.expected, self.workers = title, expected, workers
        self.running: dict[str, float] = {}
        self.ended: set[str] = set()
        self.elapsed_of_ended = self.expected_of_ended = 0.0
        self.console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self.meter = self.bar.add_task(title, total=len(expected), left="")
        self.live = Live(get_renderable=self._render, console=self.console, refresh_per_second=2, transient=True)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.live.stop()

    def started(self, name: str) -> None:
        """A job runs; may be called again."""
        self.running.setdefault(name, time.monotonic())

    def finished(self, name: str, seconds: float, failure: str | None) -> None:
        """A job ends."""
        self.running.pop(name, None)  # a cluster does not report what runs
        self.ended.add(name)
        self.elapsed_of_ended += seconds
        self.expected_of_ended += self.expected[name]
        self.bar.update(self.meter, completed=len(self.ended))
        if failure is not None:
            self.console.print(f"failed: {name}: {failure}")
        elif not self.console.is_terminal:
            count = f"{len(self.ended)}/{len(self.expected)}"
            sys.stderr.write(f"{self.title} {count}: {name}: {format_seconds(seconds)}; {self.left()} left\n")

    def left(self) -> str:
        """The time until all is done, by the ratio of actual to expected times so far."""
        pace = self.elapsed_of_ended / self.expected_of_ended if self.expected_of_ended > 0 else 1.0
        waiting = sum(
            seconds for name, seconds in self.expected.items() if name not in self.ended and name not in self.running
        )
        now = time.monotonic()
        rest = [max(pace * self.expected[name] - (now - since), 0.0) for name, since in self.running.items()]
        return "about " + format_seconds(
            max((sum(rest) + pace * waiting) / max(1, self.workers), max(rest, default=0.0))
        )

    def _render(self) -> Group:
        self.bar.update(self.meter, left=f"{self.left()} left")
        workers = Text(f"  {self.workers} worker{'' if self.workers == 1 else 's'}", style="dim")
        lines = [
            Text(f"  {name} ({format_seconds(time.monotonic() - since)})", style="dim")
            for name, since in self.running.items()
        ]
        return Group(self.bar, workers, *lines)


def format_seconds(seconds: float) -> str:
    """A duration such as 8 s, 3 min 20 s or 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
