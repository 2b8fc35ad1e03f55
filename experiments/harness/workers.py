"""Where cells run, behind the standard library's contract `concurrent.futures.Executor`.

    with open_workers("local", n_jobs=2) as workers:            # processes of this machine
    with open_workers("dask://scheduler:8786") as workers:      # those of a Dask cluster (extra `cluster`)

Workers of a cluster share no disk with this process: the files that a job reads are sent with it, and task files with
their contents. Modules are sent by name: these must be installed on the workers.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wfairl.core.support.errors import BadInputError, MissingExtraError
from wfairl.core.support.files import write_atomically
from wfairl.processes.executors import LocalProcesses
from wfairl.runs.task_registry import load_tasks, loaded_sources

LOCAL, DASK = "local", "dask://"

SECONDS_TO_ANSWER = 10
"""How long to wait for a scheduler's answer."""

Sources = tuple[tuple[str, bytes | None], ...]
"""Task files with their contents, and modules with None."""


@dataclass(frozen=True)
class Workers:
    """An executor and the properties of its workers."""

    executor: Executor  # to submit jobs to
    share_disk: bool  # whether workers see the files of this process
    count: Callable[[], int]  # the current number of workers


@contextmanager
def open_workers(address: str = LOCAL, n_jobs: int = 1) -> Iterator[Workers]:
    """The workers at an address.

    Args:
        address: `local` or `dask://HOST:PORT`.
        n_jobs: number of local processes; a cluster has its own number of workers.

    Raises:
        BadInputError: there is no such kind of workers, or none answer.
        MissingExtraError: they need an extra that is not installed.
    """
    if address == LOCAL:
        with LocalProcesses(n_jobs, worker_setup()) as processes:
            yield Workers(processes, share_disk=True, count=lambda: n_jobs)
    elif address.startswith(DASK):
        with _dask_client(address) as client:
            executor = client.get_executor(pure=False)
            try:
                yield Workers(executor, share_disk=False, count=lambda: sum(client.nthreads().values()))
            finally:
                executor.shutdown(wait=False)  # jobs that still run are no longer needed
    else:
        raise BadInputError(f"unknown executor {address!r}; known are {LOCAL} and {DASK}HOST:PORT")


def _dask_client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("Dask", "cluster") from None
    try:
        return Client("tcp://" + address.removeprefix(DASK), timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInputError(f"--executor {address}: no Dask scheduler answers there ({error})") from None


def worker_setup() -> Callable[[], None]:
    """The initialiser of worker processes of this machine."""
    return partial(set_up, tuple((source, None) for source in loaded_sources()))


def portable_sources() -> Sources:
    """The task sources of this process, for workers that do not share its disk."""
    return tuple((one, Path(one).read_bytes() if one.endswith((".py", ".json")) else None) for one in loaded_sources())


_loaded_files: set[bytes] = set()
"""The contents of the task files that a worker has loaded."""


def set_up(sources: Sources) -> None:
    """Prepare a worker: one thread, since there are as many workers as cores, and the tasks."""
    os.environ["OMP_NUM_THREADS"] = "1"  # for torch, which reads it where a task imports it
    for source, content in sources:
        if content is None:
            load_tasks(source)
        elif content not in _loaded_files:
            with TemporaryDirectory(prefix="wfairl-") as place:
                path = Path(place, Path(source).name)
                write_atomically(path, content)
                load_tasks(str(path))
            _loaded_files.add(content)
