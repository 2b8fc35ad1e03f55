"""Demonstrators with a hidden cost: what learning the cost improves, measured in that cost.

In the paper's tasks every step costs the expert 1, which is where every cost model starts: they cannot show that
learning finds a cost. Here some steps cost more. Agents act greedily in new scenes:

    optimal      the least true cost of the scene
    true rule    the planner with the true rule and unit cost
    unit cost    the planner with the learned automaton and unit cost
    learned      the same planner with the learned cost

Mean costs are over the scenes in which all agents succeed. In `crowded-office-coffee`, crowded cells cost 4, and the
rule and the cost are learned together, from successes of an unknown temperature.
"""

import numpy as np
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.harness.tables import having, mean_table
from experiments.procedures.unseen_scenes import measure_policy, scenes
from wfairl.core.costs import CostSettings, prepare_scenes, train_cost
from wfairl.core.demonstrations import Dataset
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning import ExactPlanner, PlannedPolicy, roll_out
from wfairl.core.planning.cost import Cost, path_cost, unit_cost
from wfairl.core.planning.product import Product
from wfairl.core.rational import CautiousPolicy
from wfairl.core.rational.logic_with_cost import learn_logic_and_cost
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.worlds.task import Task
from wfairl.minigrid.grid_view import view_states
from wfairl.minigrid.physics import CONTROLS
from wfairl.minigrid.world import MiniGridWorld
from wfairl.runs.collection import collect
from wfairl.runs.evaluation import episode_rng
from wfairl.runs.task_registry import find_task

SUCCESSES, FAILURES, TEMPERATURE, MOST_SCENES = 32, 128, 0.5, 32
EXPENSIVE = 3.0
CROWDED = "crowded-office-coffee"


def turning_left(product: Product) -> NDArray[np.float64]:
    """Turning left costs three times as much as anything else."""
    is_left = np.arange(len(CONTROLS)) == CONTROLS.index("left")
    return np.where(is_left, EXPENSIVE, unit_cost(product))


def carrying(product: Product) -> NDArray[np.float64]:
    """Every control costs three times as much while an object is carried."""
    costs = unit_cost(product).copy()
    assert isinstance(product.world, MiniGridWorld)
    costs[view_states(product.world, np.asarray(product.states)).carried > 0] = EXPENSIVE
    return costs


HIDDEN_COSTS: dict[str, Cost] = {"turning left": turning_left, "carrying": carrying}


def cells(options: Options) -> list[Cell]:
    """Each hidden cost in `doorkey` and the crowded office, three seeds each; a quick look has one seed."""
    listed = []
    for seed in range(options.seeds or (1 if options.quick else 3)):
        settings = {"seed": seed, "quick": options.quick}
        listed += [Cell(f"{name} {seed}", learn_cost, {"cost": name, **settings}) for name in HIDDEN_COSTS]
        listed.append(Cell(f"{CROWDED} {seed}", learn_both, settings))
    return listed


def learn_cost(cost: str, seed: int, quick: bool) -> Outcome:
    """True costs of the agents' episodes in `doorkey`, for one seed of demonstrations and training."""
    task, hidden_cost = find_task("doorkey"), HIDDEN_COSTS[cost]
    dataset = collect(task, SUCCESSES, FAILURES, TEMPERATURE, seed, cost=hidden_cost, n_jobs=1)
    model = SpectralTaskLearner().fit(dataset.words, dataset.scores, Reading(optional_start=True)).model
    shown = prepare_scenes(dataset.demonstrations, task.make_world, model.finite, model.threshold, n_jobs=1).scenes
    training = CostSettings(temperature=TEMPERATURE, seed=seed).complete(task.default_cost)
    trained = train_cost(training.make_model([scene.product for scene in shown]), shown, training, n_jobs=1)
    seeds = scenes(quick, MOST_SCENES)
    optimal = [ExactPlanner().solve(task.make_world(one), task.rule, hidden_cost).plan().cost for one in seeds]
    agents = {"true rule": (task.rule, unit_cost), "unit cost": (model.finite, unit_cost)}
    agents["learned"] = (model.finite, trained.model)
    found = {
        name: true_costs(task, hidden_cost, PlannedPolicy(name, automaton, cost, 0.0), seeds)
        for name, (automaton, cost) in agents.items()
    }
    all_succeed = np.isfinite(list(found.values())).all(axis=0)
    means = {name: float(np.array(paid)[all_succeed].mean()) for name, paid in {"optimal": optimal, **found}.items()}
    return Outcome([means])


def true_costs(task: Task, hidden_cost: Cost, policy: PlannedPolicy, seeds: range) -> list[float]:
    """The true cost of each episode of a policy, inf if it fails."""
    episodes = [roll_out(task, policy, seed, episode_rng(seed)) for seed in seeds]
    return [path_cost(hidden_cost, episode) if episode.is_success else np.inf for episode in episodes]


def learn_both(seed: int, quick: bool) -> Outcome:
    """The rule and the cost of crowded offices, learned together."""
    task = find_task(CROWDED)
    dataset = Dataset(task.name, collect(task, SUCCESSES, 0, TEMPERATURE, seed, n_jobs=1).demonstrations)
    explained = learn_logic_and_cost(dataset, task, n_jobs=1)
    cost = unit_cost if explained.cost is None else explained.cost
    policy = CautiousPolicy("both", explained.model, cost, 0.0, horizon=task.horizon)
    return Outcome([measure_policy(task, policy, scenes(quick))])


def sections(results: Results) -> Sections:
    """Costs in `doorkey`, and rules kept in crowded offices."""
    costs, kept = ["optimal", "true rule", "unit cost", "learned"], ["kept", "regret"]
    return {
        "Results": [
            mean_table(having(results.table, "learned"), ["cost", "seed"], costs, "True costs."),
            mean_table(having(results.table, "kept"), ["seed"], kept, "Rule and cost learned together."),
        ]
    }


HIDDEN_COST_EXPERIMENT = Experiment(
    name="hidden-cost",
    title="Demonstrators with a hidden cost",
    summary="What learning the cost improves, measured in that cost",
    cells=cells,
    sections=sections,
    quick="one seed, 8 scenes",
    options=("seeds",),
)
