"""Exact cost-to-go: time against SciPy, rustworkx and a breadth-first sweep.

    python benchmarks/shortest_path.py [--json] [--quick] [--repeats 15] [--slip 0.1 [--storm]]

The whole product of `blocked-unlock-pickup` and its rule (508,144 states), or of `doorkey`, costs in [0.5, 1.5].
Ours is the whole call: V, Q of every control and the best control, from the graph reversed once. The peers get their
graph ready-made and solve for V, SciPy also for predecessors. The lower limit is a compiled breadth-first sweep of the
same reversed graph, in the product's own numbering. A* is measured by `focused.py`.

With --slip, a control is replaced by another one with this probability, and the expected cost-to-go is measured beside
the exact one, in time of processor. Storm solves the same explicit model, to a relative error of 1e-6, with bounds
(`sound`) and by default; to read the model of `blocked-unlock-pickup` takes it minutes, which do not count.
"""

import time
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import rustworkx
from numba import njit
from numpy.typing import NDArray
from reporting import make_parser, report
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.planning.expected_cost import expected_cost_to_go
from wfairl.core.planning.product import Product, build_product
from wfairl.core.planning.shortest_path import CostToGo, cost_to_go, reverse_graph
from wfairl.core.worlds.chances import Chances
from wfairl.runs.task_registry import find_task


def main() -> None:
    parser = make_parser(__doc__, repeats=15)
    parser.add_argument("--slip", type=float, default=0.0)
    parser.add_argument("--storm", action="store_true", help="measure Storm beside ours where the world slips")
    arguments = parser.parse_args()
    task = find_task("doorkey" if arguments.quick else "blocked-unlock-pickup")
    if arguments.slip:
        measure_slipping(task.name, arguments)
        return
    product = build_product(task.make_world(3), task.rule)
    costs, other_costs = (np.random.default_rng(i).uniform(0.5, 1.5, product.successors.shape) for i in (0, 1))
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
            "two, one thread": lambda: [cost_to_go(graph, each) for each in (costs, other_costs)],
            "two, two threads": lambda: list(pool.map(partial(cost_to_go, graph), (costs, other_costs))),
            "reverse_graph, once": lambda: reverse_graph(product.successors),
        },
        arguments.repeats,
    )
    found = cost_to_go(graph, costs).cost_to_go
    np.testing.assert_allclose(found, dijkstra(matrix, indices=len(product))[:-1], rtol=1e-12)
    ours = milliseconds["ours"]
    ratios = {
        "scipy / ours": milliseconds["scipy dijkstra"] / ours,
        "rustworkx / ours": milliseconds["rustworkx dijkstra"] / ours,
        "ours / sweep": ours / milliseconds["sweep"],
        "two threads / one": milliseconds["two, two threads"] / milliseconds["two, one thread"],
    }
    sizes = {"states": len(product), "transitions": product.successors.size}
    report({f"the product of {task.name}": sizes, "milliseconds": milliseconds, "ratios": ratios}, arguments.json)


