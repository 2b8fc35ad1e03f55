"""The situations that can come up in a scene, and the least costs of abstract transitions in them.

The *price* of an abstract transition says in which situations it may happen: the price class of the agent's pose (what
never changes under the agent and ahead of it), what is ahead, what the hand shows, and the control. The least cost of a
price is the minimum over these situations.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.minigrid import physics
from wfairl.minigrid.physics import CELL_TYPES, CONTROLS, HANDS, NOTHING, TERRAINS, Layout
from wfairl.minigrid.situations import SITUATION_SIZES, find_situations

ANY_CONTROL = len(CONTROLS)
"""In a price: any control, also one that does nothing."""

ANY_HAND = len(HANDS)
"""In a price: the hand holds something, whatever it is."""

ANY_AHEAD = len(CELL_TYPES)
AHEADS = ANY_AHEAD + len(TERRAINS)
"""In a price: what is ahead is one of `CELL_TYPES`, or ANY_AHEAD + terrain for whatever that terrain can show."""

DOOR_STATES = {physics.OPEN_DOOR: physics.IS_OPEN, physics.CLOSED_DOOR: 0, physics.LOCKED_DOOR: physics.IS_LOCKED}
"""The state of a door by what it shows."""


@dataclass(frozen=True, eq=False)
class SceneSituations:
    """The situations of one scene, listed before the first search so that a cost is evaluated once for all of them."""

    layout: Layout  # the scene
    situations: NDArray[np.int64]  # numbers of situations in ascending order, shape [listed]
    states: NDArray[np.uint64]  # a packed state in each situation, shape [listed, words]
    number_of: NDArray[np.int32]  # position of each situation in the list, or `NOTHING`; shape [situations]

    @classmethod
    def of(cls, layout: Layout, initial: NDArray[np.int32]) -> "SceneSituations":
        """All situations of a scene whose initial state has these fields, of shape [fields]."""
        examples: dict[int, NDArray[np.uint64]] = {}
        fronts = layout.cells[layout.walkable][:, physics.FRONT :].reshape(-1)
        terrain = np.where(fronts == NOTHING, physics.WALL, layout.cells[fronts, physics.TERRAIN])
        distinct, class_of = price_classes(layout)
        _, poses = np.unique(class_of * len(TERRAINS) + terrain, return_index=True)
        for pose in poses.tolist():
            under, floor_under, floor_ahead = distinct[class_of[pose]].tolist()
            for ahead, hand, fields in _arrange(layout, initial, int(layout.walkable[pose // 4]), pose % 4):
                parts = under, floor_under, floor_ahead, ahead, hand
                examples[int(np.ravel_multi_index(parts, SITUATION_SIZES))] = layout.pack(fields)
        situations = np.array(sorted(examples), np.int64)
        number_of = np.full(int(np.prod(SITUATION_SIZES)), NOTHING, np.int32)
        number_of[situations] = np.arange(len(situations))
        return cls(layout, situations, np.array([examples[one] for one in situations.tolist()]), number_of)

    def number(self, states: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The positions of the situations of packed states in the list: [states, words] -> [states]."""
        return self.number_of[find_situations(self.layout.table, states)]

    def least_costs(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """The least cost of each price, given the costs of situations: [listed, controls] -> [prices]."""
        table = np.full((int(np.prod(SITUATION_SIZES)), len(CONTROLS)), np.inf)
        table[self.situations] = costs
        distinct, _ = price_classes(self.layout)
        pose_costs = table.reshape(*SITUATION_SIZES, -1)[tuple(distinct.T)]  # [price classes, ahead, hand, controls]
        least = np.full((len(distinct), AHEADS, ANY_HAND + 1, ANY_CONTROL + 1), np.inf)
        least[:, :ANY_AHEAD, :ANY_HAND, :ANY_CONTROL] = pose_costs
        objects = pose_costs[:, physics.FIRST_OBJECT_TYPE :].min(axis=1)
        for terrain in range(len(TERRAINS)):
            may = pose_costs[:, list(DOOR_STATES)].min(axis=1) if terrain == physics.DOOR else pose_costs[:, terrain]
            lies = terrain in (physics.EMPTY, physics.FLOOR, physics.GOAL)
            least[:, ANY_AHEAD + terrain, :ANY_HAND, :ANY_CONTROL] = np.minimum(may, objects) if lies else may
        least[:, :, ANY_HAND] = least[:, :, 1:ANY_HAND].min(axis=2)
        least[..., ANY_CONTROL] = least[..., :ANY_CONTROL].min(axis=3)
        return least.reshape(-1)


def price_count(layout: Layout) -> int:
    """The number of prices in a scene."""
    return len(price_classes(layout)[0]) * AHEADS * (ANY_HAND + 1) * (ANY_CONTROL + 1)


def price_classes(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The fixed surroundings of each pose: terrain and floor under the agent, and the floor ahead.

    Returns:
        The distinct ones, shape [classes, 3], and the class of each pose, shape [walkable * 4].
    """
    cells, walkable = layout.cells, layout.walkable
    floor = np.where(cells[:, physics.TERRAIN] == physics.FLOOR, 1 + cells[:, physics.TERRAIN_COLOR], 0)
    terrain = np.where(cells[:, physics.TERRAIN] == physics.DOOR, physics.OPEN_DOOR, cells[:, physics.TERRAIN])
    fronts = cells[walkable][:, physics.FRONT :]
    ahead = np.where(fronts == NOTHING, 0, floor[fronts])
    under = np.repeat(np.stack([terrain[walkable], floor[walkable]], axis=1), 4, axis=0)
    distinct, number = np.unique(np.hstack([under, ahead.reshape(-1, 1)]), axis=0, return_inverse=True)
    return distinct.astype(np.int64), number.reshape(-1).astype(np.int64)


def _arrange(
    layout: Layout, initial: NDArray[np.int32], cell: int, direction: int
) -> list[tuple[int, int, NDArray[np.int32]]]:
    """Each index into `CELL_TYPES` ahead of a pose and each hand that may occur, with the fields of an example."""
    cells, objects = len(layout.cells), layout.objects
    front = int(layout.cells[cell, physics.FRONT + direction])
    terrain = physics.WALL if front == NOTHING else int(layout.cells[front, physics.TERRAIN])
    kinds = [np.flatnonzero(objects[:, physics.OBJECT_KIND] == kind).tolist() for kind in range(len(physics.OBJECTS))]
    aheads = list(DOOR_STATES) if terrain == physics.DOOR else [terrain]
    if terrain not in (physics.WALL, physics.DOOR):
        aheads += [physics.FIRST_OBJECT_TYPE + kind for kind, members in enumerate(kinds) if members]
    arrangements = []
    for ahead in aheads:
        for hand in range(len(HANDS)):
            fields = initial.copy()
            fields[physics.AGENT], fields[physics.DIRECTION] = cell, direction
            places = fields[physics.FIRST_OBJECT : layout.first_door]
            places[(places == front) | (places == cell) | (places == cells + physics.CARRIED)] = cells + physics.GONE
            free = [list(members) for members in kinds]
            if ahead >= physics.FIRST_OBJECT_TYPE:
                places[free[ahead - physics.FIRST_OBJECT_TYPE].pop()] = front
            if hand:
                if not free[hand - 1]:
                    continue
                places[free[hand - 1].pop()] = cells + physics.CARRIED
            for where, state in ((cell, physics.IS_OPEN), (front, DOOR_STATES.get(ahead, 0))):
                door = int(layout.cells[where, physics.DOOR_AT]) if where != NOTHING else NOTHING
                if door != NOTHING:
                    fields[layout.first_door + door] = state
            arrangements.append((ahead, hand, fields))
    return arrangements
