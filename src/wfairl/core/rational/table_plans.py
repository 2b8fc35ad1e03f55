"""Plans for many automata, given as tables, in a world that was explored once, given as arrays.

`planning` plans for one automaton.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED
from wfairl.core.automata.minimisation import Table
from wfairl.core.planning.policy import probabilities, sample_control
from wfairl.core.planning.shortest_path import Floats
from wfairl.core.rational.likelihood import pack_slipping
from wfairl.core.rational.observations import NO_SUCCESSOR, ArrayWorld, DemonstratedScene
from wfairl.core.rational.table_cost_to_go import (
    PackedWorld,
    SlippingWorlds,
    expected_table_cost_to_go,
    pack_world,
    reverse_table,
    search_nodes,
)


@dataclass(frozen=True, eq=False)
class TablePlan:
    """Exact cost-to-go on the product of a world and an automaton."""

    world: ArrayWorld  # the world
    table: Table  # the automaton over the world's labels, [states, labels]
    cost_to_go: Floats  # V, inf where acceptance cannot be reached; [automaton states, world states]
    failure: float = np.inf  # what a failure costs where the world slips

    @property
    def start_cost(self) -> float:
        """The least cost from the start to acceptance, inf if there is no path."""
        return float(self.cost_to_go[0, self.world.start])

    def control_cost_to_go(self, states: NDArray[np.integer], automaton_states: NDArray[np.integer]) -> Floats:
        """Q of every control at product states, both of shape [n]; inf where it is unavailable; [n, controls]."""
        successors, labels = self.world.successors[states], self.world.label_index[states]
        after = self.table[automaton_states[:, None], labels]
        ahead = np.where(after >= 0, self.cost_to_go[np.maximum(after, 0), np.maximum(successors, 0)], np.inf)
        ahead = np.where(after == ACCEPTED, 0.0, ahead)
        ahead = np.where(successors >= 0, self.world.costs[states] + ahead, np.inf)
        chances = self.world.chances
        if chances is None:
            return ahead
        P = self._probabilities[chances.kind[states]]  # [n, controls, effects]
        can_succeed = (P * np.isfinite(ahead)[:, None]).any(axis=2)
        priced = np.where(np.isfinite(ahead), ahead, self.world.costs[states] + self.failure)
        return np.where(can_succeed, (P * priced[:, None]).sum(axis=2), np.inf)

    @cached_property
    def _probabilities(self) -> Floats:
        """P(e | x, u) by kind of state, [kinds, controls, effects]."""
        assert self.world.chances is not None
        return self.world.chances.dense(self.world.successors.shape[1])

    def act(self, temperature: float, horizon: int, rng: np.random.Generator) -> DemonstratedScene | None:
        """What the Boltzmann policy does until acceptance, None if it is not reached within the horizon."""
        controls: list[int] = []
        effects: list[int] = []
        chances = self.world.chances
        state, automaton_state = self.world.start, 0
        while len(controls) < horizon and np.isfinite(self.start_cost):
            Q = self.control_cost_to_go(np.array([state]), np.array([automaton_state]))[0]
            if not np.isfinite(Q).any():  # it slipped where nothing leads to acceptance
                return None
            control = sample_control(Q, temperature, rng)
            effect = control if chances is None else chances.draw(state, control, rng)
            controls.append(control)
            effects.append(effect)
            automaton_state = int(self.table[automaton_state, self.world.label_index[state, effect]])
            state = int(self.world.successors[state, effect])
            if automaton_state == ACCEPTED:
                return DemonstratedScene.along(self.world, controls, effects)
            if automaton_state < 0:
                return None
        return None

    def draw_words(self, number: int, horizon: int, rng: np.random.Generator) -> tuple[NDArray[np.int32], ...]:
        """Words of episodes of the greedy policy in a world that slips, of those that end well within the horizon."""
        world, chances = self.world, self.world.chances
        assert chances is not None
        states, at, words = np.full(number, world.start), np.zeros(number, np.int64), np.empty((number, 0), np.int32)
        found: list[NDArray[np.int32]] = []
        for _ in range(horizon if np.isfinite(self.start_cost) else 0):
            controls = _draw_each(probabilities(self.control_cost_to_go(states, at), 0.0), rng)
            effects = _draw_each(self._probabilities[chances.kind[states], controls], rng)
            labels = world.label_index[states, effects]
            states, at = world.successors[states, effects], self.table[at, labels]
            words = np.column_stack([words, labels.astype(np.int32)])
            found += list(words[at == ACCEPTED])
            # The others are done, or can never be.
            runs = (at >= 0) & np.isfinite(self.cost_to_go[np.maximum(at, 0), states])
            states, at, words = states[runs], at[runs], words[runs]
            if not len(states):
                break
        return tuple(found)


def _draw_each(chances: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """A column of each row, drawn with its probability; shape [rows]."""
    cumulative = np.cumsum(chances, axis=1)
    below = cumulative / cumulative[:, -1:] <= rng.random((len(chances), 1))
    return np.asarray(below.sum(axis=1), np.int64)


def plan_table(world: ArrayWorld, table: Table) -> TablePlan:
    """The cost-to-go on the product of a world with an automaton, given as a table over the world's labels."""
    packed, slipping = _pack(world)
    V = np.full(len(table) * len(world.successors), np.inf)
    automaton, failure = reverse_table(table), np.inf
    if slipping is None:
        highest = np.full(len(world.successors), np.inf)
        search_nodes(automaton, packed, highest, V, np.empty(len(V), np.int32), np.zeros(len(V), np.bool_))
    else:
        failure = float(slipping.failure[0])
        everywhere = np.empty(0, np.int64)
        expected_table_cost_to_go(
            automaton, packed, slipping, 0, everywhere, failure, 1e-6 * float(world.costs.min()), V
        )
    return TablePlan(world, table, V.reshape(len(table), -1), failure)


@lru_cache(maxsize=4)
def _pack(world: ArrayWorld) -> tuple[PackedWorld, SlippingWorlds | None]:
    """The transitions of a world, for any number of automata."""
    packed = pack_world(world.successors, world.label_index, world.costs, int(world.label_index.max()) + 1)
    if world.chances is None:
        return packed, None
    every = np.arange(len(world.successors), dtype=np.int32)
    return packed, pack_slipping([(world, every, np.append(every, NO_SUCCESSOR))], world.successors.shape[1])
