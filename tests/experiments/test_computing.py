import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.harness import Cell, DataFolder, Outcome
from experiments.harness.computing import compute_cells
from experiments.harness.workers import Workers, open_workers
from wfairl.core.support.errors import BadInputError


def give(number: int) -> Outcome:
    return Outcome([{"number": number}])


def refuse() -> Outcome:
    raise BadInputError("there is no such thing")


def stumble() -> Outcome:
    raise ZeroDivisionError


def die() -> Outcome:
    os.kill(os.getpid(), signal.SIGKILL)
    return Outcome()


def take(given: Path) -> Outcome:
    return Outcome([{"taken": (given / "result.json").exists()}])


GOOD = [Cell(f"good {i}", give, {"number": i}) for i in range(3)]


def computed(directory: Path, cells: list[Cell]) -> set[str]:
    return {cell.name for cell in cells if cell.stored(directory) is not None}


def test_a_cell_that_fails_is_reported_and_stops_no_other_but_those_that_need_it(tmp_path):
    refused, broken = Cell("refused", refuse), Cell("broken", stumble)
    fails, works = Cell("fails", take, needs={"given": broken}), Cell("works", take, needs={"given": GOOD[0]})
    last = Cell("last", take, needs={"given": fails})
    cells = [refused, broken, fails, last, works, *GOOD]
    with ThreadPoolExecutor(2) as threads:
        failures = compute_cells(cells, tmp_path, Workers(threads, share_disk=True, count=lambda: 2))
    assert computed(tmp_path, cells) == {"good 0", "good 1", "good 2", "works"}
    assert failures.keys() == {"refused", "broken", "fails", "last"}
    assert failures["refused"] == "there is no such thing"
    assert "ZeroDivisionError" in failures["broken"]
    assert failures["fails"] == failures["last"] == "it needs broken, which failed"


@pytest.mark.slow  # three workers have to begin and die
def test_a_cell_that_kills_every_worker_is_reported_and_stops_no_other(tmp_path):
    with open_workers("local", n_jobs=2) as workers:
        failures = compute_cells([Cell("killed", die), *GOOD], tmp_path, workers)
    assert computed(tmp_path, GOOD) == {"good 0", "good 1", "good 2"}
    assert failures.keys() == {"killed"}
    assert "memory" in failures["killed"]


def die_once(directory: Path) -> Outcome:
    if not directory.exists():
        directory.mkdir(parents=True)
        return die()
    return Outcome()


def exhaust() -> Outcome:
    raise MemoryError


def test_a_worker_that_is_killed_has_its_cell_computed_by_another(tmp_path):
    killed = Cell("killed once", die_once)
    with open_workers("local", n_jobs=1) as workers:
        assert compute_cells([killed], tmp_path, workers) == {}
        failures = compute_cells([Cell("large", exhaust)], tmp_path, workers)
    assert killed.stored(tmp_path) is not None
    assert "out of memory" in failures["large"]
    assert "\n" not in failures["large"]


WORKERS_THAT_SLEEP = """
import os, sys, time
from pathlib import Path
from experiments.harness.workers import open_workers
from experiments.harness.cell import Cell
from experiments.harness.computing import compute_cells

def sleep(place, number):
    Path(place, str(os.getpid())).write_text("")
    time.sleep(300)

if __name__ == "__main__":
    cells = [Cell(str(i), sleep, {"place": sys.argv[1], "number": i}) for i in range(2)]
    with open_workers("local", n_jobs=2) as workers:
        compute_cells(cells, Path(sys.argv[1] + "-cells"), workers)
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
        "import signal; from wfairl.processes.executors import LocalProcesses\n"
        "with LocalProcesses(1) as workers:\n"
        "    blocked = workers.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()\n"
        "    print(signal.SIGINT in blocked)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def write_number(directory: Path) -> Outcome:
    (directory / "inputs").mkdir(parents=True)
    (directory / "inputs" / "number.txt").write_text("21")
    return Outcome()


def double(directory: Path, written: Path, data: Path) -> Outcome:
    """Reads a file of another cell and one of the data, and writes two."""
    number = int((written / "inputs" / "number.txt").read_text()) * int((data / "factor.txt").read_text())
    assert not (data / "beside.txt").exists(), "a file came along that was not asked for"
    (directory / "runs").mkdir(parents=True)
    (directory / "runs" / "late.txt").write_text("late")
    return Outcome([{"number": number}])


def test_what_a_cell_reads_travels_and_what_it_writes_comes_back(tmp_path):
    """As on a cluster, whose workers share no disk: the same files are there in the end."""
    data, files = tmp_path / "data", {}
    data.mkdir()
    (data / "factor.txt").write_text("2")
    folder = DataFolder(data, ("factor.txt",))
    cell = Cell("double", double, needs={"written": Cell("write", write_number)}, data=folder)
    for share_disk in (True, False):
        place = tmp_path / str(share_disk)
        with ThreadPoolExecutor(1) as threads:
            assert compute_cells([cell], place, Workers(threads, share_disk, count=lambda: 1)) == {}
        (data / "beside.txt").write_text("not for the cell")
        assert cell.stored(place).rows[0] == {"number": 42}
        files[share_disk] = {
            str(path.relative_to(place)): path.read_text()
            for path in place.rglob("*")
            if path.is_file() and path.name != "timing.json"
        }
    assert files[True] == files[False]
    assert any(name.endswith("late.txt") for name in files[True])


@pytest.mark.parametrize(
    ("address", "words"),
    [("dask://127.0.0.1:9", "no Dask scheduler answers"), ("slurm", "unknown executor 'slurm'"), ("dask://", "Dask")],
)
def test_workers_that_are_none_are_refused(address, words, monkeypatch):
    monkeypatch.setattr("experiments.harness.workers.SECONDS_TO_ANSWER", 0.5)
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
