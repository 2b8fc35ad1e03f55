"""Mice in a labyrinth (`labyrinth_data`): the task of the mice, what steps cost them, and DIRL beside.

The experiment learns the mice's task as an automaton and their preferences as a cost, and compares with DIRL. The
rational learner learns the automaton from the training trajectories at unit cost, without their padding (stay at home,
at the end); the test scores padding too. Costs are fitted to all training steps. The penalty of a table is chosen on
fifths of the training trajectories that are held out in turn.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.harness import Cell, Experiment, Options, Outcome, Results, table_of
from experiments.harness.results import Sections
from experiments.harness.tables import rows_table
from experiments.public_data.labyrinth_data import HOME, LABYRINTH, MICE, STAY
from experiments.public_data.trajectories import TrajectorySet
from experiments.route_choice.choice_models import ChoiceModel, ExactChoice, SoftChoice
from experiments.route_choice.choices import After, TaskGraph, task_graph
from experiments.route_choice.estimation import CostEstimate, CostFamily, choose_penalty, fit, flat_estimate
from experiments.route_choice.routes import bits_per_decision
from wfairl.core.automata.automaton import UNAVAILABLE, Automaton, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.learners import RATIONAL
from wfairl.core.planning.policy import probabilities
from wfairl.core.rational.observations import observe
from wfairl.core.rational.rational_learner import NothingExplainedError, learn_posterior
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.pages.blocks import PageTable

MODELS: dict[str, ChoiceModel] = {"exact": ExactChoice(n_jobs=1), "soft": SoftChoice()}

STATE_NODE_CONTROL, NODE_CONTROL, NODE, UNIT = "state, node and control", "node and control", "node", "nothing"
"""What the cost of a step may depend on: the automaton's state, the node, the control; or only the next node."""

GO_HOME = GuardedAutomaton(((Edge(Guard(frozenset({"home"})), 1),), ()), np.array([False, True]))
"""The task of a planner without a learned automaton: home, over and over."""

HOME_ASSUMED = "0 -home-> done, assumed: no automaton explains them better than chance"


@dataclass(frozen=True)
class FitEntry:
    """A row of the table; without the learned automaton it has `GO_HOME`, again and again."""

    title: str
    model: str
    learned: bool
    cost: str


ENTRIES = {
    "ours": FitEntry("ours, cost on automaton state, node and control", "exact", True, STATE_NODE_CONTROL),
    "node-control": FitEntry("ours, cost on node and control", "exact", True, NODE_CONTROL),
    "node": FitEntry("ours, cost on nodes only", "exact", True, NODE),
    "unit": FitEntry("ours, unit cost", "exact", True, UNIT),
    "no-automaton": FitEntry("without automaton, cost on node and control", "exact", False, NODE_CONTROL),
    "maxent-automaton": FitEntry("MaxEnt with our automaton, cost on node and control", "soft", True, NODE_CONTROL),
    "maxent": FitEntry("MaxEnt without automaton, cost on nodes only", "soft", False, NODE),
}

PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)

SMOOTHING = (0.03, 0.1, 0.3, 1.0)
"""Pseudo-counts of each control; chosen as penalties are."""

FOLDS = 5

START = 3.0
"""Initial cost of a step, high enough for the soft model to exist."""

PUBLISHED = {
    "MaxEnt (authors' files)": (-1.767, -1.565),
    "Deep MaxEnt (authors' files)": (-1.708, -1.558),
    "DIRL, 1 map (authors' files, best seed)": (-0.876, -1.166),
    "DIRL, 2 maps, the paper's choice": (-0.827, -1.152),
    "DIRL, 3 maps": (-0.820, -1.155),
    "DIRL, 4 maps": (-0.820, -1.153),
}
"""Bits per decision on the validation sets, restricted and unrestricted mice (Ashwood, Jha and Pillow 2022)."""

COUNTS = "counts"

COLUMNS = {
    "bits": "bits per decision",
    "bits without padding": "padding left out",
    "bits, copies of controls counted as one": "copies of controls as one",
}


def cells(options: Options) -> list[Cell]:
    """What to compute; a quick look has three rows."""
    data, listed = LABYRINTH.folder(options.data), []
    for mice in MICE:
        for entry in ("ours", "unit", "no-automaton") if options.quick else ENTRIES:
            listed.append(Cell(f"{entry}, {mice}", learn, {"entry": entry, "mice": mice}, data=data))
        listed.append(Cell(f"{COUNTS}, {mice}", count, {"entry": COUNTS, "mice": mice}, data=data))
    return listed


