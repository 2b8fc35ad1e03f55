"""An abstraction explored whole: its transitions, and the bounds and estimates that it gives.

The abstraction assumes that a moved object is wherever it is useful. So its cost-to-go is a lower bound and a poor
guide: an agent that has dropped a needed object may as well go on without it. Searches that need not be optimal are
directed by an *estimate*, which lets the agent fetch the object. Where objects of a needed class c were moved and the
hand holds none of them, the estimate is

    min over moved objects o of class c of   distance from the agent to o + V(the agent beside o, with o in its hand)

If some objects of the class were not moved, the estimate is at most the cost-to-go as if none had been moved. The
estimate may exceed the true cost-to-go: on its way the agent may do something else that is useful.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.planning.shortest_path import WIDTH, doubled, search_ranks
from wfairl.core.support.compiling import inner, njit
from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstract_physics import ORIGIN, abstract_transitions, make_buffers
from wfairl.minigrid.focused.pattern import (
    AT,
    EFFECT,
    EFFECT_COLUMNS,
    FIRST_CLASS,
    EffectRows,
    Pattern,
    PatternSpec,
    PatternTable,
    abstract_index,
    abstract_indices,
    dense_index,
)
from wfairl.minigrid.physics import NOTHING, cell_entry

ACCEPTANCE = 0
"""Number of acceptance among the abstract states."""

UNMET_STATE = -1
"""In place of a number: the abstract state was never met."""


class AbstractStates(NamedTuple):
    """The states of an abstraction, as compiled code reads them."""

    pattern: PatternTable  # what the abstraction keeps
    number_of: NDArray[np.int32]  # number of each dense number, or `UNMET_STATE`; shape [dense]


@dataclass(frozen=True, eq=False)
class Abstraction:
    """A smaller scene, explored whole. Its transitions are sorted by target."""

    spec: PatternSpec  # what it keeps
    pattern: Pattern
    states: AbstractStates  # its states; number 0 is acceptance
    first: NDArray[np.uint32]  # transitions into state n are those from first[n] to first[n + 1]; shape [states + 1]
    source: NDArray[np.uint32]  # the state before each transition, shape [transitions]
    price: NDArray[np.int64]  # of each transition, see `prices`; shape [transitions]

    def __len__(self) -> int:
        """The number of abstract states, with acceptance."""
        return len(self.first) - 1

    def bounds(
        self, cost_to_go: NDArray[np.float64], states: NDArray[np.uint64], automaton_states: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Lower bounds on the cost-to-go of packed states, given that of abstract states: [states, words] -> [states].

        A bound is inf where acceptance cannot be reached, and 0 where the abstract state was never met.
        """
        numbers = self.states.number_of[abstract_indices(self.states.pattern, states, automaton_states)]
        return np.where(numbers == UNMET_STATE, 0.0, cost_to_go[numbers])


def costs_to_acceptance(
    first: NDArray[np.uint32], source: NDArray[np.uint32], costs: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The least cost to acceptance, inf where there is no path: transitions as in `Abstraction` -> [states]."""
    V, transition = np.empty(len(first) - 1), np.arange(len(costs), dtype=np.uint32)
    search_ranks(first, source, transition, costs, WIDTH * float(costs.mean()) if len(costs) else 1.0, V)
    return V


@njit(cache=True, nogil=True)
def explore_pattern(
    pattern: PatternTable, start: int, dense: int, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Every abstract state that can be reached from the dense number `start`, one of `dense`.

    Returns:
        Number of each dense number, or `UNMET_STATE`; sources, targets and prices of the transitions; and the number of
        states with acceptance, 0 if there are more than `most`.
    """
    number_of = np.full(dense, UNMET_STATE, np.int32)
    buffers = make_buffers(pattern.data)
    _, next_indices, next_prices = buffers
    queue = np.empty(most + next_indices.size, np.int64)
    sources, targets, prices = np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64), np.empty(1 << 14, np.int64)
    queue[ACCEPTANCE], queue[1], number_of[start] = start, start, 1  # acceptance has no dense number
    count, node, filled = 2, 1, 0
    while node < count:
        transitions = abstract_transitions(pattern, queue[node], buffers)
        while filled + transitions > sources.size:
            sources, targets, prices = doubled(sources), doubled(targets), doubled(prices)
        for i in range(transitions):
            target = ACCEPTANCE
            if next_indices[i] >= 0:
                target = number_of[next_indices[i]]
                if target == UNMET_STATE:
                    target = number_of[next_indices[i]] = count
                    queue[count] = next_indices[i]
                    count += 1
            if target != node:
                sources[filled], targets[filled], prices[filled] = node, target, next_prices[i]
                filled += 1
        if count > most:
            return number_of, sources, targets, prices, 0
        node += 1
    return number_of, sources[:filled], targets[:filled], prices[:filled], count


@njit(cache=True, nogil=True)
def sort_by_target(
    sources: NDArray[np.int64], targets: NDArray[np.int64], weights: NDArray[np.generic], count: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.generic]]:
    """Transitions between `count` states sorted by target: `first`, `source` and weights, as in `Abstraction`."""
    first = np.zeros(count + 1, np.uint32)
    for target in targets:
        first[target + 1] += np.uint32(1)
    for node in range(count):
        first[node + 1] += first[node]
    free = first[:-1].copy()
    source, weight = np.empty(targets.size, np.uint32), np.empty_like(weights)
    for i in range(targets.size):
        at = free[targets[i]]
        source[at], weight[at] = sources[i], weights[i]
        free[targets[i]] += np.uint32(1)
    return first, source, weight


