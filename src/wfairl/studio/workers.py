"""Worker processes for jobs, with progress and cancelling.

The pool is the standard library's. Beside it lie two small shared arrays, one place for each job that is under way: how
often the job has reported, and whether anybody still wants it. A worker that dies takes its job along and no more; one
whose job is no longer wanted is interrupted wherever it is, as by Ctrl-C.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from wfairl.errors import FailedRunError
from wfairl.worlds.registry import load_tasks, loaded_sources

PLACES = 256
WARM_UP = PLACES - 1
"""Jobs that may wait or run at once, and the place of the one that makes a worker ready."""

PATIENCE = 0.2
"""Seconds between two looks at whether a job is still wanted."""

Report = Callable[[], None]
"""Is called now and then; raises `CancelledJobError` when nobody wants the result any more."""

_board: Any = None
_place: int | None = None
"""In a worker: the shared arrays, and the place of the job that runs."""


class CancelledJobError(FailedRunError):
    """Somebody has changed their mind."""


class TooBusyError(FailedRunError):
    """Too many jobs wait already."""


class QueuedJob:
    """A job that waits or runs.

    Attributes:
        future: of its result.
        begun: when it was asked for, by the clock of `time.monotonic`.
    """

    def __init__(self, future: "Future[Any]", board: Any, place: int) -> None:
        self.future, self._board, self._place = future, board, place
        self.begun = time.monotonic()

    @property
    def reports(self) -> int:
        """How often it has reported so far."""
        return int(self._board[0][self._place])

    def cancel(self) -> None:
        """Give it up: its future is cancelled, or fails with `CancelledJobError` in a moment."""
        if not self.future.cancel():
            self._board[1][self._place] = 1


class JobRunner:
    """Runs jobs.

    Args:
        processes: how many at once.
        warm_up: the first job of every process, whose result nobody waits for.
    """

    def __init__(self, processes: int = 1, warm_up: Callable[[Report], Any] | None = None) -> None:
        self._processes, self._warm_up = processes, warm_up
        self._context = multiprocessing.get_context("spawn")
        self._taken: set[int] = set()
        self._start()

    def submit(self, job: Callable[..., Any], *arguments: Any) -> QueuedJob:
        """Run a function of a module, which gets a way to report before its arguments.

        Raises:
            TooBusyError: too many wait.
        """
        place = next((place for place in range(WARM_UP) if place not in self._taken), None)
        if place is None:
            raise TooBusyError("too many people wait for an answer; try again in a moment")
        self._board[0][place] = self._board[1][place] = 0
        try:
            future = self._pool.submit(_run, place, job, arguments)
        except BrokenProcessPool:  # a worker was killed, for want of memory perhaps
            self._start()
            future = self._pool.submit(_run, place, job, arguments)
        self._taken.add(place)
        future.add_done_callback(lambda _: self._taken.discard(place))
        return QueuedJob(future, self._board, place)

    def close(self) -> None:
        """Give up what runs, and end the processes."""
        processes = list((self._pool._processes or {}).values())  # `terminate_workers` comes with Python 3.14
        for process in processes:
            process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> None:
        self._board = (self._context.Array("q", PLACES, lock=False), self._context.Array("b", PLACES, lock=False))
        self._pool = ProcessPoolExecutor(
            self._processes, self._context, initializer=_begin, initargs=(self._board, loaded_sources())
        )
        if self._warm_up is not None:
            for _ in range(self._processes):
                self._pool.submit(_run, WARM_UP, self._warm_up, ())


def _begin(board: Any, sources: tuple[str, ...]) -> None:
    """Make a worker ready: it knows the same tasks as the process that started it."""
    global _board
    _board = board
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    signal.signal(signal.SIGUSR1, _interrupt)
    threading.Thread(target=_watch, daemon=True).start()
    for source in sources:
        load_tasks(source)


def _end_with(parent: Any) -> None:
    """A server that is killed leaves no worker behind."""
    parent.join()
    os._exit(1)


def _watch() -> None:
    """Interrupt the job that runs once it is not wanted; more than once, as it may be where errors are swallowed."""
    main = threading.main_thread().ident
    assert main is not None
    while True:
        time.sleep(PATIENCE)
        if _is_unwanted():
            signal.pthread_kill(main, signal.SIGUSR1)


def _interrupt(number: int, frame: Any) -> None:  # noqa: ARG001
    if _is_unwanted():
        raise CancelledJobError("cancelled")


def _is_unwanted() -> bool:
    return _place is not None and bool(_board[1][_place])


def _run(place: int, job: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    global _place

    def report() -> None:
        if _is_unwanted():
            raise CancelledJobError("cancelled")
        _board[0][place] += 1

    try:
        _place = place
        report()
        return job(report, *arguments)
    finally:
        _place = None
