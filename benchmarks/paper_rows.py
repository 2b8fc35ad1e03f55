"""The rows of the paper's Table II that are about this method: T1 to T3, trained on D1 and on D2, on 64 test scenes.

For each task, data set and training seed: demonstrations are collected, the automaton and the cost are learned, and
the policy acts in 64 new scenes, greedily and (D2) at the temperature of the demonstrations. Everything lands in a
directory, a part that was finished with the same settings is not done again, and a killed one goes on where it was:

    python benchmarks/paper_rows.py -o runs/paper_rows
"""

import argparse
import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.evaluation import Evaluation, Policy, evaluate
from wfairl.experiment import FIRST_TEST_SEED, Config, gather, learn_cost, learn_task, learned_policies, references
from wfairl.files import read_json, write_json
from wfairl.learning.threads import one_torch_thread
from wfairl.learning.trainer import Settings
from wfairl.worlds.tasks import Task, find_task

TASKS = ("doorkey", "multiroom", "blocked-unlock-pickup")
DATA_SETS = {"D1": 0.0, "D2": 0.5}
TEST_SEEDS = range(FIRST_TEST_SEED, FIRST_TEST_SEED + 64)

PAPER = {
    ("doorkey", "optimal"): 0.798,
    ("doorkey", "expert"): 0.718,
    ("doorkey", "D1"): 0.797,
    ("doorkey", "D2"): 0.708,
    ("multiroom", "optimal"): 0.776,
    ("multiroom", "expert"): 0.668,
    ("multiroom", "D1"): 0.776,
    ("multiroom", "D2"): 0.642,
    ("blocked-unlock-pickup", "optimal"): 0.734,
    ("blocked-unlock-pickup", "expert"): 0.639,
    ("blocked-unlock-pickup", "D1"): 0.733,
    ("blocked-unlock-pickup", "D2"): 0.602,
}
"""Returns in the paper's Table II; trained on D1 it acts greedily, on D2 at 0.5."""


@one_torch_thread()
def main() -> None:
    arguments = parse()
    rows = []
    for name in arguments.tasks:
        task = find_task(name)
        known = {row["policy"]: row for row in reference_rows(task, arguments.output)}
        rows += known.values()
        for data_set in arguments.data_sets:
            parts = [learned_rows(task, data_set, seed, arguments) for seed in range(arguments.training_seeds)]
            rows += [combine(task.name, data_set, group, known) for group in zip(*parts, strict=True)]
    if arguments.json:
        print(json.dumps({"rows": rows}))
    else:
        print_table(rows)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/paper_rows"))
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--data-sets", nargs="+", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--training-seeds", type=int, default=3)
    parser.add_argument("--cost", default="local")
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--held-out", type=float, default=Settings.held_out, help="0: no choice, the last epoch")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def reference_rows(task: Task, directory: Path) -> list[dict[str, Any]]:
    """Optimal, expert and random: once a task."""
    path = directory / f"{task.name}-references.json"
    temperature = DATA_SETS["D2"]
    settings = {"temperature": temperature}
    rows = once(path, settings, lambda: [result(task, policy) for policy in references(task, temperature)])
    return [{"task": task.name, "data": "-", **row, "paper": PAPER.get((task.name, row["policy"]))} for row in rows]


def learned_rows(task: Task, data_set: str, seed: int, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """One training seed: its own demonstrations, automaton and cost."""
    temperature = DATA_SETS[data_set]
    config = Config(
        task.name,
        temperature=temperature,
        seed=seed,
        cost=arguments.cost,
        training=Settings(epochs=arguments.epochs, held_out=arguments.held_out),
    )
    directory = arguments.output / f"{task.name}-{data_set}-{arguments.cost}-{seed}-{digest(asdict(config))}"

    def train_and_test() -> list[dict[str, Any]]:
        dataset = gather(task, config, directory, resume=True, n_jobs=arguments.jobs)
        trained = learn_cost(
            task, dataset, learn_task(dataset, config), config, directory, resume=True, n_jobs=arguments.jobs
        )
        history, epoch = trained.training.history, trained.training.epoch
        about = {
            "epoch": epoch,
            "held_out_loss_before": history[0].held_out_loss,
            "held_out_loss": history[epoch].held_out_loss,
            "left_out": len(trained.left_out),
        }
        return [{**result(task, policy), **about} for policy in learned_policies(trained.run, temperature)]

    return once(directory / "rows.json", asdict(config), train_and_test)


def digest(settings: dict[str, Any]) -> str:
    """A short name for settings, another one for other settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]


def once(path: Path, settings: dict[str, Any], work: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rows that the file holds, if they are of these settings and scenes; else the work's, which then go there."""
    key = {**settings, "scenes": [TEST_SEEDS.start, TEST_SEEDS.stop]}
    stored = read_json(path) if path.exists() else None
    if not isinstance(stored, dict) or stored.get("settings") != key:
        stored = {"settings": key, "rows": work()}
        write_json(path, stored)
    return stored["rows"]  # type: ignore[no-any-return]


def result(task: Task, policy: Policy) -> dict[str, Any]:
    evaluation: Evaluation = evaluate(task, policy, TEST_SEEDS)
    return {
        "policy": policy.name,
        "return": evaluation.mean_return,
        "standard_error": evaluation.standard_error,
        "success_rate": evaluation.success_rate,
    }


def combine(task: str, data_set: str, group: tuple[dict[str, Any], ...], known: dict[str, Any]) -> dict[str, Any]:
    """Several training seeds as one row: mean, spread, and the distance to what the row is held against."""
    returns = np.array([row["return"] for row in group])
    policy = group[0]["policy"]
    greedy = policy.endswith("greedy")
    is_the_papers = greedy == (data_set == "D1")
    return {
        "task": task,
        "data": data_set,
        "policy": policy,
        "return": float(returns.mean()),
        "spread": float(returns.std(ddof=1)) if len(returns) > 1 else 0.0,
        "standard_error": float(np.mean([row["standard_error"] for row in group])),
        "success_rate": float(np.mean([row["success_rate"] for row in group])),
        "epochs": [row["epoch"] for row in group],
        "minus_reference": float(returns.mean() - known["optimal" if greedy else "expert"]["return"]),
        "each_minus_reference": [float(r - known["optimal" if greedy else "expert"]["return"]) for r in returns],
        "paper": PAPER[task, data_set] if is_the_papers else None,
    }


def print_table(rows: list[dict[str, Any]]) -> None:
    print("| task | data | policy | return | spread | s.e. | success | minus reference | epoch | paper |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        spread = f"{row['spread']:.4f}" if "spread" in row else ""
        gap = f"{row['minus_reference']:+.4f}" if "minus_reference" in row else ""
        epochs = ", ".join(map(str, row.get("epochs", [])))
        paper = f"{row['paper']:.3f}" if row["paper"] is not None else ""
        print(
            f"| {row['task']} | {row['data']} | {row['policy']} | {row['return']:.4f} | {spread} |"
            f" {row['standard_error']:.4f} | {row['success_rate']:.0%} | {gap} | {epochs} | {paper} |"
        )


if __name__ == "__main__":
    main()
