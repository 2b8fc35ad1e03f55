"""Recorded paths matched to a roadmap: the path over its edges that stays nearest to the recorded one.

Between two vertices that it passes at the recorded points i < j, the recorded part and the edge are traversed together,
each at constant speed. A path over the roadmap costs

    sum over its edges of  integral of | recorded point - point of the edge |  along both, by half each,

so that neither a recorded part nor an edge far from it is free. Dynamic programming over (vertex, recorded point,
position in the word) finds the cheapest one: a vertex may be passed at local minima of its distance to the recorded
path. The path over the roadmap has the same word as the recorded one, region by region, so that what was demonstrated
survives. The largest distance between the two is an upper bound on their Frechet distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class NoMatchError(BadInputError):
    """A recorded path that no path over a roadmap resembles."""


class _Recording(NamedTuple):
    """A recorded path: its points, shape [points, 2], and the metres from its start to each, shape [points]."""

    points: Points
    metres: NDArray[np.float64]


class _Passages(NamedTuple):
    """Where a recorded path may pass vertices, in the order of its points.

    Attributes:
        vertex, point: of each passage, shape [passages].
        by_vertex: the passages of one vertex after the other, shape [passages].
        first: index of the first of each vertex in `by_vertex`, and the end; shape [vertices + 1].
    """

    vertex: NDArray[np.int64]
    point: NDArray[np.int64]
    by_vertex: NDArray[np.int64]
    first: NDArray[np.int64]


class _Edges(NamedTuple):
    """Edges of a roadmap, sorted by their sources.

    Attributes:
        control, target: of each edge, shape [edges].
        first: index of the first edge of each vertex, and the end; shape [vertices + 1].
        length: in metres, shape [edges].
        places: of the vertices, shape [vertices, 2].
    """

    control: NDArray[np.int64]
    target: NDArray[np.int64]
    first: NDArray[np.int64]
    length: NDArray[np.float64]
    places: Points


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
        NoMatchError: there is no such path.
    """
    at_start = marks.get(start, frozenset())
    word = word if word[0] == at_start else (at_start, *word)
    points = resample(path, roadmap.plan.size / FINENESS)
    recording = _Recording(points, path_lengths(points))
    for doubled in range(WIDTHS):
        width = FIRST_WIDTH * float(np.median(roadmap.table.features.sum(axis=1))) * 2**doubled
        match = _match_within(roadmap, recording, start, marks, word, width)
        if match is not None:
            return match
    text = " ".join("-" if not label else "&".join(sorted(label)) for label in word)
    raise NoMatchError(f"no path over the roadmap resembles the recorded one and shows {text}; is it of another scene?")


def _match_within(
    roadmap: Roadmap, recording: _Recording, start: int, marks: Mapping[int, Label], word: Sequence[Label], width: float
) -> PathMatch | None:
    """The nearest path over vertices within some metres of the recorded one; None if there is none."""
    near, passages = _find_passages(roadmap.places, recording.points, start, width)
    edges = _edges_between(roadmap, near)
    labels = [marks.get(vertex, frozenset()) for vertex in near.tolist()]
    number = {label: i for i, label in enumerate(dict.fromkeys((*word, *labels)))}
    label_index, letters = (np.array([number[label] for label in one]) for one in (labels, word))
    vertices, taken, total, largest = _nearest_path(
        recording, passages, edges, label_index, letters, int(np.searchsorted(near, start)), 2 * width
    )
    if not len(vertices):
        return None
    length = (recording.metres[-1] + edges.length[taken].sum()) / 2
    mean = total / max(float(length), np.finfo(float).tiny)
    return PathMatch(tuple(edges.control[taken].tolist()), tuple(near[vertices].tolist()), mean, largest)


def _find_passages(places: Points, points: Points, start: int, width: float) -> tuple[NDArray[np.int64], _Passages]:
    """The vertices near a recorded path, ascending, and its passages, in which vertices are indices into these."""
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
    by_vertex = np.argsort(vertex, kind="stable")
    first = np.searchsorted(vertex[by_vertex], np.arange(len(near) + 1))
    return near, _Passages(vertex, point, by_vertex, first)


