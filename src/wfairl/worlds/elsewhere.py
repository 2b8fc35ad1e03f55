"""Work on workers of this machine or of a cluster, which know the tasks that are known here.

    with open_workers("dask://scheduler:8786", prepare=worker_setup()) as workers:
        for result in map_on(workers, function, items): ...

Files of tasks travel with their contents; modules by name, which must be installed where they arrive.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from wfairl.errors import BadInputError, FailedRunError, WfairlError
from wfairl.executors import Workers
from wfairl.files import write_atomically
from wfairl.worlds.registry import load_tasks, loaded_sources

Item = TypeVar("Item")
Result = TypeVar("Result")

Sources = tuple[tuple[str, bytes | None], ...]
"""Files of tasks with their contents, and modules with none."""

PARTS = 8
"""Parts that the items of a map are dealt into for each worker: few enough to travel, enough to keep all busy."""


def map_on(workers: Workers, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply a function to every item; results come in the order of the items.

    Args:
        workers: what does it.
        function: something that can travel: of a module, not of a function, and the same for what it is bound to.
        items: likewise.

    Raises:
        WfairlError: what the function raised first, or that a worker died.
    """
    waiting, count = list(items), max(1, workers.count())
    size = max(1, -(-len(waiting) // (PARTS * count)))
    parts = [waiting[i : i + size] for i in range(0, len(waiting), size)]
    sources = None if workers.share_disk else travelling_sources()
    submitted: deque[Future[list[Result]]] = deque()
    submitted.extend(workers.executor.submit(_map, function, part, sources) for part in parts)
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
    except WfairlError as error:  # not every one of them can travel
        raise (BadInputError if error.exit_code == BadInputError.exit_code else FailedRunError)(str(error)) from None


def _result(future: Future[list[Result]]) -> list[Result]:
    try:
        return future.result()
    except WfairlError:
        raise
    except CancelledError:
        raise FailedRunError("a job was cancelled on the cluster") from None
    except Exception as error:  # a worker's end, or the cluster's own, or a mistake of ours there
        raise FailedRunError(f"a worker failed ({type(error).__name__}: {error})") from error


def worker_setup() -> Callable[[], None]:
    """What a process of this machine does before its first job."""
    return partial(set_up, tuple((source, None) for source in loaded_sources()))


def travelling_sources() -> Sources:
    """What workers without a disk in common need, to know the tasks that are known here."""
    return tuple((one, Path(one).read_bytes() if one.endswith((".py", ".json")) else None) for one in loaded_sources())


def set_up(sources: Sources) -> None:
    """In a worker, before a job: one thread alone, since there are as many workers as cores, and the tasks."""
    import torch

    torch.set_num_threads(1)
    for source in _arrived(sources):
        load_tasks(source)


_arrived_files: dict[bytes, str] = {}
"""In a worker: the files of tasks that it has loaded, by their content."""


def _arrived(sources: Sources) -> Iterator[str]:
    """What to load of it here: a file that an earlier job brought is loaded already."""
    for source, content in sources:
        if content is None:
            yield source
        elif content in _arrived_files:
            yield _arrived_files[content]
        else:
            with TemporaryDirectory(prefix="wfairl-") as place:
                path = Path(place, Path(source).name)
                write_atomically(path, content)
                yield str(path)
                _arrived_files[content] = str(path)
