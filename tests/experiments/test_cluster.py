"""An experiment on a real Dask cluster whose workers come and go is the one on this machine, byte for byte."""

import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from public_data_files import write_borlange

from experiments.harness import Options, run_experiment
from experiments.harness.cell import RESULT, TIMING
from experiments.harness.results import CSV, MARKDOWN
from experiments.method_comparison.paper import ENTRIES, FULL, PAPER

PROTOCOL = replace(
    FULL,
    tasks=("doorkey", "multiroom"),
    entries={name: ENTRIES[name].changed(epochs=1) for name in ("wfa-irl", "no-automaton")},
    seeds=3,
    successes=8,
    failures=16,
    test_scenes=4,
    curve=None,
)

EXPERIMENT = replace(PAPER, full=PROTOCOL).experiment


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, directory: Path):
        self.directory = directory
        told = directory / "scheduler.json"
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(told))]
        wait_until(lambda: told.exists() and told.read_text().endswith("}"))
        self.address = json.loads(told.read_text())["address"]

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One more, with one thread."""
        worker = self._start("worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", "scratch")
        self.processes.append(worker)
        return worker

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.directory / f"{arguments[0]}-{time.monotonic_ns()}.log").open("wb")
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        return subprocess.Popen(command, cwd=self.directory, stdout=log, stderr=log)


@contextmanager
def started_cluster(directory: Path) -> Iterator[Cluster]:
    cluster = Cluster(directory)
    try:
        yield cluster
    finally:
        for process in cluster.processes:
            process.kill()
            process.wait()


def wait_until(condition, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def results_in(directory: Path) -> dict[str, bytes]:
    """Everything that is a result: all but times, dates, and the page and figures, which tell them."""
    paths = [path for path in (directory / "cells").rglob("*") if path.is_file() and path.name != TIMING]
    paths += [directory / CSV, directory / MARKDOWN]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


@pytest.mark.slow
def test_an_experiment_on_a_cluster_gives_the_same_bytes_though_workers_die_and_join(tmp_path):
    cells = list(PROTOCOL.cells())
    assert len(cells) >= 24
    local, remote, place = tmp_path / "local", tmp_path / "remote", tmp_path / "cluster"
    place.mkdir()
    run_experiment(EXPERIMENT, Options(), local, n_jobs=2)
    with started_cluster(place) as cluster:
        doomed = cluster.add_worker()
        cluster.add_worker()
        address = cluster.address.replace("tcp://", "dask://")
        failed = []

        def run() -> None:
            try:
                run_experiment(EXPERIMENT, Options(), remote, executor=address)
            except BaseException as error:
                failed.append(error)
                raise

        asking = threading.Thread(target=run)
        asking.start()

        def finished() -> int:
            return sum((remote / cell.path / RESULT).exists() for cell in cells)

        wait_until(lambda: finished() >= 4 or failed)
        doomed.kill()
        assert finished() < len(cells) - 4, "it was killed too late"
        cluster.add_worker()
        asking.join(timeout=300)
    assert not failed
    ours, theirs = results_in(local), results_in(remote)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


EXAMPLES = Path(__file__).parents[2] / "examples"


DATA_EXPERIMENT = """
from experiments.harness import Cell, DataFolder, Experiment, Outcome, register_experiment
from experiments.public_data.borlange import read_borlange
from own_world import TASK

def steps(data, number):
    return Outcome([{"steps": len(read_borlange(data).steps(number)[0])}])

def cells(options):
    folder = DataFolder(options.data, tuple(sorted(path.name for path in options.data.iterdir())))
    return [Cell(f"trip {i}", steps, {"number": i}, data=folder) for i in range(4)]

register_experiment(Experiment("trips", "Trips", "their lengths", cells, lambda results: {}, options=("data",)))
"""


@pytest.mark.slow
def test_an_experiment_of_ones_own_on_data_gives_the_same_bytes_on_a_cluster(tmp_path):
    """Its data travel, and so does the file that defines it."""
    (place := tmp_path / "cluster").mkdir()
    write_borlange(tmp_path / "data")
    shutil.copy(EXAMPLES / "own_world.py", tmp_path)
    (tmp_path / "trips.py").write_text(DATA_EXPERIMENT)
    command = [sys.executable, "-m", "experiments", "trips", "--load", "own_world.py", "--load", "trips.py"]

    def run(*arguments: str) -> None:
        subprocess.run([*command, "--data", tmp_path / "data", *arguments], cwd=tmp_path, check=True)

    run("-o", "here")
    with started_cluster(place) as cluster:
        for _ in range(2):
            cluster.add_worker()
        run("-o", "there", "--executor", cluster.address.replace("tcp://", "dask://"))
    here, there = results_in(tmp_path / "here"), results_in(tmp_path / "there")
    assert here == there
    assert len(here) == 4 + 2


def assert_same(one: Path, other: Path) -> None:
    assert one.read_bytes() == other.read_bytes(), one.name
