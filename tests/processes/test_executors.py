import multiprocessing
import os
import signal
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

from wfairl.processes.executors import LocalProcesses, WorkerDiedError


def die(_number):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_worker_that_dies_again_and_again_is_an_error_with_a_name():
    with LocalProcesses(1) as workers, pytest.raises(WorkerDiedError, match="memory"):
        workers.submit(die, 0).result()


def test_ctrl_c_while_the_workers_end_leaves_none_of_them(monkeypatch):
    interrupts, end = iter([KeyboardInterrupt]), ProcessPoolExecutor.shutdown

    def shutdown(pool):
        for interrupt in interrupts:
            raise interrupt
        end(pool)

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", shutdown)
    with pytest.raises(KeyboardInterrupt), LocalProcesses(2) as workers:
        list(workers.map(time.sleep, [0.1, 0.1]))
    assert multiprocessing.active_children() == []
