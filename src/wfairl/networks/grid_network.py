"""The parts of the networks of the paper's appendix: from a MiniGrid scene to a cost or a policy.

The first dense layer acts on a concatenation of parts. So it is a sum of one table per part, and the concatenation
is never built:

    W [a; b; ...] + bias = W_a a + W_b b + ... + bias

The part of the grid is a convolution, computed once for each *distinct* grid. A row of input is then a sum of a few
rows of tables, from which `Head` computes the output.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from wfairl.core.support.errors import BadInputError
from wfairl.minigrid.physics import CELL_TYPES

FILTERS = (16, 32, 64)
FILTER_SIZE = 2
POSITION_SIZE, DIRECTION_SIZE, HAND_SIZE, CONTROL_SIZE = 128, 64, 64, 128
HIDDEN = (64, 32)
"""Sizes of the paper's network: filters, embeddings, dense layers."""

ROWS_AT_A_TIME = 4096
"""Rows whose hidden layer fits in a core's cache; measured in benchmarks/training.py."""


class OtherMapError(BadInputError):
    """A network is given a kind or size of map that it was not made for."""


class GridConvolution(nn.Sequential):
    """The paper's convolutions: grids [grids, height, width] of uint8 -> [grids, size].

    Attributes:
        size: outputs per grid.
    """

    def __init__(self, height: int, width: int):
        margin = len(FILTERS) * (FILTER_SIZE - 1)
        if min(height, width) <= margin:
            raise BadInputError(f"a grid of {height} x {width} is too small for {len(FILTERS)} convolutions")
        channels = (len(CELL_TYPES), *FILTERS)
        convolutions = [nn.Conv2d(*pair, FILTER_SIZE) for pair in zip(channels, FILTERS, strict=False)]
        super().__init__(*(layer for conv in convolutions for layer in (conv, nn.ReLU())), nn.Flatten())
        self.size = FILTERS[-1] * (height - margin) * (width - margin)

    def forward(self, grids: Tensor) -> Tensor:
        """A few grids at a time: a one-hot grid is large."""
        dtype = next(self.parameters()).dtype
        chunks = grids.split(256)
        one_hot = (functional.one_hot(chunk.long(), len(CELL_TYPES)).to(dtype).movedim(-1, 1) for chunk in chunks)
        return torch.cat([super(GridConvolution, self).forward(chunk) for chunk in one_hot])


class Head(nn.Module):
    """The dense layers after the first one; untrained, its outputs are 0."""

    def __init__(self, outputs: int = 1) -> None:
        super().__init__()
        self.second = nn.Linear(*HIDDEN)
        self.last = nn.Linear(HIDDEN[-1], outputs)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(
        self, tables: Sequence[Tensor], indices: Sequence[Tensor], dropout: Callable[[Tensor], Tensor] | None = None
    ) -> Tensor:
        """The outputs of rows whose first layer is the sum of one row of each table; shape [rows, outputs].

        Args:
            tables: shape [entries, hidden] each.
            indices: the row of each table, shape [rows] each.
            dropout: applied to the hidden layers, in training.
        """
        offsets = np.cumsum([0, *(len(table) for table in tables[:-1])])
        stacked = torch.cat(list(tables))
        bags = torch.stack([index + int(offset) for index, offset in zip(indices, offsets, strict=True)], dim=1)
        sums = (functional.embedding_bag(chunk, stacked, mode="sum") for chunk in bags.split(ROWS_AT_A_TIME))
        return torch.cat([self.from_hidden(hidden, dropout) for hidden in sums])

    def from_hidden(self, hidden: Tensor, dropout: Callable[[Tensor], Tensor] | None = None) -> Tensor:
        """From the first layer before its ReLU, shape [rows, hidden], to the outputs, shape [rows, outputs]."""
        drop = dropout if dropout is not None else nn.Identity()
        return self.last(drop(functional.relu(self.second(drop(functional.relu(hidden))))))


def pairs(first: Tensor, second: Tensor) -> Tensor:
    """The sums of each row of one table and each row of another; the second varies faster."""
    return (first[:, None] + second[None]).flatten(0, 1)
