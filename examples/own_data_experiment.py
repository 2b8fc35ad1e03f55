"""Your own experiment on recorded data, like those on public data: a reader, some estimations, a table.

python -m experiments deliveries --load examples/own_data_experiment.py --data FOLDER
"""

from pathlib import Path

import numpy as np
from road_network import ROADS, TASK

from experiments.harness import Cell, Experiment, Options, Outcome, register_experiment, table_of
from experiments.public_data import PublicSource, from_routes
from experiments.route_choice import CostFamily, ExactChoice, fit, flat_estimate
from wfairl import build_product, find_plan, visit_in_order
from wfairl.core.planning import true_cost


def read(folder):
    """One route per line, as numbers of crossings; the last ten are for the test."""
    routes = [[int(one) for one in line.split(",")] for line in (folder / "routes.csv").read_text().splitlines()]
    train, test = np.split(np.arange(len(routes)), [-10])
    return from_routes("deliveries", ROADS.table, routes, {"train": train, "test": test})


FEATURES = (["km"], ["km", "jam"])
SOURCE = PublicSource("Routes of a delivery service", "your own logs", files=(), read=read)


def learn(data, features):
    """Estimate the costs of roads from some features, and the log-likelihood of new routes."""
    routes, family = SOURCE.load(data), CostFamily.linear(ROADS.table)
    kept = [family.names.index(name) for name in features]
    start = flat_estimate(CostFamily(family.features[..., kept], tuple(features)))
    found = fit(ExactChoice(), routes.choices(routes.splits["train"]), start)
    tested = ExactChoice().log_probabilities(routes.choices(routes.splits["test"]), found.costs)
    return Outcome([{"bits": float(tested.mean() / np.log(2))}])


def cells(options: Options):
    """What to compute."""
    folder = SOURCE.folder(options.data)
    return [Cell(" and ".join(some), learn, {"features": some}, data=folder) for some in FEATURES]


def sections(results):
    """What the page and the command show."""
    return {"Results": [table_of(results.table.set_index("cell")[["bits"]], "Bits per decision; 0 is certainty.")]}


ABOUT = ("deliveries", "What drivers care about", "routes on roads, explained by length and by traffic")
register_experiment(Experiment(*ABOUT, cells, sections, options=("data",), source=SOURCE))

if __name__ == "__main__":
    drives = [build_product(TASK.make_world(seed), visit_in_order("destination")) for seed in range(40)]
    moods = zip(drives, np.random.default_rng(0).uniform(0.7, 1.4, (40, 1, 4)), strict=True)  # of four directions
    routes = [find_plan(one, true_cost(TASK)(one) * mood).path.states for one, mood in moods]
    Path("routes.csv").write_text("\n".join(",".join(map(str, route)) for route in routes))
    for features in FEATURES:
        print(features, learn(Path(), features).rows[0])
