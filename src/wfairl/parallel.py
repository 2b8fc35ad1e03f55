"""A map over independent scenes, in threads of this process, for work that releases the GIL.

Results come in the order of the items, one by one, so that a caller can show progress or stop early.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import effective_n_jobs

from wfairl.errors import BadInputError

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Apply a function that releases the GIL, such as a compiled kernel, to every item.

    Args:
        function: the work for one item.
        items: what to map over.
        n_jobs: how many at a time; -1 for one per core, None for what joblib is configured to (1 by default).
    """
    if n_jobs == 0:
        raise BadInputError("the number of jobs must not be 0: give 1 or more, or -1 for one per core")
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from map(function, items)
        return
    # joblib's own threads would do, but it looks for results every 10 ms, longer than most scenes take.
    pool = ThreadPoolExecutor(workers)
    try:
        yield from pool.map(function, items)
    finally:
        pool.shutdown(cancel_futures=True)
