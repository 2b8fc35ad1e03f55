"""JobRunner: a job can be cancelled, and one that dies fails no other."""

import os
import time
from contextlib import suppress

import pytest

from wfairl.processes.executors import WorkerDiedError
from wfairl.studio.workers import CancelledJobError, JobRunner

pytestmark = pytest.mark.slow


def count(times):
    for _ in range(times):
        time.sleep(0.01)
    return times


def hang():
    while True:
        with suppress(ValueError):  # code that swallows errors
            time.sleep(1000)


def die():
    os._exit(1)


@pytest.fixture(scope="module")
def workers():
    made = JobRunner(1)
    yield made
    made.close()


def test_a_job_gives_its_result(workers):
    assert workers.submit(count, 5).future.result(120) == 5


def test_a_job_that_runs_or_waits_can_be_cancelled_and_the_next_one_runs(workers):
    running, waiting = workers.submit(count, 10_000), workers.submit(count, 10_000)
    while not running.future.running():
        time.sleep(0.01)
    running.cancel()
    waiting.cancel()
    with pytest.raises(CancelledJobError):
        running.future.result(60)
    assert waiting.future.cancelled() or isinstance(waiting.future.exception(60), CancelledJobError)
    assert workers.submit(count, 1).future.result(60) == 1


def test_a_job_that_swallows_errors_is_interrupted(workers):
    job = workers.submit(hang)
    while not job.future.running():
        time.sleep(0.01)
    job.cancel()
    with pytest.raises(CancelledJobError):
        job.future.result(60)
    assert workers.submit(count, 1).future.result(60) == 1


def test_a_worker_that_dies_is_replaced(workers):
    with pytest.raises(WorkerDiedError):
        workers.submit(die).future.result(60)
    assert workers.submit(count, 2).future.result(120) == 2
