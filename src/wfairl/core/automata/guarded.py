"""GuardedAutomaton: an automaton whose edges carry guards, as a person would draw it.

A guard is a conjunction of literals: `coffee & !office`. In each state the edges are tried in order, and the first
whose guard holds is taken; a label that fulfils no guard leaves the state as it is. So the size of an automaton over
many propositions is that of its guards.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Arrow, Automaton, Guard, Label, StateNumber
from wfairl.core.support.documents import parse, plain_fields
from wfairl.core.support.errors import BadInputError


@dataclass(frozen=True)
class Edge:
    """A guard, and the state that follows; `DEAD` if the task is lost then."""

    guard: Guard
    target: int


@dataclass(frozen=True)
class EdgeDocument:
    """An `Edge` on disk."""

    true: Label
    false: Label
    target: StateNumber


@dataclass(frozen=True)
class GuardedDocument:
    """A `GuardedAutomaton` on disk."""

    kind: Literal["guarded"]
    edges: tuple[tuple[EdgeDocument, ...], ...]
    accepting: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class GuardedAutomaton(Automaton):
    """A deterministic automaton with guards.

    Attributes:
        edges: of each state, in the order in which they are tried.
        accepting: see `Automaton`.
        keep_repeats: true, see `Automaton`: a label that is read twice takes edges twice.
    """

    kind: ClassVar[str] = "guarded"  # in files

    edges: tuple[tuple[Edge, ...], ...]
    accepting: NDArray[np.bool_]
    keep_repeats: bool = field(init=False, default=True)
    _columns: dict[Label, NDArray[np.int32]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "accepting", np.asarray(self.accepting, bool))
        if not self.edges or len(self.edges) != len(self.accepting):
            raise BadInputError(f"{len(self.edges)} states with edges, and {len(self.accepting)} that accept or do not")
        for edge in (edge for row in self.edges for edge in row):
            if not DEAD <= edge.target < len(self.edges):
                raise BadInputError(f"an edge leads to {edge.target}, which is none of the {len(self.edges)} states")

    @cached_property
    def propositions(self) -> frozenset[str]:
        guards = [edge.guard for row in self.edges for edge in row]
        return frozenset().union(*(guard.true | guard.false for guard in guards))

    def column(self, label: Label) -> NDArray[np.int32]:
        if label not in self._columns:
            self._columns[label] = np.array(
                [next((e.target for e in row if e.guard.holds(label)), q) for q, row in enumerate(self.edges)], np.int32
            )
        return self._columns[label]

    def guarded_edges(self, propositions: Collection[str]) -> list[tuple[int, Guard, int]]:  # noqa: ARG002
        return [
            (source, edge.guard, edge.target)
            for source, row in enumerate(self.edges)
            for edge in row
            if edge.target not in (DEAD, source)
        ]

    def arrows(self) -> list[Arrow]:
        return [
            Arrow(source, edge.target, str(edge.guard), partial(is_taken, row, edge))
            for source, row in enumerate(self.edges)
            for edge in row
            if edge.target != source
        ]

    def to_document(self) -> dict[str, Any]:
        edges = [[{**plain_fields(one.guard), "target": one.target} for one in row] for row in self.edges]
        return {"kind": self.kind, "edges": edges, "accepting": self.accepting.tolist()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """How `documents.parse` reads an automaton that is a field of a record."""
        from pydantic_core.core_schema import no_info_plain_validator_function

        return no_info_plain_validator_function(cls.from_document)

    @classmethod
    def from_document(cls, document: Any) -> "GuardedAutomaton":
        """The automaton that `to_document` wrote."""
        read: GuardedDocument = parse(GuardedDocument, document)
        rows = (tuple(Edge(Guard(one.true, one.false), one.target) for one in row) for row in read.edges)
        return cls(tuple(rows), np.array(read.accepting, bool))


def is_taken(row: Sequence[Edge], edge: Edge, label: Label) -> bool:
    """Whether an edge is the first of its state whose guard holds."""
    return next((one for one in row if one.guard.holds(label)), None) is edge


def intersect(one: GuardedAutomaton, other: GuardedAutomaton, waits: bool = False) -> GuardedAutomaton:
    """The automaton that accepts what both accept.

    With `waits`, `one` stays in its state at a label by which it would accept while `other` does not accept yet.

    The states are the pairs that can be reached, breadth first. The edges of a pair stand in lexicographic order. So
    the first edge that holds joins the first edge of `one` that holds and the first edge of `other` that holds.
    """
    numbers = {(0, 0): 0}
    queue = [(0, 0)]
    rows: list[tuple[Edge, ...]] = []
    for pair in queue:  # which grows meanwhile
        row, stay = [], [Edge(Guard(), state) for state in pair]
        for first, second in product((*one.edges[pair[0]], stay[0]), (*other.edges[pair[1]], stay[1])):
            guard, targets = first.guard.both(second.guard), (first.target, second.target)
            if guard is None:
                continue
            if waits and DEAD not in targets and one.accepting[targets[0]] and not other.accepting[targets[1]]:
                targets = (pair[0], targets[1])
            if DEAD not in targets and targets not in numbers:
                numbers[targets] = len(queue)
                queue.append(targets)
            row.append(Edge(guard, numbers.get(targets, DEAD)))
        rows.append(_needed_edges(row, numbers[pair]))
    accepting = [one.accepting[a] and other.accepting[b] for a, b in queue]
    return GuardedAutomaton(tuple(rows), np.array(accepting, bool))


def _needed_edges(row: Sequence[Edge], state: int) -> tuple[Edge, ...]:
    """The edges without those that an earlier guard covers, and without loops at the end."""
    needed: list[Edge] = []
    for edge in row:
        if not any(one.guard.covers(edge.guard) for one in needed):
            needed.append(edge)
    while needed and needed[-1].target == state:
        needed.pop()
    return tuple(needed)
