"""Levels of BabyAI: the rule that is read from an instruction against the environment's own verifier."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfairl.core.planning import unit_cost
from wfairl.minigrid.babyai import (
    ALL_PARTS,
    BOSS_LEVEL,
    GO_TO,
    KEY_CORRIDOR,
    PICKUP_LOC,
    PUT_NEXT_LOCAL,
    UNBLOCK_PICKUP,
    UNLOCK,
    in_phases,
    put,
)
from wfairl.minigrid.environment import make_environment, reset
from wfairl.minigrid.focused import FocusedPlanner
from wfairl.minigrid.missions import read_mission
from wfairl.minigrid.physics import UnknownPhysicsError
from wfairl.runs.task_laws import check_task

LEVELS = (GO_TO, PICKUP_LOC, UNBLOCK_PICKUP, UNLOCK, PUT_NEXT_LOCAL, KEY_CORRIDOR, BOSS_LEVEL)
SMALL_LEVELS = (PICKUP_LOC, PUT_NEXT_LOCAL)


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_levels_obey_the_laws_of_a_task(level):
    check_task(level)


@pytest.mark.parametrize(
    "level",
    [pytest.param(one, marks=pytest.mark.slow if "boss" in one.name else ()) for one in LEVELS],
    ids=lambda level: level.name,
)
def test_the_verifier_accepts_plans_of_the_rule_at_their_last_step(level):
    for seed in range(6):
        simulator = level.make_simulator(seed)
        controls = FocusedPlanner().solve(simulator.world, level.rule, unit_cost).plan().path.controls
        ended = [simulator.step(control).ended for control in controls]
        assert ended == [False] * (len(controls) - 1) + [True], f"scene {seed}"
        assert simulator.succeeded


@pytest.mark.parametrize("level", SMALL_LEVELS, ids=lambda level: level.name)
def test_rule_and_verifier_agree_on_noisy_paths(level):
    """The verifier of `go to` remembers where objects were; those of `pick up` and `put next` do not."""
    rng, successes = np.random.default_rng(0), 0
    for seed in range(20):
        simulator = level.make_simulator(seed)
        solution = FocusedPlanner().solve(simulator.world, level.rule, unit_cost)
        world_state, state = simulator.world.initial_state, 0
        for _ in range(level.horizon):
            best = int(solution.control_cost_to_go(world_state, state).argmin())
            observation = simulator.step(best if rng.random() < 0.7 else int(rng.integers(6)))
            world_state, state = observation.state, level.rule.read(state, observation.label)
            assert bool(level.rule.accepting[state]) == simulator.succeeded
            if observation.ended:
                successes += 1
                break
    assert successes > 0


def verify(word, puts):
    """BabyAI's verifier of `Before(And, And)`, written out: after how many labels it reports success, or None."""
    first, second = {"first": False, "also first": False}, {"second": False, "also second": False}
    for step, label in enumerate(word, start=1):
        was_done = all(first.values())
        if not was_done:
            for part in first:
                first[part] |= part in label
        if all(first.values()):
            for part in second:
                is_put = part in puts
                second[part] |= (put(part) if is_put else part) in label and (was_done or not is_put)
        if all(second.values()):
            return step
    return None


@given(st.lists(st.frozensets(st.sampled_from(BOSS_LEVEL.propositions)), max_size=8), st.data())
def test_phases_are_read_as_the_verifier_reads_them(word, data):
    puts = data.draw(st.sets(st.sampled_from(ALL_PARTS[1])))
    # A part is put next to something or not: only one of its propositions ever holds.
    labels = [label - {part if part in puts else put(part) for part in ALL_PARTS[1]} for label in word]
    assert in_phases(ALL_PARTS).fulfilled_at(labels) == verify(labels, puts)


def test_what_is_no_mission_is_refused():
    environment = make_environment("MiniGrid-DoorKey-5x5-v0")
    reset(environment, 0)
    with pytest.raises(UnknownPhysicsError, match="not a BabyAI level"):
        read_mission(environment)
