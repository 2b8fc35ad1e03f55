"""Routes of drivers in Borlänge, the standard data of recursive logit models (Fosgerau et al. 2013).

A state is a link, a control one of the next links. Every destination is a link of its own without a successor.
The experiment takes the four attributes of the recursive logit's paper, and sets our choice model beside it:

in sample      both models fitted to all 1,832 trips; parameters with standard errors
held out       five random splits, 80 % of the trips to fit and 20 % to test
"""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results, mean_and_spread, pivot, table_of
from experiments.harness.results import Sections
from experiments.public_data.source import PublicSource, published_files
from experiments.public_data.trajectories import TrajectorySet, from_routes, transition_table
from experiments.route_choice.choice_models import ChoiceModel, ExactChoice, SoftChoice
from experiments.route_choice.estimation import CostEstimate, CostFamily, Parameter, fit, flat_estimate, parameters_of
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.worlds.transitions import TransitionTable
from wfairl.pages.blocks import PageTable

FEATURES = ("travel time", "left turn", "link constant", "U-turn")

LEFT, U_TURN = -0.5236, 3.1
"""Angles in radians: below the first a turn is to the left, beyond the second in size it is a U-turn."""

INCIDENCE, TIME, ANGLE, ROUTES = (
    "linkIncidence.txt",
    "ATTRIBUTEestimatedtime.txt",
    "ATTRIBUTEturnangles.txt",
    "observationsForEstimBAI.txt",
)


def read_borlange(directory: Path) -> TrajectorySet:
    """The network with its four attributes and the observed trips; state k is link k + 1 of the files."""
    incidence, times, angles, observed = (np.loadtxt(directory / name) for name in (INCIDENCE, TIME, ANGLE, ROUTES))
    pairs = np.unique(incidence[:, :2].astype(np.int64), axis=0)
    links = int(pairs[:, 0].max())  # higher numbers are destinations
    time_of, angle_of = _by_pair(times), _by_pair(angles)
    features = np.zeros((len(pairs), len(FEATURES)))
    for row, (link, after) in zip(features, pairs.tolist(), strict=True):
        if after <= links:
            angle = angle_of.get((link, after), 0.0)
            row[:] = time_of[link, after], -U_TURN < angle < LEFT, 1.0, abs(angle) > U_TURN
    routes = _routes(observed)
    return from_routes("borlange", _table(pairs - 1, features), routes, {"all": np.arange(len(routes))})


def _by_pair(rows: NDArray[np.float64]) -> dict[tuple[int, int], float]:
    return {(int(link), int(after)): value for link, after, value in rows.tolist()}


def _table(pairs: NDArray[np.int64], features: NDArray[np.float64]) -> TransitionTable:
    """In a state, control i leads to the target of its i-th pair; pairs are sorted."""
    source, target = pairs.T
    control = np.arange(len(pairs)) - np.searchsorted(source, source)
    shape = (int(pairs.max()) + 1, int(control.max()) + 1)
    successors = np.full(shape, UNAVAILABLE, np.int32)
    successors[source, control] = target
    return transition_table(tuple(f"link {i}" for i in range(shape[1])), successors, features, FEATURES)


def _routes(observed: NDArray[np.float64]) -> list[list[int]]:
    """The links of each trip in order, the destination last; in the file it stands first too."""
    trips: dict[int, list[int]] = {}
    for trip, _, link in sorted(observed.astype(np.int64).tolist()):
        trips.setdefault(trip, []).append(link - 1)
    return [links[1:] for links in trips.values()]


BORLANGE = PublicSource(
    title="Routes of drivers in Borlänge",
    where="Input/ of github.com/maitien86/RecursiveLogit.Classical.V2, commit 43ce934",
    files=published_files("borlange"),
    read=read_borlange,
)


SPLITS, TRAINED = 5, 0.8

PUBLISHED_WEIGHTS = (2.494, 0.933, 0.411, 4.459)
PUBLISHED_LIKELIHOOD = -6303.9
"""Fosgerau, Frejinger and Karlström (2013), the model without link size."""

START = 1.5
"""Initial weights, high enough for the recursive logit to exist."""

MODELS: dict[str, ChoiceModel] = {"exact": ExactChoice(n_jobs=2), "soft": SoftChoice()}

TITLES = {"exact": "ours: exact cost-to-go", "soft": "recursive logit (soft cost-to-go)"}

AT_PUBLISHED = "recursive logit at the published parameters"


def cells(options: Options) -> list[Cell]:
    """What to compute; a quick look has one split."""
    data = BORLANGE.folder(options.data)
    listed = [Cell(AT_PUBLISHED, published, data=data)]
    for model in MODELS:
        listed.append(Cell(f"in sample, {model}", in_sample, {"model": model}, data=data))
    for split in range(1 if options.quick else SPLITS):
        for model in MODELS:
            settings = {"model": model, "split": split}
            listed.append(Cell(f"held out {split}, {model}", held_out, settings, data=data))
    return listed


