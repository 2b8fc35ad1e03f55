"""The rational learner: DISS's own world, outliers, a hidden cost, MiniGrid, and how time grows.

    python benchmarks/rational.py [--parts diss outliers cost minigrid growth] [--seeds 3] [--json]

Demonstrators act at temperature 0.5, and there are only successes. `learners.py` has the curves by the number of
demonstrations. `kept` is the fraction of 64 test scenes in which the greedy cautious plan keeps the rule.
"""

import cProfile
import pstats
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from regret import mean_regret
from reporting import make_parser, report, rows_table

from wfairl.core.automata.automaton import DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.costs.settings import CostSettings
from wfairl.core.demonstrations import Dataset, Demonstration, collect, replay
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning import expert_policy
from wfairl.core.planning.cost import Cost, unit_cost
from wfairl.core.rational import CautiousPolicy, RationalSettings
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.runs import evaluate
from wfairl.core.runs.logic_with_cost import learn_logic_and_cost
from wfairl.core.worlds import GraphWorld, ModelTask, Task, find_task
from wfairl.questions.hypotheses import required_posterior

TEST_SEEDS = range(5000, 5064)

DISS_ROWS = ("y....g..", "........", ".b.b...r", ".b.b...r", ".b.b....", ".b.b....", "rrrrrr.r", "g.y.....")
"""From the top; yellow, green, blue, red."""

DISS_NAMES = {"y": "yellow", "g": "green", "b": "blue", "r": "red"}
DISS_DEMONSTRATIONS = (((3, 5), "uuull"), ((2, 5), "uururrr" + "l" * 5))
"""Column and row from the bottom, from 1, and moves."""

DISS_MOVES = {"u": (0, 1), "d": (0, -1), "l": (-1, 0), "r": (1, 0)}


def main() -> None:
    parts: dict[str, Callable[[int], Iterable[dict[str, Any]]]] = {
        "diss": diss,
        "outliers": outliers,
        "cost": hidden_cost,
        "minigrid": minigrid,
        "growth": growth,
    }
    parser = make_parser(__doc__)
    parser.add_argument("--parts", nargs="+", default=list(parts), choices=list(parts))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    figures = {name: list(parts[name](arguments.seeds)) for name in arguments.parts}
    report(figures, arguments.json, *(rows_table(rows, name, ".3g") for name, rows in figures.items()), width=160)


def diss(seeds: int) -> Iterable[dict[str, Any]]:
    """Reach yellow, never red, and after blue green must come before yellow; from two demonstrations."""
    task, dataset = diss_task(), diss_demonstrations()
    wanted = diss_rule()
    for temperature in (0.1, None):
        for seed in range(seeds):  # nothing is random: every seed gives the same
            learner = RationalLearner(RationalSettings(temperature=temperature))
            model, seconds = timed(lambda learner=learner: learner.learn(dataset, task))
            differ, untested = differences(model, wanted)
            yield {
                "temperature": "unknown" if temperature is None else temperature,
                "seed": seed,
                "states with dead": model.finite.states + 1,
                "pairs that differ": differ,
                "of which untested": untested,
                "CPU s": seconds,
                "rule": model.sentences[0],
            }


def diss_task() -> ModelTask:
    """DISS's grid; a state before the start, with one control, lets the label of the first cell be read."""

    def scene(seed: int) -> GraphWorld:
        edges: list[tuple[Any, Any]] = [
            ((x, y), _diss_step(x, y, move)) for x in range(8) for y in range(8) for move in DISS_MOVES
        ]
        start = tuple(part - 1 for part in DISS_DEMONSTRATIONS[seed][0])
        marks = {(x, y): [DISS_NAMES[cell]] for x in range(8) for y in range(8) if (cell := DISS_ROWS[7 - y][x]) != "."}
        return GraphWorld.from_edges(
            [*edges, ("before", start)], start="before", marks=marks, propositions=PROPOSITIONS
        )

    return ModelTask("diss", "DISS's own task", PROPOSITIONS, diss_rule(), 50, scene)


PROPOSITIONS = tuple(DISS_NAMES.values())


def _diss_step(x: int, y: int, move: str) -> tuple[int, int]:
    dx, dy = DISS_MOVES[move]
    inside = 0 <= x + dx < 8 and 0 <= y + dy < 8
    return (x + dx, y + dy) if inside else (x, y)


