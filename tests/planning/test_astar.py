import numpy as np
import pytest
from hypothesis import given
from strategies_planning import Problem, TableWorld, draw_costs, problems, rule

from wfairl.automata.automaton import UNAVAILABLE
from wfairl.automata.rules import avoid
from wfairl.planning.astar import TooManyExpansionsError, search_plan
from wfairl.planning.plan import UnsatisfiableTaskError
from wfairl.planning.product import AcceptsEmptyWordError, build_product
from wfairl.planning.shortest_path import BadCostError, cost_to_go


class ExactlyBoundedWorld(TableWorld):
    """A world that knows exactly how many steps its propositions are from changing: the best bound there is."""

    def steps_to_change(self, state: str):
        to_true, to_false = (np.full(len(self.propositions), np.inf) for _ in range(2))
        front, met = {int(state[1:])}, set()
        for distance in range(1, len(self.masks) + 1):
            for x in front - met:
                for shown in self.masks[x][self.next_states[x] != UNAVAILABLE]:
                    holds = np.array([shown >> i & 1 for i in range(len(self.propositions))], bool)
                    to_true[holds] = np.minimum(to_true[holds], distance)
                    to_false[~holds] = np.minimum(to_false[~holds], distance)
            met |= front
            front = {int(y) for x in front for y in self.next_states[x] if y != UNAVAILABLE}
        return to_true, to_false


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
    task = rule("a")
    plain, bounded = search_plan(corridor(20), task), search_plan(corridor(20, ExactlyBoundedWorld), task)
    assert plain.plan.cost == bounded.plan.cost == 20
    assert bounded.expansions == 20
    assert plain.expansions > 30


def test_a_limit_on_expansions_is_a_named_outcome():
    task = rule("a")
    needed = search_plan(corridor(20), task).expansions
    assert search_plan(corridor(20), task, max_expansions=needed).plan.cost == 20
    with pytest.raises(TooManyExpansionsError, match="max_expansions"):
        search_plan(corridor(20), task, max_expansions=needed - 1)


def test_costs_below_their_stated_bound_are_refused():
    task = rule("a")
    with pytest.raises(BadCostError, match=r"at least 1\.0"):
        search_plan(corridor(3), task, lambda _state, _control: 0.5)
    with pytest.raises(BadCostError, match="least_cost"):
        search_plan(corridor(3), task, least_cost=0.0)


def test_a_star_refuses_an_automaton_that_accepts_the_empty_word():
    with pytest.raises(AcceptsEmptyWordError):
        search_plan(corridor(3), avoid("b"))
