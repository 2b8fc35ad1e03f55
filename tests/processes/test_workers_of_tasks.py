"""Work on workers is the work of this process, in the same order, with the same errors."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest

from wfairl.core.demonstrations import collect
from wfairl.core.demonstrations.collection import TooFewDemonstrationsError
from wfairl.core.planning.cost import unit_cost
from wfairl.core.support.errors import BadInputError, FailedRunError, MissingExtraError
from wfairl.core.worlds.task_registry import find_task
from wfairl.processes.executors import Workers, open_workers
from wfairl.processes.workers import map_on, worker_setup


@contextmanager
def threads(count, share_disk=False):
    """Workers that say they have no disk in common with us."""
    with ThreadPoolExecutor(count) as pool:
        yield Workers(pool, share_disk, lambda: count)


def square(number):
    return number * number


def refuse(number):
    if number == 5:
        raise MissingExtraError("something", "of-five")
    return number


def stumble(number):
    return 1 // (number - 5)


def die(_number):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("items", [0, 1, 7, 100])
def test_results_come_in_the_order_of_the_items(count, items):
    with threads(count) as workers:
        assert list(map_on(workers, square, range(items))) == [number**2 for number in range(items)]


def test_errors_keep_their_words_and_their_kind():
    with threads(2) as workers:
        with pytest.raises(BadInputError, match="of-five"):
            list(map_on(workers, refuse, range(8)))
        with pytest.raises(FailedRunError, match="ZeroDivisionError"):
            list(map_on(workers, stumble, range(8)))


@pytest.mark.slow
def test_a_worker_that_dies_again_and_again_is_an_error_with_a_name():
    with open_workers("local", n_jobs=1) as workers, pytest.raises(FailedRunError, match="memory"):
        list(map_on(workers, die, range(1)))


def test_a_collection_on_workers_is_the_collection_in_threads():
    task = find_task("doorkey")
    with threads(2) as workers:
        there = collect(task, 3, 4, 0.5, seed=1, map_scenes=partial(map_on, workers))
        with pytest.raises(BadInputError, match="cannot travel"):
            collect(task, 1, 0, 0.5, seed=1, cost=unit_cost, map_scenes=partial(map_on, workers))
        with pytest.raises(TooFewDemonstrationsError):
            collect(task, 1, 0, 1e6, seed=1, map_scenes=partial(map_on, workers))
    assert there == collect(task, 3, 4, 0.5, seed=1)


@pytest.mark.slow
def test_processes_of_this_machine_do_it_too():
    task = find_task("doorkey")
    with open_workers("local", n_jobs=2, prepare=worker_setup()) as workers:
        assert collect(task, 3, 4, 0.5, seed=1, map_scenes=partial(map_on, workers)) == collect(task, 3, 4, 0.5, seed=1)
