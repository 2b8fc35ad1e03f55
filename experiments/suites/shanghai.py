"""Taxis in Shanghai: the authors' five splits, learning from 100, 1,000 and 10,000 routes.

A model is tested on the test routes of the split, and once more on those between an origin and a destination that no
training route has. Everything is fitted to training routes; a held-out fifth of them chooses the penalty of a table.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.figures.estimates import draw_learning_curves, draw_network_costs
from experiments.public_data.shanghai import SHANGHAI, SIZES, SPLITS, test_split, training_split
from experiments.public_data.trajectories import TrajectorySet
from experiments.route_choice.choice_models import ChoiceModel, ExactChoice, SoftChoice
from experiments.route_choice.choices import Choices
from experiments.route_choice.estimation import CostEstimate, CostFamily, choose_penalty, fit, flat_estimate
from experiments.route_choice.routes import Route, greedy_routes, score_routes
from experiments.suites.data_suite import DataSuite, Fit, Outcome, Outcomes, mean_and_spread, measured_of
from experiments.suites.reproduction import TextTable
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.pages.captioned_figure import CaptionedFigure

MODELS: dict[str, ChoiceModel] = {"exact": ExactChoice(n_jobs=1), "soft": SoftChoice()}

ENTRIES = {
    "linear": "ours, linear cost",
    "transition": "ours, a cost for each transition",
    "soft linear": "MaxEnt (recursive logit), linear cost",
    "soft transition": "MaxEnt, a cost for each transition",
}

SHORTEST = "shortest length"

MAPPED = ("linear", "transition")
"""Entries whose cost is drawn on the map."""

START = 2.0
"""Initial weights, high enough for the soft model to exist."""

PENALTIES = (1.0, 3.0, 10.0, 30.0)

TOLERANCE = 1e-6
"""Of a fit with a table, in nats per step."""

CLONING, CLONING_ROUTES = (0.229, 0.726, -4.897), 10_000
"""Edit distance, BLEU and log-probability on split 0 of the cloning network in the authors' repository, evaluated on
the same definitions as ours."""

PARTS = {"": "all test routes", "unseen ": "routes between unseen pairs"}


def fits(quick: bool) -> Sequence[Fit]:
    """What to compute; a quick look has the first split, and at most 1,000 routes."""
    splits, sizes = (SPLITS[:1], SIZES[:2]) if quick else (SPLITS, SIZES)
    listed = [Fit(f"{SHORTEST}, split {split}", shortest, {"split": split}, 10) for split in splits]
    for size, split, entry in product(sizes, splits, ENTRIES):
        settings = {"entry": entry, "size": size, "split": split}
        listed.append(Fit(_name(entry, size, split), learn, settings, _seconds(entry, size)))
    return listed


def _titled_names() -> Iterator[tuple[str, list[str]]]:
    """For each entry and number of routes its title, and the names of its fits to the splits."""
    for size, (entry, title) in product(SIZES, ENTRIES.items()):
        yield f"{title}, {size:,} routes", [_name(entry, size, split) for split in SPLITS]


def _name(entry: str, size: int, split: int) -> str:
    return f"{entry}, {size} routes, split {split}"


def _seconds(entry: str, size: int) -> float:
    return (60.0 if "transition" in entry else 10.0) * size / 10_000 + 10.0


def shortest(data: TrajectorySet, split: int) -> Outcome:
    """Routes of least length: nothing is learned, and there is no log-probability."""
    family = CostFamily.linear(data.table)
    by_length = np.array([1.0 if "length" in name else 0.0 for name in family.names])
    tested = data.split(test_split(split))
    costs = family.costs(by_length, np.zeros(0))
    return Outcome(_route_scores(data, MODELS["exact"], costs, tested, ""))


def learn(data: TrajectorySet, entry: str, size: int, split: int) -> Outcome:
    """Fit to the training routes of a split, and test."""
    model = MODELS["soft" if entry.startswith("soft") else "exact"]
    trained, tested = data.split(training_split(split, size)), data.split(test_split(split))
    choices = choices_of(data, trained)
    estimate = fit(model, choices, flat_estimate(CostFamily.linear(data.table), START))
    facts: dict[str, Any] = {"weights": dict(zip(estimate.family.names, estimate.weights.tolist(), strict=True))}
    seconds = estimate.seconds
    if entry.endswith("transition"):
        family, linear = CostFamily.linear(data.table, _entries(data)), estimate
        start = CostEstimate(family, linear.weights, np.zeros(family.table_size))
        rng = np.random.default_rng(split)
        chosen = choose_penalty(model, choices, start, PENALTIES, rng, tolerance=TOLERANCE)
        estimate = fit(model, choices, chosen.estimate, chosen.penalty, tolerance=TOLERANCE)
        seconds += estimate.seconds
        facts |= {"penalty": chosen.penalty, "held out": chosen.held_out, "seconds to choose": chosen.seconds}
    measured = {"seconds": seconds}
    pairs = {_pair(data, i) for i in trained}
    unseen = np.array([i for i in tested if _pair(data, i) not in pairs], np.int64)
    for part, numbers in (("", tested), ("unseen ", unseen)):
        facts[f"{part}trips"] = len(numbers)
        if not len(numbers):
            continue
        measured |= _route_scores(data, model, estimate.costs, numbers, part)
        likelihood = model.log_probabilities(choices_of(data, numbers), estimate.costs)
        measured[f"{part}log-probability"] = float(likelihood.sum()) / len(numbers)
    return Outcome(measured, facts, _map(data, estimate) if split == 0 and entry in MAPPED else {})


def choices_of(data: TrajectorySet, numbers: NDArray[np.int64]) -> Choices:
    """The steps of some routes, each towards its last link."""
    return Choices.of_trajectories(data.table.successors, [data.steps(i) for i in numbers], data.goals[numbers])


def _entries(data: TrajectorySet) -> NDArray[np.int64]:
    """An entry of its own for every transition."""
    available = data.table.successors != UNAVAILABLE
    entries = np.full(available.shape, -1)
    entries[available] = np.arange(available.sum())
    return entries


def _pair(data: TrajectorySet, number: int) -> tuple[int, int]:
    return int(data.states[data.first[number]]), int(data.goals[number])


def _route_scores(
    data: TrajectorySet, model: ChoiceModel, costs: NDArray[np.float64], numbers: NDArray[np.int64], part: str
) -> dict[str, float]:
    successors, pairs = data.table.successors, [_pair(data, number) for number in numbers]
    Q = {goal: model.control_cost_to_go(successors, costs, goal) for goal in sorted({goal for _, goal in pairs})}
    true: list[Route] = [data.route(number) for number in numbers]
    scores = score_routes(true, greedy_routes(successors, Q, pairs))
    return {
        f"{part}edit distance": scores.edit_distance,
        f"{part}BLEU": scores.bleu,
        f"{part}Jensen-Shannon": scores.jensen_shannon,
    }


def _map(data: TrajectorySet, estimate: CostEstimate) -> dict[str, NDArray[Any]]:
    state, control = np.nonzero(data.table.successors != UNAVAILABLE)
    assert data.table.positions is not None
    return {
        "positions": data.table.positions,
        "edges": np.stack([state, data.table.successors[state, control]], axis=1).astype(np.int64),
        "costs": estimate.costs[state, control],
    }


def tables(outcomes: Outcomes) -> Sequence[TextTable]:
    """Split 0 beside the authors' network, and mean and spread over splits."""
    return _first_split(outcomes), *(_means(outcomes, part, title) for part, title in PARTS.items()), _times(outcomes)


