"""Random graphs, costs, worlds and automata for the laws of the planning room."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE, Automaton, Label
from wfairl.core.automata.finite import FiniteAutomaton
from wfairl.core.automata.rules import all_of, avoid, visit_in_order


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
    successors[rng.random(successors.shape) < draw(st.sampled_from([0.0, 0.3]))] = UNAVAILABLE
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

    next_states: NDArray[np.int64]  # [states, controls], `UNAVAILABLE` where a control cannot be chosen
    masks: NDArray[np.int64]  # [states, controls], bit i says whether proposition i holds
    propositions: Sequence[str] = ("a", "b")

    @property
    def controls(self) -> Sequence[str]:
        return [f"u{control}" for control in range(self.masks.shape[1])]

    @property
    def initial_state(self) -> str:
        return "x0"

    def is_available(self, state: str, control: int) -> bool:
        return bool(self.next_states[int(state[1:]), control] != UNAVAILABLE)

    def step(self, state: str, control: int) -> str:
        assert self.is_available(state, control), "nobody may take what cannot be chosen"
        return f"x{self.next_states[int(state[1:]), control]}"

    def label(self, state: str, control: int, next_state: str) -> Label:
        return label_of(int(self.masks[int(state[1:]), control]), self.propositions)

    def features(self, state: str, control: int, next_state: str) -> NDArray[np.float64]:
        return np.array([float(state[1:]), float(control == 0), float(next_state[1:])])


def label_of(mask: int, propositions: Sequence[str]) -> Label:
    return frozenset(name for i, name in enumerate(propositions) if mask >> i & 1)


@dataclass(frozen=True)
class Problem:
    world: TableWorld
    automaton: Automaton
    rng: np.random.Generator


@st.composite
def worlds(draw: st.DrawFn, max_states: int = 12) -> TableWorld:
    """A random world; in half of them, some controls cannot be chosen everywhere."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states, controls = draw(st.integers(1, max_states)), draw(st.integers(1, 3))
    # Few labels other than the empty one: labels that change at every step leave no live path.
    masks = np.where(rng.random((states, controls)) < 0.6, 0, rng.integers(0, 4, (states, controls)))
    next_states = rng.integers(0, states, (states, controls))
    if draw(st.booleans()):
        limited = rng.random((states, controls)) < 0.4
        limited[np.arange(states), rng.integers(0, controls, states)] = False
        next_states[limited] = UNAVAILABLE
    return TableWorld(next_states, masks)


@st.composite
def problems(draw: st.DrawFn, max_states: int = 12) -> Problem:
    """A random world and a random automaton over its labels, learned-like or of a rule."""
    world = draw(worlds(max_states))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        automaton = rule(draw(st.sampled_from(["a", "ab", "bab"])), draw(st.sampled_from(["", "b"])))
    else:
        automaton = random_automaton(draw(st.integers(1, 5)), rng)
    return Problem(world, automaton, rng)


def rule(visit: Sequence[str], forbidden: Sequence[str] = ()) -> Automaton:
    """Visit in order, and avoid."""
    return all_of(visit_in_order(*visit), avoid(*forbidden)) if forbidden else visit_in_order(*visit)


def random_walk(world: TableWorld, steps: int, rng: np.random.Generator) -> list[int]:
    """Controls at random, all of which can be chosen."""
    state, controls = world.initial_state, []
    for _ in range(steps):
        choices = [u for u in range(len(world.controls)) if world.is_available(state, u)]
        controls.append(int(rng.choice(choices)))
        state = world.step(state, controls[-1])
    return controls


def random_automaton(states: int, rng: np.random.Generator) -> FiniteAutomaton:
    """Transitions at random over the labels of `a` and `b`; the initial state does not accept."""
    alphabet = tuple(label_of(mask, ("a", "b")) for mask in range(4))
    transitions = rng.integers(0, states, (states, len(alphabet))).astype(np.int32)
    transitions[rng.random(transitions.shape) < 0.3] = DEAD
    accepting = rng.random(states) < 0.4
    accepting[0] = False
    return FiniteAutomaton(
        alphabet, transitions, accepting, accepting.astype(float), (None,) * states, keep_repeats=True
    )


@dataclass(frozen=True)
class SlippingWorld(TableWorld):
    """A world whose controls have outcomes: state, control and outcome to a probability and a next state.

    Labels and features depend on where it really went.
    """

    chances: NDArray[np.float64] | None = None  # [states, controls, states]

    def step(self, state: str, control: int) -> str:
        raise AssertionError("a world that slips is not asked for the one next state")

    def outcomes(self, state: str, control: int) -> list[tuple[float, str]]:
        assert self.is_available(state, control), "nobody may take what cannot be chosen"
        row = self.chances[int(state[1:]), control]
        return [(float(p), f"x{after}") for after, p in enumerate(row) if p > 0]

    def label(self, state: str, control: int, next_state: str) -> Label:
        return label_of(int(self.masks[int(next_state[1:]), control]), self.propositions)


@st.composite
def slipping_worlds(draw: st.DrawFn, max_states: int = 12) -> SlippingWorld:
    """A random world in which a control has up to three outcomes."""
    world = draw(worlds(max_states))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    states, controls = world.masks.shape
    chances = np.zeros((states, controls, states))
    for state, control in np.ndindex(states, controls):
        if world.next_states[state, control] != UNAVAILABLE:
            others = rng.integers(0, states, rng.integers(0, 3))
            for after, p in zip((world.next_states[state, control], *others), (0.7, 0.2, 0.1), strict=False):
                chances[state, control, after] += p
            chances[state, control] /= chances[state, control].sum()
    return SlippingWorld(world.next_states, world.masks, world.propositions, chances)


@st.composite
def slipping_problems(draw: st.DrawFn, max_states: int = 12) -> Problem:
    """A random world that slips and a random automaton over its labels."""
    problem = draw(problems(max_states))
    return Problem(draw(slipping_worlds(max_states)), problem.automaton, problem.rng)
