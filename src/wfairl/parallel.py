"""Maps over independent scenes or settings, on one machine or many.

Both maps give their results in the order of the items, one by one, so that a caller can show
progress or stop early. They are joblib's, and so is the choice of where the work runs: within
`joblib.parallel_config(backend="dask")` or `"ray"` the same calls run on a cluster.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from joblib import Parallel, delayed

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Apply a function that releases the GIL, such as a compiled kernel, to every item.

    Args:
        function: the work for one item.
        items: what to map over.
        n_jobs: how many at a time; -1 for one a core, None for what joblib is configured to (1 by default).
    """
    return _map(function, items, n_jobs, "threads")


def map_in_processes(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Apply a function that holds the GIL to every item; function, items and results travel between processes."""
    return _map(function, items, n_jobs, "processes")


def _map(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None, prefer: str
) -> Iterator[Result]:
    parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
    yield from parallel(delayed(function)(item) for item in items)