NUMBERS = ("edit distance", "BLEU", "Jensen-Shannon", "log-probability")


def _first_split(outcomes: Outcomes) -> TextTable:
    head = ("", "edit distance", "BLEU", "log-probability")

    def line(title: str, name: str) -> tuple[str, ...] | None:
        if name not in outcomes:
            return None
        measured = outcomes[name].measured
        return title, *(f"{measured[what]:.3f}" if what in measured else "-" for what in head[1:])

    lines = [line(SHORTEST, f"{SHORTEST}, split 0")]
    lines.append((f"cloning by the authors' network, {CLONING_ROUTES:,} routes", *(f"{one:.3f}" for one in CLONING)))
    for size in SIZES:
        lines += [line(f"{title}, {size:,} routes", _name(entry, size, 0)) for entry, title in ENTRIES.items()]
    return TextTable(
        "Split 0: edit distance (lower is better), BLEU and log-probability of a trip (higher is better). Routes take"
        " the most likely control at every step.",
        head,
        tuple(one for one in lines if one is not None),
    )


def _means(outcomes: Outcomes, part: str, title: str) -> TextTable:
    body = []
    rows = [(SHORTEST, [f"{SHORTEST}, split {split}" for split in SPLITS])] if not part else []
    for row, names in (*rows, *_titled_names()):
        if any(name in outcomes for name in names):
            columns = (measured_of(outcomes, names, part + quantity) for quantity in NUMBERS)
            body.append((row, *map(mean_and_spread, columns)))
    about = f"{title[0].upper()}{title[1:]}, mean ± standard deviation over the splits."
    return TextTable(about, ("", *NUMBERS), tuple(body))


