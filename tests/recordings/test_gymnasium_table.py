"""Environments of Gymnasium with a table of transitions, as worlds."""

import numpy as np
import pytest
from gymnasium.envs.toy_text import CliffWalkingEnv, FrozenLakeEnv, TaxiEnv

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.planning import ExactPlanner, PlannedPolicy, Status, roll_out, unit_cost
from wfairl.core.worlds import ModelTask, check_world, explore_world
from wfairl.recordings import GymnasiumWorld


def test_the_environments_of_gymnasium_with_a_table_are_worlds():
    for environment, size in ((FrozenLakeEnv(), 16), (CliffWalkingEnv(is_slippery=True), 48), (TaxiEnv(), 500)):
        world = GymnasiumWorld(environment, {"even": lambda state: state % 2 == 0})
        check_world(world)
        explored = explore_world(world)
        table = environment.unwrapped.P
        assert len(explored.table.states) <= size
        for number, state in enumerate(explored.table.states):
            ended = any(one[3] for s in table for a in table[s] for one in table[s][a] if one[1] == state)
            for control in range(len(world.controls)):
                expected: dict[int, float] = {}
                for p, after, *_ in table[state][control]:
                    expected[int(after)] = expected.get(int(after), 0.0) + p
                found = {explored.name(after): p for p, after in explored.outcomes(number, control)}
                assert found == ({state: 1.0} if ended else pytest.approx(expected))


def test_an_agent_in_a_slipping_world_goes_on_from_where_it_is():
    propositions = {"goal": lambda s: s == 15, "hole": lambda s: s in (5, 7, 11, 12)}
    lake = GymnasiumWorld(FrozenLakeEnv(), propositions)
    task = ModelTask("lake", "", ("goal", "hole"), visit_in_order("goal"), 500, lambda _: lake)
    plan = ExactPlanner(price=1e6).solve(task.make_world(0), task.rule, unit_cost).plan()
    assert plan.path.is_accepted
    assert plan.success == pytest.approx(14 / 17, abs=1e-3)  # the known optimum of the 4 x 4 lake
    policy = PlannedPolicy("", task.rule, unit_cost, 0.0)
    episodes = [roll_out(task, policy, seed, np.random.default_rng(seed)) for seed in range(100)]
    won = sum(episode.is_success for episode in episodes)
    assert 70 <= won <= 95  # 0.82 of them, by value iteration
    actor = policy.actor(task.make_world(0), np.random.default_rng(0))
    assert actor.observe(task.make_world(0).find(5), frozenset({"hole"})) is Status.LOST
