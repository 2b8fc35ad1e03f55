"""Planning with a learned automaton in a world of arrays, plainly or with caution.

A cautious plan pays for every pair of automaton state and label that may end the task in failure,

    cost of a transition = c(x, u) + price * risk(q, label),

so that it leaves what was demonstrated only where nothing else reaches the goal, or where that saves more than the
expected loss. The price is what a failure is worth, in units of the mean cost of a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.errors import FailedRunError
from wfairl.logic import kernels
from wfairl.logic.evidence import Scene, pack_world
from wfairl.logic.support import Support
from wfairl.logic.tables import to_table

DEFAULT_PRICE = 30.0
"""What a failure is worth in steps; chosen once, on validation scenes of random offices."""

TIE = 1e-9
"""Controls whose cost-to-go differs by less are equally good."""


class NoPlanError(FailedRunError):
    """The automaton cannot be brought to acceptance in this world."""


@dataclass(frozen=True, eq=False)
class ArrayWorld:
    """A world as arrays.

    Attributes:
        labels: the distinct labels.
        successors: state after each control, -1 where a control is unavailable; [states, controls] of int32.
        label_index: index of the label of each transition, [states, controls].
        start: the initial state.
        costs: of each transition, above zero; [states, controls].
    """

    labels: tuple[Label, ...]
    successors: NDArray[np.int32]
    label_index: NDArray[np.int16]
    start: int
    costs: NDArray[np.float64]

    def scene(self, controls: NDArray[np.integer], success: bool = True) -> Scene:
        """This world with a demonstration in it."""
        return Scene(self.successors, self.label_index, self.start, self.costs, controls, success)


@dataclass(frozen=True, eq=False)
class Plan:
    """Exact cost-to-go on the product of a world and an automaton.

    Attributes:
        world: the world.
        table: the automaton over the world's labels, [states, labels].
        cost_to_go: V, inf where acceptance cannot be reached; [automaton states, world states].
        penalties: extra cost of reading a label in an automaton state, [automaton states, labels].
    """

    world: ArrayWorld
    table: NDArray[np.int32]
    cost_to_go: NDArray[np.float64]
    penalties: NDArray[np.float64] | None = None

    @property
    def start_cost(self) -> float:
        """The least cost from the start to acceptance, inf if there is no way."""
        return float(self.cost_to_go[0, self.world.start])

    def control_cost_to_go(
        self, state: int | NDArray[np.int32], automaton_state: int | NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Q of every control at a product state, shape [controls]; at several, [n] and [n, 1]: [n, controls]."""
        successors, labels = self.world.successors[state], self.world.label_index[state]
        after = self.table[automaton_state, labels]
        ahead = np.where(after >= 0, self.cost_to_go[np.maximum(after, 0), np.maximum(successors, 0)], np.inf)
        ahead = np.where(after == kernels.ACCEPTED, 0.0, ahead)
        if self.penalties is not None:
            ahead = ahead + self.penalties[automaton_state, labels]
        return np.where(successors >= 0, self.world.costs[state] + ahead, np.inf)

    def act(self, temperature: float, horizon: int, rng: np.random.Generator) -> NDArray[np.int32] | None:
        """Controls of the Boltzmann policy until acceptance, None if that takes longer than the horizon.

        Raises:
            NoPlanError: there is no way from the start to acceptance.
        """
        if not np.isfinite(self.start_cost):
            raise NoPlanError("the automaton cannot be brought to acceptance in this world")
        controls: list[int] = []
        state, automaton_state = self.world.start, 0
        while len(controls) < horizon:
            Q = self.control_cost_to_go(state, automaton_state)
            gaps = Q - Q.min()
            weights = gaps <= TIE if temperature == 0 else np.exp(-gaps / temperature)
            control = int(rng.choice(len(Q), p=weights / weights.sum()))
            controls.append(control)
            automaton_state = int(self.table[automaton_state, self.world.label_index[state, control]])
            state = int(self.world.successors[state, control])
            if automaton_state == kernels.ACCEPTED:
                return np.array(controls, np.int32)
        return None


def plan(world: ArrayWorld, automaton: GuardedAutomaton) -> Plan:
    """Solve the product of a world and an automaton."""
    return plan_table(world, to_table(automaton, world.labels))


def plan_table(world: ArrayWorld, table: NDArray[np.int32], penalties: NDArray[np.float64] | None = None) -> Plan:
    """Solve the product of a world and an automaton given as a table."""
    packed = pack_world(world.successors, world.label_index, world.costs, len(world.labels))
    V = np.empty(len(table) * len(world.successors))
    extra = np.zeros(table.shape) if penalties is None else penalties
    kernels.general_cost_to_go(table, *kernels.sources_by_target(table), packed, extra, V)
    return Plan(world, table, V.reshape(len(table), -1), penalties)


def cautious_plan(
    world: ArrayWorld, automaton: GuardedAutomaton, support: Support, price: float = DEFAULT_PRICE
) -> Plan:
    """The plan of least cost, with what may go wrong priced in.

    Args:
        world: where to plan.
        automaton: the learned automaton.
        support: the evidence behind it; labels that it does not know have its `unknown_risk`.
        price: what a failure is worth, in units of the world's mean cost.
    """
    table = to_table(automaton, world.labels)
    risk = np.zeros(table.shape)
    known = {label: i for i, label in enumerate(support.labels)}
    states = len(support.risk)
    for i, label in enumerate(world.labels):
        risk[:states, i] = support.risk[:, known[label]] if label in known else support.unknown_risk
    return plan_table(world, table, price * float(world.costs.mean()) * risk)


def untested_steps(
    world: ArrayWorld, controls: Sequence[int], automaton: GuardedAutomaton, support: Support
) -> list[int]:
    """The steps of a plan that read a label of which no demonstration tells in this state where it leads."""
    known = {label: i for i, label in enumerate(support.labels)}
    state, steps = 0, []
    for step, label in enumerate(word_of(world, controls)):
        if label not in known or support.is_untested[state, known[label]]:
            steps.append(step)
        state = automaton.read(state, label)
        if state == DEAD or automaton.accepting[state]:
            break
    return steps


def word_of(world: ArrayWorld, controls: Sequence[int]) -> list[Label]:
    """The labels that a sequence of controls shows."""
    state, word = world.start, []
    for control in controls:
        word.append(world.labels[world.label_index[state, control]])
        state = int(world.successors[state, control])
    return word
