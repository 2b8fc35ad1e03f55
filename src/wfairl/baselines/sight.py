"""What a policy's network is shown of a state: the map as it lies, or as the agent sees it.

The rules of MiniGrid are the same everywhere and in every direction: a scene that is shifted, turned or mirrored
behaves as before, with left and right exchanged in a mirror. So nothing is lost for a policy if the map is shifted
and turned until the agent stands in the middle and looks up, and much is gained: what was seen at one place is
known at all others. The mirror is left; it makes two demonstrations of one.
"""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfairl.baselines.network import StateBatch, StateNetwork, map_size, minigrid, observe
from wfairl.errors import BadInputError
from wfairl.learning.grid_network import OtherMapError
from wfairl.worlds.minigrid.rules import CONTROLS, WALL
from wfairl.worlds.minigrid.view import DIRECTIONS, GridView, view_states
from wfairl.worlds.world import World

UP = 3
MIRRORED_DIRECTION = (2, 1, 0, 3)
MIRRORED_CONTROL = tuple({"left": "right", "right": "left"}.get(name, name) for name in CONTROLS)


class Sight(Protocol):
    """How states become what a network of one size takes.

    Attributes:
        kind: what files and the command line call it.
        size: height and width of the grids that it shows.
    """

    kind: str

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the grids that it shows."""
        ...

    def look(self, world: World[Any], states: NDArray[np.uint64]) -> StateBatch:
        """Packed states of a scene, shape [states, words], as the network takes them."""
        ...


@dataclass(frozen=True)
class MapSight:
    """The whole map as it lies, as in the paper; for maps of one size."""

    height: int
    width: int
    kind = "map"

    @property
    def size(self) -> tuple[int, int]:
        """See `Sight`."""
        return self.height, self.width

    def look(self, world: World[Any], states: NDArray[np.uint64]) -> StateBatch:
        """See `Sight`.

        Raises:
            OtherMapError: the map is of another size, or there is none.
        """
        self.check(world)
        return observe([(world, states)])

    def check(self, world: World[Any]) -> None:
        """Refuse a world that the network does not fit.

        Raises:
            OtherMapError: the map is of another size, or there is none.
        """
        if map_size(world) != self.size:
            raise OtherMapError(
                f"the policy was trained on maps of {self.height} x {self.width} cells, and its network fits no other"
                f" size, such as {' x '.join(map(str, map_size(world)))}. Evaluate it on the task that it was trained"
                " for, or train one that sees with the agent's eyes"
            )


@dataclass(frozen=True)
class AgentSight:
    """The map shifted and turned so that the agent stands in the middle and looks up, `radius` cells each way.

    Beyond the map there are walls. Any map will do.
    """

    radius: int
    kind = "agent"

    @property
    def size(self) -> tuple[int, int]:
        """See `Sight`."""
        return 2 * self.radius + 1, 2 * self.radius + 1

    def look(self, world: World[Any], states: NDArray[np.uint64]) -> StateBatch:
        """See `Sight`."""
        view = view_states(minigrid(world), states)
        grids, numbers = np.unique(self._windows(view), axis=0, return_inverse=True)
        middle = self.radius * self.size[1] + self.radius
        places = np.full(len(states), middle * DIRECTIONS + UP)
        columns = np.stack([numbers.reshape(-1), places, view.carried], axis=1)
        return StateBatch(torch.from_numpy(grids), torch.from_numpy(columns))

    def _windows(self, view: GridView) -> NDArray[np.uint8]:
        """The turned surroundings of the agent, shape [states, size, size]."""
        margin = (self.radius, self.radius)
        padded = np.pad(view.grids, ((0, 0), margin, margin), constant_values=WALL)
        y, x = np.divmod(view.cells, view.grids.shape[2])
        reach = np.arange(2 * self.radius + 1)
        windows = padded[
            view.grid_numbers[:, None, None], y[:, None, None] + reach[:, None], x[:, None, None] + reach[None, :]
        ]
        for direction in range(DIRECTIONS):  # from right, a quarter turn against the clock makes up
            turned = view.directions == direction
            windows[turned] = np.rot90(windows[turned], direction + 1, axes=(1, 2))
        return windows


SIGHTS_BY_KIND: dict[str, type[MapSight | AgentSight]] = {MapSight.kind: MapSight, AgentSight.kind: AgentSight}


def to_document(sight: MapSight | AgentSight) -> dict[str, Any]:
    """A sight as JSON."""
    return {"kind": sight.kind, **asdict(sight)}


def from_document(document: dict[str, Any]) -> MapSight | AgentSight:
    """The sight of a JSON document.

    Raises:
        ValueError, KeyError, TypeError: there is none.
    """
    sizes = dict(document)
    kind = sizes.pop("kind")
    if kind not in SIGHTS_BY_KIND or not all(isinstance(size, int) and 0 < size < 1000 for size in sizes.values()):
        raise ValueError(f"no sight {document}")
    return SIGHTS_BY_KIND[kind](**sizes)


def mirror(batch: StateBatch, controls: Tensor) -> tuple[StateBatch, Tensor]:
    """States and what is done in them as a mirror shows them, its left to its right.

    Args:
        batch: the states.
        controls: shape [states].
    """
    width = batch.grids.shape[2]
    number, place, carried = batch.columns.T
    cell, direction = place // DIRECTIONS, place % DIRECTIONS
    mirrored = cell - cell % width + (width - 1 - cell % width)
    places = mirrored * DIRECTIONS + torch.tensor(MIRRORED_DIRECTION)[direction]
    exchanged = torch.tensor([CONTROLS.index(name) for name in MIRRORED_CONTROL])[controls]
    return StateBatch(batch.grids.flip(2), torch.stack([number, places, carried], dim=1)), exchanged


def network_for(sight: Sight, outputs: int) -> StateNetwork:
    """An untrained network that takes what a sight shows."""
    return StateNetwork(*sight.size, outputs)


def find_sight(kind: str, world: World[Any], radius: int) -> MapSight | AgentSight:
    """The sight of a name for worlds like this one.

    Args:
        kind: `map` or `agent`.
        world: one of the scenes.
        radius: how far the agent sees; less on maps on which that is everything.

    Raises:
        BadInputError: there is none of this name.
    """
    height, width = map_size(world)
    if kind == MapSight.kind:
        return MapSight(height, width)
    if kind == AgentSight.kind:
        return AgentSight(min(radius, max(height, width) - 1))
    raise BadInputError(f"unknown view {kind!r}; known are {', '.join(SIGHTS_BY_KIND)}")
