"""GraphWorld: a world as arrays, in which planning runs at compiled speed.

    GraphWorld.from_edges(edges, ...)     from a list of edges, with labels and features
    GraphWorld.from_networkx(graph, ...)  from a NetworkX graph
    explore_world(world)                  from any world in plain Python

Scenes share their transitions, labels and features: a `TransitionTable`. A scene adds its start and its marks:
propositions that hold on arriving in some states, besides the label of the transition. So hundreds of destinations on
one road network take little more memory than one.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import UNAVAILABLE, Automaton, Label, as_label
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.chances import Lottery, slip_chances, surprise
from wfairl.core.worlds.compiled import (
    DEFAULT_MAX_STATES,
    IGNORE_LABELS,
    Exploration,
    LabelNumbers,
    LabelTable,
    check_node_limit,
)
from wfairl.core.worlds.graph_search import LabelledGraph, explore_pairs
from wfairl.core.worlds.plain import explore_plain
from wfairl.core.worlds.rendering import Rendering, offered_rendering
from wfairl.core.worlds.transitions import TransitionTable, edge_ranks
from wfairl.core.worlds.world import Outcomes, World
from wfairl.core.worlds.world_laws import check_world

EXPLORATION_CHECKS = 100
"""States on which the laws of a world in plain Python are tested before it is explored."""


@dataclass(frozen=True, eq=False)
class GraphWorld:
    """One scene on a table of transitions; a `CompiledWorld` whose states are row numbers of the table.

    Attributes:
        table: the transitions.
        propositions: of the labels.
        initial_state: where the scene starts.
        marks: propositions that hold on arriving in a state, besides the label of the transition.
        source: the world in plain Python that was explored, or what renders the states, if any. Without one, the graph
            is drawn where the table has positions.
    """

    table: TransitionTable
    propositions: tuple[str, ...]
    initial_state: int = 0
    marks: Mapping[int, Label] = field(default_factory=dict)
    source: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "propositions", tuple(self.propositions))
        object.__setattr__(self, "marks", dict(self.marks))
        states = len(self.table.successors)
        for state in (self.initial_state, *self.marks):
            if not 0 <= state < states:
                raise BadInputError(f"dangling: {state} is none of the {states} states")
        foreign = frozenset().union(*self.table.labels, *self.marks.values()) - set(self.propositions)
        if foreign:
            raise BadInputError(f"labels hold {', '.join(sorted(foreign))}, which is not among the propositions")

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
            marks: propositions that hold on arriving in a node.
            labels: of the edges, one entry per edge; empty labels if None.
            features: of each edge, shape [edges, features]; one that is always 1 if None.
            feature_names: names of the features.
            propositions: of the labels; those that occur, sorted, if None.
            positions: of the nodes on a map, y upwards; with them, the world can be drawn.

        Raises:
            BadInputError: a node has no outgoing edge or does not exist, or the arguments do not fit each other.
        """
        number = {node: i for i, node in enumerate(dict.fromkeys(node for edge in edges for node in edge))}
        if start not in number:
            raise BadInputError(f"there is no edge at the start {start!r}")
        features = np.ones((len(edges), 1)) if features is None else np.asarray(features, np.float64)
        if len(features) != len(edges) or (labels is not None and len(labels) != len(edges)):
            raise BadInputError(f"features and labels must be one for each of the {len(edges)} edges")
        if features.ndim != 2:
            raise BadInputError(f"features must have the shape [edges, features], not {features.shape}")
        distinct, row = np.unique(features, axis=0, return_inverse=True)
        source, target = np.array([(number[one], number[other]) for one, other in edges]).T
        control = edge_ranks(source)
        shape = (len(number), int(control.max()) + 1)
        successors, feature_index = np.full(shape, UNAVAILABLE, np.int32), np.zeros(shape, np.int32)
        successors[source, control], feature_index[source, control] = target, row.reshape(-1)
        names = LabelNumbers()
        label_index = np.full(shape, names.number(frozenset()), np.uint16)
        if labels is not None:
            label_index[source, control] = [names.number(as_label(label)) for label in labels]
        dead_ends = [node for node, i in number.items() if (successors[i] == UNAVAILABLE).all()]
        if dead_ends:
            more = f" and {len(dead_ends) - 1} more" if len(dead_ends) > 1 else ""
            raise BadInputError(
                f"dangling: no edge leads out of {dead_ends[0]!r}{more}; give it one to itself to stay there"
            )
        unknown = [node for node in marks or {} if node not in number]
        if unknown:
            raise BadInputError(f"dangling: the mark on {unknown[0]!r} is on a node that no edge has")
        unplaced = [node for node in number if positions is not None and node not in positions]
        if unplaced:
            raise BadInputError(f"the node {unplaced[0]!r} has no position")
        places = None if positions is None else np.array([positions[node] for node in number], np.float64)
        marked = {number[node]: as_label(label) for node, label in (marks or {}).items()}
        if propositions is None:
            propositions = sorted(frozenset().union(*names.labels, *marked.values()))
        table = TransitionTable(
            tuple(f"edge {i}" for i in range(shape[1])), successors, label_index, tuple(names.labels),
            feature_index, distinct, tuple(feature_names), tuple(number), places,
        )  # fmt: skip
        return cls(table, tuple(propositions), number[start], marked)

    @classmethod
    def from_networkx(
        cls, graph: Any, *, start: Hashable, features: Sequence[str] = (), label: str = "label", **settings: Any
    ) -> GraphWorld:
        """The world of a NetworkX graph; an edge that is not directed leads both ways.

        Args:
            graph: the graph. The attribute `label` of a node, one proposition or a collection of them, holds on
                arriving in it; that of an edge is its label.
            start: the node where the scene starts.
            features: names of numeric edge attributes; one feature that is always 1 if empty.
            label: the name of that attribute.
            settings: see `from_edges`.
        """
        directed = graph if graph.is_directed() else graph.to_directed()
        edges = list(directed.edges(data=True))
        missing = [name for name in features for _, _, data in edges if name not in data]
        if missing:
            raise BadInputError(f"an edge has no attribute {missing[0]!r}")
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
        return self.table.controls

    @property
    def plain(self) -> World[Any] | None:
        """The world in plain Python that was explored, if there is one."""
        return self.source if hasattr(self.source, "label") else None

    def scene(
        self, start: Hashable | None = None, marks: Mapping[Hashable, str | Collection[str]] | None = None
    ) -> GraphWorld:
        """The same world with another start or other marks, by the names of states; the table is shared."""
        changes: dict[str, Any] = {}
        if start is not None:
            changes["initial_state"] = self.find(start)
        if marks is not None:
            changes["marks"] = {self.find(state): as_label(label) for state, label in marks.items()}
        return replace(self, **changes)

    def find(self, name: Hashable) -> int:
        """The number of the state of a name, or a `BadInputError`."""
        if not self.table.states and isinstance(name, int | np.integer) and 0 <= name < len(self.table.successors):
            return int(name)
        try:
            return self._numbers[name]
        except KeyError:
            raise BadInputError(f"dangling: {name!r} is none of the {len(self.table.successors)} states") from None

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.table.states)}

    def name(self, state: int) -> Any:
        """The name of a state, such as the plain state that it was explored from."""
        return self.table.states[state] if self.table.states else state

    @property
    def slips(self) -> bool:
        """Whether a control may have several outcomes."""
        return self.table.chances is not None

    def slipping(self, probability: float) -> GraphWorld:
        """This world, where a control is replaced by another available one with some probability."""
        if self.slips:
            raise BadInputError("this world slips already")
        chances = slip_chances(self.table.successors != UNAVAILABLE, probability)
        return replace(self, table=replace(self.table, chances=chances))

    def is_available(self, state: int, control: int) -> bool:
        return bool(self._lottery(state, control))

    def outcomes(self, state: int, control: int) -> Outcomes:
        """See `World`; where several effects of a control lead to the same state, their probabilities add up."""
        found: dict[int, float] = {}
        for effect, probability in self._available_lottery(state, control):
            after = int(self.table.successors[state, effect])
            found[after] = found.get(after, 0.0) + probability
        return tuple((probability, after) for after, probability in found.items())

    def step(self, state: int, control: int) -> int:
        """See `World`; in a world that slips, the state after the most probable effect."""
        lottery = self._available_lottery(state, control)
        _, effect = min((-probability, effect) for effect, probability in lottery)
        return int(self.table.successors[state, effect])

    def _lottery(self, state: int, control: int) -> Lottery:
        if self.table.chances is not None:
            return self.table.chances.lottery(state, control)
        return () if self.table.successors[state, control] == UNAVAILABLE else ((control, 1.0),)

    def _available_lottery(self, state: int, control: int) -> Lottery:
        if not 0 <= control < len(self.controls):
            raise BadInputError(f"control {control} is out of range: there are {len(self.controls)}")
        lottery = self._lottery(state, control)
        if not lottery:
            name = self.name(state)
            raise BadInputError(f"the control {self.controls[control]!r} is not available in state {name!r}")
        return lottery

    def after(self, state: int, effect: int) -> int:
        """The state after an effect, or after a surprise."""
        if effect >= 0:
            return int(self.table.successors[state, effect])
        if surprise(effect) >= len(self.table.successors):
            raise BadInputError(f"{surprise(effect)} is none of the {len(self.table.successors)} states")
        return surprise(effect)

    def find_effect(self, state: int, control: int, next_state: int) -> int:
        """The most probable effect of a control that led to a state, or a surprise."""
        own = self._own_effect(state, control, next_state)
        return surprise(next_state) if own is None else own

    def _own_effect(self, state: int, control: int, next_state: int) -> int | None:
        """The most probable effect of a control that leads to a state."""
        successors = self.table.successors[state]
        found = [(-p, effect) for effect, p in self._lottery(state, control) if successors[effect] == next_state]
        return min(found)[1] if found else None

    def _known_effect(self, state: int, control: int, next_state: int) -> int | None:
        """The effect of a control that leads to a state; where no source tells more, that of any control."""
        own = self._own_effect(state, control, next_state)
        if own is not None or self.plain is not None:
            return own
        found = np.flatnonzero(self.table.successors[state] == next_state)
        return int(found[0]) if len(found) else None

    def label(self, state: int, control: int, next_state: int) -> Label:
        """The label of what happened.

        Where the control cannot lead there, it is what the source says; without a source, that of any transition that
        leads there, or the empty label.
        """
        effect, label = self._known_effect(state, control, next_state), frozenset[str]()
        if effect is not None:
            label = self.table.labels[self.table.label_index[state, effect]]
        elif self.plain is not None:
            label = frozenset(self.plain.label(self.name(state), control, self.name(next_state)))
        return label | self.marks[next_state] if next_state in self.marks else label

    def features(self, state: int, control: int, next_state: int) -> NDArray[np.float64]:
        """The features of what happened.

        Where the control cannot lead there, they are what the source says; without a source, those of any transition
        that leads there, or of the one that the control should have made.
        """
        effect = self._known_effect(state, control, next_state)
        if effect is None and self.plain is not None:
            return np.asarray(self.plain.features(self.name(state), control, self.name(next_state)), np.float64)
        if effect is None:
            effect = self._own_effect(state, control, self.step(state, control))
        return self.table.features[self.table.feature_index[state, effect]]

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features of a transition."""
        return self.table.feature_names or tuple(f"feature {i}" for i in range(self.table.features.shape[1]))

    @property
    def rendering(self) -> Rendering | None:
        """How the source looks. A graph without a source is drawn at its positions (`pages.world_drawing`)."""
        offered = offered_rendering(self.source)
        return None if offered is None else offered.after(self.name)

    def explore(
        self,
        automaton: Automaton = IGNORE_LABELS,
        max_nodes: int = DEFAULT_MAX_STATES,
        state: int | None = None,
        automaton_state: int = 0,
    ) -> Exploration:
        labels = LabelTable(automaton)
        for label in self.table.labels:
            labels.number(label)
        marks = list(dict.fromkeys(self.marks.values()))
        marked_labels = np.array([[labels.number(label | mark) for label in self.table.labels] for mark in marks])
        mark_of_state = np.full(len(self.table.successors) if marks else 0, -1, np.int32)
        for marked, mark in self.marks.items():
            mark_of_state[marked] = marks.index(mark)
        graph = LabelledGraph(
            self.table.successors, self.table.label_index, mark_of_state,
            marked_labels.astype(np.int32).reshape(len(marks), len(self.table.labels)), labels.rows,
        )  # fmt: skip
        start = (self.initial_state if state is None else state) * automaton.states + automaton_state
        pairs, successors, label_index, count = explore_pairs(graph, start, max_nodes)
        check_node_limit(count, max_nodes)
        states, automaton_states = np.divmod(pairs, automaton.states)
        chances = None if self.table.chances is None else self.table.chances.at(states)
        return Exploration(
            states.astype(np.uint64)[:, None], automaton_states.astype(np.int32), successors, label_index,
            tuple(labels.labels), chances,
        )  # fmt: skip

    def pack(self, state: int) -> NDArray[np.uint64]:
        return np.array([state], np.uint64)

    def unpack(self, words: NDArray[np.uint64]) -> int:
        return int(words[0])

    def transition_features(
        self, states: NDArray[np.uint64], transitions: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        effects = self.table.successors.shape[1]
        at = states[transitions // effects, 0].astype(np.int64)
        return self.table.feature_index[at, transitions % effects], self.table.features


def explore_world(world: World[Any], max_states: int = DEFAULT_MAX_STATES) -> GraphWorld:
    """Explore a world in plain Python, breadth first, into arrays; its laws are tested on the first states.

    Raises:
        BrokenLawError: the world breaks a law of the contract.
        TooManyNodesError: there are more than `max_states` states.
    """
    check_world(world, EXPLORATION_CHECKS)
    found, feature_index, features = explore_plain(world, IGNORE_LABELS, max_states, (world.initial_state, 0))
    table = TransitionTable(
        controls=tuple(world.controls),
        successors=found.successors,
        label_index=found.label_index,
        labels=found.labels,
        feature_index=feature_index,
        features=features,
        feature_names=tuple(getattr(world, "feature_names", ())),
        states=tuple(found.states),
        chances=found.chances,
    )
    return GraphWorld(table, tuple(world.propositions), source=world)


def state_name(world: Any, state: Any) -> Any:
    """The name of a state where the world is a graph, and the state itself elsewhere."""
    return world.name(state) if isinstance(world, GraphWorld) else state
