"""Estimates of the cost-to-go that know where things lie; they direct searches for plans that need not be optimal.

To an abstraction, an object that was moved is wherever it would be of use. That makes its cost-to-go a lower bound, and
a poor guide: who has dropped what the task needs may as well walk on without it. Here the agent has to fetch it. Where
the hand holds none of a class of which something was moved, and which is still needed, the estimate is

    min over its moved objects o of   way from the agent to o + V(the agent beside o, with o in its hand)

and at most the cost-to-go if none was moved, where some are not. It may exceed what it estimates: on its way the agent
may do something else that is of use.
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.abstraction import UNKNOWN, Abstraction
from wfairl.worlds.minigrid.packing import fields_count, unpack
from wfairl.worlds.minigrid.pattern import (
    EFFECT_COLUMNS,
    FIRST_CLASS,
    HAND,
    HEADING,
    MOVED,
    NUMBER,
    NUMBER_OF,
    POSES,
    RELEVANT,
    SIZES,
    WALKABLE,
    PatternTable,
    Places,
    abstract_index,
    dense_index,
)
from wfairl.worlds.minigrid.rules import CELLS, FIRST_OBJECT, FRONT, NOTHING, Table, cell_entry


def estimate_states(
    found: Abstraction,
    cost_to_go: NDArray[np.float64],
    ways: NDArray[np.float64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> NDArray[np.float64]:
    """Estimates of the cost-to-go of packed states, 0 where nothing is known; shape [states].

    Args:
        found, cost_to_go: an abstraction, and the cost-to-go of its states.
        ways: about what it costs to walk between walkable cells; see `count_ways`.
        states, automaton_states: shape [states, words] and [states].
    """
    return estimate_packed(
        found.layout.table, found.pattern.table, found.places, found.number_of, cost_to_go, ways, states,
        automaton_states,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def count_ways(layout: Table, table: PatternTable) -> NDArray[np.float64]:
    """The steps between walkable cells, without turns and whatever stands in between; shape [walkable, walkable]."""
    count = table[SIZES + POSES] // 4
    ways = np.full((count, count), np.inf)
    queue = np.empty(count, np.int64)
    for start in range(count):
        queue[0], ways[start, start] = start, 0
        done, known = 0, 1
        while done < known:
            here = queue[done]
            done += 1
            for direction in range(4):
                cell = cell_entry(layout, table[table[WALKABLE] + here], FRONT + direction)
                there = NOTHING if cell == NOTHING else table[table[NUMBER_OF] + cell]
                if there != NOTHING and ways[start, there] == np.inf:
                    ways[start, there] = ways[start, here] + 1
                    queue[known] = there
                    known += 1
    return ways


@njit(cache=True, nogil=True)
def estimate_packed(
    layout: Table,
    table: PatternTable,
    places: Places,
    number_of: NDArray[np.int32],
    cost_to_go: NDArray[np.float64],
    ways: NDArray[np.float64],
    states: NDArray[np.uint64],
    automaton_states: NDArray[np.int32],
) -> NDArray[np.float64]:
    """See `estimate_states`."""
    found = np.zeros(states.shape[0], np.float64)
    fields, row = np.empty(fields_count(layout), np.int32), np.empty(EFFECT_COLUMNS, np.int64)
    for i in range(states.shape[0]):
        unpack(layout, states[i], fields)
        state = automaton_states[i]
        number = number_of[abstract_index(layout, table, places, fields, state, row)]
        if number == UNKNOWN:
            continue
        anywhere = found[i] = cost_to_go[number]
        here, heading, hand, moved = row[NUMBER], row[HEADING], row[HAND], row[MOVED]
        needed, c = moved & table[table[RELEVANT] + state], 0
        while needed >> c:
            if needed >> c & 1 and hand != FIRST_CLASS + c:
                row[NUMBER], row[HEADING], row[HAND], row[MOVED] = here, heading, hand, moved & ~(1 << c)
                unmoved = _value(table, number_of, cost_to_go, state, row)
                if unmoved != anywhere:
                    dropped = 1 << (hand - FIRST_CLASS) if hand >= FIRST_CLASS else 0
                    row[HAND], row[MOVED] = FIRST_CLASS + c, moved | dropped
                    fetched, is_left = _fetch(
                        layout, table, places, number_of, cost_to_go, ways, fields, state, here, row
                    )
                    if is_left or fetched == np.inf:
                        fetched = min(fetched, unmoved)
                    if fetched < np.inf:
                        found[i] = max(found[i], fetched)
            c += 1
    return found


@njit(cache=True, nogil=True)
def _fetch(
    layout: Table,
    table: PatternTable,
    places: Places,
    number_of: NDArray[np.int32],
    cost_to_go: NDArray[np.float64],
    ways: NDArray[np.float64],
    fields: NDArray[np.int32],
    state: int,
    here: int,
    row: NDArray[np.int64],
) -> tuple[float, bool]:
    """What it costs to fetch the nearest moved object of a row's hand and go on; and whether one was not moved."""
    best, is_left = np.inf, False
    for thing in range(places.hands.size):
        place = fields[FIRST_OBJECT + thing]
        if places.hands[thing] != row[HAND] or place >= layout[CELLS]:
            continue
        if places.home[thing, place]:
            is_left = True
            continue
        for direction in range(4):
            beside = cell_entry(layout, place, FRONT + direction)
            if beside != NOTHING and table[table[NUMBER_OF] + beside] != NOTHING:
                row[NUMBER], row[HEADING] = table[table[NUMBER_OF] + beside], (direction + 2) % 4
                ahead = _value(table, number_of, cost_to_go, state, row)
                best = min(best, ways[here, row[NUMBER]] + ahead)
    return best, is_left


@njit(cache=True, nogil=True)
def _value(
    table: PatternTable,
    number_of: NDArray[np.int32],
    cost_to_go: NDArray[np.float64],
    state: int,
    row: NDArray[np.int64],
) -> float:
    """The cost-to-go of an abstract state, inf if it was never met."""
    number = number_of[dense_index(table, row, 0, state)]
    return np.inf if number == UNKNOWN else cost_to_go[number]
