"""Recorded paths matched to a roadmap: the path over its edges that stays nearest to the recorded one.

Between two vertices that it passes at the recorded points i < j, the recorded part and the edge are traversed together,
each at constant speed. A path over the roadmap costs

    sum over its edges of  integral of | recorded point - point of the edge |  along both, by half each,

so that neither a recorded part nor an edge far from it is free. A *passage* is a vertex and a recorded point at which
its distance to the recorded path is a local minimum. The match is the cheapest path over passages with the word of the
recorded path, region by region, so that what was demonstrated survives. The largest distance between the two is an
upper bound on their Frechet distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from wfairl.core.automata.automaton import UNAVAILABLE, Label
from wfairl.core.support.compiling import njit
from wfairl.core.support.errors import BadInputError
from wfairl.floors.floor_plan import path_lengths, resample
from wfairl.floors.shapes import Points
from wfairl.recordings.log import PathMatch

if TYPE_CHECKING:
    from wfairl.floors.roadmap import Roadmap

FINENESS = 300
"""Recorded paths are resampled at this fraction of the floor's diagonal, or finer."""

FIRST_WIDTH, WIDTHS = 1.5, 3
"""Vertices are searched within this many times the median edge of the recorded path, and within twice that, and so on,
this many times."""


def match_path(
    roadmap: Roadmap, path: Points, start: int, marks: Mapping[int, Label], word: Sequence[Label]
) -> PathMatch:
    """The path over a roadmap that is nearest to a recorded one.

    Args:
        roadmap: the roadmap.
        path: the recorded points, shape [points, 2].
        start: the vertex where the matched path begins.
        marks: labels of vertices, empty for the others.
        word: of the recorded path, from its first point on; the matched path has the same, after its start.

    Raises:
        BadInputError: there is no such path.
    """
    at_start = marks.get(start, frozenset())
    word = word if word[0] == at_start else (at_start, *word)
    points = resample(path, roadmap.plan.size / FINENESS)
    for doubled in range(WIDTHS):
        width = FIRST_WIDTH * float(np.median(roadmap.table.features.sum(axis=1))) * 2**doubled
        match = _match_within(roadmap, points, start, marks, word, width)
        if match is not None:
            return match
    text = " ".join("-" if not label else "&".join(sorted(label)) for label in word)
    raise BadInputError(
        f"no path over the roadmap resembles the recorded one and shows {text}; is it of another scene?"
    )


def _match_within(
    roadmap: Roadmap, points: Points, start: int, marks: Mapping[int, Label], word: Sequence[Label], width: float
) -> PathMatch | None:
    """The nearest path over vertices within some metres of the recorded one; None if there is none."""
    metres = path_lengths(points)
    near, vertex, point = _find_passages(roadmap.places, points, start, width)
    places, control = roadmap.places[near], _controls_between(roadmap, near)
    labels = [marks.get(one, frozenset()) for one in near[vertex].tolist()]
    number = {label: i for i, label in enumerate(dict.fromkeys((*word, *labels)))}
    labels.append(word[-1])  # the end of the recorded path is one passage more
    label_index, letters = (np.array([number[label] for label in one]) for one in (labels, word))
    may_end = label_index == letters[-1]
    longest = float(roadmap.table.features.sum(axis=1).max())
    source, target, costs = _join_passages(points, metres, vertex, point, places, control, may_end, longest, 2 * width)
    begin = int(np.flatnonzero((near[vertex] == start) & (point == 0))[0])
    ends = np.array([len(vertex)])
    passages, total = cheapest_path(source, target, costs, label_index, letters, begin, ends)
    if not len(passages):
        return None
    vertices, passed = vertex[passages[:-1]], np.append(point[passages[:-1]], len(points) - 1)
    along = places[np.append(vertices, vertices[-1])]
    parts = zip(passed[:-1], passed[1:], along[:-1], along[1:], strict=True)
    largest = max(_distance(points, metres, *part)[1] for part in parts)
    mean = total / max(float(metres[-1] + path_lengths(along)[-1]) / 2, np.finfo(float).tiny)
    controls = control[vertices[:-1], vertices[1:]].tolist()
    return PathMatch(tuple(controls), tuple(near[vertices].tolist()), mean, largest)


