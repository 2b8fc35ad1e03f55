import numpy as np
import pytest
from hypothesis import given
from strategies_planning import Problem, TableWorld, problems, random_walk, rule

from wfairl.core.automata.automaton import ACCEPTED, DEAD, UNAVAILABLE
from wfairl.core.automata.rules import avoid
from wfairl.core.planning.path import BadControlError, Walk, follow, nodes_along
from wfairl.core.planning.product import AcceptsEmptyWordError, Product, ProductTooLargeError, build_product
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.simulator import Observation
from wfairl.minigrid.environment import make_environment
from wfairl.minigrid.propositions import AgentOn, Carrying, DoorOpen
from wfairl.minigrid.world import MiniGridWorld

CORRIDOR = TableWorld(np.array([[0, 1], [0, 2], [1, 2]]), np.array([[0, 0], [0, 1], [0, 3]]))
"""x0 - x1 - x2, left and right: arriving at x2 shows a, pushing on against its wall shows a and b."""


class PlainWorld:
    """A compiled world that hides that it is one."""

    def __init__(self, world: MiniGridWorld):
        self.controls, self.propositions, self.initial_state = world.controls, world.propositions, world.initial_state
        self.step, self.label, self.features = world.step, world.label, world.features


def doorkey(seed: int) -> MiniGridWorld:
    environment = make_environment("MiniGrid-DoorKey-5x5-v0")
    environment.reset(seed=seed)
    propositions = {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")}
    return MiniGridWorld.from_environment(environment, propositions)


def assert_same_arrays(one: Product, other: Product) -> None:
    """Labels are compared by what they hold: each product numbers them as it meets them."""
    np.testing.assert_array_equal(one.automaton_states, other.automaton_states)
    np.testing.assert_array_equal(one.successors, other.successors)
    for product in (one, other):
        assert len(set(product.labels)) == len(product.labels)
    number = {label: i for i, label in enumerate(one.labels)}
    renumbered = np.array([number.get(label, -1) for label in other.labels])[other.label_index]
    np.testing.assert_array_equal(one.label_index[one.available], renumbered[other.available])


@given(problems())
def test_a_walk_through_the_product_is_a_walk_through_world_and_automaton(problem: Problem):
    product = build_product(problem.world, problem.automaton)
    controls = random_walk(problem.world, 30, problem.rng)
    nodes = nodes_along(product, controls)
    path = follow(problem.world, controls[: len(nodes) - 1], problem.automaton)
    state, automaton_state = problem.world.initial_state, 0
    for t, control in enumerate(path.controls):
        assert control == controls[t]
        assert (path.states[t], path.automaton_states[t]) == (state, automaton_state)
        assert (product.state(nodes[t]), product.automaton_states[nodes[t]]) == (state, automaton_state)
        next_state = problem.world.step(state, control)
        label = problem.world.label(state, control, next_state)
        assert path.labels[t] == product.label(nodes[t], control) == label
        state, automaton_state = next_state, problem.automaton.read(automaton_state, label)
    assert (path.states[-1], path.automaton_states[-1]) == (state, automaton_state)
    assert path.is_accepted == problem.automaton.accepts(path.labels) == (nodes[-1] == ACCEPTED)
    assert (path.automaton_states[-1] == DEAD) == (nodes[-1] == DEAD)
    assert path.is_accepted == problem.automaton.accepts(path.word)
    assert nodes[-1] < 0 or len(path.controls) == len(controls)


@given(problems())
def test_nodes_are_distinct_reachable_and_numbered_breadth_first(problem: Problem):
    product = build_product(problem.world, problem.automaton)
    pairs = [(product.state(node), int(product.automaton_states[node])) for node in range(len(product))]
    assert len(set(pairs)) == len(pairs)
    assert pairs[0] == (problem.world.initial_state, 0)
    assert [product.find(*pair) for pair in pairs] == list(range(len(pairs)))
    met = [0]
    for node in product.successors.ravel():
        if node >= 0 and node not in met:
            met.append(int(node))
    assert met == list(range(len(product)))


@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_plain_worlds_give_the_same_product(seed: int):
    world = doorkey(seed)
    automaton = rule(["key", "door", "goal"])
    compiled, plain = build_product(world, automaton), build_product(PlainWorld(world), automaton)
    assert [compiled.state(node) for node in range(len(compiled))] == list(plain.states)
    assert_same_arrays(compiled, plain)
    assert compiled.find(world.initial_state, 0) == 0
    assert (compiled.successors == ACCEPTED).any()


def test_product_holds_only_what_the_automaton_leaves_alive():
    world = doorkey(0)
    free = build_product(world, rule(["goal"]))
    forbidden = build_product(world, rule(["goal"], ["key"]))
    assert len(forbidden) < len(free)
    shows_key = np.array(["key" in label for label in forbidden.labels])
    assert not shows_key[forbidden.label_index][forbidden.successors >= 0].any()


def test_nodes_end_where_the_product_ends():
    product = build_product(CORRIDOR, rule("a", "b"))
    nodes = nodes_along(product, [1, 0, 1, 1, 1, 1])
    assert [product.state(node) for node in nodes[:-1]] == ["x0", "x1", "x0", "x1"]
    assert nodes[-1] == ACCEPTED


def test_a_path_is_read_as_its_automaton_reads_it():
    path = follow(CORRIDOR, [1, 0, 1, 1], rule("a", "b"))
    assert path.controls == (1, 0, 1, 1)
    assert path.states == ("x0", "x1", "x0", "x1", "x2")
    assert path.word == path.labels == (frozenset(), frozenset(), frozenset(), frozenset("a"))
    assert path.is_accepted


def test_follow_refuses_controls_that_do_not_exist():
    product = build_product(CORRIDOR, rule("b"))
    for refused in (lambda: nodes_along(product, [0, 2]), lambda: follow(CORRIDOR, [0, 2])):
        with pytest.raises(BadControlError, match="step 1: 2 is not a control; there are 2"):
            refused()


def test_follow_refuses_controls_that_cannot_be_chosen():
    world = TableWorld(np.array([[0, UNAVAILABLE]]), np.array([[0, 1]]))
    product = build_product(world, rule("a"))
    for refused in (lambda: nodes_along(product, [0, 1]), lambda: follow(world, [0, 1])):
        with pytest.raises(BadControlError, match="step 1: the control 'u1' is not available there"):
            refused()


class Dice:
    """A simulator that leads somewhere else every time."""

    world = CORRIDOR

    def __init__(self):
        self.states = iter(["x2", "x0", "x2"])

    def step(self, control):
        return Observation(next(self.states), frozenset("b"), False)


def test_a_walk_keeps_what_the_simulator_reports():
    walk = Walk(Dice(), rule("b"))
    for _ in range(3):
        walk.take(0)
    assert walk.path.states == ("x0", "x2", "x0", "x2")
    assert walk.path.labels == (frozenset("b"),) * 3
    assert walk.path.is_accepted


def test_automaton_that_accepts_the_empty_word_is_a_named_outcome():
    with pytest.raises(AcceptsEmptyWordError, match="empty word"):
        build_product(CORRIDOR, avoid("b"))


@pytest.mark.parametrize("world", [CORRIDOR, doorkey(0)], ids=["plain", "compiled"])
def test_product_larger_than_its_limit_is_a_named_outcome(world):
    automaton = rule([world.propositions[-1]])
    nodes = len(build_product(world, automaton))
    assert isinstance(build_product(world, automaton, max_states=nodes), Product)
    with pytest.raises(ProductTooLargeError, match="focused"):
        build_product(world, automaton, max_states=nodes - 1)


def test_automaton_over_other_propositions_is_refused():
    with pytest.raises(BadInputError, match="which the world does not know"):
        build_product(CORRIDOR, rule(["banana"]))


@given(problems())
def test_product_from_another_start_is_the_part_that_can_be_reached_from_there(problem: Problem):
    whole = build_product(problem.world, problem.automaton)
    node = int(problem.rng.integers(len(whole)))
    part = build_product(problem.world, problem.automaton, start=(whole.state(node), int(whole.automaton_states[node])))
    in_whole = [whole.find(part.state(i), int(part.automaton_states[i])) for i in range(len(part))]
    assert in_whole[0] == node
    renumber = np.array([*in_whole, UNAVAILABLE, ACCEPTED, DEAD])  # what they are, counted from the end
    np.testing.assert_array_equal(whole.successors[in_whole], renumber[part.successors])


def test_compiled_product_from_another_start_is_that_of_the_plain_world():
    world = doorkey(0)
    automaton = rule(["key", "door", "goal"])
    start = (build_product(world, automaton).state(100), 2)
    compiled = build_product(world, automaton, start=start)
    plain = build_product(PlainWorld(world), automaton, start=start)
    assert [compiled.state(node) for node in range(len(compiled))] == list(plain.states)
    assert_same_arrays(compiled, plain)