@njit(cache=True, nogil=True)
def cells_of_plan(
    pattern: PatternTable, number_of: NDArray[np.int32], steps: NDArray[np.float64], start: int
) -> NDArray[np.int64]:
    """The agent's cells along a shortest abstract plan from a dense number; the first cell alone if there is no plan.

    `steps` is the fewest transitions from each abstract state to acceptance, shape [states].
    """
    data = pattern.data
    buffers = make_buffers(data)
    effects, targets, _ = buffers
    left = steps[number_of[start]]
    cells = np.empty(int(left) if left < np.inf else 1, np.int64)
    for t in range(cells.size):
        transitions = abstract_transitions(pattern, start, buffers)
        cells[t] = data[data[AT.walkable] + effects[ORIGIN, EFFECT.cell]]
        for i in range(transitions):
            if targets[i] >= 0 and steps[number_of[targets[i]]] == left - t - 1:
                start = targets[i]
                break
    return cells


@njit(cache=True, nogil=True)
def estimate_states(
    abstract: AbstractStates,
    cost_to_go: NDArray[np.float64],
    distances: NDArray[np.float64],
    step_cost: float,
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Estimates of the cost-to-go of packed states, 0 where the abstract state was never met; [states].

    Args:
        abstract: the states of the abstraction.
        cost_to_go: of abstract states, shape [abstract states].
        states, automaton_states: packed states, shape [states, words], and automaton states, shape [states].
        distances: the steps between walkable cells in free space, shape [walkable, walkable].
        step_cost: the approximate cost of a step.
    """
    pattern, data = abstract.pattern, abstract.pattern.data
    estimates = np.zeros(states.shape[0], np.float64)
    fields, row = np.empty(physics.fields_count(pattern.layout), np.int32), np.empty((1, EFFECT_COLUMNS), np.int64)
    for i in range(states.shape[0]):
        physics.unpack(pattern.layout, states[i], fields)
        state = automaton_states[i]
        number = abstract.number_of[abstract_index(pattern, fields, state, row)]
        if number == UNMET_STATE:
            continue
        anywhere = estimates[i] = cost_to_go[number]
        here, heading = row[0, EFFECT.cell], row[0, EFFECT.heading]
        hand, moved = row[0, EFFECT.hand], row[0, EFFECT.moved]
        needed, c = moved & data[data[AT.relevant] + state], 0
        while needed >> c:
            if needed >> c & 1 and hand != FIRST_CLASS + c:
                row[0, EFFECT.cell], row[0, EFFECT.heading] = here, heading
                row[0, EFFECT.hand], row[0, EFFECT.moved] = hand, moved & ~(1 << c)
                unmoved = _look_up(abstract, cost_to_go, state, row)
                if unmoved != anywhere:
                    dropped = 1 << (hand - FIRST_CLASS) if hand >= FIRST_CLASS else 0
                    row[0, EFFECT.hand], row[0, EFFECT.moved] = FIRST_CLASS + c, moved | dropped
                    fetched, is_left = _fetch(abstract, cost_to_go, distances[here], step_cost, fields, state, row)
                    if is_left or fetched == np.inf:
                        fetched = min(fetched, unmoved)
                    if fetched < np.inf:
                        estimates[i] = max(estimates[i], fetched)
            c += 1
    return estimates


@inner
def _fetch(
    abstract: AbstractStates,
    cost_to_go: NDArray[np.float64],
    distances: NDArray[np.float64],
    step_cost: float,
    fields: NDArray[np.int32],
    state: int,
    row: EffectRows,
) -> tuple[float, bool]:
    """The least cost to fetch a moved object of the class in a row's hand and go on, and whether one was not moved.

    `distances` are from the agent to each walkable cell, shape [walkable].
    """
    layout, data = abstract.pattern
    best, is_left = np.inf, False
    for obj in range(layout[physics.OBJECTS_COUNT]):
        place, hand = fields[physics.FIRST_OBJECT + obj], data[data[AT.hand_of] + obj]
        if hand != row[0, EFFECT.hand] or place >= layout[physics.CELLS]:
            continue
        if data[data[AT.hand_at] + place] == hand:
            is_left = True
            continue
        for direction in range(4):
            beside = cell_entry(layout, place, physics.FRONT + direction)
            number = NOTHING if beside == NOTHING else data[data[AT.number_of] + beside]
            if number != NOTHING:
                row[0, EFFECT.cell], row[0, EFFECT.heading] = number, (direction + 2) % 4
                best = min(best, step_cost * distances[number] + _look_up(abstract, cost_to_go, state, row))
    return best, is_left


@inner
def _look_up(abstract: AbstractStates, cost_to_go: NDArray[np.float64], state: int, row: EffectRows) -> float:
    """The cost-to-go of an abstract state, inf if it was never met."""
    number = abstract.number_of[dense_index(abstract.pattern.data, row, 0, state)]
    return np.inf if number == UNMET_STATE else cost_to_go[number]
