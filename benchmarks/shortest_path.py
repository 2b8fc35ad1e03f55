"""Exact cost-to-go: time against SciPy, rustworkx and a breadth-first sweep, and A* against Dijkstra.

    python benchmarks/shortest_path.py [--json] [--quick] [--repeats 15]

The first table is the whole product of `blocked-unlock-pickup` and its rule (508,144 states), costs uniform in
[0.5, 1.5]. Ours is the whole call: V, Q of every control and the best control, from the graph reversed once.
The peers get their graph ready-made and solve for V, SciPy also for predecessors. The lower limit is a compiled
breadth-first sweep of the same reversed graph, in the product's own numbering; also measured are the sweep in our
numbering, which the search uses, and a forward sweep over all states.
The speed-up of two threads is compared with that of pure arithmetic, which is small on a busy machine.
The second table has the product of every task with its rule and with the automaton of the words of its optimal plans.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import rustworkx
from numba import njit
from numpy.typing import NDArray
from reporting import make_parser, report
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Automaton
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import find_plan
from wfairl.core.planning.product import Product, build_product
from wfairl.core.planning.shortest_path import cost_to_go, reverse_graph
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.worlds import Task, find_task
from wfairl.minigrid.focused.planner import FocusedPlanner
from wfairl.minigrid.tasks import PAPER_TASKS

LEARNING_SEEDS = range(32)
SEARCH_SEEDS = range(3)
ARITHMETIC = 1_000_000


def main() -> None:
    parser = make_parser(__doc__, repeats=15)
    arguments = parser.parse_args()
    tasks = PAPER_TASKS[:2] if arguments.quick else PAPER_TASKS
    whole_graph = {} if arguments.quick else measure_full_graph(arguments.repeats)
    tables = {
        **whole_graph,
        "products: milliseconds of a whole call": [
            row for task in tasks for row in measure_task(task, arguments.repeats)
        ],
        "A*: expansions with cost 1": [row for task in tasks for row in measure_a_star(task)],
    }
    report(tables, arguments.json)


def measure_full_graph(repeats: int) -> dict[str, Any]:
    task = find_task("blocked-unlock-pickup")
    product = build_product(task.make_world(3), task.rule)
    costs = np.random.default_rng(0).uniform(0.5, 1.5, product.successors.shape)
    other_costs = np.random.default_rng(1).uniform(0.5, 1.5, product.successors.shape)
    graph, matrix = product.graph, reversed_matrix(product, costs)
    peer = rustworkx.PyDiGraph()
    peer.add_nodes_from(range(matrix.shape[0]))
    peer.add_edges_from(list(zip(*matrix.nonzero(), matrix.data.tolist(), strict=True)))
    first, source = reversed_plain(product.successors)
    pool = ThreadPoolExecutor(2)
    milliseconds = fastest(
        {
            "ours": lambda: cost_to_go(graph, costs),
            "scipy dijkstra": lambda: dijkstra(matrix, indices=len(product), return_predecessors=True),
            "rustworkx dijkstra": lambda: rustworkx.dijkstra_shortest_path_lengths(peer, len(product), float),
            "sweep": lambda: sweep(first, source, len(product)),
            "sweep, our numbering": lambda: sweep(graph.first, graph.source, 0),
            "scipy sweep": lambda: breadth_first_order(matrix, len(product)),
            "sweep forwards": lambda: sweep_forwards(product.successors),
            "two, one thread": lambda: [cost_to_go(graph, each) for each in (costs, other_costs)],
            "two, two threads": lambda: list(pool.map(partial(cost_to_go, graph), (costs, other_costs))),
            "arithmetic, one thread": lambda: [arithmetic(ARITHMETIC) for _ in range(2)],
            "arithmetic, two threads": lambda: list(pool.map(arithmetic, (ARITHMETIC, ARITHMETIC))),
            "reverse_graph, once": lambda: reverse_graph(product.successors),
        },
        repeats,
    )
    found = cost_to_go(graph, costs).cost_to_go
    expected = dijkstra(matrix, indices=len(product))[:-1]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    lengths = rustworkx.dijkstra_shortest_path_lengths(peer, len(product), float)
    np.testing.assert_allclose(found[list(lengths.keys())[:1000]], list(lengths.values())[:1000], rtol=1e-12)
    ours = milliseconds["ours"]
    ratios = {
        "scipy / ours": milliseconds["scipy dijkstra"] / ours,
        "rustworkx / ours": milliseconds["rustworkx dijkstra"] / ours,
        "ours / sweep": ours / milliseconds["sweep"],
        "ours / sweep in our numbering": ours / milliseconds["sweep, our numbering"],
        "ours / sweep forwards": ours / milliseconds["sweep forwards"],
        "ours / scipy sweep": ours / milliseconds["scipy sweep"],
        "two threads / one": milliseconds["two, two threads"] / milliseconds["two, one thread"],
        "of arithmetic alone": milliseconds["arithmetic, two threads"] / milliseconds["arithmetic, one thread"],
    }
    sizes = {"states": len(product), "transitions": product.successors.size}
    sizes["states that can reach acceptance"] = int(np.isfinite(found).sum())
    return {"whole product of T3": sizes, "milliseconds": milliseconds, "ratios": ratios}


def measure_task(task: Task, repeats: int) -> list[dict[str, Any]]:
    rows = []
    for name, automaton in (("rule", task.rule), ("learned", learned_automaton(task))):
        product = build_product(task.make_world(1_000), automaton)
        costs = np.random.default_rng(0).uniform(0.5, 1.5, product.successors.shape)
        graph, matrix = product.graph, reversed_matrix(product, costs)
        first, source = reversed_plain(product.successors)
        world = task.make_world(1_000)
        took = fastest(
            {
                "build": lambda world=world, automaton=automaton: build_product(world, automaton),
                "ours": lambda graph=graph, costs=costs: cost_to_go(graph, costs),
                "scipy": lambda matrix=matrix: dijkstra(matrix, indices=matrix.shape[0] - 1, return_predecessors=True),
                "sweep": lambda first=first, source=source: sweep(first, source, len(first) - 2),
            },
            repeats,
        )
        ratios = {"scipy / ours": took["scipy"] / took["ours"], "ours / sweep": took["ours"] / took["sweep"]}
        rows.append({"task": task.name, "automaton": name, "states": len(product), **took, **ratios})
    return rows


def measure_a_star(task: Task) -> list[dict[str, Any]]:
    """Dijkstra from the start expands every state that is nearer than acceptance."""
    rows = []
    for name, automaton in (("rule", task.rule), ("learned", learned_automaton(task))):
        for seed in SEARCH_SEEDS:
            world = task.make_world(1_000 + seed)
            product = build_product(world, automaton)
            length = find_plan(product, unit_cost(product)).cost
            began = time.perf_counter()
            solution = FocusedPlanner().solve(world, automaton, unit_cost)
            found = solution.plan()
            took = time.perf_counter() - began
            assert found.cost == length
            dijkstra_expansions = int((sweep_forwards(product.successors) < length).sum())
            rows.append(
                {
                    "task": task.name,
                    "automaton": name,
                    "seed": 1_000 + seed,
                    "cost": length,
                    "A*": solution.search.expansions,
                    "Dijkstra": dijkstra_expansions,
                    "A* / Dijkstra": solution.search.expansions / dijkstra_expansions,
                    "product states": len(product),
                    "A* seconds": took,
                }
            )
    return rows


def learned_automaton(task: Task) -> Automaton:
    """Learned from the words of optimal plans as successes and of their unfinished beginnings as failures."""
    words = []
    for seed in LEARNING_SEEDS:
        product = build_product(task.make_world(seed), task.rule)
        words.append(find_plan(product, unit_cost(product)).path.word)
    scored = [(word, 1.0) for word in words] + [(word[:-1], 0.0) for word in words]
    return SpectralTaskLearner().fit(*zip(*scored, strict=True), Reading(optional_start=True)).model.finite


def reversed_matrix(product: Product, costs: NDArray[np.float64]) -> csr_array:
    """The reversed graph with acceptance as the last node, as SciPy wants it: no parallel transitions or loops."""
    nodes, controls = product.successors.shape
    target = product.successors.ravel().astype(np.int64)
    source = np.arange(nodes * controls) // controls
    kept = (target != DEAD) & (target != source)
    target, source, cost = np.where(target == ACCEPTED, nodes, target)[kept], source[kept], costs.ravel()[kept]
    order = np.lexsort((cost, source, target))
    target, source, cost = target[order], source[order], cost[order]
    is_first = np.append(True, (np.diff(target) != 0) | (np.diff(source) != 0))
    return csr_array((cost[is_first], (target[is_first], source[is_first])), shape=(nodes + 1, nodes + 1))


def reversed_plain(successors: NDArray[np.int32]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The reversed graph in the product's own numbering: where the sources of each node begin, and the sources."""
    nodes, controls = successors.shape
    target, source = successors.ravel(), np.repeat(np.arange(nodes), controls)
    kept = (target != DEAD) & (target != source)
    target, source = np.where(target == ACCEPTED, nodes, target)[kept], source[kept]
    first = np.searchsorted(np.sort(target), np.arange(nodes + 2))
    return first.astype(np.uint32), source[np.argsort(target, kind="stable")].astype(np.uint32)