def _times(outcomes: Outcomes) -> TextTable:
    body = []
    for title, names in _titled_names():
        facts = [outcomes[name].facts for name in names if name in outcomes]
        if facts:
            penalties = [f"{one['penalty']:g}" for one in facts if "penalty" in one]
            seconds = mean_and_spread(measured_of(outcomes, names, "seconds"), 1)
            body.append((title, seconds, ", ".join(penalties) or "-"))
    return TextTable(
        "Processor seconds of a fit without choosing the penalty, and penalties as chosen on held-out training routes.",
        ("", "seconds", "penalty of each split"),
        tuple(body),
    )


def figures(outcomes: Outcomes) -> Sequence[CaptionedFigure]:
    """Log-probability against the number of routes, and the map of the learned cost."""
    drawn = []
    curves: dict[str, dict[int, list[float]]] = {}
    for (entry, title), size in product(ENTRIES.items(), SIZES):
        names = [_name(entry, size, split) for split in SPLITS]
        if values := measured_of(outcomes, names, "log-probability"):
            curves.setdefault(title, {})[size] = values
    if curves:
        caption = (
            "Log-probability of a test trip against the number of routes learned from, mean and standard deviation over"
            " the splits. The dashed line is the cloning network of the authors' repository, which learned from 10,000"
            " routes (split 0)."
        )
        line = {"cloning, 10,000 routes": CLONING[2]}
        drawn.append(
            draw_learning_curves("routes", curves, line, "training routes", "log-probability of a trip", caption)
        )
    largest = max((size for size in SIZES if _name("transition", size, 0) in outcomes), default=0)
    maps = {ENTRIES[entry]: outcomes.get(_name(entry, largest, 0)) for entry in MAPPED}
    arrays = {title: outcome.arrays for title, outcome in maps.items() if outcome is not None}
    if len(arrays) == len(MAPPED):
        one = next(iter(arrays.values()))
        caption = (
            f"What a step from one link to the next costs, learned from {largest:,} routes of split 0: linear in"
            " length, road class and turns, and with a cost of its own for each step. Lines join the middles of links."
        )
        panels = {title: arrays_of["costs"] for title, arrays_of in arrays.items()}
        drawn.append(draw_network_costs("map", panels, one["positions"], one["edges"], caption))
    return drawn


SHANGHAI_SUITE = DataSuite(
    name="shanghai",
    title="Taxis in Shanghai",
    summary="Routes on 714 links, learned from 100, 1,000 and 10,000 of them, on the authors' five splits",
    source=SHANGHAI,
    fits=fits,
    tables=tables,
    figures=figures,
    notes=(
        "The world is the network: a state is a link, a control one of eight directions, the goal the last link of the"
        " trip. The linear cost has nine weights: a constant for each link, its length by road class, and turns. With a"
        " cost for each transition, each of the 1,737 steps from one link to the next multiplies that by a factor of"
        " its own, which is held near 1 by a penalty.",
        "Edit distance and BLEU follow the authors' code: the nearest of the pair's true routes, divided by its length,"
        " at most 1; BLEU with smoothing 1 against all distinct true routes of the pair. The Jensen-Shannon distance"
        " here is between the frequencies of whole routes; the authors' code takes a histogram of ten bins over route"
        " numbers, which depends on their order, so that figure is not comparable with theirs.",
        "What may be claimed: under one definition, our routes are nearer to the true ones than those of the cloning"
        " network in the authors' repository, and from 100 routes trips are more likely than under that network from"
        " 10,000. What may not: anything against the table of Zhao and Liang (2023), whose networks are not in the"
        " repository; the AIRL and GAIL networks there look like smoke tests and are no baselines.",
    ),
)
