"""The contract of an encoder: what networks see of the states of a world.

    encode = encoder.for_world(world)          one scene:         encode(states) -> Observations
    batch = encoder.for_batch(environment)     many episodes:     batch.encode(columns) -> columns of `batch.bank`
    network = encoder.make_network(outputs)    takes what either gives

An observation is a row of integers. The first is a number in a bank of distinct entries (grids, vectors of features),
each of which a network works through once; the others, if any, are indices into its embeddings.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from wfairl.baselines.network import StateNetwork
from wfairl.errors import BadInputError
from wfairl.worlds.scene_pool import Bank, Columns
from wfairl.worlds.vector_environment import CompiledVectorEnv
from wfairl.worlds.world import World


class OtherWorldError(BadInputError):
    """A network meets a world that it was not made for."""


@dataclass(frozen=True, eq=False)
class Observations:
    """States as a `StateNetwork` sees them.

    Attributes:
        bank: the distinct entries, shape [entries, ...].
        columns: number of the entry, and further indices; shape [states, columns] of int64.
    """

    bank: Tensor
    columns: Tensor

    def __len__(self) -> int:
        """The number of states."""
        return len(self.columns)

    def rows(self, chosen: Tensor) -> "Observations":
        """Some of the states, with the same bank."""
        return Observations(self.bank, self.columns[chosen])


def join(batches: Iterable[Observations]) -> Observations:
    """Concatenate batches."""
    banks, columns, count = [], [], 0
    for batch in batches:
        shifted = batch.columns.clone()
        shifted[:, 0] += count
        banks.append(batch.bank)
        columns.append(shifted)
        count += len(batch.bank)
    return Observations(torch.cat(banks), torch.cat(columns))


EncodeStates = Callable[[Sequence[Any]], Observations]
"""The observations of states of one world."""


class BatchEncoder(Protocol):
    """How what a batch of episodes shows becomes what networks see.

    Attributes:
        bank: the entries that the encoded columns number.
    """

    @property
    def bank(self) -> Bank:
        """The entries that the encoded columns number."""
        ...

    def encode(self, columns: Columns) -> Columns:
        """The columns that a network takes, from those of the environment."""
        ...

    def clear(self) -> None:
        """Start anew, after the environment has emptied its bank."""
        ...


class Encoder(Protocol):
    """What networks see of the states of a world; a frozen record of plain settings.

    Attributes:
        kind: what files and the command line call it.
    """

    kind: ClassVar[str]

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls of the worlds that it encodes."""
        ...

    @property
    def columns(self) -> int:
        """The number of integers in an observation."""
        ...

    def make_network(self, outputs: int) -> StateNetwork:
        """An untrained network; its first outputs are for the controls."""
        ...

    def check_parameters(self, tensors: Mapping[str, Tensor]) -> None:
        """See that parameters are of a network of this size, before one is made.

        Raises:
            ValueError, KeyError: they are not.
        """
        ...

    def for_world(self, world: World[Any]) -> EncodeStates:
        """The encoder of the states of one world.

        Raises:
            BadInputError: the world is of another kind or size.
        """
        ...

    def for_batch(self, environment: CompiledVectorEnv) -> BatchEncoder:
        """The encoder of what a batch of episodes shows."""
        ...

    def mirrored(self, observations: Observations, controls: Tensor) -> tuple[Observations, Tensor]:
        """States, and the controls taken in them, of the scene's mirror image; as they are if the world has none."""
        ...
