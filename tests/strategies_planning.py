"""Random graphs, costs, worlds and mode tables for the laws of the planning room."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from wfairl.automata.finite import FiniteAutomaton, from_rule
from wfairl.worlds.world import ACCEPTED, DEAD, Label, to_label


@dataclass(frozen=True)
class Graph:
    successors: NDArray[np.int32]
    costs: NDArray[np.float64]


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 30, max_controls: int = 4) -> Graph:
    """Transitions at random, with self-loops and parallel ones, and costs of one of several kinds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    nodes, controls = draw(st.integers(1, max_nodes)), draw(st.integers(1, max_controls))
    successors = rng.integers(0, nodes, (nodes, controls)).astype(np.int32)
    successors[rng.random(successors.shape) < draw(st.sampled_from([0.0, 0.3, 0.8]))] = DEAD
    successors[rng.random(successors.shape) < draw(st.sampled_from([0.0, 0.05, 0.3, 1.0]))] = ACCEPTED
    costs = draw(st.sampled_from(["ones", "ties", "uniform", "heavy"]))
    return Graph(successors, draw_costs(costs, successors.shape, rng))


def draw_costs(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float64]:
    if kind == "ones":
        return np.ones(shape)
    if kind == "ties":
        return rng.integers(1, 4, shape) / 2  # sums of halves are exact, so that ties are
    if kind == "uniform":
        return rng.uniform(0.5, 1.5, shape)
    return np.exp(4 * rng.normal(size=shape))


@dataclass(frozen=True)
class TableWorld:
    """A world given by tables; its states are strings, so that nothing can rely on numbers."""

    next_states: NDArray[np.int64]  # [states, controls]
    masks: NDArray[np.int64]  # [states, controls]
    propositions: Sequence[str] = ("a", "b")

    @property
    def controls(self) -> Sequence[str]:
        return [f"u{control}" for control in range(self.masks.shape[1])]

    @property
    def initial_state(self) -> str:
        return "x0"

    def step(self, state: str, control: int) -> str:
        return f"x{self.next_states[int(state[1:]), control]}"

    def label(self, state: str, control: int, next_state: str) -> Label:
        return to_label(int(self.masks[int(state[1:]), control]), self.propositions)

    def features(self, state: str) -> NDArray[np.float64]:
        return np.array([float(state[1:])])


@dataclass(frozen=True)
class Problem:
    world: TableWorld
    automaton: FiniteAutomaton
    rng: np.random.Generator


@st.composite
def problems(draw: st.DrawFn, max_states: int = 12) -> Problem:
    """A random world and a random automaton over its labels, learned-like or of a rule."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states, controls = draw(st.integers(1, max_states)), draw(st.integers(1, 3))
    # Few labels other than the empty one: labels that change at every step leave no live path.
    masks = np.where(rng.random((states, controls)) < 0.6, 0, rng.integers(0, 4, (states, controls)))
    world = TableWorld(rng.integers(0, states, (states, controls)), masks)
    if draw(st.booleans()):
        automaton = from_rule(draw(st.sampled_from([["a"], ["a", "b"], ["b", "a", "b"]])), [], world.propositions)
    else:
        automaton = random_automaton(draw(st.integers(1, 5)), rng)
    return Problem(world, automaton, rng)


def random_automaton(states: int, rng: np.random.Generator) -> FiniteAutomaton:
    """Transitions at random over the labels of `a` and `b`; the initial state does not accept."""
    alphabet = tuple(to_label(mask, ("a", "b")) for mask in range(4))
    transitions = rng.integers(0, states, (states, len(alphabet))).astype(np.int32)
    transitions[rng.random(transitions.shape) < 0.3] = DEAD
    accepting = rng.random(states) < 0.4
    accepting[0] = False
    return FiniteAutomaton(
        alphabet, transitions, accepting, accepting.astype(float), (None,) * states, keep_repeats=True
    )
