"""The prices of abstract transitions: the distinct things that a cost can see of them."""

import numpy as np
from numpy.typing import NDArray

from wfairl.worlds.minigrid import rules
from wfairl.worlds.minigrid.pattern import AHEADS, ANY_HAND, IDLE
from wfairl.worlds.minigrid.rules import NOTHING, Layout
from wfairl.worlds.minigrid.view import OPEN_DOOR


def price_count(layout: Layout) -> int:
    """How many prices there are."""
    walkable = np.flatnonzero(layout.cells[:, rules.TERRAIN] != rules.WALL)
    return len(price_classes(layout, walkable)[0]) * AHEADS * (ANY_HAND + 1) * (IDLE + 1)


def price_classes(layout: Layout, walkable: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What poses show whatever happens: terrain and floor under the agent, and the floor ahead.

    Returns:
        The distinct ones, shape [distinct, 3], and which of them each pose has, shape [walkable * 4].
    """
    cells = layout.cells
    terrain = np.where(cells[:, rules.TERRAIN] == rules.DOOR, OPEN_DOOR, cells[:, rules.TERRAIN])
    floor = np.where(cells[:, rules.TERRAIN] == rules.FLOOR, 1 + cells[:, rules.TERRAIN_COLOR], 0)
    fronts = cells[walkable][:, rules.FRONT :]
    ahead = np.where(fronts == NOTHING, 0, floor[fronts])
    under = np.repeat(np.stack([terrain[walkable], floor[walkable]], axis=1), 4, axis=0)
    distinct, number = np.unique(np.hstack([under, ahead.reshape(-1, 1)]), axis=0, return_inverse=True)
    return distinct.astype(np.int64), number.reshape(-1).astype(np.int64)
