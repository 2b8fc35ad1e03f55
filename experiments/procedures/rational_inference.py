"""The rational learner in DISS's own world, and with demonstrations that follow no task.

diss      reach yellow, never red, and after blue green must come before yellow; from DISS's two demonstrations
outliers  32 demonstrations of office tasks, four of which are random walks that claim success
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness import Cell, Experiment, Options, Outcome, Results
from experiments.harness.results import Sections
from experiments.harness.tables import mean_table, rows_table
from experiments.procedures.unseen_scenes import measure_policy, scenes
from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import Dataset, Demonstration
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.path import follow
from wfairl.core.rational import CautiousPolicy, RationalSettings
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.questions.hypotheses import required_posterior
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

ROWS = ("y....g..", "........", ".b.b...r", ".b.b...r", ".b.b....", ".b.b....", "rrrrrr.r", "g.y.....")
"""DISS's grid from the top."""

NAMES = {"y": "yellow", "g": "green", "b": "blue", "r": "red"}
PROPOSITIONS = tuple(NAMES.values())
MOVES = {"u": (0, 1), "d": (0, -1), "l": (-1, 0), "r": (1, 0)}
START, SLIP = (3, 5), 1 / 32
"""Column and row of the start from the bottom, from 1, and the probability that a move is replaced by another."""

DEMONSTRATIONS = (("uuull", "uuull"), ("uuuruurrr" + "l" * 5, "luuruurrr" + "l" * 5))
"""DISS's demonstrations: the moves that were meant, and those that happened; the second one slips in its first step."""

OFFICES = ("coffee", "mail", "coffee-mail", "patrol")
WALKS, WALK_STEPS = 4, 30


def cells(options: Options) -> list[Cell]:
    """DISS's task with a known and an unknown temperature, and offices with outliers."""
    listed = [Cell(f"diss at {name}", diss, {"temperature": name}) for name in ("0.1", "unknown")]
    for seed in range(options.seeds or (1 if options.quick else 3)):
        for name in OFFICES[: 1 if options.quick else None]:
            settings = {"task": f"random-office-{name}", "seed": seed, "quick": options.quick}
            listed.append(Cell(f"outliers {name} {seed}", outliers, settings))
    return listed


def diss(temperature: str) -> Outcome:
    """The automaton that is learned from DISS's demonstrations, and where it differs from the task."""
    task = diss_task()
    walks = []
    for seed, moves in enumerate(DEMONSTRATIONS):
        controls, effects = ([0, *(list(MOVES).index(move) for move in path)] for path in moves)
        walks.append(Demonstration.of(follow(task.make_world(seed), controls, effects=effects), 1.0, seed))
    settings = RationalSettings(temperature=None if temperature == "unknown" else float(temperature))
    begun = time.process_time()
    model = RationalLearner(settings).learn(Dataset("diss", tuple(walks)), task, n_jobs=1)
    seconds = time.process_time() - begun
    differ = list(differences(model, diss_rule()))
    support = required_posterior(model).support
    column = {label: i for i, label in enumerate(support.labels)}
    row = {
        "states with dead": model.finite.states + 1,
        "pairs that differ": len(differ),
        "of which untested": sum(bool(support.is_untested[state, column[label]]) for state, label in differ),
        "CPU s": seconds,
        "rule": model.sentence,
    }
    return Outcome([row])


def diss_task() -> ModelTask:
    """DISS's grid; a state before the start, with one control, lets the label of the first cell be read."""
    cells_of_grid = [(x, y) for x in range(8) for y in range(8)]
    edges: list[tuple[Any, Any]] = [(cell, step(cell, move)) for cell in cells_of_grid for move in MOVES.values()]
    marks = {(x, y): [NAMES[ROWS[7 - y][x]]] for x, y in cells_of_grid if ROWS[7 - y][x] != "."}

    start = tuple(part - 1 for part in START)
    world = GraphWorld.from_edges([*edges, ("before", start)], start="before", marks=marks, propositions=PROPOSITIONS)
    return ModelTask("diss", "DISS's own task", PROPOSITIONS, diss_rule(), 50, lambda _: world.slipping(SLIP))


def step(cell: tuple[int, int], move: tuple[int, int]) -> tuple[int, int]:
    """The cell after a move; no move leads over the edge."""
    x, y = cell[0] + move[0], cell[1] + move[1]
    return (x, y) if 0 <= x < 8 and 0 <= y < 8 else cell


def diss_rule() -> GuardedAutomaton:
    """The task of DISS's paper."""
    red = Edge(Guard(frozenset({"red"})), DEAD)
    yellow, blue, green = (Guard(frozenset({name})) for name in ("yellow", "blue", "green"))
    return GuardedAutomaton(
        ((red, Edge(yellow, 2), Edge(blue, 1)), (red, Edge(green, 0), Edge(yellow, DEAD)), ()),
        np.array([False, False, True]),
    )


def differences(model: TaskModel, wanted: GuardedAutomaton) -> Iterator[tuple[int, frozenset[str]]]:
    """The pairs of state and label that a model reads otherwise than wanted."""
    labels, finite = [frozenset({name}) for name in PROPOSITIONS], model.finite
    matched, queue = {0: 0}, [0]
    for state in queue:
        for label in labels:
            ours, theirs = finite.read(state, label), wanted.read(matched[state], label)
            if ours >= 0 and theirs >= 0 and ours not in matched:
                matched[ours] = theirs
                queue.append(ours)
    for state in (one for one in matched if not finite.accepting[one]):
        for label in labels:
            if matched.get(finite.read(state, label), DEAD) != wanted.read(matched[state], label):
                yield state, label


def outliers(task: str, seed: int, quick: bool) -> Outcome:
    """What is learned from demonstrations of which the first are random walks that claim success."""
    of = find_task(task)
    dataset = collect(of, 32, WALKS, 0.5, seed, n_jobs=1)
    sound = [one for one in dataset if one.is_success]
    walks = [
        replace(one, controls=one.controls[:WALK_STEPS], labels=one.labels[:WALK_STEPS], score=1.0)
        for one in dataset
        if not one.is_success
    ]
    mixed = Dataset(task, (*walks, *sound[WALKS:]), 0.5)
    model = RationalLearner().learn(mixed, of, n_jobs=1)
    named = set(required_posterior(model).outliers)
    row = {
        **measure_policy(of, CautiousPolicy("learned", model, unit_cost, 0.0, horizon=of.horizon), scenes(quick)),
        f"walks named of {WALKS}": len(named & set(range(WALKS))),
        "others named": len(named - set(range(WALKS))),
    }
    return Outcome([row])


def sections(results: Results) -> Sections:
    """DISS's task, and the offices."""
    of_diss, offices = results.rows_of("diss"), results.rows_of("outliers")
    shown = ["states with dead", "pairs that differ", "of which untested", "CPU s", "rule"]
    measures = ["kept", "regret", f"walks named of {WALKS}", "others named"]
    return {
        "DISS's task": [rows_table(of_diss, "temperature", shown, "From DISS's two demonstrations.")],
        "Outliers": [mean_table(offices, ["task"], measures, f"{WALKS} of 32 demonstrations are random walks.")],
    }


RATIONAL_INFERENCE_EXPERIMENT = Experiment(
    name="rational-inference",
    title="What the rational learner infers",
    summary="DISS's own task, and demonstrations that follow no task",
    cells=cells,
    sections=sections,
    quick="one task of the offices, one seed, 8 scenes",
    options=("seeds",),
)
