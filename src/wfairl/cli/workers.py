"""The option `--executor` of commands that work in this process unless it is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from wfairl.executors import Workers

ExecutorOption = Annotated[
    str | None,
    typer.Option(
        help="What works instead of this process: local (--jobs processes), dask://HOST:PORT or mpi; see"
        " docs/clusters.md.",
        show_default=False,
    ),
]


@contextmanager
def workers_at(executor: str | None, n_jobs: int) -> "Iterator[Workers | None]":
    """The workers of an executor, which know the tasks that are known here; None if none was given."""
    if executor is None:
        yield None
        return
    from wfairl.executors import open_workers
    from wfairl.worlds.workers import worker_setup

    with open_workers(executor, n_jobs, worker_setup()) as workers:
        yield workers
