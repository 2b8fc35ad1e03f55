"""The paper's network with a few numbers for a state (a policy's logits, a value) in place of one cost a transition.

Its first layer is a sum of three rows of tables (see `learning.grid_network`): grid, (position, direction), carried.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfairl.learning.grid_network import (
    CARRIED,
    DIRECTION,
    HIDDEN,
    POSITION,
    Dropout,
    GridConvolution,
    Head,
    OtherMapError,
    columns_of,
    pairs,
    used,
)
from wfairl.worlds.minigrid.view import DIRECTIONS, HANDS, view_states
from wfairl.worlds.minigrid.world import MiniGridWorld
from wfairl.worlds.world import World


class StateNetwork(nn.Module):
    """The network of the paper's appendix without its input for the control; made for maps of one size.

    It starts at 0 for every state.
    """

    def __init__(self, height: int, width: int, outputs: int):
        super().__init__()
        self.height, self.width, self.outputs = height, width, outputs
        self.convolution = GridConvolution(height, width)
        self.position = nn.Embedding(height * width, POSITION)
        self.direction = nn.Embedding(DIRECTIONS, DIRECTION)
        self.carried = nn.Embedding(len(HANDS), CARRIED)
        self.sizes = (self.convolution.size, POSITION, DIRECTION, CARRIED)
        self.dense = nn.Linear(sum(self.sizes), HIDDEN[0])
        self.head = Head(outputs)

    def forward(self, grids: Tensor, columns: Tensor, dropout: Dropout | None = None) -> Tensor:
        """The outputs for some states, shape [rows, outputs]; each grid that occurs is convolved once.

        Args:
            grids: the distinct grids, shape [grids, height, width] of uint8.
            columns: number of the grid, cell * 4 + direction, and what is carried; shape [rows, 3] of integers.
            dropout: what features of grids and the hidden layers go through while the network is trained.
        """
        grid, place, carried = columns.long().T
        shown, grid = used(grid, len(grids))
        on_grid, of_position, of_direction, of_carried = self.dense.weight.split(self.sizes, dim=1)
        features = self.convolution(grids[shown])
        tables = (
            (features if dropout is None else dropout(features)) @ on_grid.T + self.dense.bias,
            pairs(self.position.weight @ of_position.T, self.direction.weight @ of_direction.T),
            self.carried.weight @ of_carried.T,
        )
        return self.head(tables, (grid, place, carried), dropout)

    def concatenated(self, grids: Tensor, cells: Tensor, directions: Tensor, carried: Tensor) -> Tensor:
        """The same network the way the paper draws it, one concatenated input a row; for tests.

        Args:
            grids: shape [rows, height, width] of uint8.
            cells, directions, carried: shape [rows] each.
        """
        parts = (self.convolution(grids), self.position(cells), self.direction(directions), self.carried(carried))
        return self.head.from_hidden(self.dense(torch.cat(parts, dim=1)))


@dataclass(frozen=True, eq=False)
class StateBatch:
    """States of several scenes as a `StateNetwork` takes them.

    Attributes:
        grids: the distinct grids, shape [grids, height, width] of uint8.
        columns: number of the grid, cell * 4 + direction, and what is carried; shape [states, 3] of int64.
    """

    grids: Tensor
    columns: Tensor


def observe(scenes: Iterable[tuple[World[Any], NDArray[np.uint64]]]) -> StateBatch:
    """The states of one or more scenes, in their order; a grid that several of them show is held once.

    Args:
        scenes: worlds of one size, each with its packed states of shape [states, words].

    Raises:
        OtherMapError: a world has no grid, or they are of different sizes.
    """
    grids, columns, count = [], [], 0
    for world, states in scenes:
        view = view_states(minigrid(world), states)
        grids.append(view.grids)
        columns.append(columns_of(view) + np.array([count, 0, 0]))
        count += len(view.grids)
    sizes = sorted({grid.shape[1:] for grid in grids})
    if len(sizes) > 1:
        raise OtherMapError(
            f"the scenes have maps of {' and '.join(f'{height} x {width}' for height, width in sizes)} cells;"
            " the paper's network takes one size"
        )
    distinct, of_grid = np.unique(np.concatenate(grids), axis=0, return_inverse=True)
    rows = np.concatenate(columns)
    rows[:, 0] = of_grid.reshape(-1)[rows[:, 0]]
    return StateBatch(torch.from_numpy(distinct), torch.from_numpy(rows))


def minigrid(world: World[Any]) -> MiniGridWorld:
    """The world, if it is one that a network can look at.

    Raises:
        OtherMapError: it is not.
    """
    if not isinstance(world, MiniGridWorld):
        raise OtherMapError(f"this network looks at MiniGrid scenes, not at a {type(world).__name__}")
    return world


def map_size(world: World[Any]) -> tuple[int, int]:
    """Height and width of a world's map.

    Raises:
        OtherMapError: it has none.
    """
    layout = minigrid(world).layout
    return len(layout.cells) // layout.width, layout.width
