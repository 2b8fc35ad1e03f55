"""A map over independent items in threads, for work that releases the GIL.

It yields the results one by one, in the order of the items, so that a caller can show progress or stop early.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from wfairl.core.support.errors import BadInputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int = 1) -> Iterator[Result]:
    """Apply a function that releases the GIL, such as a compiled kernel, to every item; `n_jobs` -1 is one per core."""
    if n_jobs == 0:
        raise BadInputError("the number of jobs must not be 0: give 1 or more, or -1 for one per core")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)
    if workers == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)
