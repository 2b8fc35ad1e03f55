"""Estimates of the cost-to-go that account for where objects lie. They direct searches that need not be optimal.

The abstraction assumes that a moved object is wherever it is useful. So its cost-to-go is a lower bound and a poor
guide: an agent that has dropped a needed object may as well go on without it. The estimate lets the agent fetch the
object. Where objects of a needed class c were moved and the hand holds none of them, the estimate is

    min over moved objects o of class c of   distance from the agent to o + V(the agent beside o, with o in its hand)

If some objects of the class were not moved, the estimate is at most the cost-to-go as if none had been moved. The
estimate may exceed the true cost-to-go: on its way the agent may do something else that is useful.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.support.compiling import njit
from wfairl.minigrid import physics
from wfairl.minigrid.focused.abstraction import UNMET_STATE, AbstractStates
from wfairl.minigrid.focused.pattern import (
    AT,
    EFFECT,
    EFFECT_COLUMNS,
    FIRST_CLASS,
    Effects,
    abstract_index,
    dense_index,
)
from wfairl.minigrid.physics import NOTHING, cell_entry


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
        abstract, cost_to_go, states, automaton_states: see `bound_by_abstraction`.
        distances: the steps between walkable cells in free space, shape [walkable, walkable].
        step_cost: the approximate cost of a step.
    """
    pattern, places, data = abstract.pattern, abstract.places, abstract.pattern.data
    estimates = np.zeros(states.shape[0], np.float64)
    fields, row = np.empty(physics.fields_count(pattern.layout), np.int32), np.empty((1, EFFECT_COLUMNS), np.int64)
    for i in range(states.shape[0]):
        physics.unpack(pattern.layout, states[i], fields)
        state = automaton_states[i]
        number = abstract.number_of[abstract_index(pattern, places, fields, state, row)]
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


@njit(cache=True, nogil=True)
def _fetch(
    abstract: AbstractStates,
    cost_to_go: NDArray[np.float64],
    distances: NDArray[np.float64],
    step_cost: float,
    fields: NDArray[np.int32],
    state: int,
    row: Effects,
) -> tuple[float, bool]:
    """The least cost to fetch a moved object of the class in a row's hand and go on, and whether one was not moved.

    `distances` are from the agent to each walkable cell, shape [walkable].
    """
    layout, data = abstract.pattern
    best, is_left = np.inf, False
    for obj in range(abstract.places.hands.size):
        place = fields[physics.FIRST_OBJECT + obj]
        if abstract.places.hands[obj] != row[0, EFFECT.hand] or place >= layout[physics.CELLS]:
            continue
        if abstract.places.home[obj, place]:
            is_left = True
            continue
        for direction in range(4):
            beside = cell_entry(layout, place, physics.FRONT + direction)
            number = NOTHING if beside == NOTHING else data[data[AT.number_of] + beside]
            if number != NOTHING:
                row[0, EFFECT.cell], row[0, EFFECT.heading] = number, (direction + 2) % 4
                best = min(best, step_cost * distances[number] + _look_up(abstract, cost_to_go, state, row))
    return best, is_left


@njit(cache=True, nogil=True)
def _look_up(abstract: AbstractStates, cost_to_go: NDArray[np.float64], state: int, row: Effects) -> float:
    """The cost-to-go of an abstract state, inf if it was never met."""
    number = abstract.number_of[dense_index(abstract.pattern.data, row, 0, state)]
    return np.inf if number == UNMET_STATE else cost_to_go[number]
