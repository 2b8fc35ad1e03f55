"""Estimates of the cost-to-go that account for where objects lie; they direct searches that need not be optimal.

To an abstraction, an object that was moved is wherever it would be of use. That makes its cost-to-go a lower bound, and
a poor guide: an agent that has dropped what the task needs may as well go on without it. Here the agent has to fetch
it. Where the hand holds none of a class of which something was moved, and which is still needed, the estimate is

    min over its moved objects o of   distance from the agent to o + V(the agent beside o, with o in its hand)

and at most the cost-to-go if none was moved, where some are not. It may exceed what it estimates: on its path the agent
may do something else that is of use.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstraction import UNKNOWN, Abstraction
from wfairl.minigrid.focused.pattern import (
    AT,
    EFFECT_COLUMNS,
    FIRST_CLASS,
    HAND,
    HEADING,
    MOVED,
    NUMBER,
    Effects,
    PatternTable,
    Places,
    abstract_index,
    dense_index,
)
from wfairl.minigrid.physics import NOTHING, cell_entry, fields_count, unpack


class AbstractCosts(NamedTuple):
    """The cost-to-go of the states of an abstraction, as compiled code reads it.

    Attributes:
        pattern, places, number_of: the abstraction.
        cost_to_go: of its states, shape [states].
    """

    pattern: PatternTable
    places: Places
    number_of: NDArray[np.int32]
    cost_to_go: NDArray[np.float64]


def estimate_states(
    abstraction: Abstraction,
    cost_to_go: NDArray[np.float64],
    distances: NDArray[np.float64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Estimates of the cost-to-go of packed states, 0 where nothing is known; shape [states].

    Args:
        abstraction, cost_to_go: an abstraction, and the cost-to-go of its states.
        distances: about what it costs to go between walkable cells in free space, shape [walkable, walkable].
        states, automaton_states: shape [states, words] and [states].
    """
    pattern = abstraction.pattern
    costs = AbstractCosts(pattern.table, pattern.places, abstraction.number_of, cost_to_go)
    return estimate_packed(costs, distances, states, automaton_states)


@njit(cache=True, nogil=True)
def estimate_packed(
    costs: AbstractCosts,
    distances: NDArray[np.float64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> NDArray[np.float64]:
    """See `estimate_states`."""
    pattern, data = costs.pattern, costs.pattern.data
    estimates = np.zeros(states.shape[0], np.float64)
    fields, row = np.empty(fields_count(pattern.layout), np.int32), np.empty((1, EFFECT_COLUMNS), np.int64)
    for i in range(states.shape[0]):
        unpack(pattern.layout, states[i], fields)
        state = automaton_states[i]
        number = costs.number_of[abstract_index(pattern, costs.places, fields, state, row)]
        if number == UNKNOWN:
            continue
        anywhere = estimates[i] = costs.cost_to_go[number]
        here, heading, hand, moved = row[0, NUMBER], row[0, HEADING], row[0, HAND], row[0, MOVED]
        needed, c = moved & data[data[AT.relevant] + state], 0
        while needed >> c:
            if needed >> c & 1 and hand != FIRST_CLASS + c:
                row[0, NUMBER], row[0, HEADING], row[0, HAND], row[0, MOVED] = here, heading, hand, moved & ~(1 << c)
                unmoved = _look_up(costs, state, row)
                if unmoved != anywhere:
                    dropped = 1 << (hand - FIRST_CLASS) if hand >= FIRST_CLASS else 0
                    row[0, HAND], row[0, MOVED] = FIRST_CLASS + c, moved | dropped
                    fetched, is_left = _fetch(costs, distances, fields, state, here, row)
                    if is_left or fetched == np.inf:
                        fetched = min(fetched, unmoved)
                    if fetched < np.inf:
                        estimates[i] = max(estimates[i], fetched)
            c += 1
    return estimates


@njit(cache=True, nogil=True)
def _fetch(
    costs: AbstractCosts,
    distances: NDArray[np.float64],
    fields: NDArray[np.int32],
    state: int,
    here: int,
    row: Effects,
) -> tuple[float, bool]:
    """The cost to fetch the nearest moved object of a row's hand and go on; and whether one was not moved."""
    layout, data = costs.pattern
    best, is_left = np.inf, False
    for obj in range(costs.places.hands.size):
        place = fields[physics.FIRST_OBJECT + obj]
        if costs.places.hands[obj] != row[0, HAND] or place >= layout[physics.CELLS]:
            continue
        if costs.places.home[obj, place]:
            is_left = True
            continue
        for direction in range(4):
            beside = cell_entry(layout, place, physics.FRONT + direction)
            number = NOTHING if beside == NOTHING else data[data[AT.number_of] + beside]
            if number != NOTHING:
                row[0, NUMBER], row[0, HEADING] = number, (direction + 2) % 4
                best = min(best, distances[here, number] + _look_up(costs, state, row))
    return best, is_left


@njit(cache=True, nogil=True)
def _look_up(costs: AbstractCosts, state: int, row: Effects) -> float:
    """The cost-to-go of an abstract state, inf if it was never met."""
    number = costs.number_of[dense_index(costs.pattern.data, row, 0, state)]
    return np.inf if number == UNKNOWN else costs.cost_to_go[number]
