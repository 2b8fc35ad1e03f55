"""Worker processes for jobs that can be cancelled, and a thread that makes worlds.

A small shared array has a slot for each waiting or running job: whether it was cancelled. A worker that dies fails its
own job only. A worker whose job is cancelled is interrupted wherever it is, as by Ctrl-C, and stays warm for the next
job.
"""

import asyncio
import multiprocessing
import signal
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from wfairl.core.support.errors import FailedRunError
from wfairl.core.worlds.world import World
from wfairl.processes.executors import LocalProcesses, WorkerDiedError
from wfairl.runs.task_registry import load_tasks, loaded_sources
from wfairl.studio.task_spec import TaskSpec

SLOTS, CAPACITY = 256, 256
"""Jobs that may wait or run at once; and worlds in the cache, of which the least recently used goes first."""

POLL_SECONDS, REFRESH_SECONDS = 0.2, 0.25
"""Between two checks whether the running job was cancelled, and between two updates of the progress on the page."""

_cancelled: Any = None
_slot: int | None = None
"""In a worker: the shared array, and the slot of the running job."""


class CancelledJobError(FailedRunError):
    """A job was cancelled."""


class QueuedJob:
    """A job that waits or runs, and what interrupts it while it runs."""

    def __init__(self, future: "Future[Any]", interrupt: Callable[[], None]) -> None:
        self.future, self._interrupt = future, interrupt
        self.submitted = time.monotonic()

    def cancel(self) -> None:
        """Cancel it: its future is cancelled, or fails with `CancelledJobError` in a moment."""
        if not self.future.cancel():
            self._interrupt()


class JobRunner:
    """Runs jobs in worker processes, each of which warms up before its first job."""

    def __init__(self, processes: int = 1, warm_up: Callable[[], None] | None = None) -> None:
        self._cancelled: Any = multiprocessing.get_context("spawn").Array("b", SLOTS, lock=False)
        self._free_slots = set(range(SLOTS))
        prepare = partial(_prepare, self._cancelled, loaded_sources(), warm_up)
        self._processes = LocalProcesses(processes, prepare, attempts=1)
        for _ in range(processes):
            self._processes.submit(int)  # starts a process

    def submit(self, job: Callable[..., Any], *arguments: Any) -> QueuedJob:
        """Run a module-level function. Raises `FailedRunError` if too many jobs are waiting."""
        if not self._free_slots:
            raise FailedRunError("too many jobs are waiting; try again in a moment")
        slot = self._free_slots.pop()
        self._cancelled[slot] = 0
        future = self._processes.submit(_run, slot, job, arguments)
        future.add_done_callback(lambda _: self._free_slots.add(slot))
        return QueuedJob(future, lambda: self._cancelled.__setitem__(slot, 1))

    def close(self) -> None:
        """Cancel all jobs, and end the processes."""
        self._processes.terminate()


class WorldCache:
    """Worlds by task spec and seed. A thread makes those that pages need: some, such as a roadmap, take seconds."""

    def __init__(self) -> None:
        self._worlds: OrderedDict[tuple[str, int], World[Any]] = OrderedDict()
        self._thread = ThreadPoolExecutor(1)

    def world(self, spec: TaskSpec, seed: int) -> World[Any]:
        """A world; one that is missing is made here and now."""
        key = spec.world_key, seed
        if key not in self._worlds:
            self._worlds[key] = spec.task.make_world(seed)
        self._worlds.move_to_end(key)
        while len(self._worlds) > CAPACITY:
            self._worlds.popitem(last=False)
        return self._worlds[key]

    def missing(self, spec: TaskSpec, seeds: Iterable[int]) -> list[int]:
        """The seeds of worlds that are not in the cache."""
        return sorted(seed for seed in seeds if (spec.world_key, seed) not in self._worlds)

    def make(self, spec: TaskSpec, seeds: Sequence[int]) -> QueuedJob:
        """Make worlds in the thread; they are in the cache when the job is done.

        It fails with a `BadInputError` if a scene lacks an object of a proposition.
        """
        cancelled = threading.Event()

        def work() -> None:
            for seed in seeds:
                if cancelled.is_set():
                    raise CancelledJobError("cancelled")
                if self.missing(spec, [seed]):  # an earlier job may have made it
                    self._worlds[spec.world_key, seed] = spec.task.make_world(seed)

        return QueuedJob(self._thread.submit(work), cancelled.set)


class StoppedError(FailedRunError):
    """A job was stopped."""


class Progress:
    """Runs jobs for the pages of a session and says when their progress has changed; the latest one is shown."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._activities: dict[QueuedJob, str] = {}
        self._stopped: set[QueuedJob] = set()

    def view(self) -> dict[str, Any] | None:
        """What the latest job does and how long, as plain JSON; None if there is no job."""
        if not self._activities:
            return None
        job, activity = list(self._activities.items())[-1]
        return {"activity": activity, "seconds": int(time.monotonic() - job.submitted)}

    def cancel(self) -> None:
        self._stopped |= set(self._activities)
        for job in list(self._activities):
            job.cancel()

    async def run(self, activity: str, job: QueuedJob) -> Any:
        """The result of a job, or a `FailedRunError` if its worker died.

        If it was cancelled, a `StoppedError`; without a message if not by `cancel`.
        """
        self._activities[job] = activity
        self._changed()
        result = asyncio.wrap_future(job.future)
        try:
            while not (await asyncio.wait([result], timeout=REFRESH_SECONDS))[0]:
                self._changed()
            return result.result()
        except (CancelledJobError, asyncio.CancelledError, CancelledError):
            raise StoppedError(f"Stopped {activity}." if job in self._stopped else "") from None
        except WorkerDiedError:
            raise FailedRunError(f"The worker process died while {activity}; try again.") from None
        finally:
            result.cancel()  # which does nothing once there is a result
            del self._activities[job]
            self._stopped.discard(job)
            self._changed()


def _prepare(cancelled: Any, sources: tuple[str, ...], warm_up: Callable[[], None] | None) -> None:
    """Prepare a worker: it has the same tasks as the process that started it."""
    global _cancelled
    _cancelled = cancelled
    signal.signal(signal.SIGUSR1, _interrupt)
    threading.Thread(target=_interrupt_cancelled, daemon=True).start()
    for source in sources:
        load_tasks(source)
    if warm_up is not None:
        warm_up()


def _interrupt_cancelled() -> None:
    """Interrupt the running job once it is cancelled; again and again, as code may swallow the error."""
    main = threading.main_thread().ident
    assert main is not None
    while True:
        time.sleep(POLL_SECONDS)
        if _is_cancelled():
            signal.pthread_kill(main, signal.SIGUSR1)


def _interrupt(number: int, frame: Any) -> None:  # noqa: ARG001
    if _is_cancelled():
        raise CancelledJobError("cancelled")


def _is_cancelled() -> bool:
    return _slot is not None and bool(_cancelled[_slot])


def _run(slot: int, job: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    global _slot
    try:
        _slot = slot
        return job(*arguments)
    finally:
        _slot = None
