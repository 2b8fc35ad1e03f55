"""How many steps a label is away in a MiniGrid, at least: distances on foot, with all doors open and no objects.

To carry an object, or to open or close a door, the agent must stand before it and then act; to stand on
a cell, it must walk there. Turning and walking are counted exactly, and everything that could be in the way
but walls is left out, so that the true number of steps is never less.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from wfairl.worlds.minigrid import rules
from wfairl.worlds.minigrid.rules import Layout

TURNS = 4


class LabelBounds:
    """Lower bounds on the steps to labels, in one scene; see `steps_to_change`."""

    def __init__(self, layout: Layout, atoms: NDArray[np.int32]):
        self.layout, self.atoms = layout, atoms
        self._before: dict[int, NDArray[np.float64]] = {}
        self._on: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def steps_to_change(self, fields: NDArray[np.int32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower bounds on the steps from a state until a transition after which a proposition holds, or does not.

        Args:
            fields: the state, unpacked; see `rules`.

        Returns:
            Steps until each proposition holds and until it does not, each of shape [propositions].
        """
        to_true, to_false = np.ones(len(self.atoms)), np.ones(len(self.atoms))
        for i in range(len(self.atoms)):
            if rules.holds(self.layout.table, self.atoms, i, fields):
                to_false[i] = self._steps_to_end(self.atoms[i], fields)
            else:
                to_true[i] = self._steps_to_begin(self.atoms[i], fields)
        return to_true, to_false

    def _steps_to_begin(self, atom: NDArray[np.int32], fields: NDArray[np.int32]) -> float:
        """Lower bound for an atom that does not hold, to hold."""
        question, first, second, third, _ = map(int, atom)
        if question == rules.ANY_AT and third == len(self.layout.cells) + rules.CARRIED:
            return min(self._steps_to_pick_up(thing, fields) for thing in range(first, second))
        if question == rules.ALL_APART:
            return min(self._steps_to_pick_up(thing, fields) for thing in range(first, second))
        if question == rules.DOOR_IS_OPEN:
            return self._steps_before(self._door_cell(first), fields) + 1
        if question == rules.AGENT_AT:
            return self._steps_on((first,), fields)
        if question == rules.AGENT_ON_TERRAIN:
            matches = self.layout.cells[:, rules.TERRAIN] == first
            if second != rules.NOTHING:
                matches &= self.layout.cells[:, rules.TERRAIN_COLOR] == second
            return self._steps_on(tuple(map(int, np.flatnonzero(matches))), fields)
        return 1.0

    def _steps_to_end(self, atom: NDArray[np.int32], fields: NDArray[np.int32]) -> float:
        """Lower bound for an atom that holds, not to hold any more."""
        if atom[0] == rules.DOOR_IS_OPEN:
            return self._steps_before(self._door_cell(int(atom[1])), fields) + 1
        return 1.0

    def _steps_to_pick_up(self, thing: int, fields: NDArray[np.int32]) -> float:
        place = int(fields[rules.FIRST_OBJECT + thing])
        if place < len(self.layout.cells):
            return self._steps_before(place, fields) + 1
        # Carried, or in a box: it may turn up anywhere. Gone: it never comes back.
        return np.inf if place == len(self.layout.cells) + rules.GONE else 1.0

    def _door_cell(self, door: int) -> int:
        return int(np.flatnonzero(self.layout.cells[:, rules.DOOR_AT] == door)[0])

    def _steps_before(self, cell: int, fields: NDArray[np.int32]) -> float:
        """Steps until the agent faces a cell."""
        if cell not in self._before:
            fronts = self.layout.cells[:, rules.FRONT :]
            self._before[cell] = _steps_to(self._is_wall, fronts, (fronts == cell).ravel())
        return float(self._before[cell][fields[rules.AGENT] * TURNS + fields[rules.DIRECTION]])

    def _steps_on(self, cells: tuple[int, ...], fields: NDArray[np.int32]) -> float:
        """Steps until the agent stands on one of the cells."""
        if cells not in self._on:
            wanted = np.zeros((len(self.layout.cells), TURNS), bool)
            wanted[list(cells)] = True
            fronts = self.layout.cells[:, rules.FRONT :]
            self._on[cells] = _steps_to(self._is_wall, fronts, wanted.ravel())
        return float(self._on[cells][fields[rules.AGENT] * TURNS + fields[rules.DIRECTION]])

    @property
    def _is_wall(self) -> NDArray[np.bool_]:
        return self.layout.cells[:, rules.TERRAIN] == rules.WALL


@njit(cache=True, nogil=True)
def _steps_to(is_wall: NDArray[np.bool_], fronts: NDArray[np.int32], wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Steps of an agent among nothing but walls to one of the wanted poses; a pose is 4 * cell + direction.

    Args:
        is_wall: shape [cells].
        fronts: the neighbour of each cell in each direction, or `NOTHING`; shape [cells, 4].
        wanted: shape [4 * cells].
    """
    steps = np.full(wanted.size, np.inf)
    queue = np.empty(wanted.size, np.int64)
    count = 0
    for pose in range(wanted.size):
        if wanted[pose] and not is_wall[pose // TURNS]:
            steps[pose] = 0
            queue[count] = pose
            count += 1
    done = 0
    while done < count:
        pose = queue[done]
        done += 1
        cell, direction = pose // TURNS, pose % TURNS
        behind = fronts[cell, (direction + 2) % TURNS]
        for way in range(3):  # the poses from which a turn left, a turn right or a step lead here
            if way < 2:
                before = TURNS * cell + (direction + 1 + 2 * way) % TURNS
            elif behind < 0 or is_wall[behind]:
                continue
            else:
                before = TURNS * behind + direction
            if steps[before] == np.inf:
                steps[before] = steps[pose] + 1
                queue[count] = before
                count += 1
    return steps
