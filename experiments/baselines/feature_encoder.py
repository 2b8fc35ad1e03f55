"""The encoder of any world that is no grid: available controls, features of transitions, and nearby propositions.

A state is encoded as one vector. With d_p(x, u) the number of further steps after which proposition p can hold if u is
taken first (0 if the transition itself makes p true), and d_p(x) the least of them over u, the vector holds

    for each control      whether it is available, whether it leads to another state, and the features phi of the
                          transition as sign(phi) log(1 + |phi|), so that no scale dominates the others
    for each proposition  near_p(x) = 1 - d_p(x) / (radius + 1)
    for both              toward_p(x, u) = 2^-(d_p(x, u) - d_p(x)): 1 on a shortest path, 1/2 for one step more

with zeros for unavailable controls, and for propositions more than `radius` steps away. It is the counterpart of the
agent's view in MiniGrid: it shows what lies within a few steps and in which direction, and nothing beyond. The vector
does not identify the state, so that networks generalise from one scene to the next; but two states with the same
surroundings look the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from experiments.baselines.encoder import EncodeStates, OtherWorldError
from experiments.baselines.network import Dropout, Observations, StateNetwork
from experiments.vector.graph_pool import GraphPool
from experiments.vector.scene_pool import Bank, Columns
from experiments.vector.vector_environment import CompiledVectorEnv
from wfairl.core.automata.automaton import UNAVAILABLE
from wfairl.core.support.bounds import Count
from wfairl.core.worlds.graph import GraphWorld, explore_world
from wfairl.core.worlds.world import World
from wfairl.minigrid.grid_network import HIDDEN, Head

UNKNOWN = -1
"""The entry of a state that has not been encoded yet."""

Vectors = Callable[[NDArray[np.int64]], NDArray[np.float32]]
"""Encodes states of one world, given by their numbers."""


@dataclass(frozen=True)
class FeatureEncoder:
    """Encodes the states of a world that is no grid; see `Encoder`.

    Attributes:
        controls: the names of its controls.
        propositions: the names of its propositions.
        features: the number of features of a transition.
        radius: how many steps ahead propositions are visible.
    """

    controls: tuple[str, ...]
    propositions: tuple[str, ...]
    features: Count
    radius: Count
    kind: ClassVar[str] = "features"
    columns: ClassVar[int] = 1

    @classmethod
    def of(cls, world: World[Any], radius: int) -> "FeatureEncoder":
        """The encoder of worlds like this one."""
        table = _graph(world).table
        return cls(table.controls, tuple(world.propositions), table.features.shape[1], radius)

    @property
    def size(self) -> int:
        """Numbers in the vector of a state."""
        propositions = len(self.propositions)
        return propositions + len(self.controls) * (2 + self.features + propositions)

    def make_network(self, outputs: int) -> StateNetwork:
        return FeatureNetwork(len(self.controls), len(self.propositions), self.features, outputs)

    def for_world(self, world: World[Any]) -> EncodeStates:
        """See `Encoder`.

        Raises:
            OtherWorldError: the world has other controls, propositions or features.
        """
        _check_same("controls", self.controls, tuple(world.controls))  # before it is explored, which may take long
        graph = _graph(world)
        vectors = self.vectors(graph)
        number = (lambda state: state) if world is graph else graph.find

        def encode(states: Sequence[Any]) -> Observations:
            bank = vectors(np.array([number(state) for state in states], np.int64))
            return Observations(torch.from_numpy(bank), torch.arange(len(bank))[:, None])

        return encode

    def for_batch(self, environment: CompiledVectorEnv) -> "_FeatureBatch":
        pool = environment.pool
        if not isinstance(pool, GraphPool):
            raise OtherWorldError(f"the feature encoder needs worlds that are graphs, not a {type(pool).__name__}")
        return _FeatureBatch(self, pool)

    def mirrored(self, observations: Observations, controls: Tensor) -> tuple[Observations, Tensor]:
        """See `Encoder`: a graph has no mirror image."""
        return observations, controls

    def vectors(self, world: GraphWorld) -> Vectors:
        """The encoder of states of a world by their numbers; errors as in `for_world`."""
        table = world.table
        _check_same("controls", self.controls, tuple(world.controls))
        _check_same("propositions", self.propositions, tuple(world.propositions))
        _check_same("number of features", self.features, table.features.shape[1])
        steps = steps_until(world, self.radius)

        def encode(states: NDArray[np.int64]) -> NDArray[np.float32]:
            after = table.successors[states]
            available = after != UNAVAILABLE
            features = table.features[np.where(available, table.feature_index[states], 0)]
            nearest = steps[states].min(axis=1)
            toward = (nearest <= self.radius)[:, None] * 0.5 ** (steps[states] - nearest[:, None])
            moves = (after != states[:, None])[..., None]
            of_control = np.concatenate([moves, np.sign(features) * np.log1p(np.abs(features)), toward], axis=2)
            of_control *= available[..., None]
            near = 1 - nearest / (self.radius + 1)
            return np.hstack([available, near, of_control.reshape(len(states), -1)], dtype=np.float32)

        return encode


def steps_until(world: GraphWorld, radius: int) -> NDArray[np.int32]:
    """d_p(x, u), at most `radius` + 1; shape [states, controls, propositions]."""
    table, names = world.table, world.propositions
    holds = np.array([[name in label for name in names] for label in table.labels], bool).reshape(-1, len(names))
    marked = np.zeros((len(table.successors), len(names)), bool)
    for state, mark in world.marks.items():
        marked[state] = [name in mark for name in names]
    available = (table.successors != UNAVAILABLE)[..., None]
    after = np.where(available[..., 0], table.successors, 0)
    reached = (holds[table.label_index] | marked[after]) & available
    steps = np.where(reached, 0, radius + 1).astype(np.int32)
    for _ in range(radius):
        nearest = steps.min(axis=1)
        steps = np.where(reached | ~available, steps, np.minimum(1 + nearest[after], radius + 1)).astype(np.int32)
    return steps


class FeatureNetwork(StateNetwork):
    """One network scores every control by its own part of the vector; further outputs depend on the whole vector.

    The logit of u is f(near(x), one-hot(u), moves(x, u), phi(x, u, x'), toward(x, u)), with the layer sizes of the
    paper's network. So all controls share what is learned about one.

    Args:
        controls, propositions, features: their numbers, as in `FeatureEncoder`.
        outputs: one for each control, and further ones.
    """

    def __init__(self, controls: int, propositions: int, features: int, outputs: int):
        super().__init__()
        self._sizes = controls, propositions, 1 + features + propositions
        self.dense = nn.Linear(controls + propositions + self._sizes[2], HIDDEN[0])
        self.logit = Head(1)
        self.further = _Further(controls + propositions + controls * self._sizes[2], outputs - controls)

    def entry_table(self, entries: Tensor, dropout: Dropout | None = None) -> Tensor:
        """See `StateNetwork`; the table holds the outputs themselves."""
        controls, propositions, own = self._sizes
        shared = entries[:, None, controls : controls + propositions].expand(-1, controls, -1)
        which = torch.eye(controls, dtype=entries.dtype).expand(len(entries), -1, -1)
        of_control = entries[:, controls + propositions :].reshape(-1, controls, own)
        hidden = self.dense(torch.cat([which, shared, of_control], dim=2))
        logits = self.logit.from_hidden(hidden, dropout).squeeze(2)
        return torch.cat([logits, self.further(entries, dropout)], dim=1)

    def index_tables(self) -> tuple[Tensor, ...]:
        """See `StateNetwork`: an observation has no further indices."""
        return ()

    def from_tables(self, tables: Sequence[Tensor], indices: Sequence[Tensor], dropout: Dropout | None) -> Tensor:  # noqa: ARG002
        return tables[0][indices[0]]

    def from_hidden(self, hidden: Tensor) -> Tensor:
        return hidden

    def available(self, entries: Tensor) -> Tensor:
        return entries[:, : self._sizes[0]] > 0


class _Further(nn.Module):
    """Outputs that belong to no control, such as the value of a state; there may be none."""

    def __init__(self, size: int, outputs: int):
        super().__init__()
        self.outputs = outputs
        if outputs:
            self.dense, self.head = nn.Linear(size, HIDDEN[0]), Head(outputs)

    def forward(self, entries: Tensor, dropout: Dropout | None) -> Tensor:
        return self.head.from_hidden(self.dense(entries), dropout) if self.outputs else entries[:, :0]


class _FeatureBatch:
    """States of many scenes, each encoded once."""

    def __init__(self, encoder: FeatureEncoder, pool: GraphPool):
        self.bank = Bank((encoder.size,), np.float32)
        self._encoder, self._pool = encoder, pool
        self._vectors: dict[int, Vectors] = {}
        self._numbers: dict[int, NDArray[np.int64]] = {}

    def encode(self, columns: Columns) -> Columns:
        encoded = np.empty((len(columns), 1), np.int64)
        for number in np.unique(columns[:, 0]).tolist():
            rows = np.flatnonzero(columns[:, 0] == number)
            encoded[rows, 0] = self._encode(number, columns[rows, 1])
        return encoded

    def _encode(self, number: int, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """The entries of states of one world."""
        world = self._pool.worlds[number]
        if number not in self._vectors:
            self._vectors[number] = self._encoder.vectors(world)
        if number not in self._numbers:
            self._numbers[number] = np.full(len(world.table.successors), UNKNOWN, np.int64)
        entries = self._numbers[number]
        unknown = np.unique(states[entries[states] == UNKNOWN])
        if len(unknown):
            entries[unknown] = self.bank.number(self._vectors[number](unknown))
        return entries[states]

    def clear(self) -> None:
        self.bank.clear()
        self._numbers.clear()


def _check_same(name: str, ours: Any, theirs: Any) -> None:
    if ours != theirs:
        raise OtherWorldError(f"the policy was trained for other worlds: the {name} were {ours}, not {theirs}")


def _graph(world: World[Any]) -> GraphWorld:
    return world if isinstance(world, GraphWorld) else explore_world(world)