def published(data: Path) -> Outcome:
    """The recursive logit at its published parameters."""
    trips = BORLANGE.load(data)
    estimate = CostEstimate(CostFamily.linear(trips.table), np.array(PUBLISHED_WEIGHTS), np.zeros(0))
    likelihood = SoftChoice().log_probabilities(trips.choices(range(len(trips))), estimate.costs)
    return Outcome([{"log-likelihood": float(likelihood.sum())}])


def in_sample(data: Path, model: str) -> Outcome:
    """A model fitted to all trips."""
    trips, choice_model = BORLANGE.load(data), MODELS[model]
    choices = trips.choices(range(len(trips)))
    estimate = fit(choice_model, choices, flat_estimate(CostFamily.linear(trips.table), START))
    parameters = parameters_of(choice_model, choices, estimate)
    measured = {"log-likelihood": estimate.log_likelihood, "seconds": estimate.seconds}
    return Outcome(
        [{**measured, "evaluations": estimate.evaluations}],
        {"parameters": [asdict(one) for one in parameters], "trips": len(trips), "steps": len(choices)},
    )


def held_out(data: Path, model: str, split: int) -> Outcome:
    """A model fitted to most trips and tested on the others."""
    trips, choice_model = BORLANGE.load(data), MODELS[model]
    choices, order = trips.choices(range(len(trips))), np.random.default_rng(split).permutation(len(trips))
    trained, tested = np.split(order, [round(TRAINED * len(trips))])
    estimate = fit(choice_model, choices.of_trips(trained), flat_estimate(CostFamily.linear(trips.table), START))
    likelihood = choice_model.log_probabilities(choices.of_trips(tested), estimate.costs)
    measured = {"log-likelihood": float(likelihood.sum()), "per trip": float(likelihood.sum()) / len(tested)}
    return Outcome([measured], {"trips": len(tested)})


def sections(results: Results) -> Sections:
    """Log-likelihoods, parameters, and held-out trips."""
    trips = results.table.reindex(columns=["model", "split", "per trip"]).dropna()
    held_out_trips = pivot(trips, "model", "split", "per trip").rename(index=TITLES)
    parameters = [_parameters(results, model) for model in MODELS]
    return {"Results": [_likelihoods(results), *parameters, _splits(held_out_trips)]}


def _likelihoods(results: Results) -> PageTable:
    lines = {"recursive logit, published (Fosgerau et al. 2013)": (f"{PUBLISHED_LIKELIHOOD:.1f}", "-")}
    found = results.table.set_index("cell")
    if AT_PUBLISHED in found.index:
        lines[f"{AT_PUBLISHED}, here"] = (f"{found.loc[AT_PUBLISHED, 'log-likelihood']:.1f}", "-")
    for model in reversed(MODELS):
        if (name := f"in sample, {model}") in found.index:
            likelihood, seconds = found.loc[name, ["log-likelihood", "seconds"]]
            lines[f"{TITLES[model]}, fitted"] = (f"{likelihood:.1f}", f"{seconds:.0f} s")
    frame = pd.DataFrame.from_dict(lines, orient="index", columns=["log-likelihood", "processor time"])
    return table_of(frame, "Log-likelihood of all 1,832 trips, in sample: four attributes, four parameters.")


def _parameters(results: Results, model: str) -> PageTable:
    outcome = results.outcomes.get(f"in sample, {model}")
    parameters = [] if outcome is None else [Parameter(**one) for one in outcome.facts["parameters"]]
    figures = {one.name: (one.estimate, one.standard_error, one.robust_error, one.t_test) for one in parameters}
    frame = pd.DataFrame.from_dict(figures, orient="index", columns=["estimate", "s.e.", "robust s.e.", "t-test"])
    if model == "soft" and parameters:
        frame["published"] = -np.array(PUBLISHED_WEIGHTS)
    return table_of(
        frame,
        f"Utility, {TITLES[model]}: estimate, standard error from the inverse Hessian, robust standard error"
        " (sandwich), t-test with the latter.",
    )


def _splits(held_out_trips: pd.DataFrame) -> PageTable:
    wide = held_out_trips.reindex(columns=range(SPLITS))
    means = [mean_and_spread(values) for values in wide.to_numpy()]
    return table_of(
        wide.assign(**{"mean ± s.d.": means}).rename(columns={split: f"split {split}" for split in range(SPLITS)}),
        "Log-probability of a held-out trip (higher is better): fitted to a random 80 % of the trips, tested on the"
        " rest.",
    )


BORLANGE_EXPERIMENT = Experiment(
    name="borlange",
    title="Drivers in Borlänge",
    summary="1,832 trips to 466 destinations on 7,288 links: our choice model beside the recursive logit",
    cells=cells,
    sections=sections,
    quick="one split only",
    options=("data",),
    source=BORLANGE,
)
