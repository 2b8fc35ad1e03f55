"""The rational learner: its time against demonstrations, labels, states of the world and of the automaton, each alone.

    python benchmarks/rational_growth.py [--json] [--quick]

A square of cells with one mark of each kind, elsewhere in every scene; the first marks are to be visited in order.
Demonstrators act at temperature 0.5. Each part of the time is a share of what `cProfile` counts in the search.
"""

import cProfile
import pstats
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from reporting import make_parser, report

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.demonstrations import Dataset
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.worlds import GraphWorld, ModelTask
from wfairl.questions.hypotheses import required_posterior
from wfairl.runs.collection import collect

USUAL = {"demonstrations": 8, "labels": 9, "world_states": 144, "automaton_states": 3}
WIDER = {
    "demonstrations": (4, 16, 32, 64),
    "labels": (5, 17, 33),
    "world_states": (576, 2304, 9216),
    "automaton_states": (2, 4, 5),
}
MOVES = ((0, 1), (0, -1), (-1, 0), (1, 0))

PARTS = {
    "worlds": "observations.py:observe",
    "moves": "moves.py:neighbours",
    "prior": "prior.py:log_prior",
    "tables": "compact_automaton.py:to_table",
    "planning": "evidence.py:of_scenes_if",
    "support": "doubts.py:measure_support",
}
"""Where the time of the search may go: file and function of `wfairl.core.rational`."""


def main() -> None:
    arguments = make_parser(__doc__).parse_args()
    marked_square(**USUAL)  # compiles what is measured
    wider = [] if arguments.quick else [{**USUAL, name: value} for name, some in WIDER.items() for value in some]
    report({"time of the rational learner": [measure(case) for case in (USUAL, *wider)]}, arguments.json)


def measure(case: dict[str, int]) -> dict[str, Any]:
    dataset, task = marked_square(**case)
    begun = time.process_time()
    model = RationalLearner().learn(dataset, task, n_jobs=1)
    seconds, posterior = time.process_time() - begun, required_posterior(model)
    return {
        **{name.replace("_", " "): value for name, value in case.items()},
        "found": model.finite.states,
        "automata met": posterior.automata_generated,
        "planned with": posterior.automata_evaluated,
        "CPU s": seconds,
        **shares_of(lambda: RationalLearner().learn(dataset, task, n_jobs=1)),
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

    edges: list[tuple[Any, Any]] = [(cell, step(cell, move)) for cell in cells for move in MOVES]

    def scene(seed: int) -> GraphWorld:
        places = np.random.default_rng(seed).permutation(len(cells))
        marks = {cells[place]: [name] for place, name in zip(places[1:], names, strict=False)}
        return GraphWorld.from_edges(edges, start=cells[places[0]], marks=marks, propositions=names)

    rule = visit_in_order(*names[: automaton_states - 1])
    task = ModelTask("marked-square", "visit marks in order", names, rule, 20 * side, scene)
    return collect(task, demonstrations, 0, 0.5, 0, n_jobs=1), task


def shares_of(work: Callable[[], Any]) -> dict[str, str]:
    """The shares of the parts of some work; planning for the support counts as support."""
    profile = cProfile.Profile()
    profile.runcall(work)
    times = {f"{Path(file).name}:{name}": t for (file, _, name), (*_, t, _) in pstats.Stats(profile).stats.items()}  # type: ignore[attr-defined]
    total = max(times.values())
    return {part: f"{times.get(place, 0.0) / total:.0%}" for part, place in PARTS.items()}


if __name__ == "__main__":
    main()
