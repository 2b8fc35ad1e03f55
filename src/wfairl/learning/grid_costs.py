"""Cost networks that look at a MiniGrid scene: the paper's (appendix), and one that sees only what is near.

Both end in the same head, whose first dense layer acts on a concatenation of parts. So it is a sum of one
table per part, and the concatenation is never built:

    W [a; b; ...] + bias = W_a a + W_b b + ... + bias

For the paper's network the parts are the grid (one convolution for each *distinct* grid), the position, the
direction, what is carried, and the control. A row is then a sum of three rows of tables: grid, (position,
direction), (carried, control).
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from wfairl.errors import BadInputError
from wfairl.learning.cost_model import DEFAULT_ACTIVATION, DEFAULT_FLOOR, CostModel, Looks
from wfairl.planning.product import Product
from wfairl.worlds.minigrid import MiniGridWorld
from wfairl.worlds.minigrid_rules import CONTROLS
from wfairl.worlds.minigrid_view import DIRECTIONS, HANDS, SIGHTS, GridView, view_states

FILTERS = (16, 32, 64)
FILTER_SIZE = 2
POSITION, DIRECTION, CARRIED, CONTROL = 128, 64, 64, 128
HIDDEN = (64, 32)
"""Sizes of the paper's network: filters, embeddings, dense layers."""

ROWS_AT_A_TIME = 4096
"""Rows whose hidden layer fits in a core's cache; measured in benchmarks/training.py."""

GRIDS_AT_A_TIME = 256


class OtherMapError(BadInputError):
    """A cost network meets a kind or size of map that it was not made for."""


