"""Where independent jobs run, behind the standard library's contract `concurrent.futures.Executor`.

    with open_workers("local", n_jobs=2) as workers:            # processes of this machine
    with open_workers("dask://scheduler:8786") as workers:      # those of a Dask cluster (extra `cluster`)

Workers of a cluster share no disk with this process: the files that a job reads are sent with it.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import wait as wait_for_any
from typing import Any

from wfairl.core.support.errors import BadInputError, MissingExtraError

LOCAL, DASK = "local", "dask://"

SECONDS_TO_ANSWER = 10
"""How long to wait for a scheduler's answer."""

ATTEMPTS = 3
"""How often a job is tried whose process dies."""

SECONDS_TO_END = 0.02
"""How long to wait for processes to end before they are terminated again."""


class WorkerDiedError(Exception):
    """The process of a job was killed, or ran out of memory."""


@dataclass(frozen=True)
class Workers:
    """An executor and the properties of its workers.

    Attributes:
        executor: to submit jobs to.
        share_disk: whether workers see the files of this process.
        count: the current number of workers.
    """

    executor: Executor
    share_disk: bool
    count: Callable[[], int]


@contextmanager
def open_workers(address: str = LOCAL, n_jobs: int = 1, prepare: Callable[[], None] | None = None) -> Iterator[Workers]:
    """The workers at an address.

    Args:
        address: `local` or `dask://HOST:PORT`.
        n_jobs: number of local processes; a cluster has its own number of workers.
        prepare: a function that each local process calls first; it must be picklable.

    Raises:
        BadInputError: there is no such kind of workers, or none answer.
        MissingExtraError: they need an extra that is not installed.
    """
    if n_jobs < 1:
        raise BadInputError(f"the number of jobs must be 1 or more, not {n_jobs}")
    if address == LOCAL:
        with LocalProcesses(n_jobs, prepare) as processes:
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


class LocalProcesses(ThreadPoolExecutor):
    """Processes of this machine, one for each thread that serves it, started when they are needed.

    A process that dies is replaced by another, which repeats its job; a job whose processes die fails alone, where a
    `ProcessPoolExecutor` would fail as a whole. If this process is killed, they end too, so that they do not write into
    the files of a restarted one.

    Args:
        n_jobs: the number of processes.
        prepare: a function that each process calls first; it must be picklable.
        attempts: how often a job is tried whose process dies.
    """

    def __init__(self, n_jobs: int, prepare: Callable[[], None] | None = None, attempts: int = ATTEMPTS):
        super().__init__(n_jobs, initializer=_leave_interrupts_to_main)
        self._prepare, self._attempts, self._is_stopped = prepare, attempts, False
        self._process_of: dict[int, ProcessPoolExecutor] = {}  # by thread

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self._call, partial(function, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        for process in self._process_of.values() if wait else ():
            process.shutdown()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        is_over = False
        try:
            if kind is None:
                self.shutdown()
                is_over = True
        finally:
            if not is_over:  # such as Ctrl-C, also in the shutdown: do not wait for running jobs
                self.terminate()

    def terminate(self) -> None:
        """End all child processes of this process at once, whatever they do."""
        self._is_stopped = True
        self.shutdown(wait=False, cancel_futures=True)
        # A thread may still start its process; one whose `join` was interrupted only seems to have ended.
        while any(thread.is_alive() for thread in self._threads) or multiprocessing.active_children():
            for process in multiprocessing.active_children():
                process.terminate()
            time.sleep(SECONDS_TO_END)
        self.shutdown()

    def _call(self, function: Callable[[], Any]) -> Any:
        """Run a function in the process of this thread."""
        thread = threading.get_ident()
        for _ in range(self._attempts):
            if self._is_stopped:
                break
            if thread not in self._process_of:
                # A fork would copy the state of running threads of torch and Numba.
                spawn = multiprocessing.get_context("spawn")
                self._process_of[thread] = ProcessPoolExecutor(1, spawn, _begin, (self._prepare,))
            try:
                return self._process_of[thread].submit(function).result()
            except BrokenProcessPool:
                del self._process_of[thread]
        raise WorkerDiedError("its process was killed, perhaps for lack of memory")


def _leave_interrupts_to_main() -> None:
    """Block Ctrl-C in a thread and in the process that it starts: it reaches all, and only the main one handles it."""
    resource_tracker.ensure_running()  # which unblocks signals, so it comes first
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _begin(prepare: Callable[[], None] | None) -> None:
    """Prepare a local process, and let it end with its parent."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait_for_any([parent.sentinel])
    os._exit(1)


def _dask_client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("Dask", "cluster") from None
    try:
        return Client("tcp://" + address.removeprefix(DASK), timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BadInputError(f"--executor {address}: no Dask scheduler answers there ({error})") from None
