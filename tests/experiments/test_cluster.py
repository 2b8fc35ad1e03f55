"""A suite on a real Dask cluster whose workers come and go is the suite on this machine, byte for byte."""

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

from experiments.public_data.borlange import read_borlange
from experiments.public_data.trajectories import save_trajectories
from experiments.suites.compute import reproduce, reproduce_on_data
from experiments.suites.data_suite import find_data_suite
from experiments.suites.directory import DEMONSTRATIONS, MARKDOWN, RESULTS, RUNS, TASK_MODELS, TIMING
from experiments.suites.paper import FULL, PAPER
from wfairl.core.automata.rules import visit_in_order
from wfairl.studio.task_documents import invented_document

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


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_collections_on_a_cluster_give_the_same_bytes(tmp_path):
    """Through the command line, with tasks of one's own: a Python file and a document, which both travel."""
    place = tmp_path / "cluster"
    place.mkdir()
    rule = visit_in_order("key", "goal")
    propositions = {"key": {"is": "carrying", "kind": "key"}, "goal": {"is": "on", "terrain": "goal"}}
    document = invented_document("mine", "MiniGrid-DoorKey-5x5-v0", propositions, rule)
    (tmp_path / "mine.task.json").write_text(json.dumps(document))
    shutil.copy(EXAMPLES / "own_world.py", tmp_path)

    def wfairl(*arguments: str) -> None:
        subprocess.run([sys.executable, "-m", "wfairl", *arguments], cwd=tmp_path, check=True, capture_output=True)

    with started_cluster(place) as cluster:
        for _ in range(2):
            cluster.add_worker()
        executor = ("--executor", cluster.address.replace("tcp://", "dask://"))
        for tasks, name in ("own_world.py", "corridor"), ("mine.task.json", "mine"):
            collect = ("--tasks", tasks, "demos", name, "--successes", "6", "--failures", "9", "-o")
            wfairl(*collect, f"{name}-here.safetensors")
            wfairl(*collect, f"{name}-there.safetensors", *executor)
            assert_same(tmp_path / f"{name}-here.safetensors", tmp_path / f"{name}-there.safetensors")


@pytest.mark.slow
def test_a_suite_on_data_on_a_cluster_gives_the_same_bytes(tmp_path):
    data, place = tmp_path / "data", tmp_path / "cluster"
    place.mkdir()
    save_trajectories(read_borlange(write_borlange(tmp_path / "source")), data)
    suite = find_data_suite("borlange")
    reproduce_on_data(suite, data, tmp_path / "here", True, 2, "here")
    with started_cluster(place) as cluster:
        for _ in range(2):
            cluster.add_worker()
        address = cluster.address.replace("tcp://", "dask://")
        reproduce_on_data(suite, data, tmp_path / "there", True, 1, "there", address)
    fits = sorted(path.name for path in (tmp_path / "here" / "fits").iterdir())
    assert fits == sorted(path.name for path in (tmp_path / "there" / "fits").iterdir())
    for name in (RESULTS, *(f"fits/{fit}" for fit in fits if fit.endswith(".json"))):
        here, there = (
            json.loads((tmp_path / side / name).read_text(), object_hook=no_times) for side in ("here", "there")
        )
        assert here == there, name
    assert not (tmp_path / "there" / "borlange.safetensors").exists()


def no_times(part: dict[str, object]) -> dict[str, object]:
    """Without what fits on data measure of themselves, and the digest that holds it."""
    return {key: value for key, value in part.items() if key not in ("seconds", "digest", "tables")}


def assert_same(one: Path, other: Path) -> None:
    assert one.read_bytes() == other.read_bytes(), one.name
