"""Measures of predicted choices and routes, by the definitions of route choice and behaviour modelling.

    bits per decision     mean of log2 pi(u_t | s_t); 0 is certainty, -log2(controls) a guess
    log-probability       of a trip: sum of log pi(u_t | s_t)
    edit distance         insertions, deletions and substitutions that turn one route into the other, divided by the
                          length of the true one; the nearest of a pair's true routes, at most 1
    BLEU                  matching runs of one to four links, against all true routes of the pair; no match of a length
                          counts as 0.1 (smoothing 1 of Chen and Cherry 2014)
    Jensen-Shannon        distance between the frequencies of the true routes and of the predicted ones; all predicted
                          routes that were never driven count as one

Edit distance and BLEU are those of Zhao and Liang (2023). A pair is an origin and a destination.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon

from wfairl.core.support.compiling import njit

Route = tuple[int, ...]

LONGEST_RUN = 4

NO_MATCH = 0.1
"""Matches that BLEU counts where no run of a length matches."""


def score_routes(true_routes: Sequence[Route], predicted: Sequence[Route]) -> dict[str, float]:
    """Compare a predicted route for every trip with all true routes of its origin and destination: means over trips."""
    driven: dict[tuple[int, int], dict[Route, None]] = {}
    for route in true_routes:
        driven.setdefault((route[0], route[-1]), {})[route] = None
    trips = [((true[0], true[-1]), route) for true, route in zip(true_routes, predicted, strict=True)]
    scores = {
        (pair, route): (nearest_edit_distance(route, list(driven[pair])), bleu(route, list(driven[pair])))
        for pair, route in dict.fromkeys(trips)
    }
    edit, matches = np.mean([scores[trip] for trip in trips], axis=0)
    distance = route_distance(true_routes, predicted)
    return {"edit distance": float(edit), "BLEU": float(matches), "Jensen-Shannon": distance}


def bits_per_decision(log_probabilities: NDArray[np.float64]) -> float:
    """The mean of log probabilities of choices, in bits."""
    return float(np.mean(log_probabilities)) / math.log(2)


def nearest_edit_distance(route: Route, references: Sequence[Route]) -> float:
    """The least edit distance to one of the references, each divided by the length of the reference; at most 1."""
    return min(1.0, *(edit_distance(route, one) / len(one) for one in references))


def edit_distance(one: Route, other: Route) -> int:
    """Insertions, deletions and substitutions that turn one route into the other."""
    return int(_edit_distance(np.array(one, np.int64), np.array(other, np.int64)))


@njit(cache=True, nogil=True)
def _edit_distance(one: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    before = np.arange(len(other) + 1)
    for i in range(len(one)):
        row = np.empty_like(before)
        row[0] = i + 1
        for j in range(len(other)):
            row[j + 1] = min(before[j] + (one[i] != other[j]), before[j + 1] + 1, row[j] + 1)
        before = row
    return before[-1]


def bleu(route: Route, references: Sequence[Route]) -> float:
    """How many runs of one to four links of a route are in a reference: geometric mean, times a penalty for brevity.

    A run counts at most as often as in the reference that has it most. The penalty compares the length of the route
    with that of the reference nearest in length, the shorter one of two.
    """
    logs = []
    for length in range(1, LONGEST_RUN + 1):
        runs = _runs(route, length)
        most: Counter[Route] = Counter()
        for reference in references:
            most |= _runs(reference, length)
        matched = (runs & most).total()
        if length == 1 and matched == 0:
            return 0.0
        logs.append(math.log((matched or NO_MATCH) / max(1, runs.total())))
    nearest = min((len(one) for one in references), key=lambda size: (abs(size - len(route)), size))
    penalty = min(0.0, 1 - nearest / len(route))
    return math.exp(penalty + sum(logs) / LONGEST_RUN)


def _runs(route: Route, length: int) -> Counter[Route]:
    return Counter(route[i : i + length] for i in range(len(route) - length + 1))


def route_distance(true_routes: Sequence[Route], predicted: Sequence[Route]) -> float:
    """The Jensen-Shannon distance between the frequencies of routes, in nats."""
    driven, counts = Counter(true_routes), Counter(predicted)
    never_driven = sum(count for route, count in counts.items() if route not in driven)
    return float(jensenshannon([*driven.values(), 0], [*(counts[route] for route in driven), never_driven]))


def greedy_routes(
    successors: NDArray[np.int32],
    control_cost_to_go: Mapping[int, NDArray[np.float64]],
    pairs: Sequence[tuple[int, int]],
    longest: int = 50,
) -> list[Route]:
    """For each origin and destination the route that takes the most likely control, of at most `longest` steps.

    `control_cost_to_go` has Q of all nodes, shape [nodes, controls], for every destination.
    """
    routes: dict[tuple[int, int], Route] = {}
    for origin, goal in dict.fromkeys(pairs):
        best, route = control_cost_to_go[goal].argmin(axis=1), [origin]
        while route[-1] != goal and len(route) <= longest:
            route.append(int(successors[route[-1], best[route[-1]]]))
        routes[origin, goal] = tuple(route)
    return [routes[pair] for pair in pairs]
