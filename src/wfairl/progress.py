"""Progress bars on standard error, for work that a person waits for."""

import multiprocessing
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")


def progress_bar() -> Progress:
    """A bar with count and time left; silent in a worker process, and when standard error is not a terminal."""
    console = Console(stderr=True)
    in_worker = multiprocessing.parent_process() is not None  # whose parent has a display of its own
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=in_worker or not console.is_terminal,
    )


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Iterate over `items` under a progress bar."""
    with progress_bar() as bar:
        yield from bar.track(items, description=description, total=total)
