"""GraphWorld: a world as arrays, planned in at compiled speed.

    GraphWorld.from_edges(edges, ...)     from a list of edges: where from, where to, what it shows, its features
    GraphWorld.from_networkx(graph, ...)  from a NetworkX graph
    explore_world(world)                  from any world in plain Python, walked once

What scenes share, the transitions with their labels and features, is a `TransitionTable`. A scene adds where it starts
and what is marked in it: propositions that hold on arriving in some states besides what a transition shows by itself.
So hundreds of destinations on one road network cost what differs between them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import UNAVAILABLE, Automaton, Label
from wfairl.errors import BadInputError
from wfairl.worlds.compiled import Exploration, LabelTable, TooManyNodesError
from wfairl.worlds.graph_search import IGNORE_LABELS, explore_pairs
from wfairl.worlds.rendering import as_located, as_renderer, can_locate, can_render
from wfairl.worlds.transitions import BrokenGraphError, LabelNumbers, TransitionTable, as_label

DEFAULT_MAX_STATES = 5_000_000


@dataclass(frozen=True, eq=False)
class GraphWorld:
    """One scene on a table of transitions; a `CompiledWorld` whose states are the numbers of the table.

    Attributes:
        table: what can happen.
        propositions: what labels are made of.
        initial_state: where the scene starts.
        marks: what holds on arriving in a state, besides the label of the transition.
        source: the world that was explored, if it was one in plain Python; it renders the states if it can. Without
            one, the graph is drawn where the table has positions.
    """

    table: TransitionTable
    propositions: tuple[str, ...]
    initial_state: int = 0
    marks: Mapping[int, Label] = frozenset()  # type: ignore[assignment]
    source: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "propositions", tuple(self.propositions))
        object.__setattr__(self, "marks", dict(self.marks))
        states = len(self.table.successors)
        for state in (self.initial_state, *self.marks):
            if not 0 <= state < states:
                raise BrokenGraphError(f"dangling: {state} is none of the {states} states")
        foreign = frozenset().union(*self.table.labels, *self.marks.values()) - set(self.propositions)
        if foreign:
            raise BrokenGraphError(f"labels hold {', '.join(sorted(foreign))}, which is not among the propositions")

    @classmethod
    def from_edges(
        cls,
        edges: Sequence[tuple[Hashable, Hashable]],
        *,
        start: Hashable,
        marks: Mapping[Hashable, str | Collection[str]] | None = None,
        labels: Sequence[str | Collection[str]] | None = None,
        features: NDArray[np.float64] | None = None,
        feature_names: Sequence[str] = (),
        propositions: Sequence[str] | None = None,
        positions: Mapping[Hashable, tuple[float, float]] | None = None,
    ) -> GraphWorld:
        """The world of a directed graph: in a node, control i takes the i-th of its outgoing edges.

        Args:
            edges: (from, to), in the order that numbers the controls of a node.
            start: the node where the scene starts.
            marks: what holds on arriving in a node.
            labels: what each edge shows, one entry an edge; nothing if None.
            features: of each edge, shape [edges, features]; one that is always 1 if None.
            feature_names: what they are called.
            propositions: what labels are made of; those that occur, sorted, if None.
            positions: where each node is on a map, y upwards; with them, the world can be drawn.

        Raises:
            BrokenGraphError: a node has no way out, is named nowhere, or the parts do not fit each other.
        """
        number: dict[Hashable, int] = {}
        for one in (node for edge in edges for node in edge):
            number.setdefault(one, len(number))
        if not edges or start not in number:
            raise BrokenGraphError(f"there is no edge at the start {start!r}")
        features = np.ones((len(edges), 1)) if features is None else np.asarray(features, np.float64)
        if len(features) != len(edges) or (labels is not None and len(labels) != len(edges)):
            raise BrokenGraphError(f"features and labels must be one for each of the {len(edges)} edges")
        rank, widest = _rank_of_edges(edges, number)
        distinct, row = _distinct_rows(features)
        names = LabelNumbers()
        shape = (len(number), widest)
        successors, feature_index = np.full(shape, UNAVAILABLE, np.int32), np.zeros(shape, np.int32)
        label_index = np.full(shape, names.number(frozenset()), np.uint16)
        for i, (node, target) in enumerate(edges):
            at = number[node], rank[i]
            successors[at], feature_index[at] = number[target], row[i]
            label_index[at] = names.number(as_label(labels[i]) if labels is not None else frozenset())
        dead_ends = [node for node, i in number.items() if (successors[i] == UNAVAILABLE).all()]
        if dead_ends:
            more = f" and {len(dead_ends) - 1} more" if len(dead_ends) > 1 else ""
            raise BrokenGraphError(
                f"dangling: no edge leads out of {dead_ends[0]!r}{more}; give it one to itself to stay there"
            )
        unknown = [node for node in marks or {} if node not in number]
        if unknown:
            raise BrokenGraphError(f"dangling: the mark on {unknown[0]!r} is on a node that no edge has")
        marked = {number[node]: as_label(label) for node, label in (marks or {}).items()}
        if propositions is None:
            propositions = sorted(frozenset().union(*names.labels, *marked.values()))
        table = TransitionTable(
            tuple(f"edge {i}" for i in range(widest)), successors, label_index, tuple(names.labels),
            feature_index, distinct, tuple(feature_names), tuple(number), _positions_of(number, positions),
        )  # fmt: skip
        return cls(table, tuple(propositions), number[start], marked)

    @classmethod
    def from_networkx(
        cls, graph: Any, *, start: Hashable, features: Sequence[str] = (), label: str = "label", **settings: Any
    ) -> GraphWorld:
        """The world of a NetworkX graph; an edge that is not directed leads both ways.

        Args:
            graph: the graph. The attribute `label` of a node, one proposition or a collection of them, holds on
                arriving in it; that of an edge is what the edge shows.
            start: the node where the scene starts.
            features: names of numeric edge attributes; one feature that is always 1 if empty.
            label: the name of that attribute.
            settings: see `from_edges`.
        """
        directed = graph if graph.is_directed() else graph.to_directed()
        edges = list(directed.edges(data=True))
        missing = [name for name in features for _, _, data in edges if name not in data]
        if missing:
            raise BrokenGraphError(f"an edge has no attribute {missing[0]!r}")
        marks = {node: as_label(data[label]) for node, data in directed.nodes(data=True) if data.get(label)}
        values = np.array([[data[name] for name in features] for _, _, data in edges], np.float64)
        return cls.from_edges(
            [(one, other) for one, other, _ in edges],
            start=start,
            marks=marks,
            labels=[as_label(data.get(label, ())) for _, _, data in edges],
            features=values if features else None,
            feature_names=tuple(features),
            **settings,
        )

    @property
    def controls(self) -> Sequence[str]:
        """See `World`."""
        return self.table.controls

    def scene(
        self, start: Hashable | None = None, marks: Mapping[Hashable, str | Collection[str]] | None = None
    ) -> GraphWorld:
        """The same world with another start or other marks, by what stands behind the states; the table is shared."""
        changes: dict[str, Any] = {}
        if start is not None:
            changes["initial_state"] = self.find(start)
        if marks is not None:
            changes["marks"] = {self.find(state): as_label(label) for state, label in marks.items()}
        return replace(self, **changes)

    def find(self, name: Hashable) -> int:
        """The number of the state that something stands behind.

        Raises:
            BrokenGraphError: there is none.
        """
        if not self.table.states and isinstance(name, int | np.integer) and 0 <= name < len(self.table.successors):
            return int(name)
        try:
            return self._numbers()[name]
        except KeyError:
            raise BrokenGraphError(f"dangling: {name!r} is none of the {len(self.table.successors)} states") from None

    def _numbers(self) -> dict[Hashable, int]:
        known = self.__dict__.get("_state_numbers")
        if known is None:
            known = {name: i for i, name in enumerate(self.table.states)}
            object.__setattr__(self, "_state_numbers", known)
        return known

    def name(self, state: int) -> Any:
        """What stands behind a state."""
        return self.table.states[state] if self.table.states else state

    def is_available(self, state: int, control: int) -> bool:
        """See `LimitedWorld`."""
        return bool(self.table.successors[state, control] != UNAVAILABLE)

    def step(self, state: int, control: int) -> int:
        """See `World`.

        Raises:
            BadInputError: the control cannot be chosen there.
        """
        if not 0 <= control < len(self.controls):
            raise BadInputError(f"control {control} is out of range: there are {len(self.controls)}")
        after = int(self.table.successors[state, control])
        if after == UNAVAILABLE:
            raise BadInputError(
                f"the control {self.controls[control]!r} is not available in state {self.name(state)!r}"
            )
        return after

    def label(self, state: int, control: int, next_state: int) -> Label:
        """See `World`."""
        shown = self.table.labels[self.table.label_index[state, control]]
        return shown | self.marks[next_state] if next_state in self.marks else shown

    def features(self, state: int, control: int, next_state: int) -> NDArray[np.float64]:  # noqa: ARG002
        """See `World`."""
        return self.table.features[self.table.feature_index[state, control]]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """What the features of a transition are called."""
        return self.table.feature_names or tuple(f"feature {i}" for i in range(self.table.features.shape[1]))

    @property
    def has_renderer(self) -> bool:
        """Whether `render` has something to draw with: the source, or positions."""
        return can_render(self.source) or self.table.positions is not None

    @property
    def has_location(self) -> bool:
        """Whether `locate` knows where a state is."""
        return can_locate(self.source) if can_render(self.source) else self.table.positions is not None

    def render(self, state: int) -> NDArray[np.uint8]:
        """The state as its source shows it, otherwise the graph at its positions; see `Renderer`.

        Raises:
            NoRendererError: there is neither.
        """
        return np.asarray(self._renderer.render(self._shown(state)), np.uint8)

    def locate(self, state: int) -> tuple[float, float]:
        """Where the state is in its picture; see `Located`.

        Raises:
            NoRendererError: nothing tells.
        """
        renderer = self._renderer
        return (renderer if hasattr(renderer, "locate") else as_located(self)).locate(self._shown(state))

    def _shown(self, state: int) -> Any:
        return state if self._renderer is not self.source else self.name(state)

    @cached_property
    def _renderer(self) -> Any:
        if can_render(self.source):
            return self.source
        as_renderer(self)
        from wfairl.worlds.drawing import GraphDrawing  # Pillow is slow to import

        assert self.table.positions is not None
        sources, controls = np.nonzero(self.table.successors != UNAVAILABLE)
        edges = np.stack([sources, self.table.successors[sources, controls]], axis=1)
        texts = {state: ", ".join(sorted(label)) for state, label in self.marks.items()}
        return GraphDrawing(self.table.positions, edges, texts)

    def explore(
        self,
        automaton: Automaton | None = None,
        max_nodes: int = DEFAULT_MAX_STATES,
        state: int | None = None,
        automaton_state: int = 0,
    ) -> Exploration:
        """Every pair of states that can be reached; without an automaton, every state of the world.

        Args:
            automaton, max_nodes, automaton_state: see `CompiledWorld`.
            state: where to start; the initial state if None.

        Raises:
            TooManyNodesError: the limit was met.
        """
        automaton = IGNORE_LABELS if automaton is None else automaton
        rows, marked_rows, number_of_mark = self._label_rows(automaton)
        start = self.initial_state if state is None else state
        nodes, successors, label_index, count = explore_pairs(
            self.table.successors, self.table.label_index, rows.rows, marked_rows, number_of_mark,
            start, automaton_state, automaton.states, max_nodes,
        )  # fmt: skip
        if count > max_nodes:
            raise TooManyNodesError(f"more than {max_nodes:,} states can be reached; raise the limit")
        states = (nodes // automaton.states).astype(np.uint64)[:, None]
        return Exploration(
            states, (nodes % automaton.states).astype(np.int32), successors, label_index, tuple(rows.labels)
        )

    def _label_rows(self, automaton: Automaton) -> tuple[LabelTable, NDArray[np.int32], NDArray[np.int32]]:
        """The labels as the search reads them.

        Returns:
            The rows of all labels, the first of them those of the table; the label that the table's label becomes
            under a mark, shape [marks, table's labels]; and the mark of each state or -1, shape [states], empty if
            nothing is marked.
        """
        rows = LabelTable(automaton)
        for label in self.table.labels:
            rows.number(label)
        distinct = list(dict.fromkeys(self.marks.values()))
        becomes = np.array([[rows.number(label | mark) for label in self.table.labels] for mark in distinct], np.int32)
        mark_of_state = np.full(len(self.table.successors) if distinct else 0, -1, np.int32)
        for marked, mark in self.marks.items():
            mark_of_state[marked] = distinct.index(mark)
        return rows, becomes.reshape(len(distinct), len(self.table.labels)), mark_of_state

    def pack(self, state: int) -> NDArray[np.uint64]:
        """See `CompiledWorld`."""
        return np.array([state], np.uint64)

    def unpack(self, words: NDArray[np.uint64]) -> int:
        """See `CompiledWorld`."""
        return int(words[0])

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """See `CompiledWorld`."""
        controls = len(self.controls)
        at = states[transitions // controls, 0].astype(np.int64)
        return self.table.feature_index[at, transitions % controls], self.table.features


def _rank_of_edges(edges: Sequence[tuple[Hashable, Hashable]], number: Mapping[Hashable, int]) -> tuple[list[int], int]:
    """Which of its node's outgoing edges each edge is, and the most that a node has."""
    counts = [0] * len(number)
    ranks = []
    for node, _ in edges:
        ranks.append(counts[number[node]])
        counts[number[node]] += 1
    return ranks, max(counts)


def _positions_of(
    number: Mapping[Hashable, int], positions: Mapping[Hashable, tuple[float, float]] | None
) -> NDArray[np.float64] | None:
    if positions is None:
        return None
    unknown = [node for node in number if node not in positions]
    if unknown:
        raise BrokenGraphError(f"the node {unknown[0]!r} has no position")
    return np.array([positions[node] for node in number], np.float64)


def _distinct_rows(features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if features.ndim != 2:
        raise BrokenGraphError(f"features must have the shape [edges, features], not {features.shape}")
    distinct, row = np.unique(features, axis=0, return_inverse=True)
    return distinct, row.reshape(-1)
