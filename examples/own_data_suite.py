"""Your own suite on recorded data, like those on public data: a reader, some estimations, a table.

wfairl --tasks examples/own_data_suite.py data deliveries FOLDER -o data
wfairl --tasks examples/own_data_suite.py reproduce --suite deliveries --data data
"""

from pathlib import Path

import numpy as np
from road_network import ROADS, TASK

from experiments.public_data import PublicSource, from_routes
from experiments.route_choice import Choices, CostFamily, ExactChoice, fit, flat_estimate
from experiments.suites import DataSuite, Fit, Outcome, TextTable, register_data_suite
from wfairl import build_product, find_plan, visit_in_order
from wfairl.core.planning import true_cost


def read(folder):
    """One route per line, as numbers of crossings; the last ten are for the test."""
    lines = (folder / "routes.csv").read_text().splitlines()
    train, test = np.split(np.arange(len(lines)), [-10])
    routes = [[int(crossing) for crossing in line.split(",")] for line in lines]
    return from_routes("deliveries", ROADS.table, routes, {"train": train, "test": test})


def learn(data, features):
    """Estimate the costs of roads from some features, and the log-likelihood of new routes."""
    family = CostFamily.linear(data.table)
    kept = [family.names.index(name) for name in features]
    steps = [data.steps(route) for route in range(len(data))]
    choices = Choices.of_trajectories(data.table.successors, steps, data.goals)
    start = flat_estimate(CostFamily(family.features[..., kept], tuple(features)))
    found = fit(ExactChoice(), choices.of_trips(data.split("train")), start)
    tested = ExactChoice().log_probabilities(choices.of_trips(data.split("test")), found.costs)
    return Outcome({"bits": float(tested.mean() / np.log(2))}, {"weights": found.weights.tolist()})


def tables(outcomes):
    """The tables of the report and of the command."""
    body = tuple((name, f"{one.measured['bits']:.2f}") for name, one in outcomes.items())
    return [TextTable("Bits per decision on new routes; 0 is certainty.", ("explained by", "bits"), body)]


FITS = [Fit("km", learn, {"features": ["km"]}), Fit("km and jam", learn, {"features": ["km", "jam"]})]
SOURCE = PublicSource("deliveries", "Routes of a delivery service", "your own logs", files=(), read=read)
ABOUT = ("deliveries", "What drivers care about", "routes on roads, explained by length and by traffic")
SUITE = register_data_suite(DataSuite(*ABOUT, SOURCE, lambda quick: FITS, tables, lambda outcomes: [], ("A look.",)))

if __name__ == "__main__":
    drives = [build_product(TASK.make_world(seed), visit_in_order("destination")) for seed in range(40)]
    moods = np.random.default_rng(0).uniform(0.7, 1.4, (40, 1, 4))  # of four directions
    prices = [true_cost(TASK)(one) * mood for one, mood in zip(drives, moods, strict=True)]
    routes = [find_plan(one, price).path.states for one, price in zip(drives, prices, strict=True)]
    Path("routes.csv").write_text("\n".join(",".join(map(str, route)) for route in routes))
    data = SOURCE.load(Path())
    print(tables({fit.name: fit.run(data) for fit in FITS})[0].to_markdown())
