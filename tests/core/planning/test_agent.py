import numpy as np
import pytest
from hypothesis import given
from strategies_planning import Problem, TableWorld, problems, rule

from wfairl.core.planning.agent import Agent, Status
from wfairl.core.planning.cost import unit_cost
from wfairl.core.planning.plan import UnsatisfiableTaskError, find_plan
from wfairl.core.planning.policy import NoLiveControlError
from wfairl.core.planning.product import build_product
from wfairl.core.support.errors import BadInputError
from wfairl.minigrid.environment import make_environment
from wfairl.minigrid.propositions import AgentOn, Carrying, DoorOpen
from wfairl.minigrid.world import MiniGridWorld

RING = TableWorld(np.array([[1, 0], [2, 1], [3, 2], [0, 3]]), np.array([[0, 0], [0, 0], [1, 0], [0, 2]]))
"""x0 -> x1 -> x2 -> x3 -> x0, or stay; the way into x3 shows a, staying there shows b."""


def run(agent: Agent, world, steps: int) -> list[int]:
    """Act in a world that does what it says."""
    state, taken = world.initial_state, []
    while agent.status is Status.RUNNING and len(taken) < steps:
        taken.append(agent.choose())
        before, state = state, world.step(state, taken[-1])
        agent.observe(state, world.label(before, taken[-1], state))
    return taken


@given(problems())
def test_greedy_agent_takes_as_many_steps_as_the_plan_and_never_replans(problem: Problem):
    product = build_product(problem.world, problem.automaton)
    agent = Agent(problem.automaton, unit_cost, 0.0, problem.rng)
    try:
        length = find_plan(product, unit_cost(product)).cost
    except UnsatisfiableTaskError:
        with pytest.raises(UnsatisfiableTaskError):
            agent.start(problem.world)
        return
    agent.start(problem.world)
    solution = agent.solution
    assert len(run(agent, problem.world, 1000)) == length
    assert agent.status is Status.ACCEPTED
    assert agent.solution is solution


@given(problems())
def test_agent_at_finite_temperature_is_never_lost_in_a_world_that_does_what_it_says(problem: Problem):
    agent = Agent(problem.automaton, unit_cost, 1.0, problem.rng)
    try:
        agent.start(problem.world)
    except UnsatisfiableTaskError:
        return
    run(agent, problem.world, 50)
    assert agent.status is not Status.LOST


def test_agent_goes_on_from_where_it_really_is():
    agent = Agent(rule("a"), unit_cost, 0.0, np.random.default_rng(0))
    agent.start(RING)
    assert agent.control_cost_to_go.min() == 3
    solution = agent.solution
    agent.observe("x2", frozenset())  # pushed two cells ahead
    assert agent.control_cost_to_go.min() == 1
    assert agent.solution is solution


def test_agent_replans_when_it_finds_itself_off_the_product():
    island = TableWorld(np.array([[0, 0], [1, 2], [2, 1]]), np.array([[0, 1], [0, 0], [0, 1]]))
    agent = Agent(rule("a"), unit_cost, 0.0, np.random.default_rng(0))
    agent.start(island)
    solution = agent.solution
    assert len(solution.product) == 1
    assert agent.observe("x1", frozenset()) is Status.RUNNING
    assert agent.solution is not solution
    assert agent.control_cost_to_go.min() == 2
    agent.observe("x2", frozenset())
    assert agent.choose() == 1
    assert agent.observe("x1", frozenset("a")) is Status.ACCEPTED
    with pytest.raises(BadInputError, match="accepted"):
        agent.choose()


def test_agent_reports_a_dead_automaton_and_only_the_random_one_acts_on():
    task = rule("a", "b")
    for temperature in (0.5, np.inf):
        agent = Agent(task, unit_cost, temperature, np.random.default_rng(0))
        agent.start(RING)
        assert agent.observe("x1", frozenset("b")) is Status.LOST
        assert np.isinf(agent.control_cost_to_go).all()
        if temperature == np.inf:
            assert {agent.choose() for _ in range(50)} == {0, 1}
        else:
            with pytest.raises(NoLiveControlError):
                agent.choose()


def test_agent_that_lands_where_nothing_can_succeed_is_lost():
    trap = TableWorld(np.array([[0, 0], [1, 1]]), np.array([[0, 1], [0, 0]]))
    agent = Agent(rule("a"), unit_cost, 0.0, np.random.default_rng(0))
    agent.start(trap)
    assert agent.observe("x1", frozenset()) is Status.LOST


@pytest.mark.parametrize("seed", range(3))
def test_agent_fulfils_the_task_in_the_real_environment(seed: int):
    environment = make_environment("MiniGrid-DoorKey-6x6-v0")
    environment.reset(seed=seed)
    propositions = {"key": Carrying("key"), "door": DoorOpen(), "goal": AgentOn("goal")}
    world = MiniGridWorld.from_environment(environment, propositions)
    automaton = rule(["key", "door", "goal"])
    agent = Agent(automaton, unit_cost, 0.0, np.random.default_rng(seed))
    agent.start(world)
    state, terminated, steps = world.initial_state, False, 0
    while not terminated:
        control = agent.choose()
        _, _, terminated, truncated, _ = environment.step(control)
        before, state = state, world.state_of(environment)
        agent.observe(state, world.label(before, control, state))
        steps += 1
        assert not truncated
    assert agent.status is Status.ACCEPTED
    product = build_product(world, automaton)
    assert steps == find_plan(product, unit_cost(product)).cost


def test_agent_draws_controls_as_often_as_it_says():
    agent = Agent(rule("a"), unit_cost, 1.0, np.random.default_rng(0))
    agent.start(RING)
    drawn = np.bincount([agent.choose() for _ in range(4000)], minlength=2) / 4000
    # Q = (3, 4) at the beginning of the ring.
    assert agent.probabilities() == pytest.approx(np.array([1, np.exp(-1)]) / (1 + np.exp(-1)))
    assert drawn == pytest.approx(agent.probabilities(), abs=0.03)
