"""Learners of logic against the number of demonstrations: rules kept, scenes without a plan, regret, states.

    python benchmarks/learners.py [--tasks random-office-coffee ...] [--numbers 1 2 4 8 16 32] [--seeds 3] [--json]
                                  [--figure FILE.png]

Demonstrators act at temperature 0.5. `rational` learns from successes alone, and plans cautiously or plainly; what is
memorised (`spectral`), `merging` and `declare` get 128 failures besides. All plan greedily with a cost of 1 in test
scenes that nobody trained on. Regret is of the episodes that keep the rule: steps over the fewest possible, minus 1.
"""

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from wfairl.automata.task_model import TaskModel
from wfairl.demonstrations import Dataset, collect
from wfairl.errors import WfairlError
from wfairl.evaluation import Evaluation, PlannedPolicy, Policy, evaluate, expert_policy
from wfairl.logic.caution import DEFAULT_PRICE, CautiousPolicy
from wfairl.logic.learners import find_learner
from wfairl.planning.cost import unit_cost
from wfairl.planning.product import check_initial_state
from wfairl.worlds import Task, find_task

OFFICES = tuple(
    f"{kind}-{name}" for kind in ("office", "random-office") for name in ("coffee", "mail", "coffee-mail", "patrol")
)
NUMBERS = (1, 2, 4, 8, 16, 32)
FAILURES = 128
TEST_SEEDS = range(5000, 5064)
VALIDATION_SEEDS, VALIDATION_COLLECTION = range(9000, 9064), 50
WITH_FAILURES = ("spectral", "merging", "declare")
PLAIN = "rational, plain"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=list(OFFICES))
    parser.add_argument("--numbers", nargs="+", type=int, default=list(NUMBERS))
    parser.add_argument("--learners", nargs="+", default=["rational", *WITH_FAILURES])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--figure", type=Path, help="draw rules kept against demonstrations to this file")
    parser.add_argument("--prices", nargs="+", type=float, default=[DEFAULT_PRICE], help="of a failure, for caution")
    parser.add_argument("--validation", action="store_true", help="other collections and scenes, to choose settings on")
    arguments = parser.parse_args()
    scenes, first = (VALIDATION_SEEDS, VALIDATION_COLLECTION) if arguments.validation else (TEST_SEEDS, 0)
    rows: list[dict[str, Any]] = []
    for name in arguments.tasks:
        task = find_task(name)
        optimal = evaluate(task, expert_policy(task, 0.0), scenes, n_jobs=1)
        for seed in range(first, first + arguments.seeds):
            everything = collect(task, max(arguments.numbers), FAILURES, 0.5, seed, n_jobs=1)
            for number in arguments.numbers:
                for learner in arguments.learners:
                    rows += measure(task, optimal, everything, number, learner, seed, scenes, arguments.prices)
    if arguments.figure is not None:
        draw(rows, arguments.figure)
    if arguments.json:
        print(json.dumps({"rows": rows}))
    else:
        show(rows)


def measure(
    task: Task,
    optimal: Evaluation,
    everything: Dataset,
    number: int,
    learner: str,
    seed: int,
    scenes: range,
    prices: Sequence[float],
) -> Iterable[dict[str, Any]]:
    """One training, tested in all ways in which it plans."""
    dataset = some(everything, number, with_failures=learner in WITH_FAILURES)
    begun = time.process_time()
    try:
        model = find_learner(learner).learn(dataset, task, n_jobs=1)
        automaton = model.finite
        check_initial_state(automaton)
    except WfairlError as error:
        yield {"task": task.name, "learner": learner, "number": number, "seed": seed, "error": str(error), "kept": 0.0}
        return
    seconds = time.process_time() - begun
    policies: list[Policy] = [PlannedPolicy(PLAIN if learner == "rational" else learner, automaton, unit_cost, 0.0)]
    if learner == "rational":
        policies += [CautiousPolicy(f"rational at {price:g}", model, unit_cost, 0.0, price) for price in prices]
    for policy in policies:
        name = policy.name
        tested = evaluate(task, policy, scenes, n_jobs=1)
        yield {
            "task": task.name,
            "learner": name,
            "number": number,
            "seed": seed,
            "kept": tested.success_rate,
            "no_plan": float(np.mean([one.outcome == "unsatisfiable" for one in tested.episodes])),
            "broken": float(np.mean([not one.success and one.outcome != "unsatisfiable" for one in tested.episodes])),
            "regret": regret(tested, optimal),
            "return": tested.mean_return,
            "optimal_return": optimal.mean_return,
            "states": automaton.states,
            "rule_states": task.rule.states,
            "seconds": seconds,
            "rule": said(model),
        }


def some(everything: Dataset, number: int, with_failures: bool) -> Dataset:
    """The first successes, and all failures if they are wanted."""
    successes = [one for one in everything if one.is_success][:number]
    failures = [one for one in everything if not one.is_success] if with_failures else []
    return Dataset(everything.task, (*successes, *failures), everything.temperature)


def regret(tested: Evaluation, optimal: Evaluation) -> float | None:
    """The mean over kept episodes of their cost over the least possible, minus 1."""
    best = {one.seed: one.cost for one in optimal.episodes if one.success}
    ratios = [one.cost / best[one.seed] - 1 for one in tested.episodes if one.success and one.seed in best]
    return float(np.mean(ratios)) if ratios else None


def said(model: TaskModel) -> str:
    return model.sentences[0] if model.sentences else ""


def grouped(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["task"], row["learner"], row["number"]), []).append(row)
    return groups


def show(rows: list[dict[str, Any]]) -> None:
    table = Table(
        "task", "demonstrations", "learner", "kept", "no plan", "broken", "regret", "states", "s of processor"
    )
    for (task, learner, number), group in grouped(rows).items():
        means = [f"{mean(group, name):.3f}" for name in ("kept", "no_plan", "broken", "regret")]
        states = "/".join(str(row.get("states", "-")) for row in group)
        table.add_row(task, str(number), learner, *means, states, f"{mean(group, 'seconds'):.1f}")
    Console(width=140).print(table)


def mean(group: list[dict[str, Any]], name: str) -> float:
    values = [row[name] for row in group if row.get(name) is not None]
    return float(np.mean(values)) if values else float("nan")


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Rules kept and rules broken against the number of demonstrations, one panel per task."""
    from matplotlib.figure import Figure

    tasks = list(dict.fromkeys(row["task"] for row in rows))
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    columns = min(4, len(tasks))
    height = -(-len(tasks) // columns)
    figure = Figure(figsize=(3.1 * columns, 2.5 * height + 0.5), layout="constrained")
    groups = grouped(rows)
    for i, task in enumerate(tasks):
        axes = figure.add_subplot(height, columns, i + 1)
        for learner in learners:
            found = {number: mean(group, "kept") for (*key, number), group in groups.items() if key == [task, learner]}
            points = sorted(found.items())
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, linewidth=1.4, label=learner)
        axes.set(title=task, xscale="log", ylim=(-0.03, 1.03), xticks=sorted({row["number"] for row in rows}))
        axes.set_xticklabels([str(number) for number in sorted({row["number"] for row in rows})])
        axes.minorticks_off()
        axes.title.set_fontsize(9)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
        if i % columns == 0:
            axes.set_ylabel("rules kept", fontsize=8)
        if i >= len(tasks) - columns:
            axes.set_xlabel("demonstrations", fontsize=8)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8, frameon=False)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