class PaperCost(CostModel):
    """The network of the paper's appendix; made for maps of one size.

    Looks: the distinct grids [grids, height, width], and for each look the numbers of its grid, its
    position and direction (cell * 4 + direction), and what is carried; shape [looks, 3].
    """

    kind = "paper"

    def __init__(self, height: int, width: int, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION):
        super().__init__(floor, activation)
        margin = len(FILTERS) * (FILTER_SIZE - 1)
        if min(height, width) <= margin:
            raise BadInputError(f"a grid of {height} x {width} is too small for {len(FILTERS)} convolutions")
        self.height, self.width = height, width
        self.settings |= {"height": height, "width": width}
        channels = (len(SIGHTS), *FILTERS)
        convolutions = [nn.Conv2d(*pair, FILTER_SIZE) for pair in zip(channels, FILTERS, strict=False)]
        self.convolution = nn.Sequential(*(layer for conv in convolutions for layer in (conv, nn.ReLU())), nn.Flatten())
        self.position = nn.Embedding(height * width, POSITION)
        self.direction = nn.Embedding(DIRECTIONS, DIRECTION)
        self.carried = nn.Embedding(len(HANDS), CARRIED)
        self.control = nn.Embedding(len(CONTROLS), CONTROL)
        grid = FILTERS[-1] * (height - margin) * (width - margin)
        self.sizes = (grid, POSITION, DIRECTION, CARRIED, CONTROL)
        self.dense = nn.Linear(sum(self.sizes), HIDDEN[0])
        self.head = _Head()

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        """See `CostModel`."""
        world = _minigrid(products[0])
        return cls(len(world.layout.cells) // world.layout.width, world.layout.width, **settings)

    @classmethod
    def shapes(cls, **sizes: int) -> dict[str, tuple[int, ...]]:
        """See `CostModel`; the dense layer is smaller than a constant times the table of positions."""
        return {"position.weight": (sizes["height"] * sizes["width"], POSITION)}

    def observe(self, product: Product) -> Looks:
        """See `CostModel`."""
        view = _view(product)
        if view.grids.shape[1:] != (self.height, self.width):
            height, width = view.grids.shape[1:]
            raise OtherMapError(
                f"the cost was learned on maps of {self.height} x {self.width} cells and the paper's network fits no"
                f" other size, such as {height} x {width}. Train a local cost, which carries over."
            )
        place = view.cells * DIRECTIONS + view.directions
        places = self.height * self.width * DIRECTIONS
        keys = (view.grid_numbers * places + place) * len(HANDS) + view.carried
        distinct, of_node = np.unique(keys, return_inverse=True)
        grid, rest = np.divmod(distinct, places * len(HANDS))
        columns = np.stack([grid, *np.divmod(rest, len(HANDS))], axis=1)
        return Looks(
            of_node.astype(np.int32), (torch.from_numpy(view.grids), torch.from_numpy(columns.astype(np.int32)))
        )

    def raw(self, looks: Looks, rows: Tensor) -> Tensor:
        """See `CostModel`."""
        grids, columns = looks.parts
        grid, place, carried = columns[rows // len(CONTROLS)].long().T
        used, grid = _used(grid, len(grids))
        on_grid, of_position, of_direction, of_carried, of_control = self.dense.weight.split(self.sizes, dim=1)
        tables = (
            self._extract(grids[used]) @ on_grid.T + self.dense.bias,
            _pairs(self.position.weight @ of_position.T, self.direction.weight @ of_direction.T),
            _pairs(self.carried.weight @ of_carried.T, self.control.weight @ of_control.T),
        )
        return self.head(tables, (grid, place, carried * len(CONTROLS) + rows % len(CONTROLS)))

    def concatenated(
        self, grids: Tensor, cells: Tensor, directions: Tensor, carried: Tensor, controls: Tensor
    ) -> Tensor:
        """The same network the way the paper draws it, one concatenated input a row; for tests and benchmarks.

        Args:
            grids: shape [rows, height, width] of uint8.
            cells, directions, carried, controls: shape [rows] each.
        """
        parts = (self.position(cells), self.direction(directions), self.carried(carried), self.control(controls))
        return self.head.from_hidden(self.dense(torch.cat([self._extract(grids), *parts], dim=1)))

    def _extract(self, grids: Tensor) -> Tensor:
        """Convolution of grids [n, height, width] of uint8, flattened."""
        chunks = [
            self.convolution(functional.one_hot(chunk.long(), len(SIGHTS)).to(self.dense.weight.dtype).movedim(-1, 1))
            for chunk in grids.split(GRIDS_AT_A_TIME)
        ]
        return torch.cat(chunks)


class LocalCost(CostModel):
    """Looks only at the agent's cell, the cell in front, what it carries and the control: any map will do.

    Looks: what is under the agent, ahead of it and in its hands, shape [looks, 3].
    """

    kind = "local"

    def __init__(self, floor: float = DEFAULT_FLOOR, activation: str = DEFAULT_ACTIVATION):
        super().__init__(floor, activation)
        # A dense layer on one-hot parts is a sum of rows of tables, so the tables are the parameters.
        self.under = nn.Embedding(len(SIGHTS), HIDDEN[0])
        self.ahead = nn.Embedding(len(SIGHTS), HIDDEN[0])
        self.carried = nn.Embedding(len(HANDS), HIDDEN[0])
        self.control = nn.Embedding(len(CONTROLS), HIDDEN[0])
        self.head = _Head()

    @classmethod
    def for_products(cls, products: Sequence[Product], **settings: Any) -> Self:
        """See `CostModel`."""
        _minigrid(products[0])
        return cls(**settings)

    def observe(self, product: Product) -> Looks:
        """See `CostModel`."""
        view = _view(product)
        keys = (view.under * len(SIGHTS) + view.ahead) * len(HANDS) + view.carried
        distinct, of_node = np.unique(keys, return_inverse=True)
        rest, carried = np.divmod(distinct, len(HANDS))
        columns = np.stack([*np.divmod(rest, len(SIGHTS)), carried], axis=1)
        return Looks(of_node.astype(np.int32), (torch.from_numpy(columns.astype(np.int32)),))

    def raw(self, looks: Looks, rows: Tensor) -> Tensor:
        """See `CostModel`."""
        (columns,) = looks.parts
        under, ahead, carried = columns[rows // len(CONTROLS)].long().T
        tables = (self.under.weight, self.ahead.weight, self.carried.weight, self.control.weight)
        return self.head(tables, (under, ahead, carried, rows % len(CONTROLS)))


class _Head(nn.Module):
    """Dense layers behind the first one; starts at 0 for whatever it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.second = nn.Linear(*HIDDEN)
        self.last = nn.Linear(HIDDEN[-1], 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, tables: Sequence[Tensor], indices: Sequence[Tensor]) -> Tensor:
        """One number for each row, whose first layer is the sum of one row of each table.

        Args:
            tables: shape [entries, hidden] each.
            indices: which row of each table, shape [rows] each.
        """
        offsets = np.cumsum([0, *(len(table) for table in tables[:-1])])
        stacked = torch.cat(list(tables))
        bags = torch.stack([index + int(offset) for index, offset in zip(indices, offsets, strict=True)], dim=1)
        sums = (functional.embedding_bag(chunk, stacked, mode="sum") for chunk in bags.split(ROWS_AT_A_TIME))
        return torch.cat([self.from_hidden(hidden) for hidden in sums])

    def from_hidden(self, hidden: Tensor) -> Tensor:
        """From the first layer, before its ReLU, to one number a row."""
        return self.last(functional.relu(self.second(functional.relu(hidden)))).squeeze(1)


def _pairs(first: Tensor, second: Tensor) -> Tensor:
    """The sum of every row of one table and every row of another, the second counting faster."""
    return (first[:, None] + second[None]).flatten(0, 1)


def _used(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Which of 0, ..., count - 1 occur, in order, and each number as its place among them."""
    occurs = torch.zeros(count, dtype=torch.bool)
    occurs[numbers] = True
    return occurs.nonzero().squeeze(1), (occurs.cumsum(0) - 1)[numbers]


def _minigrid(product: Product) -> MiniGridWorld:
    if not isinstance(product.world, MiniGridWorld):
        raise OtherMapError(
            f"this cost looks at MiniGrid scenes, not at a {type(product.world).__name__};"
            " use a linear or tabular cost, which look at world.features"
        )
    return product.world


def _view(product: Product) -> GridView:
    world = _minigrid(product)
    return view_states(world, np.asarray(product.states))
