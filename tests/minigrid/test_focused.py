"""The focused planner against the exact one, which enumerates."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from plain_products import solve_plain
from strategies_planning import Problem, TableWorld, draw_costs, problems

from wfairl.core.automata.automaton import Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import Agent, ExactPlanner, Status, UnsatisfiableTaskError, unit_cost
from wfairl.core.planning.cost import feature_cost
from wfairl.core.planning.planner import AutoPlanner
from wfairl.core.planning.product import Product
from wfairl.core.planning.shortest_path import BadCostError
from wfairl.core.support.errors import BadInputError
from wfairl.core.worlds.task import Task
from wfairl.minigrid.focused import FocusedPlanner
from wfairl.minigrid.focused.focused_search import SEARCH_WEIGHTS, TooManyNodesMetError
from wfairl.minigrid.focused.planner import FocusedSolution
from wfairl.minigrid.propositions import AgentAt, AgentOn, AwayFromDoor, Carrying
from wfairl.runs.task_registry import find_task
from wfairl.specifications.formats.ltlf import from_ltlf, to_ltlf

SAMPLED = 40


def priced_by_state(problem: Problem, kind: str):
    """A cost of one's own for every state and control, which the planner knows nothing about."""
    table = draw_costs(kind, problem.world.masks.shape, problem.rng)

    def cost(product: Product) -> np.ndarray:
        return table[[int(product.state(node)[1:]) for node in range(len(product))]]

    return cost


def priced_by_features(seed: int):
    weights = np.random.default_rng(seed).uniform(0, 1, 64)
    return feature_cost(lambda features: 0.2 + features @ weights[: features.shape[1]])


@pytest.mark.parametrize("kind", ["ones", "ties", "uniform"])
@given(problem=problems())
@settings(max_examples=40)
def test_focused_and_exact_cost_to_go_agree_on_random_worlds(problem: Problem, kind: str):
    cost = priced_by_state(problem, kind)
    exact = ExactPlanner().solve(problem.world, problem.automaton, cost)
    focused = solve_plain(problem.world, problem.automaton, cost)
    for node in problem.rng.permutation(len(exact.product)):
        state, automaton_state = exact.product.state(int(node)), int(exact.product.automaton_states[node])
        found = focused.control_cost_to_go(state, automaton_state)
        np.testing.assert_allclose(found, exact.solution.control_cost_to_go[node])


@pytest.mark.parametrize("name", ["doorkey", "multiroom", "blocked-unlock-pickup", "doorkey-terrain", "ordered-pickup"])
@pytest.mark.parametrize("kind", ["unit", "features"])
def test_focused_and_exact_cost_to_go_agree_in_minigrid(name: str, kind: str):
    task = find_task(name)
    world = task.make_world(seed=11)
    cost = unit_cost if kind == "unit" else priced_by_features(5)
    exact = ExactPlanner().solve(world, task.rule, cost)
    focused = FocusedPlanner().solve(world, task.rule, cost)
    assert focused.plan().cost == pytest.approx(exact.plan().cost)
    nodes = np.random.default_rng(0).choice(len(exact.product), SAMPLED, replace=False)
    for node in nodes:
        found = focused.control_cost_to_go(exact.product.state(int(node)), int(exact.product.automaton_states[node]))
        np.testing.assert_allclose(found, exact.solution.control_cost_to_go[node])


@pytest.mark.parametrize("kind", ["ones", "ties", "uniform"])
@pytest.mark.parametrize("expansion_limit", [0, 3, 10])
@given(problem=problems())
@settings(max_examples=30)
def test_beyond_the_expansion_limit_the_cost_to_go_lies_between_what_is_found_and_what_is_proven(
    problem: Problem, kind: str, expansion_limit: int
):
    cost = priced_by_state(problem, kind)
    exact = ExactPlanner().solve(problem.world, problem.automaton, cost)
    focused = solve_plain(problem.world, problem.automaton, cost, expansion_limit=expansion_limit)
    search, product = focused.search, exact.product
    for node in problem.rng.permutation(len(product)):
        state, automaton_state = product.state(int(node)), int(product.automaton_states[node])
        found, true = focused.control_cost_to_go(state, automaton_state), exact.solution.control_cost_to_go[node]
        assert (true <= found * (1 + 1e-9)).all()
        assert (found <= SEARCH_WEIGHTS[0] * true * (1 + 1e-9)).all()
        assert search.lower_bounds[search.product.add(state, automaton_state)] <= true.min() * (1 + 1e-9)


