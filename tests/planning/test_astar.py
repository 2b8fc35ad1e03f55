import numpy as np
import pytest
from hypothesis import given
from strategies_planning import Problem, TableWorld, draw_costs, problems

from wfairl.automata.finite import from_rule
from wfairl.planning.astar import TooManyExpansionsError, search_plan
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.planning.product import AcceptsEmptyWordError, build_product
from wfairl.planning.shortest_path import BadCostError, cost_to_go


class ExactlyBoundedWorld(TableWorld):
    """A world that knows exactly how many steps its labels are away: the most informed bound there is."""

    def steps_to_labels(self, state: str):
        steps = np.full(2 ** len(self.propositions), np.inf)
        front, met = {int(state[1:])}, set()
        for distance in range(1, len(self.masks) + 1):
            for x in front - met:
                shown = self.masks[x]
                steps[shown] = np.minimum(steps[shown], distance)
            met |= front
            front = {int(y) for x in front for y in self.next_states[x]}
        return steps


def cost_by_product(problem: Problem, table) -> float:
    product = build_product(problem.world, problem.automaton)
    costs = np.array([table[int(product.state(node)[1:])] for node in range(len(product))])
    return cost_to_go(product.graph, costs).cost_to_go[0]


@pytest.mark.parametrize("kind", ["ones", "ties", "uniform"])
@pytest.mark.parametrize("bounded", [False, True])
@given(problem=problems())
def test_a_star_finds_the_cost_of_dijkstra(kind: str, bounded: bool, problem: Problem):
    table = draw_costs(kind, problem.world.masks.shape, problem.rng)
    expected = cost_by_product(problem, table)
    world = ExactlyBoundedWorld(problem.world.next_states, problem.world.masks) if bounded else problem.world

    def cost(state: str, control: int) -> float:
        return table[int(state[1:]), control]

    if expected == np.inf:
        with pytest.raises(UnsatisfiableTaskError):
            search_plan(world, problem.automaton, cost, table.min())
        return
    search = search_plan(world, problem.automaton, cost, table.min())
    assert search.plan.cost == pytest.approx(expected, rel=1e-12)
    assert search.plan.path.is_accepted
    paid = sum(map(cost, search.plan.path.states, search.plan.path.controls))
    assert paid == pytest.approx(expected, rel=1e-12)


def corridor(length: int, kind: type = TableWorld) -> TableWorld:
    """Left, right and stay along a corridor with a branch of the same length; only its end shows `a`."""
    states = np.arange(2 * length + 1)
    next_states = np.stack([np.maximum(states - 1, 0), np.minimum(states + 1, 2 * length), states], axis=1)
    middle = np.roll(states, -length)  # x0 is the middle, x1 .. to the right, the others to the left
    where = np.argsort(middle)
    renamed = where[next_states[middle]]
    masks = np.where(middle == 2 * length - 1, 1, 0)[:, None] * np.array([0, 1, 0])
    return kind(renamed, masks)


def test_a_better_bound_expands_fewer_nodes_and_finds_the_same_cost():
    rule = from_rule(["a"], [], ("a", "b"))
    plain, bounded = search_plan(corridor(20), rule), search_plan(corridor(20, ExactlyBoundedWorld), rule)
    assert plain.plan.cost == bounded.plan.cost == 20
    assert bounded.expansions == 20
    assert plain.expansions > 30


def test_a_limit_on_expansions_is_a_named_outcome():
    rule = from_rule(["a"], [], ("a", "b"))
    needed = search_plan(corridor(20), rule).expansions
    assert search_plan(corridor(20), rule, max_expansions=needed).plan.cost == 20
    with pytest.raises(TooManyExpansionsError, match="max_expansions"):
        search_plan(corridor(20), rule, max_expansions=needed - 1)


def test_costs_below_their_stated_bound_are_refused():
    rule = from_rule(["a"], [], ("a", "b"))
    with pytest.raises(BadCostError, match=r"at least 1\.0"):
        search_plan(corridor(3), rule, lambda _state, _control: 0.5)
    with pytest.raises(BadCostError, match="least_cost"):
        search_plan(corridor(3), rule, least_cost=0.0)


def test_a_star_refuses_an_automaton_that_accepts_the_empty_word():
    with pytest.raises(AcceptsEmptyWordError):
        search_plan(corridor(3), from_rule([], [], ("a", "b")))
