"""A network whose weights stay as they are for a while: each grid is convolved once, when it is first seen."""

import torch
from torch import Tensor

from wfairl.baselines.network import StateNetwork
from wfairl.learning.grid_network import pairs
from wfairl.worlds.minigrid.vector_environment import GridBank


class FrozenNetwork:
    """The outputs of a `StateNetwork` for columns of an environment, as long as the weights do not change.

    The first layer is a sum of rows of tables (see `StateNetwork`), so these tables are all that is kept.
    """

    def __init__(self, network: StateNetwork, bank: GridBank):
        self._network, self._bank = network, bank
        with torch.no_grad():
            self._of_grid, of_position, of_direction, of_carried = network.dense.weight.split(network.sizes, dim=1)
            self._places = pairs(network.position.weight @ of_position.T, network.direction.weight @ of_direction.T)
            self._carried = network.carried.weight @ of_carried.T
            self._grids = torch.empty(0, network.dense.out_features)

    @torch.no_grad()
    def __call__(self, columns: Tensor) -> Tensor:
        """The outputs, shape [rows, outputs], of columns of shape [rows, 3]."""
        if len(self._bank) > len(self._grids):
            new = torch.from_numpy(self._bank.grids[len(self._grids) :].copy())
            hidden = self._network.convolution(new) @ self._of_grid.T + self._network.dense.bias
            self._grids = torch.cat([self._grids, hidden])
        grid, place, carried = columns.T
        return self._network.head.from_hidden(self._grids[grid] + self._places[place] + self._carried[carried])
