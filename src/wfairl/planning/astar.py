"""A*: one plan from the start, in a world that is too large to enumerate.

Nodes of the product are made as the search meets them. A node (x, q) is put off by a lower bound on
what it still costs, out of the automaton and, where the world offers it, out of the world:

    h(x, q) = c_min * t(acceptance),
    t(q) = 0,   t(q'') = min over transitions q' --sigma--> q'' of  max(t(q') + 1, steps(x, sigma)),

    steps(x, sigma)  lower bound of the world on the steps from x until a transition shows sigma, or 1
    c_min            lower bound on the cost of a transition

so that t is the earliest time at which the automaton could be in a state: each change of it takes a
step, and no label comes sooner than the world allows. h never exceeds the true cost, so the plan costs
what Dijkstra's would. It need not be consistent: a node that is reached more cheaply after it was
expanded is expanded again.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfairl.automata.finite import FiniteAutomaton
from wfairl.errors import FailedRunError
from wfairl.planning.path import walk_path
from wfairl.planning.plan import Plan, unsatisfiable
from wfairl.planning.product import check_initial_state
from wfairl.planning.shortest_path import BadCostError
from wfairl.worlds.world import ACCEPTED, DEAD, World, to_mask

DEFAULT_MAX_EXPANSIONS = 1_000_000

StepCost = Callable[[Any, int], float]
"""From a world state and a control to the cost of the transition."""


@runtime_checkable
class BoundedWorld(World[Any], Protocol):
    """A world that knows how far its labels are, at least."""

    def steps_to_labels(self, state: Any) -> NDArray[np.float64]:
        """Lower bound on the number of steps from a state until a transition shows a label.

        1 if the next transition might, inf if none ever will; by label mask, shape [2 ** propositions].
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
    automaton: FiniteAutomaton,
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
    next_mode = automaton.mode_table(world.propositions)
    bound = _bound(world, next_mode, least_cost)
    start = (world.initial_state, 0)
    opened = {start: _Opened(0.0, None, 0)}
    order = count()  # breaks ties, so that nodes are never compared
    heap = [(bound(*start), 0.0, next(order), start)]
    expansions = 0
    shown: dict[int, set[int]] = {0: set()}
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
                " lower bound on the cost, or offer `steps_to_labels` in the world, which directs the search."
            )
        expansions += 1
        for control in range(len(world.controls)):
            after, mask = _successor(world, next_mode, node, control)
            shown.setdefault(node[1], set()).add(mask)
            if after[1] == DEAD:
                continue
            paid = known.paid + _checked(cost(node[0], control), least_cost)
            if after not in opened or paid < opened[after].paid:
                opened[after] = _Opened(paid, node, control)
                heapq.heappush(heap, (paid + bound(*after), -paid, next(order), after))
    raise unsatisfiable(automaton, world.propositions, shown)


def _bound(world: World[Any], next_mode: NDArray[np.int32], least_cost: float) -> Callable[[Any, int], float]:
    """The function h."""
    modes, masks = next_mode.shape
    before, label = np.nonzero((next_mode != DEAD) & (next_mode != np.arange(modes)[:, None]))
    changes = before.astype(np.int32), label.astype(np.int32), next_mode[before, label]
    at_once = np.ones(masks)
    by_automaton_alone = [least_cost * _earliest_acceptance(*changes, modes, mode, at_once) for mode in range(modes)]
    steps_to_labels = world.steps_to_labels if isinstance(world, BoundedWorld) else None

    def bound(state: Any, mode: int) -> float:
        if mode == ACCEPTED:
            return 0.0
        if steps_to_labels is None:
            return by_automaton_alone[mode]
        return least_cost * _earliest_acceptance(*changes, modes, mode, steps_to_labels(state))

    return bound


@njit(cache=True, nogil=True)
def _earliest_acceptance(
    before: NDArray[np.int32],
    label: NDArray[np.int32],
    after: NDArray[np.int32],
    modes: int,
    start: int,
    steps: NDArray[np.float64],
) -> float:
    """t(acceptance), by relaxing all changes of the automaton until nothing improves.

    Args:
        before: mode that a change leaves, shape [changes].
        label: label mask that it reads, shape [changes].
        after: mode that it leads to, or `ACCEPTED`; shape [changes].
        modes: the number of modes.
        start: the mode q.
        steps: steps(x, sigma) by label mask.
    """
    time = np.full(modes + 1, np.inf)  # the last is that of acceptance
    time[start] = 0.0
    improved = True
    while improved:
        improved = False
        for i in range(len(before)):
            target = modes if after[i] == ACCEPTED else after[i]
            earliest = max(time[before[i]] + 1, steps[label[i]])
            if earliest < time[target] and time[before[i]] < np.inf:
                time[target] = earliest
                improved = True
    return time[modes]


def _successor(
    world: World[Any], next_mode: NDArray[np.int32], node: tuple[Any, int], control: int
) -> tuple[tuple[Any, int], int]:
    """The node after a control, and the mask of the label on the way.

    The task is over in `ACCEPTED` and `DEAD`, whatever the world state.
    """
    state, mode = node
    next_state = world.step(state, control)
    mask = to_mask(world.label(state, control, next_state), world.propositions)
    after = int(next_mode[mode, mask])
    return (next_state if after >= 0 else None, after), mask


def _checked(cost: float, least_cost: float) -> float:
    if not least_cost <= cost < np.inf:
        raise BadCostError(f"a transition costs {cost}, where it should be finite and at least {least_cost}")
    return float(cost)


def _plan(
    world: World[Any], automaton: FiniteAutomaton, opened: dict[tuple[Any, int], _Opened], end: tuple[Any, int]
) -> Plan:
    controls = []
    node = opened[end]
    while node.before is not None:
        controls.append(node.control)
        node = opened[node.before]
    path = walk_path(world, automaton, controls[::-1], world.initial_state)
    return Plan(path, opened[end].paid)