def measure_slipping(name: str, arguments: Namespace) -> None:
    """The expected cost-to-go beside the exact one of a world that does not slip, and beside Storm."""
    task = find_task(f"{name}-slip-{arguments.slip}")
    product = build_product(task.make_world(3), task.rule)
    graph, chances, kinds = product.graph, product.chances, (1.0, 0.5)
    assert chances is not None
    figures: dict[str, Any] = {}
    for least in kinds:  # unit costs, and costs in [0.5, 1.5]
        costs = np.random.default_rng(0).uniform(least, 2 - least, product.successors.shape)
        calls: dict[str, Callable[[], Any]] = {
            "exact, no slip": partial(cost_to_go, graph, costs),
            "expected, to 1e-9": partial(expected_cost_to_go, graph, chances, costs),
            "expected, to 1e-6": partial(expected_cost_to_go, graph, chances, costs, tolerance=1e-6),
        }
        milliseconds = fastest(calls, arguments.repeats, time.thread_time)
        solution = expected_cost_to_go(graph, chances, costs)
        if arguments.storm:
            found = solve_by_storm(graph.successors, chances, costs, solution)
            for each, (took, values) in found.items():
                milliseconds[each] = took
                np.testing.assert_allclose(values, solution.cost_to_go[solution.best_control >= 0], rtol=2e-6)
        ours = milliseconds["expected, to 1e-9"]
        ratios = {f"ours / {each}": ours / took for each, took in milliseconds.items() if "expected" not in each}
        figures["unit costs" if least == 1 else "costs in [0.5, 1.5]"] = milliseconds
        figures["ratios, unit costs" if least == 1 else "ratios, costs in [0.5, 1.5]"] = ratios
    outcomes = int(np.diff(chances.first).reshape(-1, chances.controls).sum(axis=1)[chances.kind].sum())
    hopeful = int((solution.best_control >= 0).sum())
    sizes = {"states": len(product), "that can succeed": hopeful, "outcomes": outcomes}
    report({f"the product of {task.name}": sizes, **figures}, arguments.json)


def solve_by_storm(
    successors: NDArray[np.int32], chances: Chances, costs: NDArray[np.float64], solution: CostToGo
) -> dict[str, tuple[float, NDArray[np.float64]]]:
    """Milliseconds and expected costs of the nodes that can succeed, by Storm, to 1e-6, from a file of the model."""
    import stormpy

    nodes = np.flatnonzero(solution.best_control >= 0)
    count, P = len(nodes), chances.dense(successors.shape[1])
    number = np.full(len(successors) + 3, count + 1)  # failure; the last entries are those of negative numbers
    number[nodes], number[ACCEPTED] = np.arange(count), count
    with NamedTemporaryFile("w", suffix=".drn") as file:
        choices = int(np.isfinite(solution.control_cost_to_go[nodes]).sum()) + 3
        counts = f"@nr_states\n{count + 3}\n@nr_choices\n{choices}\n"
        file.write(f"@type: MDP\n@parameters\n\n@reward_models\ncost\n{counts}@model\n")
        for i, node in enumerate(nodes.tolist()):
            file.write(f"state {i}{' init' if i == 0 else ''}\n")
            targets = number[successors[node]].tolist()
            for u in np.flatnonzero(np.isfinite(solution.control_cost_to_go[node])).tolist():
                lottery = P[chances.kind[node], u]
                sums: dict[int, float] = {}
                for target, p in zip(targets, lottery.tolist(), strict=True):
                    if p:
                        sums[target] = sums.get(target, 0.0) + p
                file.write(f"\taction {u} [{float(lottery @ costs[node])!r}]\n")
                file.write("".join(f"\t\t{target} : {sums[target]!r}\n" for target in sorted(sums)))
        for i, reward in enumerate((0.0, solution.failure, 0.0)):
            label = " end" if i == 2 else ""
            file.write(f"state {count + i}{label}\n\taction 0 [{reward!r}]\n\t\t{count + 2} : 1.0\n")
        file.flush()
        model = stormpy.build_model_from_drn(file.name)
    formula = stormpy.parse_properties('R{"cost"}min=? [F "end"]')[0]
    found = {}
    for name, environment in (("Storm, sound", stormpy.environments.sound()), ("Storm", stormpy.Environment())):
        environment.solver().min_max().precision = stormpy.Rational("1/1000000")
        began = time.thread_time()
        values = stormpy.model_checking(model, formula, environment=environment, only_initial_states=False)
        took = 1e3 * (time.thread_time() - began)
        found[name] = took, np.array([values.get_value(i) for i in range(count)])
    return found


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


def fastest(
    calls: dict[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Milliseconds of each call, taken in turns so that a slow moment hits all of them; compiled beforehand."""
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            began = clock()
            call()
            times[name].append(1e3 * (clock() - began))
    return {name: min(each) for name, each in times.items()}


if __name__ == "__main__":
    main()
