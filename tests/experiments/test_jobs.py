import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from experiments.suites.display import Display, format_seconds
from experiments.suites.jobs import Job, run_jobs
from wfairl.core.support.errors import BadInputError
from wfairl.core.support.executors import Workers, open_workers


def write(name: str, directory: Path) -> None:
    (directory / name).write_text("done")


def refuse(directory: Path) -> None:
    raise BadInputError("there is no such thing")


def stumble(directory: Path) -> None:
    raise ZeroDivisionError


def die(directory: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_job_that_fails_is_reported_and_stops_no_other(tmp_path):
    jobs = [
        Job("refused", 3, refuse),
        Job("broken", 2, stumble),
        *(Job(f"good {i}", 1, partial(write, str(i))) for i in range(3)),
    ]
    with ThreadPoolExecutor(2) as threads:
        workers = Workers(threads, share_disk=True, count=lambda: 2)
        failures = run_jobs(jobs, tmp_path, workers, "test")
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2"}
    assert failures.keys() == {"refused", "broken"}
    assert failures["refused"] == "there is no such thing"
    assert "ZeroDivisionError" in failures["broken"]


@pytest.mark.slow  # three workers have to begin and die
def test_a_job_that_kills_every_worker_is_reported_and_stops_no_other(tmp_path):
    jobs = [Job("killed", 2, die), *(Job(f"good {i}", 1, partial(write, str(i))) for i in range(3))]
    with open_workers("local", n_jobs=2) as workers:
        failures = run_jobs(jobs, tmp_path, workers, "test")
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2"}
    assert failures.keys() == {"killed"}
    assert "memory" in failures["killed"]


def die_once(directory: Path) -> None:
    if not (directory / "died").exists():
        (directory / "died").touch()
        die(directory)
    write("done", directory)


def exhaust(directory: Path) -> None:
    raise MemoryError


def test_a_worker_that_is_killed_has_its_job_done_by_another(tmp_path):
    with open_workers("local", n_jobs=1) as workers:
        assert run_jobs([Job("killed once", 1, die_once)], tmp_path, workers, "test") == {}
        failures = run_jobs([Job("large", 1, exhaust)], tmp_path, workers, "test")
    assert (tmp_path / "done").exists()
    assert "out of memory" in failures["large"]
    assert "\n" not in failures["large"]


WORKERS_THAT_SLEEP = """
import os, sys, time
from pathlib import Path
from wfairl.core.support.executors import open_workers
from experiments.suites.jobs import Job, run_jobs

def sleep(directory):
    (directory / str(os.getpid())).write_text("")
    time.sleep(300)

if __name__ == "__main__":
    jobs = [Job(str(i), 1, sleep) for i in range(2)]
    with open_workers("local", n_jobs=2) as workers:
        run_jobs(jobs, Path(sys.argv[1]), workers, "test")
"""


@pytest.mark.slow
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


def test_workers_leave_ctrl_c_to_their_parent():
    """In a process of its own, in which Python has started no resource tracker yet."""
    script = (
        "import signal; from wfairl.core.support.executors import LocalProcesses\n"
        "with LocalProcesses(1) as workers:\n"
        "    blocked = workers.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()\n"
        "    print(signal.SIGINT in blocked)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def double(directory: Path) -> None:
    """Reads one file, changes another, writes two more; `result.json` says that it is done."""
    number = int((directory / "inputs" / "number.txt").read_text())
    assert not (directory / "beside.txt").exists(), "a file came along that was not asked for"
    (directory / "counts.txt").write_text(f"{(directory / 'counts.txt').read_text()}{number}\n")
    (directory / "result.json").write_text(str(2 * number))
    (directory / "runs").mkdir()
    (directory / "runs" / "late.txt").write_text("late")


def test_what_a_job_reads_travels_and_what_it_writes_comes_back(tmp_path):
    """As on a cluster, whose workers share no disk: the same files are there in the end."""
    outcomes = {}
    for share_disk in (False, True):
        place = tmp_path / str(share_disk)
        (place / "inputs").mkdir(parents=True)
        (place / "inputs" / "number.txt").write_text("21")
        (place / "counts.txt").write_text("1\n")
        if not share_disk:
            (place / "beside.txt").write_text("not for the job")
        inputs = (Path("inputs", "number.txt"), Path("counts.txt"), Path("missing.txt"))
        with ThreadPoolExecutor(1) as threads:
            workers = Workers(threads, share_disk, count=lambda: 1)
            assert run_jobs([Job("double", 1, double, inputs)], place, workers, "test") == {}
        outcomes[share_disk] = {
            str(path.relative_to(place)): path.read_text()
            for path in place.rglob("*")
            if path.is_file() and path.name != "beside.txt"
        }
    assert outcomes[True] == outcomes[False]
    assert outcomes[True]["result.json"] == "42"


@pytest.mark.parametrize(
    ("address", "words"),
    [("dask://127.0.0.1:9", "no Dask scheduler answers"), ("slurm", "unknown executor 'slurm'"), ("dask://", "Dask")],
)
def test_workers_that_are_none_are_refused(address, words, monkeypatch):
    monkeypatch.setattr("wfairl.core.support.executors.SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(BadInputError, match=words), open_workers(address):
        pass


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
