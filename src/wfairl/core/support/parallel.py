"""A map over independent items in threads, for work that releases the GIL.

It yields the results one by one, in the order of the items, so that a caller can show progress or stop early.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

from wfairl.core.support.errors import BadInputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Apply a function that releases the GIL, such as a compiled kernel, to every item.

    Args:
        function: of one item.
        items: its arguments.
        n_jobs: number of threads; -1 for one per core, None for joblib's configuration (1 by default).
    """
    if n_jobs == 0:
        raise BadInputError("the number of jobs must not be 0: give 1 or more, or -1 for one per core")
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from map(function, items)
        return
    # Not joblib's own threads, which look for results only every 10 ms, longer than most scenes take.
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)
