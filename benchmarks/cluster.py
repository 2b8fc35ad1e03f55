"""Suites on a cluster: the overhead over local processes, and the utilisation of many workers.

    python benchmarks/cluster.py [--json] [--quick] [--cells 1000] [--workers 64]

Jobs sleep, so that two cores can simulate a cluster; like cells, each receives a data set and returns a run.

overhead  eight cells of ten seconds on a Dask cluster of two worker processes and a scheduler, against two local
          processes
busy      a thousand cells of five to fifteen seconds: the fraction of the time that workers spent in jobs
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from reporting import make_parser, report

from experiments.harness import Cell, DataFolder, Outcome
from experiments.harness.computing import compute_cells
from experiments.harness.workers import LOCAL, open_workers

DATA, RUN = 400_000, 200_000
"""Bytes of a data set that travels to a worker, and of a run that comes back."""

CLUSTER = """
import sys
import dask
from distributed import LocalCluster
# Many workers share the cores of one machine here, and each would look at its own stack every 10 ms.
dask.config.set({"distributed.worker.profile.enabled": False, "distributed.admin.system-monitor.interval": "5s"})
if __name__ == "__main__":
    processes, workers, address_file = sys.argv[1] == "processes", int(sys.argv[2]), sys.argv[3]
    settings = {"threads_per_worker": 1, "processes": processes, "protocol": "tcp://", "dashboard_address": None}
    settings["memory_limit"] = 0  # the workers of one process share its memory
    with LocalCluster(n_workers=workers, **settings) as cluster:
        open(address_file, "w").write(cluster.scheduler_address + "\\n")
        sys.stdin.read()  # until nobody needs it
"""


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10.0, help="mean duration of a cell")
    parser.add_argument("--part", choices=("overhead", "busy"), help="only this")
    parser.add_argument("--workers", type=int, default=64)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.cells, arguments.workers, arguments.seconds = 8, 2, 1.0
    with tempfile.TemporaryDirectory() as name:
        figures = {} if arguments.part == "busy" else overhead(Path(name), 1.0 if arguments.quick else 10.0)
        if arguments.part != "overhead":
            figures |= busy(Path(name), arguments.cells, arguments.workers, arguments.seconds)
    report({"experiments on a cluster": figures}, arguments.json)


def overhead(directory: Path, length: float) -> dict[str, Any]:
    """Eight cells of some length on two workers, here and there."""
    seconds = [length] * 8
    local = time_of(seconds, directory / "local", LOCAL, 2)
    with started_cluster("processes", 2, directory) as address:
        remote = time_of(seconds, directory / "remote", address, 2)
    return {"local, s": local, "Dask, s": remote, "overhead": remote / local - 1}


def busy(directory: Path, cells: int, workers: int, mean: float) -> dict[str, Any]:
    """Many cells on many workers."""
    seconds = np.random.default_rng(0).uniform(0.5 * mean, 1.5 * mean, cells).tolist()
    with started_cluster("threads", workers, directory) as address:
        took = time_of(seconds, directory / "busy", address, workers)
    return {"cells": cells, "workers": workers, "all, s": took, "busy": sum(seconds) / (took * workers)}


def time_of(seconds: list[float], directory: Path, executor: str, workers: int) -> float:
    """Wall time of jobs of given length; workers have begun before."""
    directory.mkdir()
    (directory / "data").mkdir()
    (directory / "data" / "demonstrations").write_bytes(bytes(DATA))
    data = DataFolder(directory / "data", ("demonstrations",))
    cells = [Cell(f"run {i}", sleep, {"seconds": one}, data=data) for i, one in enumerate(seconds)]
    first = [Cell(f"first {i}", sleep, {"seconds": 1.0}) for i in range(workers)]
    with open_workers(executor, workers) as opened:
        compute_cells(first, directory, opened)
        begun = time.monotonic()
        failures = compute_cells(cells, directory, opened)
        assert not failures, failures
        return time.monotonic() - begun


def sleep(directory: Path, seconds: float, data: Path | None = None) -> Outcome:  # noqa: ARG001 - it only travels
    time.sleep(seconds)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "run").write_bytes(bytes(RUN))
    return Outcome()


@contextmanager
def started_cluster(kind: str, workers: int, directory: Path) -> Iterator[str]:
    """The address of a cluster in processes that are not this one."""
    script, address_file = directory / "dask_cluster.py", directory / f"address-{kind}"
    script.write_text(CLUSTER)
    command = [sys.executable, str(script), kind, str(workers), str(address_file)]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])  # workers import the cells of this module
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path})
    try:
        while not address_file.exists() or not address_file.read_text().endswith("\n"):
            assert process.poll() is None, "the cluster did not start"
            time.sleep(0.1)
        yield "dask://" + address_file.read_text().strip().rpartition("/")[2]
    finally:
        process.communicate()


if __name__ == "__main__":
    import cluster  # so that the cells belong to a module that workers can import

    cluster.main()
