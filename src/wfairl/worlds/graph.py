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
from numba import njit
from numpy.typing import NDArray

from wfairl.automata.automaton import UNAVAILABLE, Automaton, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.errors import BadInputError
from wfairl.worlds.world import (
    MAX_LABELS,
    Exploration,
    LabelTable,
    TooManyNodesError,
    World,
    as_located,
    as_renderer,
    can_locate,
    can_render,
    check_world,
)

DEFAULT_MAX_STATES = 5_000_000

CHECKED_STATES = 100
"""States on which the laws of a world in plain Python are tested before it is explored."""

UNSEEN = -4
"""In the search: a pair of states that has no node yet."""


class BrokenGraphError(BadInputError):
    """Arrays or edges that make no world."""


@dataclass(frozen=True, eq=False)
class TransitionTable:
    """What can happen in a world, shared by all scenes in it.

    Attributes:
        controls: the names of the controls.
        successors: state after each control, or `UNAVAILABLE`; shape [states, controls] of int32.
        label_index: which of `labels` a transition shows, shape [states, controls] of uint16.
        labels: the distinct labels.
        feature_index: which row of `features` a transition has, shape [states, controls] of int32.
        features: the distinct features of transitions, shape [distinct, features] of float64.
        feature_names: what the features are called, for people.
        states: what stands behind each state, such as a cell or the name of a node; the numbers themselves if empty.
        positions: where each state is on a map, y upwards, shape [states, 2]; None if nobody knows.
    """

    controls: tuple[str, ...]
    successors: NDArray[np.int32]
    label_index: NDArray[np.uint16]
    labels: tuple[Label, ...]
    feature_index: NDArray[np.int32]
    features: NDArray[np.float64]
    feature_names: tuple[str, ...] = ()
    states: tuple[Hashable, ...] = ()
    positions: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        shape = self.successors.shape
        if len(shape) != 2 or shape[1] != len(self.controls) or not shape[0] or not shape[1]:
            raise BrokenGraphError(
                f"successors have the shape {shape}, where [states, {len(self.controls)} controls] is needed"
            )
        for name in ("label_index", "feature_index"):
            if getattr(self, name).shape != shape:
                raise BrokenGraphError(f"{name} has the shape {getattr(self, name).shape}, and successors {shape}")
        bad = np.argwhere((self.successors != UNAVAILABLE) & ~((self.successors >= 0) & (self.successors < shape[0])))
        if len(bad):
            state, control = bad[0]
            raise BrokenGraphError(
                f"dangling: from state {state} {self.controls[control]!r} leads to {self.successors[state, control]},"
                f" which is none of the {shape[0]} states"
            )
        if self.label_index.max(initial=0) >= len(self.labels):
            raise BrokenGraphError(
                f"label_index goes up to {self.label_index.max()}, and there are {len(self.labels)} labels"
            )
        if self.features.ndim != 2 or not np.isfinite(self.features).all():
            raise BrokenGraphError("features must be finite numbers of the shape [distinct, features]")
        used = self.feature_index[self.successors != UNAVAILABLE]
        if used.size and not (used.min() >= 0 and used.max() < len(self.features)):
            raise BrokenGraphError(f"feature_index goes beyond the {len(self.features)} rows of features")
        if self.states and len(self.states) != shape[0]:
            raise BrokenGraphError(f"{len(self.states)} names for {shape[0]} states")
        if self.feature_names and len(self.feature_names) != self.features.shape[1]:
            raise BrokenGraphError(f"{len(self.feature_names)} names for {self.features.shape[1]} features")
        places = self.positions
        if places is not None and (places.shape != (shape[0], 2) or not np.isfinite(places).all()):
            raise BrokenGraphError(f"positions must be finite numbers of the shape [{shape[0]}, 2]")


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
            label_index[at] = names.number(_label(labels[i]) if labels is not None else frozenset())
        dead_ends = [node for node, i in number.items() if (successors[i] == UNAVAILABLE).all()]
        if dead_ends:
            more = f" and {len(dead_ends) - 1} more" if len(dead_ends) > 1 else ""
            raise BrokenGraphError(
                f"dangling: no edge leads out of {dead_ends[0]!r}{more}; give it one to itself to stay there"
            )
        unknown = [node for node in marks or {} if node not in number]
        if unknown:
            raise BrokenGraphError(f"dangling: the mark on {unknown[0]!r} is on a node that no edge has")
        marked = {number[node]: _label(label) for node, label in (marks or {}).items()}
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
        marks = {node: _label(data[label]) for node, data in directed.nodes(data=True) if data.get(label)}
        values = np.array([[data[name] for name in features] for _, _, data in edges], np.float64)
        return cls.from_edges(
            [(one, other) for one, other, _ in edges],
            start=start,
            marks=marks,
            labels=[_label(data.get(label, ())) for _, _, data in edges],
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
            changes["marks"] = {self.find(state): _label(label) for state, label in marks.items()}
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
        nodes, successors, label_index, count = _explore(
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


IGNORE_LABELS = GuardedAutomaton(((),), np.array([False]))
"""Reads everything and stays where it is: a world explored with it is explored alone."""


def explore_world(world: World[Any], max_states: int = DEFAULT_MAX_STATES) -> GraphWorld:
    """Walk a world in plain Python once, breadth first, into arrays.

    Args:
        world: the world; its laws are tested on the first states.
        max_states: the largest number of states to explore.

    Raises:
        BrokenLawError: the world breaks a law of the contract.
        TooManyNodesError: there are more than `max_states` states.
    """
    check_world(world, CHECKED_STATES)
    controls = range(len(world.controls))
    number = {world.initial_state: 0}
    queue = [world.initial_state]
    successors: list[int] = []
    label_index: list[int] = []
    feature_index: list[int] = []
    labels, features = LabelNumbers(), _FeatureNumbers()
    is_available = getattr(world, "is_available", None)
    for state in queue:  # grows while we walk it
        for control in controls:
            if is_available is not None and not is_available(state, control):
                successors.append(UNAVAILABLE)
                label_index.append(0)
                feature_index.append(0)
                continue
            next_state = world.step(state, control)
            after = number.setdefault(next_state, len(queue))
            if after == len(queue):
                queue.append(next_state)
            successors.append(after)
            label_index.append(labels.number(world.label(state, control, next_state)))
            feature_index.append(features.number(world.features(state, control, next_state)))
        if len(queue) > max_states:
            raise TooManyNodesError(
                f"the world has more than {max_states:,} states; raise the limit, or plan with A*, which does not"
                " enumerate"
            )
    shape = (len(queue), len(world.controls))
    table = TransitionTable(
        controls=tuple(world.controls),
        successors=np.array(successors, np.int32).reshape(shape),
        label_index=np.array(label_index, np.uint16).reshape(shape),
        labels=tuple(labels.labels),
        feature_index=np.array(feature_index, np.int32).reshape(shape),
        features=np.array(features.rows, np.float64).reshape(len(features.rows), -1),
        feature_names=tuple(getattr(world, "feature_names", ())),
        states=tuple(queue),
    )
    return GraphWorld(table, tuple(world.propositions), source=world)


class LabelNumbers:
    """Distinct labels, numbered as they are met."""

    def __init__(self) -> None:
        self.labels: list[Label] = []
        self._numbers: dict[Label, int] = {}

    def number(self, label: Label) -> int:
        """The number of a label.

        Raises:
            TooManyNodesError: there are too many distinct labels.
        """
        found = self._numbers.setdefault(label, len(self.labels))
        if found == MAX_LABELS:
            raise TooManyNodesError(f"more than {MAX_LABELS:,} distinct labels; leave out what the task is not about")
        if found == len(self.labels):
            self.labels.append(label)
        return found


class _FeatureNumbers:
    """Distinct feature vectors, numbered as they are met."""

    def __init__(self) -> None:
        self.rows: list[NDArray[np.float64]] = []
        self._numbers: dict[bytes, int] = {}

    def number(self, features: Any) -> int:
        row = np.asarray(features, np.float64)
        found = self._numbers.setdefault(row.tobytes(), len(self.rows))
        if found == len(self.rows):
            self.rows.append(row)
        return found


def _label(propositions: str | Collection[str]) -> Label:
    """A label as people write it: a bare string is one proposition."""
    return frozenset({propositions}) if isinstance(propositions, str) else frozenset(propositions)


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


@njit(cache=True, nogil=True)
def _explore(
    successors: NDArray[np.int32],
    label_index: NDArray[np.uint16],
    rows: NDArray[np.int32],
    becomes: NDArray[np.int32],
    mark_of_state: NDArray[np.int32],
    start: int,
    automaton_state: int,
    automaton_states: int,
    max_nodes: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint16], int]:
    """Breadth first in the order of controls; a pair is state * automaton states + automaton state.

    Returns:
        The pair of each node, its successors, the labels of its transitions, and how many nodes there are.
        If there are more than `max_nodes`, the walk stops and returns some more than that.
    """
    states, controls = successors.shape
    node_of = np.full(states * automaton_states, UNSEEN, np.int32)
    pairs = np.empty(min(states * automaton_states, max_nodes + controls + 1), np.int64)
    pairs[0] = start * automaton_states + automaton_state
    node_of[pairs[0]] = 0
    count, node, room = 1, 0, 1024
    after = np.empty((room, controls), np.int32)
    shown = np.empty((room, controls), np.uint16)
    while node < count <= max_nodes:
        if node == room:
            room *= 2
            after = _with_room(after, room)
            shown = _with_room(shown, room)
        state, reading = pairs[node] // automaton_states, pairs[node] % automaton_states
        for control in range(controls):
            next_state = successors[state, control]
            if next_state == UNAVAILABLE:
                after[node, control] = UNAVAILABLE
                shown[node, control] = 0
                continue
            label = np.int64(label_index[state, control])
            if mark_of_state.size and mark_of_state[next_state] >= 0:
                label = np.int64(becomes[mark_of_state[next_state], label])
            shown[node, control] = label
            read = rows[label, reading]
            if read < 0:
                after[node, control] = read
                continue
            pair = np.int64(next_state) * automaton_states + read
            if node_of[pair] == UNSEEN:
                node_of[pair] = count
                pairs[count] = pair
                count += 1
            after[node, control] = node_of[pair]
        node += 1
    return pairs[:count].copy(), after[:node].copy(), shown[:node].copy(), count


@njit(cache=True, nogil=True)
def _with_room(table: NDArray[np.generic], room: int) -> NDArray[np.generic]:
    larger = np.empty((room, table.shape[1]), table.dtype)
    larger[: len(table)] = table
    return larger
