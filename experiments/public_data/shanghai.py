"""Routes of taxis in Shanghai (Zhao and Liang 2023), with the authors' five splits.

A state is a link, a control one of eight compass directions relative to the heading; a trip is done when it arrives at
its last link.

The experiment learns from 100, 1,000 and 10,000 routes. A model is tested on the test routes of the split, and once
more on those between an origin and a destination that no training route has. Everything is fitted to training routes; a
held-out fifth of them chooses the penalty of a table.
"""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results, mean_and_spread, table_of
from experiments.harness.results import Sections
from experiments.public_data.source import PublicSource, published_files
from experiments.public_data.trajectories import TrajectorySet, from_routes, transition_table
from experiments.route_choice.choice_models import ChoiceModel, ExactChoice, SoftChoice
from experiments.route_choice.estimation import CostEstimate, CostFamily, choose_penalty, fit, flat_estimate
from experiments.route_choice.routes import Route, greedy_routes, score_routes
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.worlds.transitions import TransitionTable
from wfairl.pages.blocks import PageTable
from wfairl.pages.text import capitalised

CONTROLS = ("ahead", "half right", "right", "sharp right", "back", "sharp left", "left", "half left")

CLASSES = ("primary", "secondary", "tertiary", "residential")

FEATURES = (
    "link constant",
    *(f"length on {name} roads, km" for name in (*CLASSES, "other")),
    "right turn",
    "left turn",
    "U-turn",
)
"""Of the link that is entered, and of the turn into it. Half turns follow the road and count as none."""

RIGHT_TURNS, U_TURN, LEFT_TURNS = (2, 3), 4, (5, 6)

SPLITS, SIZES = range(5), (100, 1_000, 10_000)

LINKS, TRANSITIONS, ROUTES = "edge.txt", "transit.npy", "cross_validation"


def read_shanghai(directory: Path) -> TrajectorySet:
    """The network and the routes of all splits that are there."""
    links = _read(directory / LINKS)
    successors = np.full((len(links), len(CONTROLS)), UNAVAILABLE, np.int32)
    link, control, after = np.load(directory / TRANSITIONS, allow_pickle=False).T
    successors[link, control] = after
    routes: list[list[int]] = []
    splits: dict[str, NDArray[np.int64]] = {}
    for path in sorted((directory / ROUTES).glob("*.csv")):
        of_split = [[int(link) for link in text.split("_")] for text in _read(path).path]
        splits[path.stem] = np.arange(len(routes), len(routes) + len(of_split))
        routes += of_split
    return from_routes("shanghai", _table(links, successors), routes, splits)


