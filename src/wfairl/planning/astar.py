"""A*: one plan from the start, in a world that is too large to enumerate.

Nodes of the product are made as the search meets them. A node (x, q) is put off by a lower bound on
what it still costs, out of the automaton and, where the world offers it, out of the world:

    h(x, q) = c_min * t(acceptance),
    t(q) = 0,   t(q'') = min over changes q' --guard--> q'' of  max(t(q') + 1, steps(x, guard)),

    steps(x, guard)  lower bound of the world on the steps from x until a transition fulfils the guard: the most that
                     any of its literals takes, or 1
    c_min            lower bound on the cost of a transition

so that t is the earliest time at which the automaton could be in a state: each change of it takes a
step, and no label comes sooner than the world allows. h never exceeds the true cost, so the plan costs
what Dijkstra's would. It need not be consistent: a node that is reached more cheaply after it was
expanded is expanded again.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD, Automaton, Label
from wfairl.errors import FailedRunError
from wfairl.planning.path import walk_path
from wfairl.planning.plan import Plan, unsatisfiable
from wfairl.planning.product import check_initial_state
from wfairl.planning.shortest_path import BadCostError
from wfairl.worlds.world import LabelTable, World, available_controls

DEFAULT_MAX_EXPANSIONS = 1_000_000

StepCost = Callable[[Any, int], float]
"""From a world state and a control to the cost of the transition."""


@runtime_checkable
class BoundedWorld(World[Any], Protocol):
    """A world that knows how far propositions are from changing, at least."""

    def steps_to_change(self, state: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower bounds on the steps from a state until a transition after which a proposition holds, or does not.

        1 if the next transition might be such a one, inf if none ever will; each of shape [propositions].
        """
        ...


class TooManyExpansionsError(FailedRunError):
    """A search was stopped at its limit, with no plan yet."""


@dataclass(frozen=True)
class Search:
    """A plan, and the number of nodes that were expanded to find it."""

    plan: Plan
    expansions: int


@dataclass(frozen=True)
class _Opened:
    """How the cheapest known way to a node ends."""

    paid: float
    before: "tuple[Any, int] | None"
    control: int


def unit_step_cost(state: Any, control: int) -> float:  # noqa: ARG001 - the same everywhere
    """Every control costs 1 everywhere."""
    return 1.0


def search_plan(
    world: World[Any],
    automaton: Automaton,
    cost: StepCost = unit_step_cost,
    least_cost: float = 1.0,
    max_expansions: int = DEFAULT_MAX_EXPANSIONS,
) -> Search:
    """A cheapest plan from the initial states of world and automaton.

    Args:
        world: where to plan; a `BoundedWorld` is searched in a more informed way.
        automaton: the task.
        cost: cost of a transition, at least `least_cost`.
        least_cost: what every transition costs at least, above zero.
        max_expansions: give up after expanding this many nodes.

    Raises:
        UnsatisfiableTaskError: no controls lead to acceptance.
        TooManyExpansionsError: the limit was met.
        BadCostError: a transition costs less than `least_cost`, or is not finite.
        AcceptsEmptyWordError, ForeignLabelError: see `build_product`.
    """
    check_initial_state(automaton)
    if not 0 < least_cost < np.inf:
        raise BadCostError(f"least_cost must be finite and above zero, not {least_cost}")
    automaton.check_propositions(world.propositions)
    labels = LabelTable(automaton)
    bound = _bound(world, automaton, least_cost)
    start = (world.initial_state, 0)
    opened = {start: _Opened(0.0, None, 0)}
    order = count()  # breaks ties, so that nodes are never compared
    heap = [(bound(*start), 0.0, next(order), start)]
    expansions = 0
    shown: dict[int, set[Label]] = {0: set()}
    while heap and heap[0][0] < np.inf:
        _, negative_paid, _, node = heapq.heappop(heap)
        known = opened[node]
        if known.paid < -negative_paid:
            continue  # found more cheaply since
        if node[1] == ACCEPTED:
            return Search(_plan(world, automaton, opened, node), expansions)
        if expansions == max_expansions:
            raise TooManyExpansionsError(
                f"no plan after expanding {max_expansions:,} nodes of the product. Raise max_expansions, give a larger"
                " lower bound on the cost, or offer `steps_to_change` in the world, which directs the search."
            )
        expansions += 1
        for control in np.flatnonzero(available_controls(world, node[0])).tolist():
            after, label = _successor(world, labels, node, control)
            shown.setdefault(node[1], set()).add(label)
            if after[1] == DEAD:
                continue
            paid = known.paid + _checked(cost(node[0], control), least_cost)
            if after not in opened or paid < opened[after].paid:
                opened[after] = _Opened(paid, node, control)
                heapq.heappush(heap, (paid + bound(*after), -paid, next(order), after))
    raise unsatisfiable(automaton, shown)