@pytest.mark.parametrize("expansion_limit", [0, 100])
@pytest.mark.parametrize("name", ["blocked-unlock-pickup", "ordered-pickup"])
def test_a_plan_that_is_not_proven_optimal_says_so_and_how_good_it_is(name: str, expansion_limit: int):
    task = find_task(name)
    for seed in (1, 3):
        world = task.make_world(seed)
        optimum = ExactPlanner().solve(world, task.rule, unit_cost).plan()
        plan = FocusedPlanner(expansion_limit=expansion_limit).solve(world, task.rule, unit_cost).plan()
        assert optimum.is_optimal
        assert plan.path.is_accepted
        assert plan.lower_bound <= optimum.cost <= plan.cost == len(plan.path.controls)
        assert plan.is_optimal == (plan.lower_bound == plan.cost)
    assert expansion_limit or not plan.is_optimal


@pytest.mark.parametrize(
    ("seed", "planner"),
    [pytest.param(70, FocusedPlanner(), marks=pytest.mark.slow), (117, FocusedPlanner(expansion_limit=1_000))],
)
def test_a_plan_is_found_where_it_is_too_hard_to_prove_one(seed: int, planner: FocusedPlanner):
    task = find_task("babyai-boss-level")
    simulator = task.make_simulator(seed)
    plan = planner.solve(simulator.world, task.rule, unit_cost).plan()
    assert plan.lower_bound < plan.cost == len(plan.path.controls)
    ended = [simulator.step(control).ended for control in plan.path.controls]
    assert ended == [False] * (len(ended) - 1) + [True]
    assert simulator.succeeded


def test_an_agent_beyond_the_expansion_limit_comes_nearer_with_every_step():
    task = find_task("blocked-unlock-pickup")
    world = task.make_world(seed=3)
    solution = FocusedPlanner(expansion_limit=0).solve(world, task.rule, unit_cost)
    state, automaton_state, left = world.initial_state, 0, np.inf
    while not task.rule.accepting[automaton_state]:
        Q = solution.control_cost_to_go(state, automaton_state)
        assert Q.min() <= left - 1
        left, before = Q.min(), state
        state = world.step(state, int(Q.argmin()))
        automaton_state = task.rule.read(automaton_state, world.label(before, int(Q.argmin()), state))
    assert left == 1


def cheaper_with_features(seed: int):
    """What there is to see, such as something in the hand, makes transitions cheaper."""
    weights = np.random.default_rng(seed).uniform(0, 1, 64)
    return feature_cost(lambda features: 0.2 + np.exp(-(features @ weights[: features.shape[1]])))


DISTANCES = tuple(f"far{distance}" for distance in range(1, 10))


def far_enough_then_goal() -> GuardedAutomaton:
    """A rule whose first state has a change for each of the 511 sets of distances, most of which hold at once."""
    sets = [some for size in range(len(DISTANCES), 0, -1) for some in combinations(DISTANCES, size)]
    changes = tuple(Edge(Guard(frozenset(some)), 1) for some in sets)
    return GuardedAutomaton((changes, (Edge(Guard(frozenset({"goal"})), 2),), ()), np.array([False, False, True]))


BOUNDED = [
    *map(find_task, ("doorkey", "blocked-unlock-pickup", "doorkey-terrain", "ordered-pickup")),
    replace(  # a key in a box, which may be carried away before it is opened
        find_task("obstructed-maze"),
        name="hidden-key",
        environment_id="MiniGrid-ObstructedMaze-1Dlh-v0",
        scene_propositions=lambda _: {"box": Carrying("box"), "ball": Carrying("ball")},
        rule=visit_in_order("box", "ball"),
    ),
    replace(
        find_task("obstructed-maze"),
        name="hidden-key-and-ball",
        environment_id="MiniGrid-ObstructedMaze-1Dlhb-v0",
        rule=visit_in_order("green", "key", "blue"),
    ),
    replace(
        find_task("doorkey"),
        name="many-changes",
        scene_propositions=lambda _: {
            **{name: AwayFromDoor("key", distance) for distance, name in enumerate(DISTANCES, start=1)},
            "goal": AgentOn("goal"),
        },
        rule=far_enough_then_goal(),
    ),
]


@pytest.mark.parametrize("task", BOUNDED, ids=lambda task: task.name)
@pytest.mark.parametrize("cost", [unit_cost, priced_by_features(7), cheaper_with_features(7)], ids=["1", "up", "down"])
def test_bounds_never_exceed_the_cost_to_go(task: Task, cost):
    world = task.make_world(seed=3)
    exact = ExactPlanner().solve(world, task.rule, cost)
    product, found = exact.product, exact.solution.cost_to_go
    nodes = np.random.default_rng(1).choice(len(product), 2_000, replace=False)
    live = np.isfinite(found[nodes])
    for is_refined in (False, True):
        search = FocusedPlanner().solve(world, task.rule, cost).search
        if is_refined:
            search.product.guide.refine(start=0)
        met = [search.product.add(product.state(int(node)), int(product.automaton_states[node])) for node in nodes]
        bounds = search.lower_bounds[met]
        assert (bounds <= found[nodes] * (1 + 1e-9)).all()
        assert (bounds[live] / found[nodes][live]).mean() > 0.3  # and they say something


