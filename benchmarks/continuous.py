"""Worlds without cells: learning from demonstrations on a floor plan, a comparison with OMPL, and growth.

    python benchmarks/continuous.py [recorded|walks|ompl|gap|growth|curves|pictures ...] [--json] [--images docs/images]

recorded 16 demonstrations of `workshop`, no failures, three seeds: rule and prices are learned, and 64 new scenes are
         planned on a roadmap and refined. Demonstrations are recorded paths: planned on another floor (welding larger,
         stations smaller: people keep a margin), with noise of 3 cm, and snapped.
walks    the same from 16 paths of the expert on the roadmap, at a temperature of 0.2 m.
ompl     OMPL's BIT* in the same 64 scenes, with the true rule, the true prices and at least the same time.
gap      the true rule and prices on roadmaps of 150 to 9,600 samples: the cost above the best known one.
growth   10^3 to 10^6 edges: seconds to sample a roadmap and to plan on it, bytes of the table.
curves   roadmaps of cars, by OMPL's Dubins and Reeds-Shepp curves.
pictures of a plan and of a snapped path; with --images.
"""

import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from continuous_figures import draw
from continuous_scenes import (
    PLAN,
    PLANNED_ON,
    expert_walks,
    find_true_plan,
    plan_refined,
    recorded_lines,
    recorded_paths,
    three_stations,
)
from ompl_planning import NoPathError, SafeOmpl
from reporting import make_parser, report, rows_table

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.feature_costs import PricesCost
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning import ExactPlanner, build_product
from wfairl.core.planning.cost import Cost, feature_cost, true_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.runs.methods import train
from wfairl.core.runs.run_directory import load_run
from wfairl.core.worlds.graph import GraphWorld
from wfairl.floors.ompl_steering import dubins, reeds_shepp
from wfairl.floors.refining import Band
from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.workshop import (
    PRICES,
    PROPOSITIONS,
    WORKSHOP,
    workshop,
)
from wfairl.floors.workshop import workshop_roadmap as roadmap_of

FIRST_TEST, TESTS = 5000, 64
SEEDS = (0, 1, 2)
SECONDS, MORE_TIME, FEWER = 0.75, 5, 24
"""Of the processor that OMPL has for a scene, at least twice as many as `recorded` takes; in fewer scenes, more."""
SAMPLES = (150, 300, 600, 1200, 2400, 4800, 9600)
GAP_SCENES = range(7000, 7024)
GROWTH = (45, 130, 400, 1100, 3000, 8500, 24000)


def main() -> None:
    parser = make_parser(__doc__)
    parts: dict[str, Callable[[], Any]] = {
        "recorded": recorded,
        "walks": walks,
        "ompl": ompl,
        "gap": gap,
        "growth": growth,
        "curves": curves,
        "pictures": pictures,
    }
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="what to measure; all of it if none is named")
    parser.add_argument("--images", type=Path, help="write the figures of what is measured into this folder")
    arguments = parser.parse_args()
    figures = {name: parts[name]() for name in arguments.parts or parts}
    if arguments.images is not None:
        draw(figures, arguments.images)
    tables = [rows_table([without_points(row) for row in rows], name, ",.3f") for name, rows in figures.items()]
    report(figures, arguments.json, *tables)


def without_points(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("path", "costs", "walk")}


def recorded() -> list[dict[str, Any]]:
    """A row for each seed."""
    return [learn_and_plan("recorded", recorded_paths, seed) for seed in SEEDS]


def walks() -> list[dict[str, Any]]:
    """A row for each seed."""
    return [learn_and_plan("walks", expert_walks, seed) for seed in SEEDS]