def _find_passages(
    places: Points, points: Points, start: int, width: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The vertices near a recorded path, ascending; and an index into these and a recorded point of each passage.

    Passages are in the order of their points.
    """
    low, high = points.min(axis=0) - width, points.max(axis=0) + width
    around = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1) | (np.arange(len(places)) == start))
    distance = np.linalg.norm(places[around][:, None] - points[None], axis=2)
    is_near = (distance.min(axis=1) <= width) | (around == start)
    near, distance = around[is_near], distance[is_near]
    padded = np.pad(distance, ((0, 0), (1, 1)), constant_values=np.inf)
    may_pass = (distance <= padded[:, :-2]) & (distance < padded[:, 2:]) & (distance <= width)
    may_pass[:, -1] |= distance[:, -1] <= width
    may_pass[near == start, 0] = True
    point, vertex = np.nonzero(may_pass.T)
    return near, vertex, point


def _controls_between(roadmap: Roadmap, near: NDArray[np.int64]) -> NDArray[np.int64]:
    """The control from each of some vertices to each other, or `UNAVAILABLE`; shape [near, near]."""
    index = np.full(len(roadmap.places), -1)
    index[near] = np.arange(len(near))
    successors = roadmap.table.successors[near]
    source, control = np.nonzero((successors != UNAVAILABLE) & (index[successors] >= 0))
    between = np.full((len(near), len(near)), UNAVAILABLE, np.int64)
    between[source, index[successors[source, control]]] = control
    return between


@njit(cache=True, nogil=True)
def _join_passages(
    points: Points,
    metres: NDArray[np.float64],
    vertex: NDArray[np.int64],
    point: NDArray[np.int64],
    places: Points,
    control: NDArray[np.int64],
    may_end: NDArray[np.bool_],
    longest: float,
    slack: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs of passages that an edge joins, or of a last passage and the end of the recorded path, with their costs.

    Args:
        points, metres: the recorded path, shape [points, 2] and [points].
        vertex, point: of each passage, shape [passages].
        places: of the vertices, shape [vertices, 2].
        control: see `_controls_between`.
        may_end: whether each passage may be the last one, shape [passages + 1].
        longest: edge of the roadmap, in metres.
        slack: the recorded part along an edge is at most this many metres longer than the edge.
    """
    source, target, costs = [0], [0], [0.0]  # of types that the compiler knows; the first are dropped
    for here in range(len(vertex)):
        begin, one = point[here], places[vertex[here]]
        for there in range(here + 1, len(vertex)):
            end = point[there]
            if metres[end] - metres[begin] > longest + slack:
                break
            if end == begin or control[vertex[here], vertex[there]] == UNAVAILABLE:
                continue
            other = places[vertex[there]]
            length = np.hypot(other[0] - one[0], other[1] - one[1])
            if metres[end] - metres[begin] <= length + slack:
                source.append(here)
                target.append(there)
                costs.append(_distance(points, metres, begin, end, one, other)[0])
        if may_end[here]:
            source.append(here)
            target.append(len(vertex))
            costs.append(_distance(points, metres, begin, len(points) - 1, one, one)[0])
    return np.array(source)[1:], np.array(target)[1:], np.array(costs)[1:]


@njit(cache=True, nogil=True)
def _distance(
    points: Points, metres: NDArray[np.float64], i: int, j: int, begin: Points, end: Points
) -> tuple[float, float]:
    """The distance between the recorded part from i to j and a straight line, traversed together.

    Returns:
        Its integral, along both by half each, and its maximum.
    """
    recorded, length = max(metres[j] - metres[i], 1e-300), np.hypot(end[0] - begin[0], end[1] - begin[1])
    total, largest, before = 0.0, 0.0, 0.0
    for t in range(i, j + 1):
        along = 1.0 if t == j else (metres[t] - metres[i]) / recorded
        x, y = begin[0] + along * (end[0] - begin[0]), begin[1] + along * (end[1] - begin[1])
        distance = np.hypot(points[t, 0] - x, points[t, 1] - y)
        if t > i:
            total += (metres[t] - metres[t - 1]) * (before + distance) / 2
        before = distance
        largest = max(largest, distance)
    return total * (recorded + length) / (2 * recorded), largest


def cheapest_path(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    costs: NDArray[np.float64],
    labels: NDArray[np.int64],
    letters: NDArray[np.int64],
    start: int,
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], float]:
    """The cheapest path from a node to one of some ends whose labels are the letters of a word, one by one to its end.

    Args:
        source, target, costs: of the edges, shape [edges].
        labels: of the nodes, shape [nodes].
        letters: the word, in which neighbours differ; shape [letters].
        start: a node with the first letter.
        ends: shape [ends].

    Returns:
        The nodes of the path and its cost; no nodes and inf without one.
    """
    count = len(labels)
    rows, columns, values = [], [], []
    for position, letter in enumerate(letters):
        for next_position in range(position, min(position + 2, len(letters))):
            edges = (labels[source] == letter) & (labels[target] == letters[next_position])
            rows.append(position * count + source[edges])
            columns.append(next_position * count + target[edges])
            values.append(costs[edges])
    size = count * len(letters)
    graph = csr_array((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size))
    distance, before = dijkstra(graph, indices=start, return_predecessors=True)
    last = size - count + ends[distance[size - count + ends].argmin()]
    if distance[last] == np.inf:
        return np.empty(0, np.int64), np.inf
    path = [last]
    while before[path[-1]] >= 0:
        path.append(before[path[-1]])
    return np.array(path[::-1]) % count, float(distance[last])
