"""Recorded paths snapped to a roadmap: the walk over its edges that stays nearest to what was recorded.

Between two vertices that a walk passes at the recorded points i < j, the recorded part and the edge are run through in
step, each at its own even speed. A walk costs

    sum over its edges of  integral of | recorded point - point of the edge |  along both, by half each,

so that neither a part that was recorded nor an edge that nobody went along is free. The cheapest walk is found by
dynamic programming over (vertex, recorded point, place in the word): a vertex may be passed where the recorded path is
nearer to it than just before and after. The walk shows the very word that the recorded path shows, region by region, so
that what was demonstrated survives. The largest distance between the two is an upper bound of their Frechet distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import UNAVAILABLE, Label
from wfairl.compiling import njit
from wfairl.errors import BadInputError
from wfairl.worlds.continuous.floor_plan import path_lengths, resample
from wfairl.worlds.continuous.shapes import Chains, Points, chain_lengths

if TYPE_CHECKING:
    from wfairl.worlds.continuous.roadmap import Roadmap

FINENESS = 300
"""Recorded paths are looked at in steps of this part of the floor's diagonal, or finer."""

FIRST_WIDTH, WIDTHS = 1.5, 3
"""Vertices are looked for within this many times the median edge of the recorded path, and within twice that, and so
on, this many times."""


class NoMatchError(BadInputError):
    """A recorded path that no walk over a roadmap resembles."""


@dataclass(frozen=True)
class Match:
    """A recorded path as a walk over a roadmap.

    Attributes:
        controls: of the walk.
        vertices: that it passes, one more.
        mean_error: metres between the two, on average along both.
        largest_error: the most.
    """

    controls: tuple[int, ...]
    vertices: tuple[int, ...]
    mean_error: float
    largest_error: float


def match_path(roadmap: Roadmap, path: Points, start: int, marks: Mapping[int, Label], word: Sequence[Label]) -> Match:
    """The walk nearest to a recorded path.

    Args:
        roadmap: where.
        path: the recorded points, shape [points, 2 or more].
        start: the vertex where the walk begins.
        marks: what holds at vertices; nothing at the others.
        word: what the recorded path shows, from its first point on; the walk shows the same, after its start.

    Raises:
        NoMatchError: there is no such walk.
    """
    at_start = marks.get(start, frozenset())
    word = word if word[0] == at_start else (at_start, *word)
    fine = resample(np.asarray(path, np.float64)[:, :2], roadmap.plan.size / FINENESS)
    lengths = roadmap.table.features.sum(axis=1)
    for doubled in range(WIDTHS):
        width = FIRST_WIDTH * float(np.median(lengths)) * 2**doubled
        found = _match_within(roadmap, fine, start, marks, word, width)
        if found is not None:
            return found
    shown = " ".join("-" if not label else "&".join(sorted(label)) for label in word)
    raise NoMatchError(f"no walk over the roadmap resembles the path and shows {shown}; is it of another scene?")


def _match_within(
    roadmap: Roadmap, fine: Points, start: int, marks: Mapping[int, Label], word: Sequence[Label], width: float
) -> Match | None:
    """The walk over vertices within some metres of the path; None if there is none."""
    near, passages = _passages(roadmap.configurations, fine, start, width)
    controls, targets, first_edge, chains = _edges_between(roadmap, near)
    shown = [marks.get(vertex, frozenset()) for vertex in near.tolist()]
    number = {label: i for i, label in enumerate(dict.fromkeys((*word, *shown)))}
    walked, taken, total, largest = _nearest_walk(
        fine, path_lengths(fine), *passages, targets, first_edge, chain_lengths(chains), *chains,
        np.array([number[label] for label in shown]), np.array([number[label] for label in word]),
        int(np.searchsorted(near, start)), 2 * width,
    )  # fmt: skip
    if not len(walked):
        return None
    length = (path_lengths(fine)[-1] + chain_lengths(chains)[taken].sum()) / 2
    mean = total / max(float(length), np.finfo(float).tiny)
    return Match(tuple(controls[taken].tolist()), tuple(near[walked].tolist()), mean, largest)


def _passages(
    configurations: NDArray[np.float64], fine: Points, start: int, width: float
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """The vertices near a path, and where it may pass them.

    Returns:
        The vertices, ascending; and of the passages, sorted by their point of the path: the vertex's place among them,
        the point; which passages each vertex has, and where they begin in that list.
    """
    low, high = fine.min(axis=0) - width, fine.max(axis=0) + width
    places = configurations[:, :2]
    around = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1) | (np.arange(len(places)) == start))
    distance = np.linalg.norm(places[around][:, None] - fine[None], axis=2)
    is_near = (distance.min(axis=1) <= width) | (around == start)
    near, distance = around[is_near], distance[is_near]
    beyond = np.pad(distance, ((0, 0), (1, 1)), constant_values=np.inf)
    may_pass = (distance <= beyond[:, :-2]) & (distance < beyond[:, 2:]) & (distance <= width)
    may_pass[:, -1] |= distance[:, -1] <= width
    may_pass[near == start, 0] = True
    point, vertex = np.nonzero(may_pass.T)
    of_vertex = np.argsort(vertex, kind="stable")
    first = np.searchsorted(vertex[of_vertex], np.arange(len(near) + 1))
    return near, (vertex, point, of_vertex, first)


