"""Answers to "which would you rather?" as evidence about a cost, by Bradley and Terry:

    p(one rather than the other) = 1 / (1 + exp((c(one) - c(other)) / temperature))

with c the cost of a whole path, at the temperature of the demonstrators.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.costs.scene import MakeWorld
from wfairl.core.demonstrations.answers import Answer, BrokenAnswersError
from wfairl.core.planning.product import Product, states_alone
from wfairl.core.worlds.world import World, available_controls


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two ways through a scene, of which somebody would rather take the first.

    Attributes:
        product: the states of both, without an automaton.
        preferred, other: node * controls + control of each step.
    """

    product: Product
    preferred: NDArray[np.int64]
    other: NDArray[np.int64]


def comparisons_of(answers: Sequence[Answer], make_world: MakeWorld) -> tuple[Comparison, ...]:
    """The comparisons among some answers.

    Raises:
        BrokenAnswersError: a path cannot be taken in its scene.
    """
    return tuple(compare(make_world(one.seed), one.controls, one.than) for one in answers if one.than)


def compare(world: World[Any], preferred: Sequence[int], other: Sequence[int]) -> Comparison:
    """The comparison of two paths from the initial state of a world, each given by its controls."""
    states: list[Any] = []
    for controls in (preferred, other):
        state = world.initial_state
        for control in controls:
            if control >= len(world.controls) or not available_controls(world, state)[control]:
                raise BrokenAnswersError(f"an answer compares paths of which one has the impossible control {control}")
            states.append(state)
            state = world.step(state, control)
    transitions = np.arange(len(states)) * len(world.controls) + np.array([*preferred, *other], np.int64)
    return Comparison(states_alone(world, states), transitions[: len(preferred)], transitions[len(preferred) :])