def learn_and_plan(source: str, demonstrate: Callable[[int], tuple[Dataset, float]], seed: int) -> dict[str, Any]:
    dataset, error = demonstrate(seed)
    model = find_learner("rational").learn(dataset, WORKSHOP, n_jobs=1)
    cost = learn_prices(dataset, model)
    policy = CautiousPolicy("plan", model, cost.as_cost(), 0.0)
    kept, costs, best, seconds = [], [], [], 0.0
    for scene in test_scenes(TESTS):
        begun = time.process_time()
        choice = policy.choose(scene)
        plan = ExactPlanner().solve(scene, choice.automaton, choice.cost).plan()
        refined, word = plan_refined(scene, cost.prices, plan.path.states)
        seconds += time.process_time() - begun
        kept.append(WORKSHOP.rule.fulfilled_at(word[1:]) is not None)
        costs.append(float(refined.metres @ PRICES))
        best.append(true_cost_of(scene))
    row = {
        "demonstrations": source,
        "seed": seed,
        "snapping error, cm": 100 * error,
        "rule": model.sentences[0],
        "price of wet, lane": " ".join(f"{price:.2f}" for price in cost.prices[1:] / cost.prices[0]),
        "rule kept": float(np.mean(kept)),
        "true cost": float(np.mean(costs)),
        "above ours with true rule and prices": float(np.mean(np.array(costs) / best) - 1),
        "seconds a scene": seconds / TESTS,
        "costs": costs,
    }
    print(without_points(row), file=sys.stderr, flush=True)
    return row


def true_cost_of(scene: GraphWorld) -> float:
    """What our plan with the true rule and the true prices costs; the same start and meanings, the same plan."""
    key = scene.initial_state, tuple(scene.source.meanings.items())
    if key not in TRUE_COSTS:
        TRUE_COSTS[key] = plan_refined(scene, PRICES, find_true_plan(scene))[0].cost
    return TRUE_COSTS[key]


TRUE_COSTS: dict[Any, float] = {}


def test_scenes(count: int) -> list[GraphWorld]:
    return [workshop(seed, roadmap_of(PLANNED_ON)) for seed in range(FIRST_TEST, FIRST_TEST + count)]


def ompl() -> list[dict[str, Any]]:
    """What BIT* finds in the test scenes with the true rule and the true prices, beside our plans with the same."""
    ours = np.array([plan_refined(scene, PRICES, find_true_plan(scene))[0].cost for scene in test_scenes(TESTS)])
    rows, peer = [], SafeOmpl()
    for factor, scenes in ((1, TESTS), (MORE_TIME, FEWER)):
        costs = np.array([ompl_cost(peer, scene, factor * SECONDS) for scene in test_scenes(scenes)])
        found = np.isfinite(costs)
        rows.append(
            {
                "planner": "BIT*",
                "seconds a scene": factor * SECONDS,
                "scenes": scenes,
                "found": float(found.mean()),
                "true cost where found": float(costs[found].mean()),
                "ours there": float(ours[:scenes][found].mean()),
                "OMPL / ours": float(np.mean(costs[found] / ours[:scenes][found])),
                "crashes": peer.crashes,
                "costs": costs.tolist(),
            }
        )
        print(without_points(rows[-1]), file=sys.stderr, flush=True)
    return rows


def ompl_cost(peer: SafeOmpl, scene: GraphWorld, seconds: float, planner: str = "BITstar") -> float:
    """True cost of OMPL's path, inf if it finds none."""
    regions = [(meaning, PLAN.regions[name]) for name, meaning in scene.source.meanings.items()]
    goals = [next(region for meaning, region in regions if meaning == name) for name in PROPOSITIONS[:3]]
    welding = [region for meaning, region in regions if meaning == "welding"]
    start = scene.source.roadmap.configurations[scene.initial_state]
    try:
        path = peer.plan(PLAN, start, goals, welding, PRICES, seconds, planner)
    except NoPathError:
        return np.inf
    return float(PLAN.metres(path) @ PRICES)


def learn_prices(dataset: Dataset, model: TaskModel) -> PricesCost:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        train("wfa-irl", dataset, run, {}, task_model=model, n_jobs=1)
        cost = load_run(run).cost
    assert isinstance(cost, PricesCost)
    return cost


