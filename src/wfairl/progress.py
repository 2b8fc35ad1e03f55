"""Progress bars on standard error, for work that a person waits for."""

import multiprocessing
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")


LONG = 2.0
"""Seconds after which a stage is worth a line where there is no terminal for a bar."""


class _StageLines(Progress):
    """In place of a bar, where standard error is a file or a pipe: a line once a stage takes long, and at its end."""

    def __init__(self) -> None:
        super().__init__(disable=True, auto_refresh=False)
        self._told: set[TaskID] = set()

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self._tell(task_id)

    def update(self, task_id: TaskID, **changes: Any) -> None:
        super().update(task_id, **changes)
        self._tell(task_id)

    def _tell(self, task_id: TaskID) -> None:
        task = self._tasks[task_id]
        done = f"{task.completed:g}" if task.total is None else f"{task.completed:g} of {task.total:g}"
        if (task.elapsed or 0.0) >= LONG and (task.finished or task_id not in self._told):
            sys.stderr.write(f"wfairl: {task.description}: {done} after {task.elapsed:.0f} s\n")
            self._told.add(task_id)


def progress_bar() -> Progress:
    """A bar with count and time left; lines where standard error is no terminal; silent in a worker process."""
    console = Console(stderr=True)
    in_worker = multiprocessing.parent_process() is not None  # whose parent has a display of its own
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


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Iterate over `items` under a progress bar."""
    with progress_bar() as bar:
        yield from bar.track(items, description=description, total=total)
