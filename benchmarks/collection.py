"""Collecting the paper's data sets, 32 successes and 128 failures each: how long it takes, and on what.

    python benchmarks/collection.py [--json] [--jobs 2] [--tasks NAME ...]

Times are of the clock, on as many cores as there are jobs, and of the processor, which other work on the machine does
not count for.
"""

import argparse
import json
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from wfairl.demonstrations import collect
from wfairl.suites.paper import TASKS
from wfairl.worlds import find_task

DATA_SETS = {"D1": 0.0, "D2": 0.5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--jobs", type=int, default=2, help="scenes to work on at once")
    parser.add_argument("--tasks", nargs="+", default=TASKS, help="the paper's unless told")
    arguments = parser.parse_args()
    tasks = [find_task(name) for name in arguments.tasks]
    for task in tasks:
        collect(task, 1, 1, 0.5, seed=1)  # compiles
    rows = [measure(task, name, arguments.jobs) for task in tasks for name in DATA_SETS]
    if arguments.json:
        print(json.dumps({"collections": rows}))
        return
    table = Table(*rows[0], title="collecting 160 demonstrations")
    for row in rows:
        table.add_row(*(f"{value:.1f}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)


def measure(task: Any, data_set: str, jobs: int) -> dict[str, Any]:
    clock, processor = time.perf_counter(), time.process_time()
    dataset = collect(task, 32, 128, DATA_SETS[data_set], seed=0, n_jobs=jobs)
    return {
        "task": task.name,
        "data set": data_set,
        "demonstrations": len(dataset),
        "seconds": time.perf_counter() - clock,
        "processor seconds": time.process_time() - processor,
    }


if __name__ == "__main__":
    main()
