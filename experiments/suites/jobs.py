"""Independent jobs in other processes, with a display of running jobs and the time left.

    with open_workers("local", n_jobs=2, prepare=worker_setup()) as workers:
        failures = run_jobs(jobs, directory, workers, "automata")

A job reads and writes files of one directory. Where workers share no disk with the caller, its inputs are sent to a
directory there and its outputs come back, so that the directory holds the same whatever ran the jobs. A job that fails
does not stop the others.
"""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.suites.display import Display
from wfairl.core.support.errors import NO_MEMORY, WfairlError, is_out_of_memory
from wfairl.core.support.executors import WorkerDiedError, Workers
from wfairl.core.support.files import write_atomically
from wfairl.core.worlds.workers import Sources, portable_sources, set_up

AHEAD = 2
"""Jobs that are submitted for each worker: one to run and one to follow."""

WRITERS = 4
"""Threads that write the outputs of workers that share no disk."""

REFRESH_SECONDS = 0.5
"""How often the display is updated."""


@dataclass(frozen=True)
class Job:
    """A unit of work.

    Attributes:
        name: for the display.
        seconds: how long it may take, as a first guess; the display corrects it by actual times.
        work: a function that can be pickled; given a directory, it leaves its result in files there.
        inputs: the files that it reads: relative to the directory, where it makes missing ones itself; or absolute, in
            which case they are sent to the directory of a worker that shares no disk.
    """

    name: str
    seconds: float
    work: Callable[[Path], Any]
    inputs: tuple[Path, ...] = ()


@dataclass(frozen=True)
class JobOutcome:
    """How a job ended.

    Attributes:
        seconds: how long it ran.
        reason: why it failed; None if it did not.
        files: its outputs where no disk is shared, by the path in its directory; the file that marks it done is last.
    """

    seconds: float
    reason: str | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)


def run_jobs(jobs: Sequence[Job], directory: Path, workers: Workers, title: str) -> dict[str, str]:
    """Run independent jobs in a directory, the longest first; returns why jobs failed, by their names."""
    if not jobs:
        return {}
    waiting = sorted(jobs, key=lambda job: -job.seconds)
    submitted: dict[Future[JobOutcome], Job] = {}
    storing: dict[Future[None], tuple[Job, JobOutcome]] = {}
    failures, counted = dict[str, str](), -REFRESH_SECONDS
    # Outputs are written in threads: a disk is slow, and workers should not wait for it.
    with Display(title, {job.name: job.seconds for job in jobs}) as display, ThreadPoolExecutor(WRITERS) as writers:
        while waiting or submitted or storing:
            if time.monotonic() - counted >= REFRESH_SECONDS:  # a cluster answers over the network
                display.workers, counted = workers.count(), time.monotonic()
            while waiting and len(submitted) < AHEAD * max(1, display.workers):
                job = waiting.pop(0)
                submitted[_submit(job, directory, workers)] = job
            pending: list[Future[Any]] = [*submitted, *storing]
            wait(pending, REFRESH_SECONDS, FIRST_COMPLETED)
            for future, job in list(submitted.items()):
                if future.done():
                    outcome = _outcome(future)
                    storing[writers.submit(_store, outcome, directory)] = submitted.pop(future), outcome
                elif future.running():
                    display.started(job.name)
            for stored in [one for one in storing if one.done()]:
                job, outcome = storing.pop(stored)
                stored.result()
                display.finished(job.name, outcome.seconds, outcome.reason)
                if outcome.reason is not None:
                    failures[job.name] = outcome.reason
    return failures


def _store(outcome: JobOutcome, directory: Path) -> None:
    for path, content in outcome.files.items():
        write_atomically(directory / path, content)


def _submit(job: Job, directory: Path, workers: Workers) -> Future[JobOutcome]:
    if workers.share_disk:
        return workers.executor.submit(_run, job, directory)
    files = {
        path.name if path.is_absolute() else str(path): (directory / path).read_bytes()
        for path in job.inputs
        if (directory / path).exists()
    }
    return workers.executor.submit(_run_remotely, job, files, portable_sources())


def _outcome(future: Future[JobOutcome]) -> JobOutcome:
    try:
        return future.result()
    except WorkerDiedError as error:
        return JobOutcome(0.0, str(error))
    except CancelledError:
        return JobOutcome(0.0, "it was cancelled on the cluster")
    except Exception as error:  # the cluster's own, such as a job that killed one worker after the other
        return JobOutcome(0.0, f"{type(error).__name__}: {error}")


def _run(job: Job, directory: Path) -> JobOutcome:
    """Run the job; errors come back as text, since not every exception can be pickled."""
    begun, reason = time.monotonic(), None
    try:
        job.work(directory)
    except WfairlError as error:
        reason = str(error)
    except Exception as error:
        reason = NO_MEMORY if is_out_of_memory(error) else traceback.format_exc()
    return JobOutcome(time.monotonic() - begun, reason)


def _run_remotely(job: Job, files: Mapping[str, bytes], sources: Sources) -> JobOutcome:
    """Run the job on a worker of a cluster, in a temporary directory."""
    from experiments.suites.directory import RESULT  # with torch: for jobs that need it anyway

    with TemporaryDirectory(prefix="wfairl-") as name:
        directory = Path(name)
        set_up(sources)
        for path, content in files.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_bytes(content)
        outcome = _run(job, directory)
        written = sorted(filter(Path.is_file, directory.rglob("*")), key=lambda path: path.name == RESULT)
        contents = {str(path.relative_to(directory)): path.read_bytes() for path in written}
        return replace(outcome, files={path: one for path, one in contents.items() if files.get(path) != one})
