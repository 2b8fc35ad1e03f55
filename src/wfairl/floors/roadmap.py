"""Roadmap: a floor as a graph (PRM*), sampled once in free space; its scenes are `GraphWorld`s.

    roadmap = draw_roadmap(plan, samples=1000, seed=0)
    world = roadmap.world(start, {"bay 1": "store", "bay 4": "dock"})

The vertices are places of a scrambled Halton sequence. A straight line joins each vertex to its

    k = ceil(3/2 e ln n)        (k-PRM* of Karaman and Frazzoli, 2011, in the plane; n vertices)

nearest others; a line that touches no obstacle is an edge. The features of an edge are its metres outside the zones and
in each of them.

The label of an edge is the set of regions at its end. An edge along which that set changes more than once is left out,
so that no region is crossed unnoticed: the word of a path is exactly the regions that the path runs through. Every
region has vertices of its own, so that it can be entered. All scenes share one table and give regions propositions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from wfairl.core.automata.automaton import UNAVAILABLE, Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.rendering import Places, Rendering
from wfairl.core.worlds.transitions import TransitionTable, edge_ranks
from wfairl.floors.floor_plan import FloorPlan, path_lengths
from wfairl.floors.matching import match_path
from wfairl.floors.shapes import Points, Shape, ShapeSet, lines_between, rectangle
from wfairl.recordings.log import PathMatch

if TYPE_CHECKING:
    from wfairl.floors.drawing import FloorDrawing

VERTICES_OF_A_REGION = 8
"""Samples drawn in each region, besides samples that fall there by chance."""

SHORT_GAP = 0.3
"""Metres outside a region after which a recorded path has left it: positions are never exact."""

MAX_ROUNDS = 200
"""Rounds of sampling after which a floor counts as having no free space."""


@dataclass(frozen=True, eq=False)
class Roadmap:
    """A floor as a graph."""

    plan: FloorPlan  # the floor
    places: Points  # of the vertices, shape [vertices, 2]
    table: TransitionTable  # the edges; control i of a vertex takes the i-th shortest of its edges

    @property
    def edges(self) -> int:
        """The number of directed edges."""
        return int((self.table.successors != UNAVAILABLE).sum())

    def world(
        self, start: int, meanings: Mapping[str, str] | None = None, propositions: Sequence[str] | None = None
    ) -> GraphWorld:
        """A scene: the start of the robot and the propositions of the regions; the table is shared.

        Args:
            start: a vertex.
            meanings: proposition by region, none for regions left out; each region's own name if None.
            propositions: of the labels; if None, the meanings of the regions.

        Raises:
            BadInputError: there is no such region.
        """
        scene = FloorScene(self, {name: name for name in self.plan.regions} if meanings is None else dict(meanings))
        if propositions is None:
            propositions = tuple(dict.fromkeys(scene.meanings.values()))
        return GraphWorld(self.table, tuple(propositions), start, self.marks(scene.meanings), scene)

    def nearest(self, place: Points) -> int:
        """The vertex nearest to a place (x, y)."""
        return int(self._tree.query(np.asarray(place))[1])

    def path(self, vertices: Sequence[int]) -> Points:
        """The path through some vertices, each a neighbour of the one before; shape [vertices, 2]."""
        return self.places[list(vertices)]

    def marks(self, meanings: Mapping[str, str]) -> dict[int, Label]:
        """The labels of vertices that are not empty, given the propositions of regions.

        Raises:
            BadInputError: there is no such region.
        """
        names = list(self.plan.regions)
        unknown = [name for name in meanings if name not in names]
        if unknown:
            raise BadInputError(f"the floor plan has no region {unknown[0]!r}; there are {', '.join(names)}")
        propositions: dict[int, set[str]] = {}
        for name, proposition in meanings.items():
            for vertex in np.flatnonzero(self.regions_of_vertices[:, names.index(name)]).tolist():
                propositions.setdefault(vertex, set()).add(proposition)
        return {vertex: frozenset(propositions[vertex]) for vertex in sorted(propositions)}

    @cached_property
    def regions_of_vertices(self) -> NDArray[np.bool_]:
        """Which regions each vertex is in, shape [vertices, regions]."""
        return self.plan.region_set.contain(self.places)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.places)


@dataclass(frozen=True, eq=False)
class FloorScene:
    """The source of a `GraphWorld` on a roadmap, whose states are the vertices."""

    roadmap: Roadmap  # the floor as a graph
    meanings: Mapping[str, str]  # proposition by region

    @property
    def rendering(self) -> Rendering:
        """How the floor looks."""
        drawing = self.drawing
        return Rendering(drawing.render, Places(drawing.locate))

    def shown_word(self, path: Points) -> Word:
        """The word of a path in this scene, from its first point on."""
        return compress([self.to_label(regions) for regions in self.roadmap.plan.word(path)])

    def shown_labels(self, places: Points) -> list[Label]:
        """The label of each of some places in this scene."""
        return [self.to_label(regions) for regions in self.roadmap.plan.labels(places)]

    def match_path(self, path: Points, start: int) -> PathMatch:
        """The path over the roadmap that is nearest to a recorded one, whose points may have a heading too."""
        plan, path = self.roadmap.plan, np.asarray(path, np.float64)[:, :2]
        low, high = np.array(plan.bounds[:2]) - plan.size, np.array(plan.bounds[2:]) + plan.size
        beyond = np.flatnonzero(((path < low) | (path > high)).any(axis=1))
        if len(beyond):
            raise BadInputError(f"place {beyond[0]} of the path lies far from the floor; are these metres?")
        return match_path(self.roadmap, path, start, self.roadmap.marks(self.meanings), self.recorded_word(path))

    def recorded_word(self, path: Points) -> Word:
        """The word of a recorded path. A path that leaves a region and returns at once has not left it."""
        regions, begins = self.roadmap.plan.stretches(path)
        labels = [self.to_label(one) for one in regions]
        lengths = np.diff([*begins, path_lengths(path)[-1]])
        is_gap = [
            0 < i < len(labels) - 1 and lengths[i] < SHORT_GAP and label < labels[i - 1] and label < labels[i + 1]
            for i, label in enumerate(labels)
        ]
        return compress([label for label, gap in zip(labels, is_gap, strict=True) if not gap])

    def to_label(self, regions: Iterable[str]) -> Label:
        """The propositions of some regions."""
        return frozenset(self.meanings[name] for name in regions if name in self.meanings)

    @cached_property
    def meaningful(self) -> ShapeSet:
        """The regions that have a proposition."""
        return ShapeSet([region for name, region in self.roadmap.plan.regions.items() if name in self.meanings])

    @cached_property
    def drawing(self) -> FloorDrawing:
        """The renderer of the floor."""
        from wfairl.floors.drawing import FloorDrawing  # Pillow is slow to import

        return FloorDrawing(self.roadmap, self.meanings)


def draw_roadmap(
    plan: FloorPlan,
    samples: int,
    seed: int = 0,
    places: Points | None = None,
) -> Roadmap:
    """Sample a roadmap in the free space of a floor.

    Args:
        plan: the floor.
        samples: vertices besides the vertices of regions. A vertex outside the largest connected component is dropped.
        seed: of the samples.
        places: vertices in any case, such as the starts of scenes; shape [places, 2].

    Raises:
        BadInputError: there is no free space, or too few samples to enter a region or reach a place.
    """
    if samples < 2:
        raise BadInputError(f"a roadmap needs at least two samples, not {samples}")
    given = np.empty((0, 2)) if places is None else np.asarray(places, np.float64)
    drawn = np.concatenate([given, _draw_vertices(plan, samples, seed)])
    source, target = _neighbours(drawn)
    lines = lines_between(drawn[source], drawn[target])
    inside = plan.region_set.contain(drawn)
    changes = plan.region_set.count_crossings(lines)
    # Regions change at most once along an edge, and as its ends show: the label of its end is all of its word.
    is_labelled = (changes == (inside[source] != inside[target])).all(axis=1) & (changes.sum(axis=1) <= 1)
    is_edge = plan.are_free(lines) & is_labelled
    metres = plan.all_metres(lines)[is_edge]
    vertices, source, target, joined = _largest_component(len(drawn), source[is_edge], target[is_edge])
    if not np.array_equal(vertices[: len(given)], np.arange(len(given))):
        raise BadInputError("a place cannot be reached on this roadmap: draw more samples, or move it")
    for name, is_in in zip(plan.regions, inside[vertices].T, strict=True):
        if not is_in.any():
            raise BadInputError(
                f"the region {name!r} cannot be entered on this roadmap: draw more samples, or open a path to it"
            )
    table = _to_table(source, target, metres[joined], drawn[vertices], plan.feature_names)
    return Roadmap(plan, drawn[vertices], table)


def _draw_vertices(plan: FloorPlan, samples: int, seed: int) -> Points:
    """Free places: everywhere, and some in each region."""
    parts = [_draw_in(plan, rectangle(*plan.bounds), samples, [seed, 0], "the floor")]
    for number, (name, region) in enumerate(plan.regions.items(), start=1):
        parts.append(_draw_in(plan, region, VERTICES_OF_A_REGION, [seed, number], f"the region {name!r}"))
    return np.concatenate(parts)


def _draw_in(plan: FloorPlan, shape: Shape, wanted: int, seed: Sequence[int], name: str) -> Points:
    from scipy.stats import qmc  # slow to import

    sequence = qmc.Halton(2, rng=np.random.default_rng(seed))
    low, high = np.array(shape.bounds).reshape(2, 2)
    inside = ShapeSet([shape])
    samples: list[Points] = []
    for _ in range(MAX_ROUNDS):
        drawn = low + sequence.random(wanted) * (high - low)
        samples.append(drawn[inside.contain(drawn)[:, 0] & plan.are_free(shapely.points(drawn))])
        if sum(map(len, samples)) >= wanted:
            return np.concatenate(samples)[:wanted]
    raise BadInputError(f"there is hardly any free space in {name}")


def _neighbours(places: Points) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (from, to) of near places, each once."""
    count = len(places)
    k = min(count - 1, math.ceil(math.e * 1.5 * math.log(count)))
    near = np.asarray(cKDTree(places).query(places, k + 1)[1])[:, 1:]  # the first is the vertex itself
    one, other = np.repeat(np.arange(count), k), near.reshape(-1)
    distinct = np.unique(np.concatenate([one * count + other, other * count + one]))
    distinct = distinct[distinct // count != distinct % count]
    return distinct // count, distinct % count


def _largest_component(
    count: int, source: NDArray[np.int64], target: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The largest strongly connected component: its vertices, its edges in new numbers, and which edges those are."""
    graph = csr_array((np.ones(len(source), np.int8), (source, target)), shape=(count, count))
    _, component = connected_components(graph, directed=True, connection="strong")
    is_in = component == np.bincount(component).argmax()
    if is_in.sum() < 2:
        raise BadInputError("no two samples can be joined: draw more samples, or grow the passages")
    number = np.cumsum(is_in) - 1
    joined = is_in[source] & is_in[target]
    return np.flatnonzero(is_in), number[source[joined]], number[target[joined]], joined


def _to_table(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    metres: NDArray[np.float64],
    places: Points,
    feature_names: tuple[str, ...],
) -> TransitionTable:
    """The edges of each vertex from the shortest to the longest."""
    order = np.lexsort((metres.sum(axis=1), source))
    source, target, metres = source[order], target[order], metres[order]
    control = edge_ranks(source)
    shape = (len(places), int(control.max()) + 1)
    successors, feature_index = np.full(shape, UNAVAILABLE, np.int32), np.zeros(shape, np.int32)
    successors[source, control] = target
    feature_index[source, control] = np.arange(len(source))
    return TransitionTable(
        controls=tuple(f"neighbour {i}" for i in range(shape[1])),
        successors=successors,
        label_index=np.zeros(shape, np.uint16),
        labels=(frozenset(),),
        feature_index=feature_index,
        features=metres,
        feature_names=feature_names,
        positions=places.copy(),
    )
