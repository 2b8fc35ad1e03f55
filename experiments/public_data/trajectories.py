"""TrajectorySet: recorded trajectories on one table of transitions, with the splits of their authors.

    data = SHANGHAI.load(folder)
    data.world(0), data.demonstration(0)          the scene and the demonstration of the first trajectory

All scenes share the table. Marks of a set (the home and the water of a labyrinth) hold in every scene; without marks,
the goal of a trajectory is its last state, which its scene marks as `arrived`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from experiments.route_choice.choices import Choices
from wfairl.core.automata.automaton import UNAVAILABLE, Label
from wfairl.core.demonstrations.demonstration import SUCCESS_SCORE, Demonstration, replay
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.graph import GraphWorld
from wfairl.core.worlds.transitions import TransitionTable

ARRIVED = "arrived"


class BrokenTrajectoriesError(BadInputError):
    """Trajectories that do not follow their table, or files that do not hold any."""


@dataclass(frozen=True, eq=False)
class TrajectorySet:
    """Trajectories on one table of transitions."""

    name: str  # of the data set
    table: TransitionTable  # the transitions
    # trajectory i has the steps from first[i] to first[i + 1]; shape [trajectories + 1] of int64
    first: NDArray[np.int64]
    states: NDArray[np.int64]  # before each step, shape [steps] of int64
    controls: NDArray[np.int64]  # of each step, shape [steps] of int64
    splits: Mapping[str, NDArray[np.int64]]  # numbers of trajectories by the name of the split
    marks: Mapping[int, Label] = field(default_factory=dict)  # the label on arriving in a state

    def __post_init__(self) -> None:
        if not (np.diff(self.first) > 0).all():
            raise BrokenTrajectoriesError(f"{self.name}: a trajectory needs at least one step")
        successors = self.table.successors
        for noun, numbers, count in zip(
            ("state", "control"), (self.states, self.controls), successors.shape, strict=True
        ):
            if not ((numbers >= 0) & (numbers < count)).all():
                raise BrokenTrajectoriesError(f"{self.name}: a {noun} is none of the {count} of the table")
        next_states = successors[self.states, self.controls]
        continues = np.ones(len(self.states), bool)
        continues[self.first[1:] - 1] = False
        wrong = np.flatnonzero((next_states < 0) | (continues & (next_states != np.append(self.states[1:], -1))))
        if len(wrong):
            trajectory = int(np.searchsorted(self.first, wrong[0], side="right")) - 1
            raise BrokenTrajectoriesError(
                f"{self.name}: step {wrong[0] - self.first[trajectory]} of trajectory {trajectory} does not follow the"
                f" table: control {self.controls[wrong[0]]} in state {self.states[wrong[0]]} leads elsewhere"
            )

    def __len__(self) -> int:
        """The number of trajectories."""
        return len(self.first) - 1

    @cached_property
    def goals(self) -> NDArray[np.int64]:
        """The last state of each trajectory, shape [trajectories]."""
        last = self.first[1:] - 1
        return self.table.successors[self.states[last], self.controls[last]].astype(np.int64)

    def steps(self, trajectory: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The states and controls of the steps of a trajectory, shape [steps] each."""
        part = slice(self.first[trajectory], self.first[trajectory + 1])
        return self.states[part], self.controls[part]

    def choices(self, trajectories: Sequence[int] | NDArray[np.int64]) -> Choices:
        """The steps of some trajectories, each towards its last state."""
        return Choices.of_trajectories(
            self.table.successors, [self.steps(i) for i in trajectories], self.goals[list(trajectories)]
        )

    def route(self, trajectory: int) -> tuple[int, ...]:
        """All states of a trajectory, including the last."""
        return (*self.steps(trajectory)[0].tolist(), int(self.goals[trajectory]))

    def world(self, trajectory: int) -> GraphWorld:
        """The scene of a trajectory."""
        marks = self.marks or {int(self.goals[trajectory]): frozenset({ARRIVED})}
        propositions = sorted(frozenset().union(*marks.values()))
        return GraphWorld(self.table, tuple(propositions), int(self.states[self.first[trajectory]]), marks)

    def demonstration(self, trajectory: int, steps: int | None = None) -> Demonstration:
        """A trajectory, or its first steps, as a successful demonstration in its scene."""
        return replay(
            self.world(trajectory), self.steps(trajectory)[1][:steps].tolist(), SUCCESS_SCORE, seed=trajectory
        )


def transition_table(
    controls: tuple[str, ...],
    successors: NDArray[np.int32],
    features: NDArray[np.float64],
    feature_names: tuple[str, ...],
) -> TransitionTable:
    """A table without labels, from the features of its available transitions, sorted by state, then by control."""
    distinct, row = np.unique(features, axis=0, return_inverse=True)
    feature_index = np.zeros(successors.shape, np.int32)
    feature_index[successors != UNAVAILABLE] = row.reshape(-1)
    return TransitionTable(
        controls=controls,
        successors=successors,
        label_index=np.zeros(successors.shape, np.uint16),
        labels=(frozenset(),),
        feature_index=feature_index,
        features=distinct,
        feature_names=feature_names,
    )


def from_routes(
    name: str,
    table: TransitionTable,
    routes: Sequence[Sequence[int]],
    splits: Mapping[str, NDArray[np.int64]],
) -> TrajectorySet:
    """Trajectories given by their states; the control is the first that leads to the next state."""
    control_of = [
        {int(after): control for control, after in reversed(list(enumerate(row))) if after >= 0}
        for row in table.successors
    ]
    states, controls, first = [], [], [0]
    for number, route in enumerate(routes):
        for state, after in pairwise(route):
            control = control_of[state].get(after)
            if control is None:
                raise BrokenTrajectoriesError(f"{name}: route {number}: no control leads from {state} to {after}")
            states.append(state)
            controls.append(control)
        first.append(len(states))
    bounds, origins, chosen = (np.array(part, np.int64) for part in (first, states, controls))
    return TrajectorySet(name, table, bounds, origins, chosen, splits)
