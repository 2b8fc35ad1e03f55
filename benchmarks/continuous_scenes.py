"""Scenes of the benchmark of worlds without cells: the workshop, plans in it, and demonstrations there."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from wfairl.core.demonstrations import collect
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.demonstrations.log import read_recordings
from wfairl.core.planning import build_product
from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.worlds.graph import GraphWorld
from wfairl.floors.floor_plan import FloorPlan, resample
from wfairl.floors.refining import Band, RefinedPath, refine_path
from wfairl.floors.roadmap import Roadmap, draw_roadmap
from wfairl.floors.shapes import circle, corners_of
from wfairl.floors.workshop import (
    BAYS,
    PRICES,
    PROPOSITIONS,
    WORKSHOP,
    start_places,
    workshop,
    workshop_plan,
)

PLAN = workshop_plan()
PLANNED_ON = 1000
DEMONSTRATIONS, TEMPERATURE = 16, 0.2
FIRST_RECORDED = 1_500_000
NOISE, STEP = 0.03, 0.1


def three_stations(roadmap: Roadmap) -> GraphWorld:
    names = {"bay 1": "store", "bay 6": "inspection", "bay 12": "dock"}
    return roadmap.world(roadmap.nearest(np.array([12.0, 14.0])), names, PROPOSITIONS)


def find_true_plan(scene: GraphWorld) -> tuple[int, ...]:
    product = build_product(scene, WORKSHOP.rule)
    return find_plan(product, true_cost(WORKSHOP)(product)).path.states


def plan_refined(
    scene: GraphWorld, prices: Any, states: Sequence[int], band: Band | None = None
) -> tuple[RefinedPath, Any]:
    refined = refine_path(scene.source, scene.source.roadmap.configurations[list(states)], prices, band)
    return refined, refined.word


def expert_walks(seed: int) -> tuple[Dataset, float]:
    """Walks over the roadmap, which need no snapping."""
    return collect(WORKSHOP, DEMONSTRATIONS, 0, TEMPERATURE, seed, n_jobs=1), 0.0


def recorded_paths(seed: int) -> tuple[Dataset, float]:
    """Paths that know nothing of the roadmap, written as a log and read back; and how far off they were."""
    lines = recorded_lines(seed, DEMONSTRATIONS)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "paths.jsonl"
        file.write_text("\n".join(lines))
        log = read_recordings(file, WORKSHOP)
    return log.dataset, float(np.mean([match.mean_error for match in log.matches.values()]))


def recorded_lines(seed: int, count: int) -> list[str]:
    """Recorded paths as lines of a log."""
    roadmap = draw_roadmap(with_margins(PLAN), 1500, 77 + seed, places=start_places())
    lines = []
    for number in range(count):
        scene_seed = FIRST_RECORDED + 1000 * seed + number
        scene = workshop(scene_seed, roadmap)
        path = plan_refined(scene, PRICES, find_true_plan(scene), Band(rounds=6))[0].path
        rng = np.random.default_rng([scene_seed, 1])
        noisy = resample(path, STEP)
        noisy = noisy + NOISE * rng.normal(size=noisy.shape)
        lines.append(json.dumps({"seed": scene_seed, "path": np.round(noisy, 3).tolist()}))
    return lines


def with_margins(plan: FloorPlan) -> FloorPlan:
    """The floor as a careful person walks it: not close to where somebody welds, and well into a station."""
    regions = dict(plan.regions)
    for number, (x, y) in enumerate(BAYS, start=1):
        regions[f"bay {number}"] = circle(x, y, 0.4)
    for name in [name for name in regions if name.startswith("welding")]:
        middle = corners_of(regions[name]).mean(axis=0)
        radius = float(np.linalg.norm(corners_of(regions[name]) - middle, axis=1).min())
        regions[name] = circle(*middle, radius + 0.15)
    return replace(plan, regions=regions)
