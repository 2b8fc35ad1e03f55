"""An agent that acts in the real environment, and keeps its place in the task by what it observes.

    agent = Agent(automaton, unit_cost, temperature=0.5, rng=rng)
    agent.start(world)
    while agent.status is Status.RUNNING:
        control = agent.choose()
        ...                                  # apply it in the real environment
        agent.observe(state, label)          # the state it led to, and the label of the transition

The agent plans once, for the whole product. It trusts what it observes more than what it expected:
if the environment puts it elsewhere, it goes on from there, and plans anew if that place is off the
product.
"""

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Automaton, Label
from wfairl.errors import BadInputError
from wfairl.planning.cost import Cost
from wfairl.planning.plan import check_satisfiable
from wfairl.planning.policy import probabilities, sample_control
from wfairl.planning.product import DEFAULT_MAX_STATES, Product, build_product
from wfairl.planning.shortest_path import CostToGo, cost_to_go
from wfairl.worlds.world import World, available_controls


class Status(Enum):
    """Where an agent stands in its task."""

    RUNNING = "running"
    ACCEPTED = "accepted"  # the automaton accepts what was observed
    LOST = "lost"  # the automaton died, or nothing can be done any more that it would accept


class Agent:
    """Boltzmann policy over the cost-to-go of a product, eq. (3) of the paper.

    At finite temperature it never takes a control that cannot succeed, so that it loses the task only by
    surprise. A lost agent has no control to choose (`NoLiveControlError`), except at temperature inf,
    where it does not care.

    Attributes:
        product: the product that it plans on at the moment.
        automaton_state: the automaton state by the labels observed, `DEAD` once the automaton died.
        status: where it stands.
        replans: how often it found itself off the product and planned anew.
    """

    product: Product
    automaton_state: int
    status: Status
    replans: int

    def __init__(
        self,
        automaton: Automaton,
        cost: Cost,
        temperature: float,
        rng: np.random.Generator,
        max_states: int = DEFAULT_MAX_STATES,
    ):
        self.automaton, self.cost, self.temperature, self.rng = automaton, cost, temperature, rng
        self.max_states = max_states

    def start(self, world: World[Any]) -> None:
        """Plan for a world, and stand at its beginning.

        Raises:
            UnsatisfiableTaskError: no controls fulfil the task in this world.
            AcceptsEmptyWordError, ProductTooLargeError, ForeignLabelError: see `build_product`.
        """
        self.world = world
        self.replans = 0
        self._plan_from(world.initial_state, 0)
        check_satisfiable(self.product, self._solution)

    def choose(self) -> int:
        """Draw the next control.

        Raises:
            NoLiveControlError: the task is lost, and the temperature finite.
            BadInputError: the task is over.
        """
        if self.status is Status.ACCEPTED:
            raise BadInputError("the task is accepted; start the agent again for another episode")
        return sample_control(self.control_cost_to_go, self.temperature, self.rng, self._available)

    def observe(self, state: Any, label: Label) -> Status:
        """Take in the state that the last control led to and the label of that transition."""
        if self.status is Status.ACCEPTED:
            raise BadInputError("the task is accepted; start the agent again for another episode")
        self.automaton_state = self.automaton.read(self.automaton_state, label)
        self._state = state
        if self.automaton_state == DEAD:
            self.status = Status.LOST
        elif self.automaton.accepting[self.automaton_state]:
            self.status = Status.ACCEPTED
        else:
            self._stand_at(state)
        return self.status

    def probabilities(self) -> NDArray[np.float64]:
        """The chance of each control in `choose`, which raises the same errors; shape [controls]."""
        return probabilities(self.control_cost_to_go, self.temperature, self._available)

    @property
    def control_cost_to_go(self) -> NDArray[np.float64]:
        """Q of every control where the agent stands, inf for all of them once the task is lost; shape [controls]."""
        if self.status is Status.LOST:
            return np.full(len(self.world.controls), np.inf)
        return self._solution.control_cost_to_go[self._node]

    @property
    def _available(self) -> NDArray[np.bool_]:
        return available_controls(self.world, self._state)

    def _stand_at(self, state: Any) -> None:
        node = self._node_after(state)
        if node is None:
            self.replans += 1
            self._plan_from(state, self.automaton_state)
        else:
            self._node = node
        lost = self._solution.cost_to_go[self._node] == np.inf
        self.status = Status.LOST if lost else Status.RUNNING

    def _node_after(self, state: Any) -> int | None:
        """The node of what was observed: nearly always a successor, otherwise anywhere in the product."""
        for node in self.product.successors[self._node]:
            if (
                node >= 0
                and self.product.automaton_states[node] == self.automaton_state
                and self.product.state(node) == state
            ):
                return int(node)
        return self.product.find(state, self.automaton_state)

    def _plan_from(self, state: Any, automaton_state: int) -> None:
        self.product = build_product(self.world, self.automaton, self.max_states, start=(state, automaton_state))
        self._solution: CostToGo = cost_to_go(self.product.graph, self.cost(self.product))
        self._node, self._state = 0, state
        self.automaton_state = automaton_state
        self.status = Status.RUNNING