@njit(cache=True, nogil=True)
def sweep(first: NDArray[np.uint32], source: NDArray[np.uint32], start: int) -> NDArray[np.int32]:
    """Number of steps from everywhere, breadth first backwards."""
    nodes = len(first) - 1
    steps = np.full(nodes, -1, np.int32)
    queue = np.empty(nodes, np.uint32)
    queue[0], steps[start] = start, 0
    head, tail = np.uint64(0), np.uint64(1)
    while head < tail:
        node = queue[head]
        head += np.uint64(1)
        for i in range(first[node], first[node + np.uint32(1)]):
            if steps[source[i]] < 0:
                steps[source[i]] = steps[node] + 1
                queue[tail] = source[i]
                tail += np.uint64(1)
    return steps


@njit(cache=True, nogil=True)
def sweep_forwards(successors: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number of steps to every node from node 0, breadth first."""
    nodes, controls = successors.shape
    steps = np.full(nodes, -1, np.int32)
    queue = np.empty(nodes, np.uint32)
    queue[0], steps[0] = 0, 0
    head, tail = np.uint64(0), np.uint64(1)
    while head < tail:
        node = queue[head]
        head += np.uint64(1)
        for control in range(controls):
            after = successors[node, control]
            if after >= 0 and steps[after] < 0:
                steps[after] = steps[node] + 1
                queue[tail] = after
                tail += np.uint64(1)
    return steps


@njit(cache=True, nogil=True)
def arithmetic(terms: int) -> float:
    """Work without memory: how much of a second thread the machine gives at the moment."""
    total = 0.0
    for i in range(terms):
        total += np.sin(float(i))
    return total


def fastest(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Milliseconds of each call, taken in turns so that a slow moment hits all of them; compiled beforehand."""
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            times[name].append(1e3 * (time.perf_counter() - began))
    return {name: min(each) for name, each in times.items()}


if __name__ == "__main__":
    main()
