"""Progress bars on standard error."""

import math
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")

SECONDS_WORTH_A_LINE = 2.0
"""A stage that takes longer prints a line at its end, if there is no terminal for a bar."""

SECONDS_BETWEEN_LINES = 60.0
"""The same, while a stage goes on."""

SECONDS_OF_SILENCE = 1.0
"""Work of unknown length that takes longer is announced."""

ITEMS_PER_LOOK = 256
"""Items between two looks at the clock."""


class _StageLines(Progress):
    """Lines instead of a bar, if standard error is a file or a pipe: one per stage, more if it takes minutes."""

    def __init__(self) -> None:
        super().__init__(disable=True, auto_refresh=False)
        self._last_line: dict[TaskID, float] = {}

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self._write(task_id)

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        self._write(task_id)

    def _write(self, task_id: TaskID) -> None:
        task = self._tasks[task_id]
        done = f"{task.completed:g}" if task.total is None else f"{task.completed:g} of {task.total:g}"
        elapsed, last_line = task.elapsed or 0.0, self._last_line.get(task_id, 0.0)
        is_over = task.finished and elapsed >= SECONDS_WORTH_A_LINE and last_line < math.inf
        if is_over or elapsed - last_line >= SECONDS_BETWEEN_LINES:
            sys.stderr.write(f"wfairl: {task.description}: {done} after {elapsed:.0f} s\n")
            self._last_line[task_id] = math.inf if is_over else elapsed


def progress_bar() -> Progress:
    """A bar with count and remaining time; lines if standard error is no terminal; nothing in a worker process."""
    console = Console(stderr=True)
    in_worker = multiprocessing.parent_process() is not None  # its parent shows the progress
    if not console.is_terminal and not in_worker:
        return _StageLines()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=in_worker,
    )


def announce_if_long(items: Iterable[Item], description: str) -> Iterator[Item]:
    """Iterate over items whose number nobody knows; after a second, a line says what goes on, and then every so often.

    Lines, since such work may go on in several threads under a bar.
    """
    started, wait = time.monotonic(), SECONDS_OF_SILENCE
    for done, item in enumerate(items):
        yield item
        if done % ITEMS_PER_LOOK == 0 and (elapsed := time.monotonic() - started) >= wait:
            wait = elapsed + min(elapsed, SECONDS_BETWEEN_LINES)
            if multiprocessing.parent_process() is None:
                sys.stderr.write(f"wfairl: {description}: {done:,} after {elapsed:.0f} s\n")


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Iterate over `items` under a progress bar."""
    with progress_bar() as bar:
        yield from bar.track(items, description=description, total=total)
