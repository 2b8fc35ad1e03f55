"""Roadmaps of 10^3 to 10^6 edges: seconds to sample one, to plan on it and to refine the plan, and bytes of the table.

python benchmarks/roadmap_growth.py [--json] [--quick]
"""

import time
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
from reporting import make_parser, report

from wfairl.core.planning import build_product
from wfairl.core.planning.cost import Cost, feature_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.worlds.graph import GraphWorld
from wfairl.floors.floor_plan import FloorPlan
from wfairl.floors.refining import refine_path
from wfairl.floors.roadmap import draw_roadmap
from wfairl.floors.workshop import PRICES, PROPOSITIONS, WORKSHOP, workshop_plan

SAMPLES = (45, 130, 400, 1100, 3000, 8500, 24000)
STATIONS = {"bay 1": "store", "bay 6": "inspection", "bay 12": "dock"}


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    floor = workshop_plan()
    floor = replace(floor, regions={name: floor.regions[name] for name in STATIONS})
    measure(floor, 100)  # compiles
    sizes = SAMPLES[:3] if arguments.quick else SAMPLES
    report({"roadmaps": [measure(floor, samples) for samples in sizes]}, arguments.json)


def measure(floor: FloorPlan, samples: int) -> dict[str, Any]:
    prices: Cost = feature_cost(lambda features: features @ PRICES)
    times = [time.process_time()]
    roadmap = draw_roadmap(floor, samples)
    times.append(time.process_time())
    scene: GraphWorld = roadmap.world(roadmap.nearest(np.array([12.0, 14.0])), STATIONS, PROPOSITIONS)
    product = build_product(scene, WORKSHOP.rule)
    plan = find_plan(product, prices(product))
    times.append(time.process_time())
    refine_path(scene.source, roadmap.places[list(plan.path.states)], PRICES)
    times.append(time.process_time())
    tracemalloc.start()
    product = build_product(scene, WORKSHOP.rule)
    find_plan(product, prices(product))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    table = roadmap.table
    held = table.successors.nbytes + table.label_index.nbytes + table.feature_index.nbytes + table.features.nbytes
    drawing, planning, refining = np.diff(times).tolist()
    return {
        "samples": samples,
        "edges": roadmap.edges,
        "drawing, s": drawing,
        "planning, s": planning,
        "refining, s": refining,
        "table, MB": held / 1e6,
        "peak of planning, MB": peak / 1e6,
    }


if __name__ == "__main__":
    main()
