from dataclasses import replace

import numpy as np
import pytest
from oracles_logic import costs_to_go
from strategies_logic import GRID_LABELS, chain, demonstrations, grid, random_scene, random_table

from wfairl.logic import (
    ArrayWorld,
    NoPlanError,
    RationalLearner,
    RationalSettings,
    SearchSettings,
    cautious_plan,
    learn_logic_and_cost,
    plan,
)
from wfairl.logic.plan import plan_table, untested_steps, word_of
from wfairl.logic.support import Support


def test_cost_to_go_is_that_of_networkx():
    rng = np.random.default_rng(0)
    labels = tuple(frozenset({str(i)}) for i in range(4))
    for _ in range(50):
        scene, table = random_scene(rng, bool(rng.integers(2))), random_table(rng)
        world = ArrayWorld(labels, scene.successors, scene.label_index.astype(np.int16), 0, scene.costs)
        V = costs_to_go(world, table)
        found = plan_table(world, table).cost_to_go
        expected = [[V.get((q, s), np.inf) for s in range(len(world.successors))] for q in range(len(table))]
        np.testing.assert_allclose(found, expected)


def test_the_greedy_plan_keeps_the_rule_at_the_least_cost():
    rng, rule = np.random.default_rng(1), chain("a", "b")
    for _ in range(10):
        world = grid(rng)
        solved = plan(world, rule)
        if not np.isfinite(solved.start_cost):
            continue
        controls = solved.act(0.0, 100, rng)
        assert len(controls) == solved.start_cost
        state = 0
        for label in word_of(world, controls):
            state = rule.read(state, label)
        assert rule.accepting[state]


def test_without_a_way_to_acceptance_there_is_no_plan():
    world = grid(np.random.default_rng(2))
    nowhere = replace(world, label_index=np.zeros_like(world.label_index))
    with pytest.raises(NoPlanError):
        plan(nowhere, chain("a")).act(0.0, 10, np.random.default_rng(0))


def test_caution_takes_a_detour_that_is_worth_it_and_crosses_where_it_is_not():
    rng, rule = np.random.default_rng(3), chain("a", avoid=None)
    n = GRID_LABELS.index(frozenset("n"))
    risk = np.zeros((1, len(GRID_LABELS)))
    risk[0, n] = 0.3
    support = Support(GRID_LABELS, np.zeros((1, 5), int), np.zeros((1, 5)), risk, 0.05)
    crossed = {0.0: 0, 30.0: 0}
    for _ in range(40):
        world = grid(rng)
        for price in crossed:
            controls = cautious_plan(world, rule, support, price).act(0.0, 100, rng)
            crossed[price] += frozenset("n") in word_of(world, controls)
    assert crossed[30.0] < crossed[0.0] / 4


def test_a_plan_tells_the_steps_that_nobody_tested():
    rule = chain("a", avoid=None)
    world = grid(np.random.default_rng(4))
    controls = plan(world, rule).act(0.0, 100, np.random.default_rng(0))
    visits = np.ones((1, len(GRID_LABELS)), int)
    visits[0, 1] = 0
    support = Support(GRID_LABELS, visits, np.zeros(visits.shape), np.zeros(visits.shape), 0.05)
    assert untested_steps(world, controls, rule, support) == [len(controls) - 1]


def test_logic_and_cost_are_learned_together():
    """Some cells cost 3 more, which the learner is not told."""
    rng, rule = np.random.default_rng(5), chain("a", "b", avoid=None)
    scenes, features = [], []
    while len(scenes) < 24:
        world = grid(rng)
        crowded = (rng.random(len(world.successors)) < 0.3)[world.successors].astype(np.float64)
        phi = np.stack([np.ones(crowded.shape), crowded], axis=-1)
        controls = plan(replace(world, costs=1 + 3 * crowded), rule).act(0.5, 100, rng)
        scenes.append(world.scene(controls))
        features.append(phi)
    learner = RationalLearner(RationalSettings(search=SearchSettings(beam_width=2)))
    both = learn_logic_and_cost(GRID_LABELS, scenes, features, learner)
    assert both.logic.automaton.states == 3
    assert 2 < both.weights[1] < 4.5
    assert both.margin[0] > 1


def test_a_demonstration_fits_its_world():
    scenes = demonstrations(chain("a"), 2, np.random.default_rng(6))
    assert all(len(scene.visited) == len(scene.controls) + 1 for scene in scenes)
