import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from wfairl.errors import BadInputError
from wfairl.suites.display import Display, format_seconds
from wfairl.suites.jobs import Job, run_jobs


def write(path: Path) -> None:
    path.write_text("done")


def refuse() -> None:
    raise BadInputError("there is no such thing")


def stumble() -> None:
    raise ZeroDivisionError


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_job_that_fails_is_reported_and_stops_no_other(tmp_path):
    jobs = [
        Job("refused", 3, refuse),
        Job("broken", 2, stumble),
        Job("killed", 2, die),
        *(Job(f"good {i}", 1, partial(write, tmp_path / str(i))) for i in range(3)),
    ]
    failures = {failure.name: failure.reason for failure in run_jobs(jobs, 2, "test")}
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2"}
    assert failures.keys() == {"refused", "broken", "killed"}
    assert "memory" in failures["killed"]
    assert failures["refused"] == "there is no such thing"
    assert "ZeroDivisionError" in failures["broken"]


WORKERS_THAT_SLEEP = """
import os, sys, time
from functools import partial
from pathlib import Path
from wfairl.suites.jobs import Job, run_jobs

def sleep(directory):
    (directory / str(os.getpid())).write_text("")
    time.sleep(300)

if __name__ == "__main__":
    run_jobs([Job(str(i), 1, partial(sleep, Path(sys.argv[1]))) for i in range(2)], 2, "test")
"""


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script, pids = tmp_path / "sleep.py", tmp_path / "pids"
    pids.mkdir()
    script.write_text(WORKERS_THAT_SLEEP)
    parent = subprocess.Popen([sys.executable, str(script), str(pids)], stderr=subprocess.DEVNULL)
    _wait_until(lambda: len(list(pids.iterdir())) == 2)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    workers = [int(path.name) for path in pids.iterdir()]
    _wait_until(lambda: not any(_runs(worker) for worker in workers))
    assert [worker for worker in workers if _runs(worker)] == []


def _wait_until(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def test_time_left_follows_the_guesses_and_then_what_was_seen():
    display = Display("test", {"a": 100, "b": 100, "c": 200}, workers=2)
    assert display.left() == "about 3 min 20 s"
    display.started("a")
    display.finished("a", seconds=10, failure=None)  # ten times as fast as guessed: 10 s and 20 s are left
    assert display.left() == "about 15 s"
    display.started("c")  # the longest that runs is a lower bound
    assert display.left() == "about 20 s"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_durations_read_as_people_say_them(seconds, text):
    assert format_seconds(seconds) == text