def _edges_between(
    roadmap: Roadmap, near: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], Chains]:
    """The edges between some vertices: control, target among them, where those of each vertex begin, and their way."""
    place = np.full(len(roadmap.configurations), -1)
    place[near] = np.arange(len(near))
    successors = roadmap.table.successors[near]
    one, control = np.nonzero((successors != UNAVAILABLE) & (place[successors] >= 0))
    target = successors[one, control]
    chains = roadmap.steering.chains(roadmap.configurations[near[one]], roadmap.configurations[target])
    return control, place[target], np.searchsorted(one, np.arange(len(near) + 1)), chains


@njit(cache=True, nogil=True)
def _nearest_walk(
    fine: Points,
    along: NDArray[np.float64],
    vertex: NDArray[np.int64],
    point: NDArray[np.int64],
    of_vertex: NDArray[np.int64],
    first_passage: NDArray[np.int64],
    target: NDArray[np.int64],
    first_edge: NDArray[np.int64],
    edge_length: NDArray[np.float64],
    chain_points: Points,
    first_point: NDArray[np.int64],
    label: NDArray[np.int64],
    word: NDArray[np.int64],
    start: int,
    slack: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], float, float]:
    """The cheapest walk from the start at the first point to the last letter of the word.

    An edge may be run through along a recorded part that is longer than itself by `slack` metres at most.

    Returns:
        The vertices and the edges of the walk, none if there is no walk; its total and its largest distance.
    """
    passages, letters = len(vertex), len(word)
    cost = np.full((passages, letters), np.inf)
    last_passage = np.full((passages, letters), -1)
    last_letter = np.full((passages, letters), -1)
    last_edge = np.full((passages, letters), -1)
    for here in range(passages):
        if vertex[here] == start and point[here] == 0:
            cost[here, 0] = 0.0
    for here in range(passages):
        if not (cost[here] < np.inf).any():
            continue
        for edge in range(first_edge[vertex[here]], first_edge[vertex[here] + 1]):
            there = target[edge]
            ways = chain_points[first_point[edge] : first_point[edge + 1]]
            length = edge_length[edge]
            changes = label[there] != label[vertex[here]]
            for k in range(first_passage[there], first_passage[there + 1]):
                after = of_vertex[k]
                if point[after] <= point[here]:
                    continue
                if along[point[after]] - along[point[here]] > length + slack:
                    break
                apart = -1.0
                for letter in range(letters):
                    read = letter + 1 if changes else letter
                    if cost[here, letter] == np.inf or read >= letters or (changes and word[read] != label[there]):
                        continue
                    if apart < 0:
                        apart = _apart(fine, along, point[here], point[after], ways, length)[0]
                    if cost[here, letter] + apart < cost[after, read]:
                        cost[after, read] = cost[here, letter] + apart
                        last_passage[after, read] = here
                        last_letter[after, read] = letter
                        last_edge[after, read] = edge
    best, best_cost, tail_largest = -1, np.inf, 0.0
    for here in range(passages):
        if cost[here, letters - 1] < best_cost:
            place = chain_points[first_point[first_edge[vertex[here]]]][None]
            tail, furthest = _apart(fine, along, point[here], len(fine) - 1, place, 0.0)
            if cost[here, letters - 1] + tail < best_cost:
                best, best_cost, tail_largest = here, cost[here, letters - 1] + tail, furthest
    if best < 0:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.inf, np.inf
    walked, taken, largest = [vertex[best]], [np.int64(0) for _ in range(0)], tail_largest
    here, letter = best, letters - 1
    while last_passage[here, letter] >= 0:
        edge, before = last_edge[here, letter], last_passage[here, letter]
        ways = chain_points[first_point[edge] : first_point[edge + 1]]
        largest = max(largest, _apart(fine, along, point[before], point[here], ways, edge_length[edge])[1])
        taken.append(edge)
        letter, here = last_letter[here, letter], before
        walked.append(vertex[here])
    return np.array(walked)[::-1], np.array(taken)[::-1], best_cost, largest


@njit(cache=True, nogil=True)
def _apart(fine: Points, along: NDArray[np.float64], i: int, j: int, way: Points, length: float) -> tuple[float, float]:
    """The distance between the recorded part from i to j and a way, run through in step.

    Returns:
        Its integral, along both by half each, and its maximum.
    """
    total, largest, before = 0.0, 0.0, 0.0
    segment, passed = 0, 0.0
    for t in range(i, j + 1):
        part = 1.0 if t == j else (along[t] - along[i]) / max(along[j] - along[i], 1e-300)
        wanted = part * length
        while segment < len(way) - 2:
            step = np.hypot(way[segment + 1, 0] - way[segment, 0], way[segment + 1, 1] - way[segment, 1])
            if passed + step >= wanted:
                break
            passed += step
            segment += 1
        x, y = way[segment, 0], way[segment, 1]
        if segment + 1 < len(way):
            dx, dy = way[segment + 1, 0] - x, way[segment + 1, 1] - y
            step = np.hypot(dx, dy)
            if step > 0:
                here = min(1.0, (wanted - passed) / step)
                x, y = x + here * dx, y + here * dy
        distance = np.hypot(fine[t, 0] - x, fine[t, 1] - y)
        if t > i:
            total += (along[t] - along[t - 1]) * (before + distance) / 2
        before = distance
        largest = max(largest, distance)
    recorded = max(along[j] - along[i], 1e-300)
    return total * (recorded + length) / (2 * recorded), largest
