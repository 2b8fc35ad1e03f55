"""The contract of an encoder, which turns the states of a world into the input of networks.

encode = encoder.for_world(world)          one scene:         encode(states) -> Observations
batch = encoder.for_batch(environment)     many episodes:     batch.encode(columns) -> columns of `batch.bank`
network = encoder.make_network(outputs)    accepts the results of both
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

from torch import Tensor

from experiments.baselines.network import Observations, StateNetwork
from experiments.vector.scene_pool import Bank, Columns
from experiments.vector.vector_environment import CompiledVectorEnv
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World


class OtherWorldError(BadInputError):
    """A network is used in a world of another kind."""


EncodeStates = Callable[[Sequence[Any]], Observations]
"""Encodes states of one world."""


class BatchEncoder(Protocol):
    """Encodes the observations of a batch of episodes.

    Attributes:
        bank: the entries to which the encoded columns refer.
    """

    bank: Bank

    def encode(self, columns: Columns) -> Columns:
        """The columns of the environment as columns for a network."""
        ...

    def clear(self) -> None:
        """Empty the bank, after the environment has emptied its own."""
        ...


class Encoder(Protocol):
    """Turns the states of a world into the input of networks; a frozen dataclass of plain settings.

    Attributes:
        kind: its name in files.
        columns: the number of integers in an observation.
    """

    kind: ClassVar[str]
    columns: ClassVar[int]

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls of the worlds that it encodes."""
        ...

    def make_network(self, outputs: int) -> StateNetwork:
        """An untrained network; its first outputs are for the controls."""
        ...

    def for_world(self, world: World[Any]) -> EncodeStates:
        """The encoder of states of one world.

        Raises:
            OtherWorldError: the world is of another kind.
        """
        ...

    def for_batch(self, environment: CompiledVectorEnv) -> BatchEncoder:
        """The encoder of the observations of a batch of episodes."""
        ...

    def mirrored(self, observations: Observations, controls: Tensor) -> tuple[Observations, Tensor]:
        """The states and their controls in the scene's mirror image; unchanged if the world has none."""
        ...