def gap() -> list[dict[str, Any]]:
    """Cost above the best known, on roadmaps of more and more samples."""
    costs: dict[int, list[tuple[float, float]]] = {}
    edges = {}
    for samples in SAMPLES:
        roadmap = roadmap_of(samples)
        edges[samples] = roadmap.edges
        costs[samples] = []
        for seed in GAP_SCENES:
            scene = workshop(seed, roadmap)
            product = build_product(scene, WORKSHOP.rule)
            plan = find_plan(product, true_cost(WORKSHOP)(product))
            costs[samples].append((plan.cost, plan_refined(scene, PRICES, plan.path.states)[0].cost))
    best = np.min([costs[samples] for samples in SAMPLES], axis=(0, 2))
    return [
        {
            "samples": samples,
            "edges": edges[samples],
            "roadmap": float(np.mean(np.array(costs[samples])[:, 0] / best) - 1),
            "refined": float(np.mean(np.array(costs[samples])[:, 1] / best) - 1),
        }
        for samples in SAMPLES
    ]


def growth() -> list[dict[str, Any]]:
    """Seconds and bytes by the size of a roadmap."""
    open_floor = replace(PLAN, regions={name: PLAN.regions[name] for name in ("bay 1", "bay 6", "bay 12")})
    rule, rows = WORKSHOP.rule, []
    find_true_plan(three_stations(draw_roadmap(open_floor, 100)))  # compiles
    for samples in GROWTH:
        begun = time.process_time()
        roadmap = draw_roadmap(open_floor, samples)
        drawn = time.process_time() - begun
        scene = three_stations(roadmap)
        prices: Cost = feature_cost(lambda features: features @ PRICES)
        begun = time.process_time()
        product = build_product(scene, rule)
        plan = find_plan(product, prices(product))
        planned = time.process_time() - begun
        begun = time.process_time()
        plan_refined(scene, PRICES, plan.path.states)
        refined = time.process_time() - begun
        tracemalloc.start()
        product = build_product(scene, rule)
        find_plan(product, prices(product))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        table = roadmap.table
        held = table.successors.nbytes + table.label_index.nbytes + table.feature_index.nbytes + table.features.nbytes
        rows.append(
            {
                "samples": samples,
                "edges": roadmap.edges,
                "drawing, s": drawn,
                "planning, s": planned,
                "refining, s": refined,
                "table, MB": held / 1e6,
                "peak of planning, MB": peak / 1e6,
            }
        )
    return rows


def curves() -> list[dict[str, Any]]:
    """A walk to the three stations for cars of different kinds."""
    floor = replace(PLAN, regions={name: PLAN.regions[name] for name in ("bay 1", "bay 6", "bay 12")})
    rows = []
    for name, steering, samples in (
        ("straight", None, 1000),
        ("reeds-shepp, 0.8 m", reeds_shepp(0.8), 1000),
        ("dubins, 0.8 m", dubins(0.8), 1000),
    ):
        begun = time.process_time()
        roadmap = draw_roadmap(floor, samples) if steering is None else draw_roadmap(floor, samples, 0, steering)
        drawn = time.process_time() - begun
        scene = three_stations(roadmap)
        product = build_product(scene, WORKSHOP.rule)
        plan = find_plan(product, true_cost(WORKSHOP)(product))
        begun = time.process_time()
        band = Band() if steering is None else Band(rounds=8, around=3, reach=4)
        refined, _ = plan_refined(scene, PRICES, plan.path.states, band)
        rows.append(
            {
                "steering": name,
                "edges": roadmap.edges,
                "drawing, s": drawn,
                "cost on the roadmap": plan.cost,
                "refined": refined.cost,
                "refining, s": time.process_time() - begun,
                "path": refined.path[:, :2].tolist(),
            }
        )
    return rows


def pictures() -> list[dict[str, Any]]:
    """A plan with the true rule and prices, and a recorded path, as points."""
    scene = workshop(FIRST_TEST + 1, roadmap_of(PLANNED_ON))
    states = find_true_plan(scene)
    refined, _ = plan_refined(scene, PRICES, states)
    entry = json.loads(recorded_lines(SEEDS[0], 1)[0])
    world = workshop(entry["seed"])
    match = world.source.match_path(np.array(entry["path"]), world.initial_state)
    return [
        {"picture": "plan", "walk": list(states), "seed": FIRST_TEST + 1, "path": refined.path.tolist()},
        {"picture": "snapping", "walk": list(match.states), "seed": entry["seed"], "path": entry["path"]},
    ]


if __name__ == "__main__":
    main()