def _read(path: Path) -> pd.DataFrame:
    """A table of texts."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _table(links: pd.DataFrame, successors: NDArray[np.int32]) -> TransitionTable:
    kilometres = links.length.astype(float).to_numpy() / 1000
    road = np.array([CLASSES.index(name) if name in CLASSES else len(CLASSES) for name in links.highway])
    state, control = np.nonzero(successors != UNAVAILABLE)
    entered = successors[state, control]
    features = np.zeros((len(state), len(FEATURES)))
    features[:, 0] = 1.0
    features[np.arange(len(state)), 1 + road[entered]] = kilometres[entered]
    features[:, -3] = np.isin(control, RIGHT_TURNS)
    features[:, -2] = np.isin(control, LEFT_TURNS)
    features[:, -1] = control == U_TURN
    return transition_table(CONTROLS, successors, features, FEATURES)


SHANGHAI = PublicSource(
    title="Routes of taxis in Shanghai",
    where="data/ of github.com/liangchunyaobing/RCM-AIRL, commit 02d4005",
    files=published_files("shanghai"),
    read=read_shanghai,
)


MODELS: dict[str, ChoiceModel] = {"exact": ExactChoice(n_jobs=1), "soft": SoftChoice()}

ENTRIES = {
    "linear": "ours, linear cost",
    "transition": "ours, a cost for each transition",
    "soft linear": "MaxEnt (recursive logit), linear cost",
    "soft transition": "MaxEnt, a cost for each transition",
}

SHORTEST = "shortest length"

START = 2.0
"""Initial weights, high enough for the soft model to exist."""

PENALTIES = (1.0, 3.0, 10.0, 30.0)

TOLERANCE = 1e-6
"""Of a fit with a table, in nats per step."""

CLONING, CLONING_ROUTES = (0.229, 0.726, -4.897), 10_000
"""Edit distance, BLEU and log-probability on split 0 of the cloning network in the authors' repository, evaluated on
the same definitions as ours."""

ALL, UNSEEN = "all test routes", "routes between unseen pairs"


def cells(options: Options) -> list[Cell]:
    """What to compute; a quick look has the first split, and at most 1,000 routes."""
    data = SHANGHAI.folder(options.data)
    splits, sizes = (SPLITS[:1], SIZES[:2]) if options.quick else (SPLITS, SIZES)
    listed = [
        Cell(f"{SHORTEST}, split {split}", shortest, {"entry": SHORTEST, "split": split}, data=data) for split in splits
    ]
    for size, split, entry in product(sizes, splits, ENTRIES):
        settings = {"entry": entry, "size": size, "split": split}
        listed.append(Cell(f"{entry}, {size} routes, split {split}", learn, settings, data=data))
    return listed


def shortest(data: Path, entry: str, split: int) -> Outcome:  # noqa: ARG001 - the entry is a column of the results
    """Routes of least length: nothing is learned, and there is no log-probability."""
    routes = SHANGHAI.load(data)
    family = CostFamily.linear(routes.table)
    by_length = np.array([1.0 if "length" in name else 0.0 for name in family.names])
    costs = family.costs(by_length, np.zeros(0))
    scores = _route_scores(routes, MODELS["exact"], costs, routes.splits[f"test_CV{split}"])
    return Outcome([{"part": ALL, **scores}])


def learn(data: Path, entry: str, size: int, split: int) -> Outcome:
    """Fit to the training routes of a split, and test: a line for each part of the test routes that has any."""
    routes, model = SHANGHAI.load(data), MODELS["soft" if entry.startswith("soft") else "exact"]
    trained, tested = routes.splits[f"train_CV{split}_size{size}"], routes.splits[f"test_CV{split}"]
    choices = routes.choices(trained)
    estimate = fit(model, choices, flat_estimate(CostFamily.linear(routes.table), START))
    seconds = estimate.seconds
    if entry.endswith("transition"):
        family, linear = CostFamily.linear(routes.table, _entries(routes)), estimate
        start = CostEstimate(family, linear.weights, np.zeros(family.table_size))
        rng = np.random.default_rng(split)
        chosen = choose_penalty(model, choices, start, PENALTIES, rng, tolerance=TOLERANCE)
        estimate = fit(model, choices, chosen.estimate, chosen.penalty, tolerance=TOLERANCE)
        seconds += estimate.seconds
    pairs, rows = {_pair(routes, i) for i in trained}, []
    unseen = np.array([i for i in tested if _pair(routes, i) not in pairs], np.int64)
    for part, numbers in ((ALL, tested), (UNSEEN, unseen)):
        if len(numbers):
            likelihood = model.log_probabilities(routes.choices(numbers), estimate.costs)
            rows.append(
                {
                    "part": part,
                    "trips": len(numbers),
                    **_route_scores(routes, model, estimate.costs, numbers),
                    "log-probability": float(likelihood.sum()) / len(numbers),
                    "seconds": seconds,
                }
            )
    return Outcome(rows)


def _entries(data: TrajectorySet) -> NDArray[np.int64]:
    """An entry of its own for every transition."""
    available = data.table.successors != UNAVAILABLE
    entries = np.full(available.shape, -1)
    entries[available] = np.arange(available.sum())
    return entries


def _pair(data: TrajectorySet, number: int) -> tuple[int, int]:
    return int(data.states[data.first[number]]), int(data.goals[number])


def _route_scores(
    data: TrajectorySet, model: ChoiceModel, costs: NDArray[np.float64], numbers: NDArray[np.int64]
) -> dict[str, float]:
    successors, pairs = data.table.successors, [_pair(data, number) for number in numbers]
    Q = {goal: model.control_cost_to_go(successors, costs, goal) for goal in sorted({goal for _, goal in pairs})}
    true: list[Route] = [data.route(number) for number in numbers]
    return score_routes(true, greedy_routes(successors, Q, pairs))


NUMBERS = ["edit distance", "BLEU", "Jensen-Shannon", "log-probability"]


def sections(results: Results) -> Sections:
    """Split 0 beside the authors' network, and means over splits."""
    columns = dict.fromkeys(["cell", "entry", "size", "split", "part", *NUMBERS, "seconds"])
    table = results.table.reindex(columns=columns).sort_values("size", kind="stable", na_position="first")
    table["title"] = [
        SHORTEST if one.entry == SHORTEST else f"{ENTRIES[one.entry]}, {one.size:,.0f} routes"
        for one in table.itertuples()
    ]
    everywhere = table[table.part == ALL]
    return {
        "Results": [
            _first_split(everywhere[everywhere.split == 0]),
            _means(everywhere, ALL),
            _means(table[table.part == UNSEEN], UNSEEN),
            _times(everywhere[everywhere.entry != SHORTEST]),
        ],
    }


def _first_split(lines: pd.DataFrame) -> PageTable:
    columns = ["edit distance", "BLEU", "log-probability"]
    cloning = pd.DataFrame([CLONING], [f"cloning by the authors' network, {CLONING_ROUTES:,} routes"], columns)
    ours = lines.set_index("title")[columns]
    return table_of(
        pd.concat([ours[:1], cloning, ours[1:]]),
        "Split 0: edit distance (lower is better), BLEU and log-probability of a trip (higher is better). Routes take"
        " the most likely control at every step.",
    )


def _means(lines: pd.DataFrame, part: str) -> PageTable:
    means = lines.groupby("title", sort=False)[NUMBERS].agg(mean_and_spread)
    return table_of(means, f"{capitalised(part)}, mean ± standard deviation over the splits.")


def _times(lines: pd.DataFrame) -> PageTable:
    seconds = lines.groupby("title", sort=False).seconds.agg(lambda values: mean_and_spread(values, 1))
    return table_of(pd.DataFrame({"seconds": seconds}), "Processor seconds of a fit without choosing the penalty.")


SHANGHAI_EXPERIMENT = Experiment(
    name="shanghai",
    title="Taxis in Shanghai",
    summary="Routes on 714 links, learned from 100, 1,000 and 10,000 of them, on the authors' five splits",
    cells=cells,
    sections=sections,
    quick="the first split, and at most 1,000 routes",
    options=("data",),
    source=SHANGHAI,
)
