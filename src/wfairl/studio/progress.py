"""The progress of the job that a page waits for, and its cancellation."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from wfairl.errors import FailedRunError
from wfairl.studio.workers import CancelledJobError, JobRunner, QueuedJob

REFRESH_SECONDS = 0.25
"""Between two updates of the progress on the page."""


class StoppedError(FailedRunError):
    """A job was stopped."""


class Progress:
    """Runs jobs for a page; the latest one is shown.

    Args:
        changed: called when the progress changes.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._job: QueuedJob | None = None
        self._activity = ""

    @property
    def activity(self) -> str | None:
        """What the job does, for people; None if there is no job."""
        return None if self._job is None else self._activity

    def view(self) -> dict[str, Any] | None:
        """The job as plain JSON."""
        job = self._job
        if job is None:
            return None
        return {"activity": self._activity, "ticks": job.ticks, "seconds": int(time.monotonic() - job.submitted)}

    def cancel(self) -> None:
        """Cancel the job."""
        if self._job is not None:
            self._job.cancel()

    async def run(self, workers: JobRunner, activity: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a job.

        Raises:
            StoppedError: it was cancelled; without a message if another job replaced it.
            FailedRunError: its worker died.
        """
        job = workers.submit(function, *arguments)
        self._job, self._activity = job, activity
        self._changed()
        refreshing = asyncio.ensure_future(self._refresh(job))
        try:
            return await asyncio.wrap_future(job.future)
        except (CancelledJobError, asyncio.CancelledError, CancelledError):
            raise StoppedError(f"Stopped {activity}." if self._job is job else "") from None
        except BrokenProcessPool:
            raise FailedRunError(f"The worker process died while {activity}; try again.") from None
        finally:
            refreshing.cancel()
            if self._job is job:
                self._job = None
            self._changed()

    async def _refresh(self, job: QueuedJob) -> None:
        while self._job is job:
            await asyncio.sleep(REFRESH_SECONDS)
            self._changed()
