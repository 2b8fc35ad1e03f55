"""Functions mapped on workers of this machine or of a cluster, with the tasks of this process registered there.

    with open_workers("dask://scheduler:8786", prepare=worker_setup()) as workers:
        for result in map_on(workers, function, items): ...

Task files are sent with their contents, modules by name: these must be installed on the workers.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from wfairl.core.support.errors import BadInputError, FailedRunError, WfairlError
from wfairl.core.support.files import write_atomically
from wfairl.core.worlds.task_registry import load_tasks, loaded_sources
from wfairl.processes.executors import Workers

Item = TypeVar("Item")
Result = TypeVar("Result")

Sources = tuple[tuple[str, bytes | None], ...]
"""Task files with their contents, and modules with None."""

CHUNKS = 8
"""Chunks of items per worker: few enough to send, enough to keep all workers busy."""


def map_on(workers: Workers, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply a function to every item, in their order; both must be picklable. The first error is raised here."""
    todo, count = list(items), max(1, workers.count())
    size = max(1, -(-len(todo) // (CHUNKS * count)))
    chunks = [todo[i : i + size] for i in range(0, len(todo), size)]
    sources = None if workers.share_disk else portable_sources()
    submitted = deque(workers.executor.submit(_map, function, chunk, sources) for chunk in chunks)
    try:
        while submitted:
            yield from _result(submitted.popleft())
    finally:
        for future in submitted:
            future.cancel()


def _map(function: Callable[[Item], Result], items: list[Item], sources: Sources | None) -> list[Result]:
    """On a worker."""
    try:
        if sources is not None:
            set_up(sources)
        return [function(item) for item in items]
    except WfairlError as error:  # not all of its subclasses can be pickled
        raise (BadInputError if error.exit_code == BadInputError.exit_code else FailedRunError)(str(error)) from None


def _result(future: Future[list[Result]]) -> list[Result]:
    try:
        return future.result()
    except WfairlError:
        raise
    except CancelledError:
        raise FailedRunError("a job was cancelled on the cluster") from None
    except Exception as error:  # a worker or the cluster died, or our code failed there
        raise FailedRunError(f"a worker failed ({type(error).__name__}: {error})") from error


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
