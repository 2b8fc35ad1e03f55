"""The time of one evaluation of the likelihood of route choices to hundreds of goals, and of its gradient.

    python benchmarks/choices.py [--json] [--quick] [--repeats 5]

The network is a random grid of the size of Borlange's (7,288 links, 466 goals, 37,000 steps). Ours is the whole
evaluation: cost-to-go, policy and gradient with respect to the cost of every transition, on one thread. The peers
compute less: SciPy's Dijkstra only the cost-to-go of all goals, and a sparse solve per goal only the soft one, as in
the recursive logit's own code (measured on some of the goals).
"""

import numpy as np
from numpy.typing import NDArray
from reporting import fastest, make_parser, report
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import spsolve

from experiments.route_choice.choice_models import ExactChoice, SoftChoice
from experiments.route_choice.choices import Choices

SIDE, GOALS, STEPS, SAMPLED_GOALS = 86, 466, 37_000, 20


def main() -> None:
    parser = make_parser(__doc__, repeats=5)
    arguments = parser.parse_args()
    report(measure(1 if arguments.quick else arguments.repeats), arguments.json)


def measure(repeats: int) -> dict[str, dict[str, float]]:
    choices, costs = make_choices(np.random.default_rng(0))
    nodes = len(choices.successors)
    source, control = np.nonzero(choices.successors >= 0)
    target, weight = choices.successors[source, control], costs[source, control]
    reversed_graph = csr_array((weight, (target, source)), (nodes, nodes))
    links = csc_array((np.exp(-weight), (source, target)), (nodes, nodes))
    goals = choices.decisions.goals
    exact, soft = ExactChoice(n_jobs=1), SoftChoice()
    exact.log_likelihood(choices, costs)  # compiles, and sorts the graph of every goal
    sampled = goals[:SAMPLED_GOALS]
    seconds = {
        "ours, exact: likelihood and gradient": fastest(lambda: exact.log_likelihood(choices, costs), repeats),
        "SciPy's Dijkstra, cost-to-go alone": fastest(lambda: dijkstra(reversed_graph, indices=goals), repeats),
        "ours, soft: likelihood and gradient": fastest(lambda: soft.log_likelihood(choices, costs), repeats),
        "a sparse solve per goal, values alone": fastest(lambda: solve_each(links, sampled), 1)
        * len(goals)
        / SAMPLED_GOALS,
    }
    ours_exact, peer_exact, ours_soft, peer_soft = seconds.values()
    return {
        "seconds of one evaluation, 466 goals on 7,396 links": seconds,
        "ratios": {"exact / SciPy": ours_exact / peer_exact, "soft / solves": ours_soft / peer_soft},
    }


def make_choices(rng: np.random.Generator) -> tuple[Choices, NDArray[np.float64]]:
    """Cells of a grid that wraps around, each with its four neighbours."""
    nodes = SIDE * SIDE
    row, column = np.divmod(np.arange(nodes), SIDE)
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    around = [(row + i) % SIDE * SIDE + (column + j) % SIDE for i, j in steps]
    successors = np.stack(around, axis=1).astype(np.int32)
    trips = np.arange(STEPS) // 20
    goals = rng.choice(nodes, GOALS, replace=False)[trips % GOALS]
    choices = Choices(successors, goals, rng.integers(0, nodes, STEPS), rng.integers(0, 4, STEPS), trips)
    return choices, rng.uniform(1.5, 3.0, successors.shape)


def solve_each(links: csc_array, goals: NDArray[np.int64]) -> None:
    """z = M z + b for each goal, factorised anew."""
    nodes = links.shape[0]
    for goal in goals:
        arrived = np.zeros(nodes)
        arrived[goal] = 1.0
        spsolve((eye_array(nodes) - links).tocsc(), arrived)


if __name__ == "__main__":
    main()
