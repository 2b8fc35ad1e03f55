"""Progress bars on standard error, for work that a person waits for."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")


def progress_bar() -> Progress:
    """A bar with count and time left; silent when standard error is not a terminal."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Iterate over `items` under a progress bar."""
    with progress_bar() as bar:
        yield from bar.track(items, description=description, total=total)
