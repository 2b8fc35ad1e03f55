"""The focused planner against the exact one on T3, and its growth with the number of loose objects.

    python benchmarks/focused.py [--json] [--quick] [--scenes 20] [--demonstrations 32] [--parts growth plans training]

One plan: CPU time of the exact planner (product, cost-to-go, plan) and of the focused one in the same scenes of
`blocked-unlock-pickup`, under unit cost and under a random cost of features. Training: CPU time of log likelihood and
gradient of all demonstrations under a random local cost, when everything kept between epochs has been computed. Growth:
scenes of BabyAI's GoTo, nine rooms, with 2 to 20 objects: CPU time and product nodes of one plan, and the peak memory
of a separate process that plans in all these scenes. `--parts` chooses what to measure.
"""

import multiprocessing
import resource
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import torch
from reporting import make_parser, report

from wfairl.core.costs.scene import prepare_scenes
from wfairl.core.costs.settings import CostSettings
from wfairl.core.costs.training import CostTraining
from wfairl.core.planning import ExactPlanner, unit_cost
from wfairl.core.planning.cost import Cost, feature_cost
from wfairl.minigrid.babyai import GO_TO
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.focused import FocusedPlanner
from wfairl.minigrid.missions import read_mission
from wfairl.minigrid.world import MiniGridWorld
from wfairl.networks.cost_training import NetworkLoss
from wfairl.networks.grid_costs import LocalCost
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

OBJECTS = (2, 5, 8, 11, 14, 17, 20)
PARTS = ("growth", "plans", "training")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--scenes", type=int, default=20, help="scenes of each measurement")
    parser.add_argument("--demonstrations", type=int, default=32, help="demonstrations of the training")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS, help="what to measure")
    arguments = parser.parse_args()
    objects = OBJECTS[:2] if arguments.quick else OBJECTS
    if arguments.quick:
        arguments.scenes, arguments.demonstrations = 2, 2
    tables: dict[str, list[dict[str, Any]]] = {}
    if "growth" in arguments.parts:
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn, max_tasks_per_child=1) as alone:
            tables["growth"] = list(alone.map(measure_growth, objects, [arguments.scenes] * len(objects)))
    if "plans" in arguments.parts:
        tables["one plan on T3"] = [measure_plans(name, arguments.scenes) for name in ("unit", "features")]
    if "training" in arguments.parts:
        tables["training on T3"] = [measure_training(arguments.demonstrations)]
    report(tables, arguments.json)


def measure_plans(kind: str, scenes: int) -> dict[str, Any]:
    task = find_task("blocked-unlock-pickup")
    weights = np.random.default_rng(0).uniform(0, 1, 64)
    cost: Cost = unit_cost if kind == "unit" else feature_cost(lambda phi: 0.2 + phi @ weights[: phi.shape[1]])
    took: dict[str, list[float]] = {"exact": [], "focused": []}
    for seed in range(-1, scenes):  # the first compiles
        world = task.make_world(max(0, seed))
        found = []
        for name, planner in (("exact", ExactPlanner()), ("focused", FocusedPlanner())):
            began = time.process_time()
            found.append(planner.solve(world, task.rule, cost).plan().cost)
            if seed >= 0:
                took[name].append(time.process_time() - began)
        assert np.isclose(*found)
    exact, focused = (statistics.median(times) for times in took.values())
    return {
        "cost": kind, "scenes": scenes, "exact ms": 1e3 * exact, "focused ms": 1e3 * focused, "ratio": exact / focused,
    }  # fmt: skip


def measure_training(demonstrations: int) -> dict[str, Any]:
    task = find_task("blocked-unlock-pickup")
    collected = collect(task, demonstrations, 0, temperature=0.5, seed=0, n_jobs=1).demonstrations
    torch.manual_seed(0)
    model = LocalCost()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    took, losses = {}, {}
    for planner in ("exact", "own"):
        scenes = prepare_scenes(collected, task.make_world, task.rule, 0.5, 1, planner).scenes
        loss = NetworkLoss(model, CostTraining(model, scenes, CostSettings(temperature=0.5), n_jobs=1))
        for _ in range(2):  # the first compiles, and meets what is kept
            began = time.process_time()
            found, differentiable = loss.differentiable(scenes)
            torch.autograd.grad(differentiable, list(model.parameters()))
            took[planner] = time.process_time() - began
        losses[planner] = found
    difference = abs(losses["exact"] - losses["own"])
    return {
        "demonstrations": demonstrations, "exact s": took["exact"], "focused s": took["own"],
        "focused / exact": took["own"] / took["exact"], "difference of the loss": difference,
    }  # fmt: skip


def measure_growth(objects: int, scenes: int) -> dict[str, Any]:
    took, nodes, steps = [], [], []
    for seed in range(-1, scenes):
        environment = make_environment(GO_TO.environment_id, num_dists=objects)
        reset(environment, max(0, seed))
        ((part,),) = read_mission(environment)
        world = MiniGridWorld.from_environment(environment, {"first": part})
        began = time.process_time()
        solution = FocusedPlanner().solve(world, GO_TO.rule, unit_cost)
        plan = solution.plan()
        if seed >= 0:
            took.append(time.process_time() - began)
            nodes.append(solution.plan().statistics["product_states"])
            steps.append(plan.cost)
    return {
        "objects": objects, "log10 of states": float(np.log10(world.estimated_states())),
        "median ms": 1e3 * statistics.median(took), "max ms": 1e3 * max(took),
        "median nodes": statistics.median(nodes), "max nodes": max(nodes), "mean steps": statistics.mean(steps),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


if __name__ == "__main__":
    main()
