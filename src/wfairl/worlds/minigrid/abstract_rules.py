"""The transitions of an abstraction: effects of controls, and what the automaton makes of the labels then."""

import numpy as np
from numpy.typing import NDArray

from wfairl.compiling import njit
from wfairl.worlds.minigrid.abstract_effects import HERE, MOST_EFFECTS, abstract_effects
from wfairl.worlds.minigrid.abstract_labels import truth_of
from wfairl.worlds.minigrid.pattern import (
    ATOMS,
    CHANGES,
    EFFECT_COLUMNS,
    FIRST_CHANGE,
    HEADING,
    NUMBER,
    PRICE,
    SIZES,
    STATES,
    WALKABLE,
    PatternTable,
    dense_index,
    read_index,
)
from wfairl.worlds.minigrid.rules import (
    FRONT,
    Table,
    cell_entry,
)


@njit(cache=True, nogil=True)
def most_edges(table: PatternTable) -> int:
    """How many edges an abstract state may have: one for each effect, and for each change of the automaton after it."""
    changes = 0
    for state in range(table[SIZES + STATES]):
        changes = max(changes, table[table[FIRST_CHANGE] + state + 1] - table[table[FIRST_CHANGE] + state])
    return MOST_EFFECTS * (1 + changes)


@njit(cache=True, nogil=True)
def abstract_edges(
    layout: Table,
    table: PatternTable,
    index: int,
    effects: NDArray[np.int64],
    targets: NDArray[np.int64],
    prices: NDArray[np.int64],
) -> int:
    """Write the dense numbers after every abstract transition (-1 for acceptance) and their prices; how many.

    After each effect the automaton stays where it is, or changes in a way that the label may allow.
    """
    state = read_index(table, index, effects, HERE)
    first, end = table[table[FIRST_CHANGE] + state], table[table[FIRST_CHANGE] + state + 1]
    asked = 0
    for j in range(first, end):
        asked |= table[table[CHANGES] + 4 * j + 1] | table[table[CHANGES] + 4 * j + 2]
    edges = 0
    for i in range(abstract_effects(layout, table, state, effects)):
        at = EFFECT_COLUMNS * i
        if i > 0:  # the first is that nothing changes
            targets[edges], prices[edges] = dense_index(table, effects, at, state), effects[at + PRICE]
            edges += 1
        cell = table[table[WALKABLE] + effects[at + NUMBER]]
        front = cell_entry(layout, cell, FRONT + effects[at + HEADING])
        may, may_not = 0, 0
        for j in range(table[SIZES + ATOMS]):
            if asked >> j & 1:
                truth = truth_of(layout, table, j, cell, front, effects, at)
                may |= (truth & 1) << j
                may_not |= (truth >> 1) << j
        for j in range(first, end):
            if table[table[CHANGES] + 4 * j + 1] & ~may == 0 and table[table[CHANGES] + 4 * j + 2] & ~may_not == 0:
                after = table[table[CHANGES] + 4 * j + 3]
                targets[edges] = -1 if after < 0 else dense_index(table, effects, at, after)
                prices[edges] = effects[at + PRICE]
                edges += 1
    return edges
