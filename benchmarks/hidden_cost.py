"""An expert with a hidden cost: what learning the cost improves, measured in that cost.

    python benchmarks/hidden_cost.py [--json] [--task doorkey] [--training-seeds 3]

In the paper's tasks every step costs the expert 1, which is where every cost model starts: they cannot show that
learning finds a cost. Here some steps cost the expert 3. Automaton and cost are learned from 32 demonstrations at
temperature 0.5, with the default settings. Then the agents act greedily in 32 new scenes, and their episodes are
evaluated by the expert's true cost:

    optimal      the least true cost of the scene
    true rule    the planner with the true rule and unit cost
    unit cost    the planner with the learned automaton and unit cost, before any training
    learned      the same planner with the learned cost
    gap closed   (unit cost - learned) / (unit cost - optimal), 100% if the cost was learned perfectly

Mean cost is over the scenes in which all of them succeed.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reporting import make_parser, report, rows_table

from wfairl.core.costs import CostSettings, prepare_scenes, train_cost
from wfairl.core.costs.epochs import one_torch_thread
from wfairl.core.demonstrations import collect
from wfairl.core.demonstrations.collection import FIRST_TEST_SEED
from wfairl.core.planning import ExactPlanner, PlannedPolicy, expert_policy, roll_out
from wfairl.core.planning.cost import Cost, path_cost, unit_cost
from wfairl.core.planning.product import Product
from wfairl.core.runs.evaluation import episode_rng
from wfairl.core.spectral.task_learner import fit_task_model
from wfairl.core.worlds import Task, find_task
from wfairl.minigrid.grid_view import view_states
from wfairl.minigrid.physics import CONTROLS

SUCCESSES, FAILURES, TEMPERATURE = 32, 128, 0.5
TEST_SEEDS = range(FIRST_TEST_SEED, FIRST_TEST_SEED + 32)
EXPENSIVE = 3.0
ROUNDING = 1e-9


def turning_left(product: Product) -> NDArray[np.float64]:
    """Turning left costs three times as much as anything else."""
    costs = unit_cost(product).copy()
    costs[:, CONTROLS.index("left")] = EXPENSIVE
    return costs


def carrying(product: Product) -> NDArray[np.float64]:
    """Every control costs three times as much while an object is carried."""
    costs = unit_cost(product).copy()
    costs[view_states(product.world, np.asarray(product.states)).carried > 0] = EXPENSIVE
    return costs


HIDDEN_COSTS: dict[str, Cost] = {"turning left": turning_left, "carrying": carrying}


@one_torch_thread()
def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--task", default="doorkey")
    parser.add_argument("--training-seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=CostSettings.epochs)
    parser.add_argument("--learning-rate", type=float, default=CostSettings.learning_rate)
    arguments = parser.parse_args()
    task = find_task(arguments.task)
    settings = CostSettings(epochs=arguments.epochs, learning_rate=arguments.learning_rate, temperature=TEMPERATURE)
    rows = [
        measure(task, name, replace(settings, seed=seed))
        for name in HIDDEN_COSTS
        for seed in range(arguments.training_seeds)
    ]
    shown = [{**row, "failed": row["failed"]["learned"]} for row in rows]
    report({"task": task.name, "scenes": len(TEST_SEEDS), "rows": rows}, arguments.json, rows_table(shown), width=200)


def measure(task: Task, name: str, settings: CostSettings) -> dict[str, Any]:
    """True costs of the agents' episodes, for one hidden cost and one seed of demonstrations and training."""
    hidden_cost = HIDDEN_COSTS[name]
    dataset = collect(task, SUCCESSES, FAILURES, TEMPERATURE, settings.seed, cost=hidden_cost)
    model = fit_task_model(dataset.words, dataset.scores, optional_start=True)
    scenes = prepare_scenes(dataset.demonstrations, task.make_world, model.finite, model.threshold).scenes
    settings = settings.complete(task.default_cost)
    result = train_cost(settings.make_model([scene.product for scene in scenes]), scenes, settings)
    worlds = map(task.make_world, TEST_SEEDS)
    optimal = np.array([ExactPlanner().solve(world, task.rule, hidden_cost).plan().cost for world in worlds])
    of_policy = {
        "true_rule": true_costs(task, hidden_cost, expert_policy(task, 0.0)),
        "unit_cost": true_costs(task, hidden_cost, PlannedPolicy("unit cost", model.finite, unit_cost, 0.0)),
        "learned": true_costs(task, hidden_cost, PlannedPolicy("learned", model.finite, result.model.as_cost(), 0.0)),
    }
    all_succeed = np.isfinite(list(of_policy.values())).all(axis=0)
    means = {key: float(costs[all_succeed].mean()) for key, costs in {"optimal": optimal, **of_policy}.items()}
    gap = means["unit_cost"] - means["optimal"]
    return {
        "hidden_cost": name,
        "seed": settings.seed,
        "epoch": result.epoch,
        "held_out_loss_before": result.history[0].held_out_loss,
        "held_out_loss": result.history[result.epoch].held_out_loss,
        **means,
        "gap_closed": (means["unit_cost"] - means["learned"]) / gap if gap > 0 else None,
        "as_good_as_optimal": int((of_policy["learned"] <= optimal + ROUNDING).sum()),
        "failed": {key: int(np.isinf(costs).sum()) for key, costs in of_policy.items()},
    }


def true_costs(task: Task, hidden_cost: Cost, policy: PlannedPolicy) -> NDArray[np.float64]:
    """The true cost of each test episode of a policy, inf if it fails; shape [scenes]."""
    costs = []
    for seed in TEST_SEEDS:
        episode = roll_out(task, policy, seed, episode_rng(seed))
        costs.append(path_cost(hidden_cost, episode) if episode.is_success else np.inf)
    return np.array(costs)


if __name__ == "__main__":
    main()
