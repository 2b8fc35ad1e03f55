"""What the paper's method is compared with: T1 to T3, trained on D1 and on D2, three training seeds, 64 test scenes.

For each task, data set and training seed demonstrations are collected once and shared by the methods. Planners act
greedily after D1 and at the demonstrations' 0.5 after D2, as the paper's do; networks act as they chose on scenes for
validation. Everything lands in a directory: what was finished is not done again, and what was killed goes on.

    python benchmarks/baselines.py -o runs/baselines --methods no-automaton bc
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from paper_rows import DATA_SETS, TASKS, TEST_SEEDS, digest, once

from wfairl.demonstrations import Dataset, collect, load, save
from wfairl.evaluation import evaluate
from wfairl.learning.run_directory import NO_AUTOMATON, TrainedRun
from wfairl.learning.threads import one_torch_thread
from wfairl.methods import METHODS, load_policy, train
from wfairl.worlds.tasks import find_task

PAPER = {
    ("no-automaton", "D1"): (0.683, 0.652, 0.566),
    ("no-automaton", "D2"): (0.514, 0.488, 0.390),
    ("bc", "D1"): (0.364, 0.338, 0.284),
    ("bc", "D2"): (0.253, 0.307, 0.192),
    ("gail", "D1"): (0.483, 0.274, 0.342),
    ("gail", "D2"): (0.429, 0.185, 0.257),
}
"""Returns in the paper's Table II, in the order of `TASKS`."""

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "no-automaton": ("no-automaton", {}),
    "bc": ("bc", {}),
    "bc-map": ("bc", {"view": "map"}),
    "bc-whole": ("bc", {"dropouts": (0.0,)}),
    "bc-unmirrored": ("bc", {"mirror": False}),
    "bc-idle": ("bc", {"idle": True}),
    "gail": ("gail", {}),
}
"""Methods, and cloning without one of its parts: by name, the method and its settings."""


@one_torch_thread()
def main() -> None:
    arguments = parse()
    rows = []
    for name in arguments.methods:
        for task in arguments.tasks:
            for data_set in arguments.data_sets:
                parts = [cell(name, task, data_set, seed, arguments) for seed in arguments.seeds]
                rows.append(combine(name, task, data_set, parts))
                if not arguments.json:
                    print(text(rows[-1]), flush=True)
    if arguments.json:
        print(json.dumps({"rows": rows}))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/baselines"))
    parser.add_argument("--methods", nargs="+", default=["no-automaton", "bc"], choices=list(VARIANTS))
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--data-sets", nargs="+", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def cell(name: str, task: str, data_set: str, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """One training and its test."""
    method, settings = VARIANTS[name]
    settings = {**settings, "seed": seed}
    key = json.loads(json.dumps({"method": method, **METHODS[method].settings(), **settings}))
    directory = arguments.output / f"{task}-{data_set}-{seed}-{name}-{digest(key)}"

    def train_and_test() -> list[dict[str, Any]]:
        dataset = demonstrations(task, data_set, seed, arguments)
        begun = time.process_time()
        trained = train(method, dataset, directory, settings, resume=True, n_jobs=arguments.jobs)
        seconds = time.process_time() - begun
        temperature = DATA_SETS[data_set] if method == NO_AUTOMATON else None
        policy = load_policy(directory, find_task(task), temperature)
        evaluation = evaluate(find_task(task), policy, TEST_SEEDS, n_jobs=arguments.jobs)
        facts = {"epoch": trained.training.epoch} if isinstance(trained, TrainedRun) else trained.choice.details
        return [
            {
                "return": evaluation.mean_return,
                "standard_error": evaluation.standard_error,
                "success_rate": evaluation.success_rate,
                "temperature": policy.temperature,
                "training_cpu_seconds": seconds,
                **facts,
            }
        ]

    return once(directory / "rows.json", key, train_and_test)[0]


def demonstrations(task: str, data_set: str, seed: int, arguments: argparse.Namespace) -> Dataset:
    path = arguments.output / "demonstrations" / f"{task}-{data_set}-{seed}.safetensors"
    if not path.exists():
        save(collect(find_task(task), 32, 128, DATA_SETS[data_set], seed, n_jobs=arguments.jobs), path)
    return load(path)


def combine(name: str, task: str, data_set: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The training seeds as one row, beside the paper's."""
    returns = np.array([part["return"] for part in parts])
    paper = PAPER.get((VARIANTS[name][0], data_set))
    return {
        "method": name,
        "task": task,
        "data": data_set,
        "return": float(returns.mean()),
        "each": returns.tolist(),
        "spread": float(returns.std(ddof=1)) if len(returns) > 1 else 0.0,
        "success_rate": float(np.mean([part["success_rate"] for part in parts])),
        "temperatures": [part["temperature"] for part in parts],
        "training_cpu_seconds": float(np.mean([part["training_cpu_seconds"] for part in parts])),
        "paper": paper[TASKS.index(task)] if paper else None,
    }


def text(row: dict[str, Any]) -> str:
    paper = f"{row['paper']:.3f}" if row["paper"] is not None else ""
    return (
        f"| {row['method']} | {row['task']} | {row['data']} | {row['return']:.3f} ± {row['spread']:.3f} |"
        f" {row['success_rate']:.0%} | {', '.join(f'{one:g}' for one in row['temperatures'])} |"
        f" {row['training_cpu_seconds']:.0f} s | {paper} |"
    )


if __name__ == "__main__":
    main()
