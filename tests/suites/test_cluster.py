"""A suite on a real Dask cluster whose workers come and go is the suite on this machine, byte for byte."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from wfairl.suites.compute import reproduce
from wfairl.suites.directory import DEMONSTRATIONS, MARKDOWN, RESULTS, RUNS, TASK_MODELS, TIMING
from wfairl.suites.paper import FULL, PAPER

PROTOCOL = replace(
    FULL,
    tasks=("doorkey", "multiroom"),
    methods=("wfa-irl", "no-automaton"),
    seeds=3,
    successes=8,
    failures=16,
    test_scenes=4,
    fewer=(),
    settings={"wfa-irl": {"epochs": 1}, "no-automaton": {"epochs": 1}},
)


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
    places = (DEMONSTRATIONS, TASK_MODELS, RUNS)
    paths = [path for place in places for path in (directory / place).rglob("*") if path.is_file()]
    paths += [directory / RESULTS, directory / MARKDOWN]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths if path.name != TIMING}


@pytest.mark.slow
def test_a_suite_on_a_cluster_gives_the_same_bytes_though_workers_die_and_join(tmp_path):
    cells = list(PAPER.cells(PROTOCOL))
    assert len(cells) >= 24
    local, remote, place = tmp_path / "local", tmp_path / "remote", tmp_path / "cluster"
    place.mkdir()
    reproduce(PROTOCOL, local, n_jobs=2)
    with started_cluster(place) as cluster:
        doomed = cluster.add_worker()
        cluster.add_worker()
        address = cluster.address.replace("tcp://", "dask://")
        failed = []

        def run() -> None:
            try:
                reproduce(PROTOCOL, remote, executor=address)
            except BaseException as error:
                failed.append(error)
                raise

        asking = threading.Thread(target=run)
        asking.start()

        def finished() -> int:
            return len(list(remote.glob(f"{RUNS}/*/result.json")))

        wait_until(lambda: finished() >= 4 or failed)
        doomed.kill()
        assert finished() < len(cells) - 4, "it was killed too late"
        cluster.add_worker()
        asking.join(timeout=300)
    assert not failed
    ours, theirs = results_in(local), results_in(remote)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
