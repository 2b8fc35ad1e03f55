"""Arguments and options that several commands share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wfairl.core.support.executors import Workers

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="A task; `wfairl tasks` lists them.")]
TaskModelFile = Annotated[Path, typer.Argument(metavar="TASK_MODEL", help="A task model, from `wfairl learn-task`.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
ImageFile = Annotated[Path | None, typer.Option("-o", "--output", help="Write an image to this file, .png or .gif.")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume an existing run.")]
Jobs = Annotated[int, typer.Option(help="Number of scenes or networks to process in parallel; -1 for one per core.")]
Executor = Annotated[
    str | None,
    typer.Option(
        help="Where to compute instead of in this process: local (--jobs processes), dask://HOST:PORT or mpi; see"
        " docs/paper.md.",
        show_default=False,
    ),
]


@contextmanager
def workers_at(executor: str | None, n_jobs: int) -> "Iterator[Workers | None]":
    """The workers of an executor, with the tasks that are registered in this process; None without an executor."""
    if executor is None:
        yield None
        return
    from wfairl.core.support.executors import open_workers
    from wfairl.core.worlds.workers import worker_setup

    with open_workers(executor, n_jobs, worker_setup()) as workers:
        yield workers
