"""Processes of this machine behind the standard library's contract `concurrent.futures.Executor`."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from functools import partial
from multiprocessing import resource_tracker
from typing import Any

SECONDS_TO_END = 0.02
"""How long to wait for processes to end before they are terminated again."""


class WorkerDiedError(Exception):
    """The process of a job was killed, or ran out of memory."""


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

    def __init__(self, n_jobs: int, prepare: Callable[[], None] | None = None, attempts: int = 3):
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
        with ExitStack() as stack:
            stack.callback(self.terminate)  # after Ctrl-C, also in the shutdown: do not wait for running jobs
            if kind is None:
                self.shutdown()
                stack.pop_all()

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
    parent.join()
    os._exit(1)