def _bound(world: World[Any], automaton: Automaton, least_cost: float) -> Callable[[Any, int], float]:
    """The function h."""
    changes = _Changes.of(automaton, world.propositions)
    states = automaton.states
    at_once = np.ones(len(world.propositions))
    by_automaton_alone = [least_cost * changes.earliest(states, state, at_once, at_once) for state in range(states)]
    steps_to_change = world.steps_to_change if isinstance(world, BoundedWorld) else None

    def bound(state: Any, automaton_state: int) -> float:
        if automaton_state == ACCEPTED:
            return 0.0
        if steps_to_change is None:
            return by_automaton_alone[automaton_state]
        return least_cost * changes.earliest(states, automaton_state, *steps_to_change(state))

    return bound


@dataclass(frozen=True, eq=False)
class _Changes:
    """The changes of an automaton, and what each needs.

    Attributes:
        before: state that a change leaves, shape [changes] of int32.
        after: state that it leads to, or `ACCEPTED`; shape [changes] of int32.
        true, false: whether each proposition must hold, or must not, for the change; shape [changes, propositions].
    """

    before: NDArray[np.int32]
    after: NDArray[np.int32]
    true: NDArray[np.bool_]
    false: NDArray[np.bool_]

    @classmethod
    def of(cls, automaton: Automaton, propositions: Sequence[str]) -> "_Changes":
        changes = automaton.changes(propositions)
        after = [ACCEPTED if automaton.accepting[target] else target for _, _, target in changes]
        shape = (len(changes), len(propositions))
        return cls(
            np.array([source for source, _, _ in changes], np.int32),
            np.array(after, np.int32),
            np.array([[name in guard.true for name in propositions] for _, guard, _ in changes], bool).reshape(shape),
            np.array([[name in guard.false for name in propositions] for _, guard, _ in changes], bool).reshape(shape),
        )

    def earliest(self, states: int, start: int, to_true: NDArray[np.float64], to_false: NDArray[np.float64]) -> float:
        """t(acceptance) from an automaton state, by the steps until propositions hold, and until they do not."""
        needed = np.maximum(
            np.where(self.true, to_true, 1.0).max(axis=1, initial=1.0),
            np.where(self.false, to_false, 1.0).max(axis=1, initial=1.0),
        )
        return float(_earliest_acceptance(self.before, self.after, needed, states, start))


@njit(cache=True, nogil=True)
def _earliest_acceptance(
    before: NDArray[np.int32], after: NDArray[np.int32], needed: NDArray[np.float64], states: int, start: int
) -> float:
    """t(acceptance), by relaxing all changes of the automaton until nothing improves; see `_Changes`."""
    time = np.full(states + 1, np.inf)  # the last is that of acceptance
    time[start] = 0.0
    improved = True
    while improved:
        improved = False
        for i in range(len(before)):
            target = states if after[i] == ACCEPTED else after[i]
            earliest = max(time[before[i]] + 1, needed[i])
            if earliest < time[target] and time[before[i]] < np.inf:
                time[target] = earliest
                improved = True
    return time[states]


def _successor(
    world: World[Any], labels: LabelTable, node: tuple[Any, int], control: int
) -> tuple[tuple[Any, int], Label]:
    """The node after a control, and the label on the way.

    The task is over in `ACCEPTED` and `DEAD`, whatever the world state.
    """
    state, automaton_state = node
    next_state = world.step(state, control)
    label = world.label(state, control, next_state)
    number = labels.number(label)
    after = int(labels.rows[number, automaton_state])
    return (next_state if after >= 0 else None, after), label


def _checked(cost: float, least_cost: float) -> float:
    if not least_cost <= cost < np.inf:
        raise BadCostError(f"a transition costs {cost}, where it should be finite and at least {least_cost}")
    return float(cost)


def _plan(
    world: World[Any], automaton: Automaton, opened: dict[tuple[Any, int], _Opened], end: tuple[Any, int]
) -> Plan:
    controls = []
    node = opened[end]
    while node.before is not None:
        controls.append(node.control)
        node = opened[node.before]
    path = walk_path(world, automaton, controls[::-1], world.initial_state)
    return Plan(path, opened[end].paid)
