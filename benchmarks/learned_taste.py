"""An expert with a taste: what learning its cost is worth, in its own coin.

    python benchmarks/learned_taste.py [--json] [--task doorkey] [--training-seeds 3]

In the paper's tasks every step costs the expert 1, which is where every cost model starts: its rows cannot show that
learning finds a cost. Here the expert minds something more than the rest, 32 demonstrations at temperature 0.5 show
it, and automaton and cost are learned from them with the default settings. Then the agents act greedily in 32 new
scenes, and what they did is priced at the expert's true cost:

    optimal      the least true cost of the scene
    true rule    the planner that knows the rule, and thinks that all steps cost 1
    unit cost    the planner with the learned automaton, before any training: all steps cost 1
    learned      the same planner with the learned cost
    gap closed   (unit cost - learned) / (unit cost - optimal), 100% if the taste was understood entirely

Mean cost is over the scenes in which all of them succeed.
"""

import argparse
import json
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.task_model import fit_task_model
from wfairl.demonstrations import collect, solve
from wfairl.demonstrations.collection import FIRST_TEST_SEED
from wfairl.evaluation import PlannedPolicy, evaluate, expert_policy
from wfairl.learning import Settings, prepare_scenes, train
from wfairl.learning.run_directory import PlannerSettings, make_cost
from wfairl.learning.threads import one_torch_thread
from wfairl.planning.cost import Cost, unit_cost
from wfairl.planning.product import Product
from wfairl.worlds import Task, find_task
from wfairl.worlds.minigrid.rules import CONTROLS
from wfairl.worlds.minigrid.view import view_states

SUCCESSES, FAILURES, TEMPERATURE = 32, 128, 0.5
TEST_SEEDS = range(FIRST_TEST_SEED, FIRST_TEST_SEED + 32)
DISLIKED = 3.0
ROUNDING = 1e-9


def turning_left(product: Product) -> NDArray[np.float64]:
    """Turning left costs three times as much as anything else."""
    costs = unit_cost(product).copy()
    costs[:, CONTROLS.index("left")] = DISLIKED
    return costs


def carrying(product: Product) -> NDArray[np.float64]:
    """Whatever is done with something in the hands costs three times as much."""
    costs = unit_cost(product).copy()
    costs[view_states(product.world, np.asarray(product.states)).carried > 0] = DISLIKED
    return costs


TASTES: dict[str, Cost] = {"turning left": turning_left, "carrying": carrying}


@one_torch_thread()
def main() -> None:
    arguments = parse()
    task = find_task(arguments.task)
    settings = Settings(epochs=arguments.epochs, learning_rate=arguments.learning_rate, temperature=TEMPERATURE)
    rows = [
        measure(task, name, replace(settings, seed=seed)) for name in TASTES for seed in range(arguments.training_seeds)
    ]
    if arguments.json:
        print(json.dumps({"task": task.name, "scenes": len(TEST_SEEDS), "rows": rows}))
    else:
        print_table(rows)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--task", default="doorkey")
    parser.add_argument("--training-seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--learning-rate", type=float, default=Settings.learning_rate)
    return parser.parse_args()


def measure(task: Task, name: str, settings: Settings) -> dict[str, Any]:
    """One taste, one seed for demonstrations and training: the true costs of what the agents do."""
    taste = TASTES[name]
    dataset = collect(task, SUCCESSES, FAILURES, TEMPERATURE, settings.seed, cost=taste)
    model = fit_task_model(dataset.words, dataset.scores, optional_start=True)
    scenes = prepare_scenes(dataset.demonstrations, task.make_world, model.finite, model.threshold).scenes
    kind = PlannerSettings(cost=task.default_cost, seed=settings.seed)
    result = train(make_cost(kind, [scene.product for scene in scenes]), scenes, settings)
    optimal = np.array([solve(task.make_world(scene), task.rule, taste).optimal_cost for scene in TEST_SEEDS])
    of_policy = {
        "true_rule": true_costs(task, taste, expert_policy(task, 0.0)),
        "unit_cost": true_costs(task, taste, PlannedPolicy("unit cost", model.finite, unit_cost, 0.0)),
        "learned": true_costs(task, taste, PlannedPolicy("learned", model.finite, result.model.as_cost(), 0.0)),
    }
    all_succeed = np.isfinite(list(of_policy.values())).all(axis=0)
    means = {key: float(costs[all_succeed].mean()) for key, costs in {"optimal": optimal, **of_policy}.items()}
    gap = means["unit_cost"] - means["optimal"]
    return {
        "taste": name,
        "seed": settings.seed,
        "epoch": result.epoch,
        "held_out_loss_before": result.history[0].held_out_loss,
        "held_out_loss": result.history[result.epoch].held_out_loss,
        **means,
        "gap_closed": (means["unit_cost"] - means["learned"]) / gap if gap > 0 else None,
        "as_good_as_optimal": int((of_policy["learned"] <= optimal + ROUNDING).sum()),
        "failed": {key: int(np.isinf(costs).sum()) for key, costs in of_policy.items()},
    }


def true_costs(task: Task, taste: Cost, policy: PlannedPolicy) -> NDArray[np.float64]:
    """What each test episode of a policy costs the expert, inf where it fails; shape [scenes]."""
    costs = []
    for episode in evaluate(task, policy, TEST_SEEDS).episodes:
        product = solve(task.make_world(episode.seed), task.rule, taste).product
        nodes = product.walk(episode.controls)[:-1]
        costs.append(taste(product)[nodes, list(episode.controls)].sum() if episode.success else np.inf)
    return np.array(costs)


def print_table(rows: list[dict[str, Any]]) -> None:
    names = ("expert minds", "seed", "optimal", "true rule", "unit cost", "learned", "gap closed", "optimal in")
    print("| " + " | ".join((*names, "failed", "epoch", "held-out loss")) + " |")
    print("|---" * (len(names) + 3) + "|")
    for row in rows:
        closed = "" if row["gap_closed"] is None else f"{row['gap_closed']:.0%}"
        print(
            f"| {row['taste']} | {row['seed']} | {row['optimal']:.2f} | {row['true_rule']:.2f} |"
            f" {row['unit_cost']:.2f} | {row['learned']:.2f} | {closed} |"
            f" {row['as_good_as_optimal']} of {len(TEST_SEEDS)} | {row['failed']['learned']} | {row['epoch']} |"
            f" {row['held_out_loss_before']:.3f} -> {row['held_out_loss']:.3f} |"
        )


if __name__ == "__main__":
    main()
