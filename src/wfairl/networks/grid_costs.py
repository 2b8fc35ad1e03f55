"""Cost networks over a MiniGrid scene: the network of the paper's appendix, and one of the agent's surroundings alone.

The input of the paper's network is the grid, the position, the direction, the carried object, and the control. A row
of input is a sum of three rows of tables (see `grid_network`): grid, (position, direction), (carried, control).
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wfairl.core.planning.cost import CostScope
from wfairl.core.planning.product import Product
from wfairl.minigrid.grid_view import view_states
from wfairl.minigrid.physics import CELL_TYPES, CONTROLS, FLOORS, HANDS, HEADINGS
from wfairl.minigrid.situations import SITUATION_SIZES, find_situations
from wfairl.minigrid.world import MiniGridWorld
from wfairl.networks.cost_network import CostNetwork, NodeInputs, distinct
from wfairl.networks.grid_network import (
    CONTROL_SIZE,
    DIRECTION_SIZE,
    HAND_SIZE,
    HIDDEN,
    POSITION_SIZE,
    GridConvolution,
    Head,
    OtherMapError,
    pairs,
)


class PaperCost(CostNetwork):
    """The network of the paper's appendix, for maps of one size.

    Inputs: the distinct grids [grids, height, width], and for each number its grid, its position and direction
    (cell * 4 + direction), and the carried object; shape [numbers, 3].
    """

    kind = "paper"
    size_names = ("height", "width")
    scope = CostScope.GLOBAL

    def __init__(self, height: int, width: int):
        super().__init__(height=height, width=width)
        self.height, self.width = height, width
        self.convolution = GridConvolution(height, width)
        self.position = nn.Embedding(height * width, POSITION_SIZE)
        self.direction = nn.Embedding(HEADINGS, DIRECTION_SIZE)
        self.carried = nn.Embedding(len(HANDS), HAND_SIZE)
        self.control = nn.Embedding(len(CONTROLS), CONTROL_SIZE)
        self.sizes = (self.convolution.size, POSITION_SIZE, DIRECTION_SIZE, HAND_SIZE, CONTROL_SIZE)
        self.dense = nn.Linear(sum(self.sizes), HIDDEN[0])
        self.head = Head()

    @classmethod
    def for_products(cls, products: Sequence[Product]) -> Self:
        world = _minigrid(products[0])
        return cls(len(world.layout.cells) // world.layout.width, world.layout.width)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        """See `CostModel`; the dense layer is smaller than a constant times the table of positions."""
        return {"position.weight": (sizes["height"] * sizes["width"], POSITION_SIZE)}

    def inputs_of(self, product: Product) -> NodeInputs:
        view = view_states(_minigrid(product), np.asarray(product.states))
        if view.grids.shape[1:] != (self.height, self.width):
            height, width = view.grids.shape[1:]
            raise OtherMapError(
                f"the cost was learned on maps of {self.height} x {self.width} cells and the paper's network fits no"
                f" other size, such as {height} x {width}. Train a local cost, which carries over."
            )
        sizes = (len(view.grids), self.height * self.width * HEADINGS, len(HANDS))
        columns, of_node = _distinct((view.grid_numbers, view.cells * HEADINGS + view.directions, view.carried), sizes)
        return NodeInputs(of_node, len(CONTROLS), (torch.from_numpy(view.grids), columns))

    def preactivation(self, inputs: NodeInputs, rows: Tensor) -> Tensor:
        grids, columns = inputs.parts
        grid, pose, carried = columns[rows // len(CONTROLS)].long().T
        needed, grid = distinct(grid.numpy())
        on_grid, of_position, of_direction, of_carried, of_control = self.dense.weight.split(self.sizes, dim=1)
        tables = (
            self.convolution(grids[needed]) @ on_grid.T + self.dense.bias,
            pairs(self.position.weight @ of_position.T, self.direction.weight @ of_direction.T),
            pairs(self.carried.weight @ of_carried.T, self.control.weight @ of_control.T),
        )
        return self.head(tables, (grid, pose, carried * len(CONTROLS) + rows % len(CONTROLS))).squeeze(1)


class LocalCost(CostNetwork):
    """Depends only on the situation of a state and the control, so that it fits any map; see `situations`.

    Inputs: what is under and ahead of the agent and in its hand, and the colours of the floor under and ahead of it;
    shape [numbers, 5].
    """

    kind = "local"

    def __init__(self) -> None:
        super().__init__()
        # A dense layer on one-hot parts is a sum of rows of tables, so the tables are the parameters.
        self.under = nn.Embedding(len(CELL_TYPES), HIDDEN[0])
        self.ahead = nn.Embedding(len(CELL_TYPES), HIDDEN[0])
        self.carried = nn.Embedding(len(HANDS), HIDDEN[0])
        self.control = nn.Embedding(len(CONTROLS), HIDDEN[0])
        self.head = Head()
        # Floor without a colour, the first of `FLOORS`, adds nothing.
        self.floor_under = nn.Parameter(torch.zeros(len(FLOORS) - 1, HIDDEN[0]))
        self.floor_ahead = nn.Parameter(torch.zeros(len(FLOORS) - 1, HIDDEN[0]))

    @classmethod
    def for_products(cls, products: Sequence[Product]) -> Self:
        _minigrid(products[0])
        return cls()

    def inputs_of(self, product: Product) -> NodeInputs:
        states = np.ascontiguousarray(product.states)
        situations = find_situations(_minigrid(product).layout.table, states)
        under, floor_under, floor_ahead, ahead, hand = np.unravel_index(situations, SITUATION_SIZES)
        sizes = (len(CELL_TYPES), len(CELL_TYPES), len(HANDS), len(FLOORS), len(FLOORS))
        columns, of_node = _distinct((under, ahead, hand, floor_under, floor_ahead), sizes)
        return NodeInputs(of_node, len(CONTROLS), (columns,))

    def preactivation(self, inputs: NodeInputs, rows: Tensor) -> Tensor:
        (columns,) = inputs.parts
        under, ahead, carried, floor_under, floor_ahead = columns[rows // len(CONTROLS)].long().T
        no_floor = self.floor_under.new_zeros(1, HIDDEN[0])
        floors = torch.cat([no_floor, self.floor_under]), torch.cat([no_floor, self.floor_ahead])
        tables = (self.under.weight, self.ahead.weight, self.carried.weight, self.control.weight, *floors)
        numbers = (under, ahead, carried, rows % len(CONTROLS), floor_under, floor_ahead)
        return self.head(tables, numbers).squeeze(1)


def _minigrid(product: Product) -> MiniGridWorld:
    if not isinstance(product.world, MiniGridWorld):
        raise OtherMapError(
            f"this cost is for MiniGrid scenes, not for a {type(product.world).__name__};"
            " use the cost `auto`, which depends on world.features"
        )
    return product.world


def _distinct(parts: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> tuple[Tensor, NDArray[np.int32]]:
    """The distinct rows [distinct, parts] of columns, each below its size, and the number of each row among them."""
    distinct, of_row = np.unique(np.ravel_multi_index(tuple(parts), tuple(sizes)), return_inverse=True)
    columns = np.stack(np.unravel_index(distinct, tuple(sizes)), axis=1).astype(np.int32)
    return torch.from_numpy(columns), of_row.astype(np.int32)
