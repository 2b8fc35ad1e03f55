"""An agent that acts in the real environment, and tracks the automaton state by the labels that it observes.

    agent = Agent(automaton, unit_cost, temperature=0.5, rng=rng)
    agent.start(world)
    while agent.status is Status.RUNNING:
        control = agent.choose()
        ...                                  # apply it in the real environment
        agent.observe(state, label)          # the state it led to, and the label of the transition

The agent plans once. It trusts observations over predictions: from a state that it did not expect it goes on, and plans
again if that state is outside its solution.
"""

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Automaton, Label
from wfairl.core.planning.cost import Cost
from wfairl.core.planning.planner import AutoPlanner, Planner, Solution
from wfairl.core.planning.policy import probabilities, sample_control
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import World, available_controls


class Status(Enum):
    """The status of an agent's task."""

    RUNNING = "running"
    ACCEPTED = "accepted"  # the automaton accepts the labels observed
    LOST = "lost"  # the automaton died, or acceptance can no longer be reached


class Agent:
    """Boltzmann policy over the cost-to-go of a planner, eq. (3) of the paper.

    At finite temperature it never takes a control that cannot succeed, so that it loses the task only where the
    environment surprises it. A lost agent has no control to choose (`NoLiveControlError`), except at temperature inf.
    """

    solution: Solution
    automaton_state: int  # after the labels observed, `DEAD` once the automaton died
    status: Status
    control_cost_to_go: NDArray[np.float64]  # Q in the present state, inf once the task is lost; shape [controls]

    def __init__(
        self,
        automaton: Automaton,
        cost: Cost,
        temperature: float,
        rng: np.random.Generator,
        planner: Planner | None = None,
    ):
        self.automaton, self.cost, self.temperature, self.rng = automaton, cost, temperature, rng
        self.planner: Planner = AutoPlanner() if planner is None else planner

    def start(self, world: World[Any], solution: Solution | None = None) -> None:
        """Plan for a world, unless a solution is at hand, and begin in its initial state; raises as a planner does."""
        self.world = world
        self.automaton_state, self.status = 0, Status.RUNNING
        self.solution = self.planner.solve(world, self.automaton, self.cost) if solution is None else solution
        self._move_to(world.initial_state)
        if self.status is Status.LOST:
            self.solution.plan()  # which says why there is none

    def choose(self) -> int:
        """Draw the next control; a lost task is a `NoLiveControlError` at finite temperature."""
        if self.status is Status.ACCEPTED:
            raise BadInputError("the task is accepted; start the agent again for another episode")
        return sample_control(self.control_cost_to_go, self.temperature, self.rng, self._available)

    def observe(self, state: Any, label: Label) -> Status:
        """Follow a transition, given the state that the last control led to and the label."""
        if self.status is Status.ACCEPTED:
            raise BadInputError("the task is accepted; start the agent again for another episode")
        self.automaton_state = self.automaton.read(self.automaton_state, label)
        self._state = state
        if self.automaton_state == DEAD:
            self.status, self.control_cost_to_go = Status.LOST, np.full(len(self.world.controls), np.inf)
        elif self.automaton.accepting[self.automaton_state]:
            self.status = Status.ACCEPTED
        else:
            self._move_to(state)
        return self.status

    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each control in `choose`, which raises the same errors; shape [controls]."""
        return probabilities(self.control_cost_to_go, self.temperature, self._available)

    @property
    def _available(self) -> NDArray[np.bool_]:
        return available_controls(self.world, self._state)

    def _move_to(self, state: Any) -> None:
        self._state = state
        Q = self.solution.control_cost_to_go(state, self.automaton_state)
        if Q is None:
            self.solution = self.planner.solve(self.world, self.automaton, self.cost, (state, self.automaton_state))
            Q = self.solution.control_cost_to_go(state, self.automaton_state)
            assert Q is not None  # it is the planner's start
        self.control_cost_to_go = Q
        self.status = Status.LOST if np.isinf(Q).all() else Status.RUNNING