def test_plans_do_not_depend_on_how_guards_are_written():
    task = find_task("maze-errands")
    world = task.make_world(seed=1)
    one, other = (FocusedPlanner().solve(world, rule, unit_cost) for rule in (task.rule, from_ltlf(to_ltlf(task.rule))))
    assert one.plan().cost == other.plan().cost == other.plan().lower_bound
    assert one.plan().statistics == other.plan().statistics


def test_a_task_that_can_no_longer_be_fulfilled_is_refused_without_a_search():
    task = find_task("blocked-unlock-pickup")
    world = task.make_world(seed=3)
    controls = FocusedPlanner().solve(world, task.rule, unit_cost).plan().path.controls
    state = world.initial_state
    for control in controls[:-1]:
        state = world.step(state, control)
    opened = world.step(state, world.controls.index("toggle"))  # the box that the task is about is gone
    solution = FocusedPlanner().solve(world, task.rule, unit_cost, start=(opened, 0))
    with pytest.raises(UnsatisfiableTaskError):
        solution.plan()
    assert len(solution.search.product) == 1


def test_a_rule_about_the_last_of_64_propositions_is_planned_for():
    cells = {f"cell {i}": AgentAt(1 + i % 6, 1 + i // 12) for i in range(62)}
    task = replace(
        find_task("doorkey"),
        scene_propositions=lambda _: {**cells, "key": Carrying("key"), "goal": AgentOn("goal")},
        rule=visit_in_order("key", "goal"),
    )
    world = task.make_world(seed=3)
    exact = ExactPlanner().solve(world, task.rule, unit_cost).plan()
    assert FocusedPlanner().solve(world, task.rule, unit_cost).plan().cost == exact.cost


def test_a_plan_is_carried_out_in_a_world_too_large_to_enumerate():
    task = find_task("babyai-goto")
    world = task.make_world(seed=4)
    solution = AutoPlanner().solve(world, task.rule, unit_cost)
    assert isinstance(solution, FocusedSolution)
    agent = Agent(task.rule, unit_cost, 0.0, np.random.default_rng(0))
    agent.start(world)
    state, steps = world.initial_state, 0
    while agent.status is Status.RUNNING:
        control = agent.choose()
        before, state = state, world.step(state, control)
        agent.observe(state, world.label(before, control, state))
        steps += 1
    assert agent.status is Status.ACCEPTED
    assert steps == solution.plan().cost


@given(problem=problems())
@settings(max_examples=30)
def test_what_cannot_be_satisfied_is_refused_as_by_the_exact_planner(problem: Problem):
    exact = ExactPlanner().solve(problem.world, problem.automaton, unit_cost)
    focused = solve_plain(problem.world, problem.automaton, unit_cost)
    if exact.solution.cost_to_go[0] < np.inf:
        assert focused.plan().path.is_accepted
    else:
        with pytest.raises(UnsatisfiableTaskError, match="cannot be satisfied"):
            focused.plan()


def test_an_unsatisfiable_task_names_the_labels_that_never_come():
    world = TableWorld(np.array([[0, 0]]), np.array([[0, 1]]))
    with pytest.raises(UnsatisfiableTaskError, match=r"after a it waits for 'b', .*\(b can never hold"):
        solve_plain(world, visit_in_order("a", "b"), unit_cost).plan()


def test_worlds_other_than_minigrid_are_refused_with_advice():
    with pytest.raises(BadInputError, match="not for a TableWorld; use the exact planner"):
        FocusedPlanner().solve(TableWorld(np.array([[0]]), np.array([[0]])), visit_in_order("a"), unit_cost)


def test_a_search_that_meets_too_much_is_given_up_with_advice():
    task = find_task("babyai-goto")
    with pytest.raises(TooManyNodesMetError, match="--max-states"):
        FocusedPlanner(max_nodes=5).solve(task.make_world(seed=5), task.rule, unit_cost).plan()


def test_a_cost_that_is_not_above_zero_is_refused():
    task = find_task("doorkey")
    with pytest.raises(BadCostError):
        FocusedPlanner().solve(task.make_world(0), task.rule, lambda p: np.zeros(p.successors.shape)).plan()
