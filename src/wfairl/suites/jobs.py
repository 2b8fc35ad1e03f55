"""Independent jobs in processes of their own, under a display that says what runs and how long is left.

    failures = run_jobs(jobs, n_jobs=2)

A job that fails does not stop the others. If this process is killed, its workers end too: nothing goes on writing
behind the back of whoever starts it again.
"""

import multiprocessing
import os
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for_any

from wfairl.errors import BadInputError, WfairlError
from wfairl.suites.display import Display
from wfairl.worlds.registry import load_tasks, loaded_sources

DIED = "its process was killed; was there memory enough?"


@dataclass(frozen=True)
class Job:
    """Something to do once.

    Attributes:
        name: what the display calls it.
        seconds: how long it may take, as a first guess; the display corrects it by what it sees.
        work: a function that can travel to another process; it leaves its result in a file.
    """

    name: str
    seconds: float
    work: Callable[[], None]


@dataclass(frozen=True)
class Failure:
    """A job that did not come to its end, and why."""

    name: str
    reason: str


def run_jobs(jobs: Sequence[Job], n_jobs: int, title: str) -> tuple[Failure, ...]:
    """Do all jobs, `n_jobs` at a time, the longest first.

    Args:
        jobs: what to do, in any order: they must not depend on each other.
        n_jobs: processes.
        title: what the jobs are, for people.

    Returns:
        The jobs that failed.
    """
    if n_jobs < 1:
        raise BadInputError(f"the number of jobs must be 1 or more, not {n_jobs}")
    if not jobs:
        return ()  # workers take seconds to start
    waiting = sorted(jobs, key=lambda job: -job.seconds)
    idle = [_worker() for _ in range(min(n_jobs, len(jobs)))]
    running: dict[Future[str | None], _Running] = {}
    failures = []
    with Display(title, {job.name: job.seconds for job in jobs}, n_jobs) as display:
        try:
            while waiting or running:
                while waiting and idle:
                    job, worker = waiting.pop(0), idle.pop()
                    running[worker.submit(_reason_of_failure, job)] = _Running(job, worker, time.monotonic())
                    display.started(job.name)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    done = running.pop(future)
                    died = isinstance(future.exception(), BrokenProcessPool)
                    reason = DIED if died else future.result()
                    idle.append(_worker() if died else done.worker)
                    display.finished(done.job.name, time.monotonic() - done.begun, reason)
                    if reason is not None:
                        failures.append(Failure(done.job.name, reason))
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
    for worker in idle:
        worker.shutdown()
    return tuple(failures)


@dataclass(frozen=True)
class _Running:
    job: Job
    worker: ProcessPoolExecutor
    begun: float


def _worker() -> ProcessPoolExecutor:
    """One process, so that if it dies it takes nobody with it."""
    # A fork would copy threads of torch and Numba in the middle of whatever they do.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, context, initializer=_begin, initargs=(loaded_sources(),))


def _begin(sources: tuple[str, ...]) -> None:
    """In a worker: one thread, since there are as many workers as cores; the same tasks; and end with the parent."""
    import torch

    torch.set_num_threads(1)
    for source in sources:
        load_tasks(source)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait_for_any([parent.sentinel])
    os._exit(1)


def _reason_of_failure(job: Job) -> str | None:
    """Do the job; errors come back as text, since not every exception can travel."""
    try:
        job.work()
    except WfairlError as error:
        return str(error)
    except Exception:
        return traceback.format_exc()
    return None
