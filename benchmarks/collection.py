"""The time of collecting the paper's data sets, 32 successes and 128 failures each.

    python benchmarks/collection.py [--json] [--quick] [--jobs 2] [--tasks NAME ...]

Times are of the clock, with one core per job, and of the processor, which other work on the machine does not affect.
"""

import time
from typing import Any

from reporting import make_parser, report

from wfairl.core.demonstrations import collect
from wfairl.core.worlds import find_task

TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
DATA_SETS = {"D1": 0.0, "D2": 0.5}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="number of scenes in parallel")
    parser.add_argument("--tasks", nargs="+", default=TASKS, help="by default the paper's")
    arguments = parser.parse_args()
    tasks = [find_task(name) for name in arguments.tasks[: 1 if arguments.quick else None]]
    for task in tasks:
        collect(task, 1, 1, 0.5, seed=1)  # compiles
    rows = [measure(task, name, arguments.jobs) for task in tasks for name in DATA_SETS]
    report({"collecting 160 demonstrations": rows}, arguments.json)


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
