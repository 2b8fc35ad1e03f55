"""Gymnasium environments with a table of transitions, such as FrozenLake, CliffWalking and Taxi, as worlds.

    environment = gymnasium.make("FrozenLake-v1", is_slippery=True)
    world = GymnasiumWorld(environment, {"hole": lambda state: state in HOLES, "goal": lambda state: state == 15})

The table `environment.unwrapped.P[state][action]` has tuples (probability, next state, reward, terminated).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.world import Outcomes, check_outcomes


class GymnasiumWorld:
    """A world in plain Python; a state in which an episode ended is left no more.

    Without a `start`, the initial state is that of the environment after its reset.
    """

    feature_names = ("step",)

    def __init__(
        self,
        environment: Any,
        propositions: Mapping[str, Callable[[int], bool]],
        controls: Sequence[str] = (),
        start: int | None = None,
    ):
        scene = getattr(environment, "unwrapped", environment)
        self._table: Any = getattr(scene, "P", None)
        if not isinstance(self._table, dict):
            raise BadInputError(f"{scene} has no table of transitions P; write its world by hand, or explore it")
        count = len(next(iter(self._table.values())))
        self.controls = tuple(controls) or tuple(f"action {i}" for i in range(count))
        if len(self.controls) != count:
            raise BadInputError(f"{len(self.controls)} names for {count} actions")
        self._propositions = dict(propositions)
        self.propositions = tuple(propositions)
        if start is None:
            environment.reset(seed=0)
            start = int(scene.s)
        self.initial_state = start
        self._ended = {
            after
            for actions in self._table.values()
            for outcomes in actions.values()
            for _, after, _, ended in outcomes
            if ended
        }

    def outcomes(self, state: int, control: int) -> Outcomes:
        if state in self._ended:
            return ((1.0, state),)
        answer = ((probability, int(after)) for probability, after, *_ in self._table[state][control])
        return check_outcomes(answer, lambda: f"at state {state} under control {self.controls[control]!r}")

    def label(self, state: int, control: int, next_state: int) -> Label:  # noqa: ARG002
        return frozenset(name for name, holds in self._propositions.items() if holds(next_state))

    def features(self, state: int, control: int, next_state: int) -> NDArray[np.float64]:  # noqa: ARG002
        return np.ones(1)
