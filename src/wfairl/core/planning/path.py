"""A path through a world, with the automaton states along it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wfairl.core.automata.automaton import DEAD, Automaton, Label
from wfairl.core.automata.words import Word, compress
from wfairl.core.worlds.world import World


@dataclass(frozen=True)
class Path:
    """T controls, and the T + 1 states between them.

    Attributes:
        controls: the controls, T.
        states: the world states, T + 1.
        automaton_states: the automaton states, T + 1; `DEAD` once the task is lost.
        labels: the labels, T.
        word: the labels as the automaton reads them: consecutive equal ones once, unless it keeps repeats.
        is_accepted: whether the last automaton state accepts.
    """

    controls: tuple[int, ...]
    states: tuple[Any, ...]
    automaton_states: tuple[int, ...]
    labels: tuple[Label, ...]
    word: Word
    is_accepted: bool


def follow_controls(
    world: World[Any], automaton: Automaton, controls: Sequence[int], state: Any, automaton_state: int = 0
) -> Path:
    """The path of controls from a world state and an automaton state."""
    states, automaton_states, labels = [state], [automaton_state], []
    for control in controls:
        states.append(world.step(states[-1], control))
        labels.append(world.label(states[-2], control, states[-1]))
        automaton_states.append(automaton.read(automaton_states[-1], labels[-1]))
    word = tuple(labels) if automaton.keep_repeats else compress(labels)
    last = automaton_states[-1]
    is_accepted = last != DEAD and bool(automaton.accepting[last])
    return Path(tuple(map(int, controls)), tuple(states), tuple(automaton_states), tuple(labels), word, is_accepted)