def _edges_between(roadmap: Roadmap, near: NDArray[np.int64]) -> _Edges:
    """The edges between some vertices, with targets as indices into these."""
    index = np.full(len(roadmap.places), -1)
    index[near] = np.arange(len(near))
    successors = roadmap.table.successors[near]
    source, control = np.nonzero((successors != UNAVAILABLE) & (index[successors] >= 0))
    target = successors[source, control]
    length = np.linalg.norm(roadmap.places[target] - roadmap.places[near[source]], axis=1)
    first = np.searchsorted(source, np.arange(len(near) + 1))
    return _Edges(control, index[target], first, length, roadmap.places[near])


@njit(cache=True, nogil=True)
def _nearest_path(
    recording: _Recording,
    passages: _Passages,
    edges: _Edges,
    label: NDArray[np.int64],
    word: NDArray[np.int64],
    start: int,
    slack: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], float, float]:
    """The cheapest path from the start at the first recorded point to the last letter of the word.

    Args:
        recording, passages, edges: see there.
        label: number of the label of each vertex, shape [vertices].
        word: numbers of its labels, shape [letters].
        start: a vertex.
        slack: the recorded part along an edge is at most this many metres longer than the edge.

    Returns:
        The vertices and the edges of the path, its cost and its largest distance. Without a path there are no vertices.
    """
    vertex, point, places, letters = passages.vertex, passages.point, edges.places, len(word)
    cost = np.full((len(vertex), letters), np.inf)
    before = np.full((len(vertex), letters), -1)  # passage * letters + letter
    last_edge = np.full((len(vertex), letters), -1)
    for here in range(len(vertex)):
        if vertex[here] == start and point[here] == 0:
            cost[here, 0] = 0.0
        if not (cost[here] < np.inf).any():
            continue
        for edge in range(edges.first[vertex[here]], edges.first[vertex[here] + 1]):
            there = edges.target[edge]
            changes = label[there] != label[vertex[here]]
            for after in passages.by_vertex[passages.first[there] : passages.first[there + 1]]:
                if point[after] <= point[here]:
                    continue
                if recording.metres[point[after]] - recording.metres[point[here]] > edges.length[edge] + slack:
                    break
                distance = -1.0
                for letter in range(letters):
                    next_letter = letter + 1 if changes else letter
                    if cost[here, letter] == np.inf or next_letter >= letters:
                        continue
                    if changes and word[next_letter] != label[there]:
                        continue
                    if distance < 0:
                        ends = places[vertex[here]], places[there]
                        distance = _distance(recording, point[here], point[after], *ends)[0]
                    if cost[here, letter] + distance < cost[after, next_letter]:
                        cost[after, next_letter] = cost[here, letter] + distance
                        before[after, next_letter] = here * letters + letter
                        last_edge[after, next_letter] = edge
    best, best_cost, largest = -1, np.inf, 0.0
    for here in range(len(vertex)):
        if cost[here, letters - 1] < best_cost:
            place = places[vertex[here]]
            rest, furthest = _distance(recording, point[here], len(recording.points) - 1, place, place)
            if cost[here, letters - 1] + rest < best_cost:
                best, best_cost, largest = here, cost[here, letters - 1] + rest, furthest
    if best < 0:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.inf, np.inf
    vertices, taken = [vertex[best]], [np.int64(0) for _ in range(0)]
    here, letter = best, letters - 1
    while before[here, letter] >= 0:
        edge, (earlier, letter) = last_edge[here, letter], divmod(before[here, letter], letters)
        ends = places[vertex[earlier]], places[vertex[here]]
        largest = max(largest, _distance(recording, point[earlier], point[here], *ends)[1])
        taken.append(edge)
        vertices.append(vertex[earlier])
        here = earlier
    return np.array(vertices)[::-1], np.array(taken)[::-1], best_cost, largest


@njit(cache=True, nogil=True)
def _distance(recording: _Recording, i: int, j: int, begin: Points, end: Points) -> tuple[float, float]:
    """The distance between the recorded part from i to j and a straight line, traversed together.

    Returns:
        Its integral, along both by half each, and its maximum.
    """
    points, metres = recording
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