def diss_demonstrations() -> Dataset:
    task, moves = diss_task(), list(DISS_MOVES)
    found = [
        replay(task.make_world(seed), [0, *(moves.index(move) for move in path)], 1.0, seed)
        for seed, (_, path) in enumerate(DISS_DEMONSTRATIONS)
    ]
    return Dataset("diss", tuple(found))


def diss_rule() -> GuardedAutomaton:
    red = Edge(Guard(frozenset({"red"})), DEAD)
    yellow, blue, green = (Guard(frozenset({name})) for name in ("yellow", "blue", "green"))
    return GuardedAutomaton(
        ((red, Edge(yellow, 2), Edge(blue, 1)), (red, Edge(green, 0), Edge(yellow, DEAD)), ()),
        np.array([False, False, True]),
    )


def differences(model: TaskModel, wanted: GuardedAutomaton) -> tuple[int, int]:
    """Pairs of state and label that are read otherwise than wanted, and how many of them no demonstration tests."""
    support = required_posterior(model).support
    labels = [frozenset({name}) for name in PROPOSITIONS]
    matched, queue = {0: 0}, [0]
    for state in queue:
        for label in labels:
            ours, theirs = model.finite.read(state, label), wanted.read(matched[state], label)
            if ours >= 0 and theirs >= 0 and ours not in matched:
                matched[ours] = theirs
                queue.append(ours)
    differ = [
        (state, label)
        for state in matched
        for label in labels
        if not model.finite.accepting[state]
        and matched.get(model.finite.read(state, label), DEAD) != wanted.read(matched[state], label)
    ]
    column = {label: i for i, label in enumerate(support.labels)}
    return len(differ), sum(bool(support.is_untested[state, column[label]]) for state, label in differ)


def outliers(seeds: int) -> Iterable[dict[str, Any]]:
    """Four of 32 demonstrations are random walks that claim success."""
    for name in ("coffee", "mail", "coffee-mail", "patrol"):
        task = find_task(f"random-office-{name}")
        for seed in range(seeds):
            dataset = collect(task, 32, 4, 0.5, seed, n_jobs=1)
            sound = [one for one in dataset if one.is_success]
            walks = [replace(shortened(one), score=1.0) for one in dataset if not one.is_success]
            mixed = Dataset(task.name, (*walks, *sound[4:]), 0.5)
            model, seconds = timed(lambda task=task, mixed=mixed: find_learner("rational").learn(mixed, task, n_jobs=1))
            named = set(required_posterior(model).outliers)
            yield {
                "task": task.name,
                "seed": seed,
                **kept(task, model),
                "walks named of 4": len(named & set(range(4))),
                "named wrongly": len(named - set(range(4))),
                "CPU s": seconds,
            }


def shortened(walk: Demonstration, steps: int = 30) -> Demonstration:
    return replace(walk, controls=walk.controls[:steps], labels=walk.labels[:steps])


def hidden_cost(seeds: int) -> Iterable[dict[str, Any]]:
    """Crowded cells cost 4, and nobody says so, nor at which temperature the demonstrators act."""
    task = find_task("crowded-office-coffee")
    for seed in range(seeds):
        dataset = Dataset(task.name, collect(task, 32, 0, 0.5, seed, n_jobs=1).demonstrations)
        explained, seconds = timed(
            lambda dataset=dataset: learn_logic_and_cost(dataset, task, CostSettings(epochs=50), n_jobs=1)
        )
        cost = unit_cost if explained.cost is None else explained.cost.as_cost()
        yield {"task": task.name, "seed": seed, **kept(task, explained.model, cost), "CPU s": seconds}


def minigrid(seeds: int) -> Iterable[dict[str, Any]]:
    """The paper's tasks, from 4 and from 32."""
    for name in ("doorkey", "multiroom", "blocked-unlock-pickup"):
        task = find_task(name)
        for number in (4, 32):
            for seed in range(seeds):
                dataset = collect(task, number, 0, 0.5, seed)
                begun = time.perf_counter()
                model, seconds = timed(lambda dataset=dataset, task=task: find_learner("rational").learn(dataset, task))
                clock = time.perf_counter() - begun
                row = {"task": name, "demonstrations": number, "seed": seed, **kept(task, model)}
                yield {**row, "states": model.finite.states, "CPU s": seconds, "clock s": clock}