def learn(data: Path, entry: str, mice: str) -> Outcome:
    """Learn automaton and cost from the training trajectories, and score every step of the validation set."""
    runs, begun, row = LABYRINTH.load(data), time.process_time(), ENTRIES[entry]
    trained, tested = runs.splits[f"{mice} train"], runs.splits[f"{mice} validation"]
    learned = learn_task(runs, trained) if row.learned else None
    automaton: Automaton = GO_HOME if learned is None else learned.finite
    after: After = "again" if learned is None else "rest"
    graph, model = task_graph(runs.world(int(trained[0])), automaton, after), MODELS[row.model]
    choices = graph.choices([runs.steps(i) for i in trained])
    start, penalty = flat_estimate(family_of(runs, graph, row.cost), START), 1.0
    if start.family.entries is not None:
        penalty = choose_penalty(model, choices, start, PENALTIES, np.random.default_rng(0), FOLDS).penalty
    estimate = fit(model, choices, start, penalty)
    seconds = time.process_time() - begun
    steps = [runs.steps(i) for i in tested]
    likelihood = model.log_probabilities(graph.choices(steps), estimate.costs)
    measured = {
        **_bits(runs, tested, likelihood),
        "training bits": estimate.log_likelihood / len(choices) / np.log(2),
        "bits, copies of controls counted as one": bits_per_decision(_distinct(runs, graph, estimate, model, steps)),
        "seconds": seconds,
    }
    if learned is None:
        return Outcome([measured])
    rule, wrong = "; ".join(learned.sentences), look_wrong(learned)
    return Outcome([measured | {"rule": rule, "follow none": f"{wrong} of {len(trained)}"}])


def count(data: Path, entry: str, mice: str) -> Outcome:  # noqa: ARG001 - the entry is a column of the results
    """Smoothed frequencies of controls in each node and state of the learned automaton: memory without planning."""
    begun, trajectories = time.process_time(), LABYRINTH.load(data)
    trained, tested = trajectories.splits[f"{mice} train"], trajectories.splits[f"{mice} validation"]
    graph = task_graph(trajectories.world(int(trained[0])), learn_task(trajectories, trained).finite)
    parts = np.array_split(np.random.default_rng(0).permutation(trained), FOLDS)
    held_out = {
        smoothing: np.concatenate(
            [_frequencies(trajectories, graph, np.setdiff1d(trained, part), part, smoothing) for part in parts]
        ).mean()
        for smoothing in SMOOTHING
    }
    chosen = max(held_out, key=lambda one: held_out[one])
    seconds = time.process_time() - begun
    likelihood = _frequencies(trajectories, graph, trained, tested, chosen)
    return Outcome([{**_bits(trajectories, tested, likelihood), "seconds": seconds}])


def _bits(data: TrajectorySet, tested: NDArray[np.int64], likelihood: NDArray[np.float64]) -> dict[str, float]:
    """Bits per decision over all steps of the tested trajectories, and without their padding."""
    acts = np.concatenate([np.arange(len(data.steps(i)[0])) < _length(data, i) for i in tested])
    return {"bits": bits_per_decision(likelihood), "bits without padding": bits_per_decision(likelihood[acts])}


def _frequencies(
    data: TrajectorySet, graph: TaskGraph, trained: NDArray[np.int64], tested: NDArray[np.int64], smoothing: float
) -> NDArray[np.float64]:
    """log of the smoothed training frequency of each tested choice at its node, shape [tested steps]."""
    training, test = (graph.choices([data.steps(i) for i in numbers]) for numbers in (trained, tested))
    counts = np.full(graph.successors.shape, smoothing)
    np.add.at(counts, (training.nodes, training.controls), 1.0)
    return np.log(counts / counts.sum(axis=1, keepdims=True))[test.nodes, test.controls]


def learn_task(data: TrajectorySet, numbers: NDArray[np.int64]) -> TaskModel:
    """The automaton under which trajectories without padding are most rational; `GO_HOME` if none beats chance."""
    demonstrations = [data.demonstration(int(i), _length(data, i)) for i in numbers]
    world = data.world(int(numbers[0]))
    observations = observe(demonstrations, lambda _: world, n_jobs=1)
    words = [one.word for one in demonstrations]
    posterior: TaskPosterior | None = None
    try:
        posterior = learn_posterior(observations)
        automaton, text = posterior.chosen.automaton, posterior.chosen.text
    except NothingExplainedError:
        automaton, text = GO_HOME, HOME_ASSUMED
    return TaskModel.of_automaton(automaton, RATIONAL, words, [1.0] * len(words), stated=(text,), record=posterior)


