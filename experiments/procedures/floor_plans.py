"""Worlds without cells: learning from demonstrations on a floor plan, and roadmaps of more and more samples.

learned  16 demonstrations of `workshop`, no failures: rule and prices are learned, and 64 new scenes are planned on a
         roadmap and refined. Demonstrations are recorded paths, planned on another floor, with welding larger and
         stations smaller since people keep a margin, with noise of 3 cm, and snapped.
gap      the true rule and prices on roadmaps of more and more samples: the cost above the best known one.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.harness.tables import mean_table, rows_table
from experiments.procedures.unseen_scenes import scenes
from wfairl.core.costs.feature_costs import PricesCost
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning import ExactPlanner, build_product
from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.plan import Plan, find_plan
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.task import rule_of
from wfairl.floors.floor_plan import FloorPlan, resample
from wfairl.floors.refining import ROUNDS, RefinedPath, refine_path
from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.shapes import circle, corners_of
from wfairl.floors.workshop import (
    BAYS,
    PRICES,
    WORKSHOP,
    start_places,
    workshop,
    workshop_plan,
    workshop_roadmap,
)
from wfairl.recordings.log import read_recordings
from wfairl.runs.methods import train
from wfairl.runs.run_directory import load_run

PLANNED_ON = 1000
"""Samples of the roadmap of new scenes."""

DEMONSTRATIONS, NOISE, STEP = 16, 0.03, 0.1
FIRST_RECORDED = 1_500_000
SAMPLES = (150, 300, 600, 1200, 2400, 4800, 9600)
GAP_SCENES = range(7000, 7024)
ABOVE = "cost above ours with true rule and prices"


def cells(options: Options) -> list[Cell]:
    """Both parts; a quick look has one seed, few scenes and small roadmaps."""
    quick, listed = options.quick, []
    for seed in range(options.seeds or (1 if quick else 3)):
        listed.append(Cell(f"learned {seed}", learn_and_plan, {"seed": seed, "quick": quick}))
    sizes = list(SAMPLES[: 3 if quick else None])
    return [*listed, Cell("gap", measure_gap, {"sizes": sizes, "scenes": 2 if quick else len(GAP_SCENES)})]


def learn_and_plan(directory: Path, seed: int, quick: bool) -> Outcome:
    """Rule and prices learned from recorded paths, and plans with them in new scenes."""
    dataset, error = recorded_paths(seed, directory / "paths.jsonl")
    model = RationalLearner().learn(dataset, WORKSHOP, n_jobs=1)
    train("wfa-irl", dataset, directory / "run", task_model=model, n_jobs=1, resume=(directory / "run").exists())
    cost = load_run(directory / "run").cost
    assert isinstance(cost, PricesCost)
    policy, kept, ratios, seconds = CautiousPolicy("plan", model, cost, 0.0), [], [], 0.0
    tests = [workshop(test, workshop_roadmap(PLANNED_ON)) for test in scenes(quick)]
    for scene in tests:
        begun = time.process_time()
        plan = ExactPlanner().solve(scene, policy.choose(scene).automaton, policy.cost).plan()
        refined = refine(scene, cost.prices, plan.path.states)
        seconds += time.process_time() - begun
        kept.append(rule_of(WORKSHOP).fulfilled_at(refined.word[1:]) is not None)
        ratios.append(float(refined.metres @ PRICES) / best_cost(scene))
    row = {
        "snapping error, cm": 100 * error,
        "rule": model.sentence,
        "price of wet": float(cost.prices[1] / cost.prices[0]),
        "price of lane": float(cost.prices[2] / cost.prices[0]),
        "rule kept": float(np.mean(kept)),
        ABOVE: float(np.mean(ratios) - 1),
        "seconds a scene": seconds / len(tests),
    }
    return Outcome([row])


def recorded_paths(seed: int, file: Path) -> tuple[Dataset, float]:
    """Paths that know nothing of the roadmap, written as a log and read back; and how far off they were."""
    roadmap, lines = draw_roadmap(with_margins(workshop_plan()), 1500, 77 + seed, places=start_places()), []
    for scene_seed in range(FIRST_RECORDED + 1000 * seed, FIRST_RECORDED + 1000 * seed + DEMONSTRATIONS):
        scene = workshop(scene_seed, roadmap)
        path = refine(scene, PRICES, true_plan(scene).path.states, rounds=6).path
        smooth = resample(path, STEP)
        noisy = smooth + NOISE * np.random.default_rng([scene_seed, 1]).normal(size=smooth.shape)
        lines.append(json.dumps({"seed": scene_seed, "path": np.round(noisy, 3).tolist()}))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines))
    log = read_recordings(file, WORKSHOP)
    return log.dataset, float(np.mean([match.mean_error for match in log.matches.values()]))


def with_margins(plan: FloorPlan) -> FloorPlan:
    """The floor as a careful person walks it: not close to where somebody welds, and well into a station."""
    regions = dict(plan.regions)
    for number, (x, y) in enumerate(BAYS, start=1):
        regions[f"bay {number}"] = circle(x, y, 0.4)
    for name in [name for name in regions if name.startswith("welding")]:
        middle = corners_of(regions[name]).mean(axis=0)
        radius = float(np.linalg.norm(corners_of(regions[name]) - middle, axis=1).min())
        regions[name] = circle(float(middle[0]), float(middle[1]), radius + 0.15)
    return replace(plan, regions=regions)


def true_plan(scene: GraphWorld) -> Plan:
    """The plan with the true rule and the true prices."""
    product = build_product(scene, WORKSHOP.rule)
    return find_plan(product, true_cost(WORKSHOP)(product))


def refine(scene: GraphWorld, prices: NDArray[np.float64], states: Sequence[int], rounds: int = ROUNDS) -> RefinedPath:
    """A plan on the roadmap of a scene, refined in the plane."""
    return refine_path(scene.source, scene.source.roadmap.places[list(states)], prices, rounds)


def best_cost(scene: GraphWorld) -> float:
    """What our plan with the true rule and the true prices costs."""
    return refine(scene, PRICES, true_plan(scene).path.states).cost


def measure_gap(sizes: list[int], scenes: int) -> Outcome:
    """Cost above the best known, on roadmaps of more and more samples."""
    costs, edges = [], []
    for number in sizes:
        roadmap = workshop_roadmap(number)
        edges.append(roadmap.edges)
        worlds = [workshop(seed, roadmap) for seed in GAP_SCENES[:scenes]]
        plans = [true_plan(world) for world in worlds]
        refined = [refine(world, PRICES, plan.path.states).cost for world, plan in zip(worlds, plans, strict=True)]
        costs.append([[plan.cost for plan in plans], refined])
    above = (np.array(costs) / np.min(costs, axis=(0, 1)) - 1).mean(axis=2)
    rows = [
        {"samples": number, "edges": many, "on the roadmap": float(one), "refined": float(other)}
        for number, many, (one, other) in zip(sizes, edges, above, strict=True)
    ]
    return Outcome(rows)


def sections(results: Results) -> Sections:
    """A table for each part."""
    measures = ["snapping error, cm", "price of wet", "price of lane", "rule kept", ABOVE, "seconds a scene"]
    learned, gap = results.rows_of("learned"), ["edges", "on the roadmap", "refined"]
    return {
        "Learned from demonstrations": [mean_table(learned, ["seed"], measures, "Plans in new scenes.")],
        "The gap": [rows_table(results.rows_of("gap"), "samples", gap, "Cost above the best known one.")],
    }


FLOORS_EXPERIMENT = Experiment(
    name="floors",
    title="Worlds without cells",
    summary="Learning from demonstrations on a floor plan",
    cells=cells,
    sections=sections,
    quick="one seed, 8 scenes, small roadmaps",
    options=("seeds",),
)
