"""What a person waits for: the job that was asked for last, how far it is, and a way to give it up."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from wfairl.errors import FailedRunError
from wfairl.studio.workers import CancelledJobError, JobRunner, QueuedJob

TICK = 0.25
"""Seconds between two looks at the progress of a job."""


class StoppedError(FailedRunError):
    """A job was given up."""


class Progress:
    """Runs jobs for one page.

    Args:
        changed: is called when there is something else to tell.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._job: QueuedJob | None = None
        self._doing = ""

    @property
    def doing(self) -> str | None:
        """What the person waits for."""
        return None if self._job is None else self._doing

    def view(self) -> dict[str, Any] | None:
        """The same with how far it is, as plain JSON."""
        job = self._job
        if job is None:
            return None
        return {"what": self._doing, "reports": job.reports, "seconds": int(time.monotonic() - job.begun)}

    def cancel(self) -> None:
        """Give up what the person waits for."""
        if self._job is not None:
            self._job.cancel()

    async def run(self, workers: JobRunner, doing: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a job.

        Raises:
            StoppedError: it was given up; without a word if something else was asked for since.
            FailedRunError: its worker was lost.
        """
        job = workers.submit(function, *arguments)
        self._job, self._doing = job, doing
        self._changed()
        ticking = asyncio.ensure_future(self._tick(job))
        try:
            return await asyncio.wrap_future(job.future)
        except (CancelledJobError, asyncio.CancelledError, CancelledError):
            raise StoppedError(f"Stopped {doing}." if self._job is job else "") from None
        except BrokenProcessPool:
            raise FailedRunError(f"The worker was lost while {doing}; try again.") from None
        finally:
            ticking.cancel()
            if self._job is job:
                self._job = None
            self._changed()

    async def _tick(self, job: QueuedJob) -> None:
        while self._job is job:
            await asyncio.sleep(TICK)
            self._changed()
