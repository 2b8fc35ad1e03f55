import os
import threading

import pytest

from wfairl.core.support.parallel import map_in_threads


def square(number: int) -> int:
    return number**2


def process_id(_: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("n_jobs", [-1, 1, 2])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert list(map_in_threads(square, range(20), n_jobs)) == [number**2 for number in range(20)]


def test_threads_stay_in_this_process():
    assert set(map_in_threads(process_id, range(4), 2)) == {os.getpid()}


def test_two_threads_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=20)  # breaks, with an error, unless both arrive
    assert sorted(map_in_threads(lambda _: meeting.wait(), range(2), 2)) == [0, 1]


def test_an_error_in_one_item_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        list(map_in_threads(lambda number: 1 / number, [1, 0], 2))
