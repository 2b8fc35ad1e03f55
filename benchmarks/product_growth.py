"""How products grow: time and memory for each transition, from small worlds to many millions of transitions.

    python benchmarks/product_growth.py [--json] [--quick]

DoorKey from 8x8 to 64x64 and MultiRoom from 2 to 8 rooms, each with an automaton of the one word of its optimal
plan (`word`: the product stays small) and, as far as memory allows, with its rule (`rule`: the key may lie
anywhere, doors may close again). Memory is the growth of the process's peak.
The second table gives the largest over the smallest figure for products of 100,000 transitions and more.
"""

import ctypes
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from reporting import make_parser, report

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning.product import build_product
from wfairl.core.planning.shortest_path import cost_to_go
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.progress import track
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.propositions import AgentOn, Carrying, DoorOpen
from wfairl.minigrid.world import MiniGridWorld

LARGE = 100_000
MAX_STATES = 50_000_000
REPEATS = 3


@dataclass(frozen=True)
class Case:
    """A world of one size, and which automaton to walk it with."""

    family: str
    size: int
    automaton: str

    def world(self) -> MiniGridWorld:
        """The scene of seed 0."""
        if self.family == "doorkey":
            environment = make_environment("MiniGrid-DoorKey-8x8-v0", size=self.size)
            reset(environment, 0)
            names = {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")}
        else:
            environment = make_environment(
                "MiniGrid-MultiRoom-N6-v0", minNumRooms=self.size, maxNumRooms=self.size, maxRoomSize=10
            )
            reset(environment, 0)
            doors = [room.exitDoorPos for room in environment.unwrapped.rooms[:-1]]
            opened = {f"door{i}": DoorOpen(at=tuple(map(int, at))) for i, at in enumerate(doors, start=1)}
            names = {**opened, "goal": AgentOn("goal")}
        return MiniGridWorld.from_environment(environment, names)

    def make_automaton(self, propositions: tuple[str, ...]) -> Automaton:
        """The rule, or the word in which the propositions come true one after the other."""
        if self.automaton == "rule":
            return visit_in_order("goal")
        word = [frozenset(propositions[:held]) for held in range(len(propositions) + 1)]
        return SpectralTaskLearner().fit([word, word[:-1]], [1.0, 0.0]).model.finite


def main() -> None:
    parser = make_parser(__doc__)
    arguments = parser.parse_args()
    measure(Case("doorkey", 8, "rule"))  # compiles
    rows = [measure(case) for case in track(list(cases(arguments.quick)), "growing")]
    spread = {
        name: spread_of(rows, name) for name in ("build ns", "solve ns", "total ns", "bytes held", "bytes at peak")
    }
    report({"for each transition": rows, "largest / smallest": spread}, arguments.json)


def cases(quick: bool) -> Iterator[Case]:
    for size in (8, 12, 16, 24, 32, 48, 64):
        yield Case("doorkey", size, "word")
    for size in (8, 12, 16) if quick else (8, 12, 16, 20, 24, 28):
        yield Case("doorkey", size, "rule")
    for rooms in range(2, 9):
        yield Case("multiroom", rooms, "word")
        yield Case("multiroom", rooms, "rule")


def measure(case: Case) -> dict[str, Any]:
    world = case.world()
    automaton = case.make_automaton(tuple(world.propositions))
    before = reset_peak()
    build, solve = [], []
    for _ in range(REPEATS):
        began = time.perf_counter()
        product = build_product(world, automaton, MAX_STATES)
        graph = product.graph
        build.append(time.perf_counter() - began)
        costs = np.random.default_rng(0).uniform(0.5, 1.5, product.successors.shape)
        began = time.perf_counter()
        solution = cost_to_go(graph, costs)
        solve.append(time.perf_counter() - began)
        assert np.isfinite(solution.cost_to_go[0])
        if len(build) == 1:
            peak = peak_bytes() - before
        if build[0] > 5:
            break
    transitions = product.successors.size
    held = [product.states, product.automaton_states, product.successors, product.label_index]
    held += [graph.order, graph.first, graph.source, graph.transition]
    return {
        "world": case.family,
        "size": case.size,
        "automaton": case.automaton,
        "states": len(product),
        "transitions": transitions,
        "build ns": 1e9 * min(build) / transitions,
        "solve ns": 1e9 * min(solve) / transitions,
        "total ns": 1e9 * (min(build) + min(solve)) / transitions,
        "bytes held": sum(array.nbytes for array in held) / transitions,
        "bytes at peak": peak / transitions,
    }


def spread_of(rows: list[dict[str, Any]], name: str) -> float:
    figures = [row[name] for row in rows if row["transitions"] >= LARGE]
    return max(figures) / min(figures)


def reset_peak() -> int:
    """Give free memory back and set the peak of this process's memory to what it takes now; Linux only."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    main()