def look_wrong(model: TaskModel) -> int:
    """The number of trajectories that follow no task; all if no automaton explains them."""
    posterior = posterior_of(model)
    return model.summary.words if posterior is None else len(posterior.outliers)


def _length(data: TrajectorySet, number: int) -> int:
    return length_of(*data.steps(number))


def length_of(states: NDArray[np.int64], controls: NDArray[np.int64]) -> int:
    """The number of steps before the padding, which is stay at home up to the end; at least 1."""
    acts = np.flatnonzero((states != HOME) | (controls != STAY))
    return int(acts[-1]) + 1 if len(acts) else 1


def family_of(data: TrajectorySet, graph: TaskGraph, cost: str) -> CostFamily:
    """A step cost times a factor for each value of what the cost may depend on."""
    available = graph.successors != UNAVAILABLE
    features = available[:, :, None].astype(np.float64)
    if cost == UNIT:
        return CostFamily(features, ("step",))
    nodes, controls = data.table.successors.shape
    control = np.arange(controls)
    node, automaton_state = graph.world_states[:, None], graph.automaton_states[:, None]
    value = {
        STATE_NODE_CONTROL: (automaton_state * nodes + node) * controls + control,
        NODE_CONTROL: node * controls + control,
        NODE: data.table.successors[graph.world_states].astype(np.int64),
    }[cost]
    entries = np.full(available.shape, -1)
    entries[:-1][available[:-1]] = np.unique(value[available[:-1]], return_inverse=True)[1]
    return CostFamily(features, ("step",), entries)


def _distinct(
    data: TrajectorySet, graph: TaskGraph, estimate: CostEstimate, model: ChoiceModel, steps: Sequence[Any]
) -> NDArray[np.float64]:
    """log probability of the next node of each step, under any control: equivalent controls count as one."""
    choices = graph.choices(steps)
    Q = model.control_cost_to_go(graph.successors, estimate.costs, graph.goal)
    policy = probabilities(Q[choices.nodes], 1.0)
    next_node = data.table.successors[graph.world_states[choices.nodes]]
    is_same = next_node == next_node[np.arange(len(choices)), choices.controls][:, None]
    return np.log((policy * is_same).sum(axis=1))


def sections(results: Results) -> Sections:
    """One table for each kind of mice, and the automata."""
    ours = results.table[results.table.entry == "ours"]
    about = "The automata, learned from the training trajectories, and how many of these follow no task."
    automata = rows_table(ours, "mice", ["rule", "follow none"], about)
    return {"Results": [*(_scores(results, mice) for mice in MICE), automata]}


def _scores(results: Results, mice: str) -> PageTable:
    titles = {entry: row.title for entry, row in ENTRIES.items()}
    titles[COUNTS] = "counts by automaton state and node, no planning"
    lines = results.table.reindex(columns=["mice", "entry", *COLUMNS, "seconds"])
    lines = lines[lines.mice == mice].set_index("entry").drop(columns="mice")
    lines = lines.reindex([entry for entry in titles if entry in lines.index]).rename(index=titles)
    lines["seconds"] = lines.seconds.map("{:.1f} s".format)
    published = {title: figures[MICE.index(mice)] for title, figures in PUBLISHED.items()}
    return table_of(
        pd.concat([pd.DataFrame({"bits": published}), lines]).rename(columns={**COLUMNS, "seconds": "time"}),
        f"Water-{mice} mice: log-likelihood of the authors' validation set in bits per decision (0 is certainty, -2 a"
        " guess), over all steps as the authors take it; then without the padding at the end; then of where a step led,"
        " whichever of several equal controls it was. Last, processor time to learn all of it, penalty included.",
    )


LABYRINTH_EXPERIMENT = Experiment(
    name="labyrinth",
    title="Mice in a labyrinth",
    summary="Thirsty and other mice in a binary maze: their task as an automaton, what steps cost them, DIRL beside",
    cells=cells,
    sections=sections,
    quick="three of the models only",
    options=("data",),
    source=LABYRINTH,
)
