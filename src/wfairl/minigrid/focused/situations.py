"""What a local cost depends on in a MiniGrid scene: what is under the agent and ahead, the floors there, and its hand.

All situations that can come up in a scene are listed before the first search, each with a state in which it does, so
that a cost is evaluated once for all of them. A *price* of an abstract transition is all that its cost can depend on;
its least cost is that of the situations in which it may happen; see `abstraction`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.minigrid import physics
from wfairl.minigrid.focused.pattern import AHEADS, ANY_HAND, IDLE, WILD
from wfairl.minigrid.physics import CONTROLS, NOTHING, Layout, pack
from wfairl.minigrid.situations import SITUATION_SIZES, find_situations

DOOR_TYPES = (physics.OPEN_DOOR, physics.CLOSED_DOOR, physics.LOCKED_DOOR)


@dataclass(frozen=True, eq=False)
class Situations:
    """The situations of one scene.

    Attributes:
        layout: the scene.
        dense: the dense number of each, shape [situations].
        states: a packed state in which it comes up, shape [situations, words].
        number_of: number of each dense one, or `NOTHING`; shape [dense].
    """

    layout: Layout
    dense: NDArray[np.int64]
    states: NDArray[np.uint64]
    number_of: NDArray[np.int32]

    @classmethod
    def of(cls, layout: Layout, initial: NDArray[np.int32]) -> "Situations":
        """All situations of a scene whose initial state has these fields."""
        examples: dict[int, NDArray[np.uint64]] = {}
        walkable = np.flatnonzero(layout.cells[:, physics.TERRAIN] != physics.WALL)
        fronts = layout.cells[walkable][:, physics.FRONT :].reshape(-1)
        terrain = np.where(fronts == NOTHING, physics.WALL, layout.cells[fronts, physics.TERRAIN])
        distinct, class_of = price_classes(layout, walkable)
        _, poses = np.unique(class_of * len(physics.TERRAINS) + terrain, return_index=True)
        for pose in poses.tolist():
            under, floor_under, floor_ahead = distinct[class_of[pose]].tolist()
            for ahead, hand, fields in _arrange(layout, initial, int(walkable[pose // 4]), pose % 4):
                number = int(np.ravel_multi_index((under, floor_under, floor_ahead, ahead, hand), SITUATION_SIZES))
                words = np.empty(layout.words, np.uint64)
                pack(layout.table, fields, words)
                examples[number] = words
        dense = np.array(sorted(examples), np.int64)
        number_of = np.full(int(np.prod(SITUATION_SIZES)), NOTHING, np.int32)
        number_of[dense] = np.arange(len(dense))
        return cls(layout, dense, np.array([examples[number] for number in dense.tolist()]), number_of)

    def number(self, states: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The situations of packed states, shape [states]."""
        return self.number_of[find_situations(self.layout.table, states)]

    def least_costs(self, costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """The least cost of each price, and to remove an obstacle; shape [prices]."""
        table = np.full((int(np.prod(SITUATION_SIZES)), len(CONTROLS)), np.inf)
        table[self.dense] = costs
        table = table.reshape(*SITUATION_SIZES, len(CONTROLS))
        walkable = np.flatnonzero(self.layout.cells[:, physics.TERRAIN] != physics.WALL)
        distinct, _ = price_classes(self.layout, walkable)
        pose_costs = table[tuple(distinct.T)]  # [price classes, ahead, hand, controls]
        least = np.full((len(distinct), AHEADS, ANY_HAND + 1, IDLE + 1), np.inf)
        least[:, :WILD, :ANY_HAND, :IDLE] = pose_costs
        objects = pose_costs[:, physics.LOCKED_DOOR + 1 :].min(axis=1)
        for terrain in range(len(physics.TERRAINS)):
            may = pose_costs[:, list(DOOR_TYPES)].min(axis=1) if terrain == physics.DOOR else pose_costs[:, terrain]
            lies = terrain in (physics.EMPTY, physics.FLOOR, physics.GOAL)
            least[:, WILD + terrain, :ANY_HAND, :IDLE] = np.minimum(may, objects) if lies else may
        least[:, :, ANY_HAND] = least[:, :, 1:ANY_HAND].min(axis=2)
        # To carry something that does not matter is of no use: then a plan that moves an obstacle is no cheaper for it.
        least[:, :, 0] = np.minimum(least[:, :, 0], least[:, :, ANY_HAND])
        least[..., IDLE] = least[..., :IDLE].min(axis=3)
        return least.reshape(-1), _least_removal(pose_costs)


def price_count(layout: Layout) -> int:
    """How many prices there are."""
    walkable = np.flatnonzero(layout.cells[:, physics.TERRAIN] != physics.WALL)
    return len(price_classes(layout, walkable)[0]) * AHEADS * (ANY_HAND + 1) * (IDLE + 1)


def price_classes(layout: Layout, walkable: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What never changes at a pose: terrain and floor under the agent, and the floor ahead.

    Returns:
        The distinct ones, shape [distinct, 3], and which of them each pose has, shape [walkable * 4].
    """
    cells = layout.cells
    terrain = np.where(cells[:, physics.TERRAIN] == physics.DOOR, physics.OPEN_DOOR, cells[:, physics.TERRAIN])
    floor = np.where(cells[:, physics.TERRAIN] == physics.FLOOR, 1 + cells[:, physics.TERRAIN_COLOR], 0)
    fronts = cells[walkable][:, physics.FRONT :]
    ahead = np.where(fronts == NOTHING, 0, floor[fronts])
    under = np.repeat(np.stack([terrain[walkable], floor[walkable]], axis=1), 4, axis=0)
    distinct, number = np.unique(np.hstack([under, ahead.reshape(-1, 1)]), axis=0, return_inverse=True)
    return distinct.astype(np.int64), number.reshape(-1).astype(np.int64)


def _least_removal(costs: NDArray[np.float64]) -> float:
    """The least cost to remove an obstacle, whatever it is: to open a door, to pick up an object or open a box.

    It is one for all, since some of them are not counted, and it is unknown which; see `Places.spare`.
    """
    toggles, pickups = costs[..., physics.TOGGLE].min(axis=(0, 2)), costs[..., physics.PICKUP].min(axis=(0, 2))
    opened = physics.CLOSED_DOOR, physics.LOCKED_DOOR, physics.LOCKED_DOOR + 1 + physics.BOX
    return float(min(*(toggles[ahead] for ahead in opened), pickups[physics.LOCKED_DOOR + 1 :].min()))


def _arrange(
    layout: Layout, initial: NDArray[np.int32], cell: int, direction: int
) -> list[tuple[int, int, NDArray[np.int32]]]:
    """What may be ahead of a pose and in the hand: an index into `CELL_TYPES`, one into `HANDS`, and such a state."""
    cells, objects = len(layout.cells), layout.objects
    front = int(layout.cells[cell, physics.FRONT + direction])
    terrain = physics.WALL if front == NOTHING else int(layout.cells[front, physics.TERRAIN])
    kinds = [np.flatnonzero(objects[:, physics.OBJECT_KIND] == kind).tolist() for kind in range(len(physics.OBJECTS))]
    aheads = list(DOOR_TYPES) if terrain == physics.DOOR else [terrain]
    if terrain not in (physics.WALL, physics.DOOR):
        aheads += [physics.LOCKED_DOOR + 1 + kind for kind, members in enumerate(kinds) if members]
    arrangements = []
    first_door = physics.FIRST_OBJECT + len(objects)
    for ahead in aheads:
        for hand in range(len(physics.HANDS)):
            fields = initial.copy()
            fields[physics.AGENT], fields[physics.DIRECTION] = cell, direction
            places = fields[physics.FIRST_OBJECT : first_door]
            places[(places == front) | (places == cell) | (places == cells + physics.CARRIED)] = cells + physics.GONE
            free = [list(members) for members in kinds]
            if ahead > physics.LOCKED_DOOR:
                places[free[ahead - physics.LOCKED_DOOR - 1].pop()] = front
            if hand:
                if not free[hand - 1]:
                    continue
                places[free[hand - 1].pop()] = cells + physics.CARRIED
            for where, state in ((cell, physics.IS_OPEN), (front, _door_bits(ahead))):
                door = int(layout.cells[where, physics.DOOR_AT]) if where != NOTHING else NOTHING
                if door != NOTHING:
                    fields[first_door + door] = state
            arrangements.append((ahead, hand, fields))
    return arrangements


def _door_bits(cell_type: int) -> int:
    return {physics.OPEN_DOOR: physics.IS_OPEN, physics.LOCKED_DOOR: physics.IS_LOCKED}.get(cell_type, 0)