def growth(seeds: int) -> Iterable[dict[str, Any]]:
    """Time against demonstrations, labels, states of the world and of the automaton, one at a time.

    A square of cells with one mark of each kind on it, elsewhere in every scene; the first marks are to be visited in
    order. Each part of the time is a share of what `cProfile` counts in the search.
    """
    del seeds
    usual = {"demonstrations": 8, "labels": 9, "world states": 144, "automaton states": 3}
    wider = {
        "demonstrations": (4, 16, 32, 64),
        "labels": (5, 17, 33),
        "world states": (576, 2304, 9216),
        "automaton states": (2, 4, 5),
    }
    marked_square(**{name.replace(" ", "_"): value for name, value in usual.items()})  # compiles what is measured
    for case in [usual, *({**usual, name: value} for name, values in wider.items() for value in values)]:
        dataset, task = marked_square(**{name.replace(" ", "_"): value for name, value in case.items()})
        model, seconds, shares = profiled(lambda task=task, dataset=dataset: RationalLearner().learn(dataset, task))
        yield {
            **case,
            "found": model.finite.states,
            "automata met": required_posterior(model).automata_generated,
            "planned with": required_posterior(model).automata_evaluated,
            "CPU s": seconds,
            **shares,
        }


def marked_square(
    demonstrations: int, labels: int, world_states: int, automaton_states: int
) -> tuple[Dataset, ModelTask]:
    """Demonstrations of a task in which marks are to be visited in order."""
    side, names = round(world_states**0.5), tuple(f"m{i:02d}" for i in range(labels - 1))
    cells = [(x, y) for x in range(side) for y in range(side)]

    def step(cell: tuple[int, int], move: tuple[int, int]) -> tuple[int, int]:
        x, y = cell[0] + move[0], cell[1] + move[1]
        return (x, y) if 0 <= x < side and 0 <= y < side else cell

    edges: list[tuple[Any, Any]] = [(cell, step(cell, move)) for cell in cells for move in DISS_MOVES.values()]

    def scene(seed: int) -> GraphWorld:
        places = np.random.default_rng(seed).permutation(len(cells))
        marks = {cells[place]: [name] for place, name in zip(places[1:], names, strict=False)}
        return GraphWorld.from_edges(edges, start=cells[places[0]], marks=marks, propositions=names)

    rule = visit_in_order(*names[: automaton_states - 1])
    task = ModelTask("marked-square", "visit marks in order", names, rule, 20 * side, scene)
    return collect(task, demonstrations, 0, 0.5, 0, n_jobs=1), task


PARTS = {
    "worlds": "exploration.py:observe",
    "moves": "moves.py:neighbours",
    "prior": "prior.py:log_prior",
    "tables": "compact_automaton.py:to_table",
    "planning": "evidence.py:of_scenes_if",
    "support": "support.py:measure_support",
}
"""Where the time of the search may go: file and function of `wfairl.core.rational`."""


def profiled(work: Callable[[], Any]) -> tuple[Any, float, dict[str, str]]:
    """What work gives, its CPU seconds, and the shares of its parts; planning for the support counts as support."""
    result, seconds = timed(work)
    profile = cProfile.Profile()
    profile.runcall(work)
    times = {f"{Path(file).name}:{name}": t for (file, _, name), (*_, t, _) in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    total = max(times.values())
    return result, seconds, {part: f"{times.get(place, 0.0) / total:.0%}" for part, place in PARTS.items()}


def kept(task: Task, model: TaskModel, cost: Cost = unit_cost) -> dict[str, float]:
    """The rate of rules kept in test scenes, and the regret in the true cost of those."""
    tested = evaluate(task, CautiousPolicy("learned", model, cost, 0.0, horizon=task.horizon), TEST_SEEDS, n_jobs=1)
    optimal = evaluate(task, expert_policy(task, 0.0), TEST_SEEDS, n_jobs=1)
    return {
        "kept": tested.success_rate,
        "regret": mean_regret(tested, optimal),
        "return": tested.mean_return,
        "optimal": optimal.mean_return,
    }


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = time.process_time()
    result = work()
    return result, time.process_time() - begun


if __name__ == "__main__":
    main()
