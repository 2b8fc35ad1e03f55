"""The rational learner where worlds slip: what the world did says nothing about the task."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies_planning import slipping_problems

from wfairl.core.automata.automaton import ACCEPTED, Label
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.demonstrations.demonstration import Demonstration
from wfairl.core.planning import build_product, unit_cost
from wfairl.core.planning.agent import Agent
from wfairl.core.planning.plan import ProductSolution
from wfairl.core.planning.policies import PlannedPolicy
from wfairl.core.planning.rollout import act, roll_out
from wfairl.core.rational.caution import CautiousPolicy
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.observations import observe, to_arrays
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.table_plans import plan_table
from wfairl.core.worlds import ModelSimulator, explore_world
from wfairl.core.worlds.compiled import IGNORE_LABELS, LabelNumbers
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.task_registry import find_task

ETA = 0.7


@settings(max_examples=30)
@given(slipping_problems())
def test_the_evidence_of_a_demonstration_is_that_of_its_controls_alone(problem):
    world = explore_world(problem.world)
    product = build_product(world, problem.automaton)
    solution = product.cost_to_go(unit_cost(product))
    assume(product.chances is not None and np.isfinite(solution.cost_to_go[0]))
    agent = Agent(problem.automaton, unit_cost, ETA, problem.rng)
    agent.start(world)
    episode = act(agent, ModelSimulator(world, problem.rng), problem.automaton, 60, 0)
    assume(episode.is_success)
    demonstration = Demonstration.of(episode, 1.0, 0)
    assert demonstration.follow(world).states == episode.states
    observations = observe([demonstration], lambda _: world)
    settings = RationalSettings(temperature=ETA, outlier_probability=1e-9)
    evidence = Evidence(observations, np.array([ETA]), settings)
    table = to_table(problem.automaton, evidence.labels)

    nodes = demonstration.nodes(product)
    assert nodes[-1] == ACCEPTED
    Q = solution.control_cost_to_go[list(nodes[:-1])]
    expected = sum(
        -q[u] / ETA - np.logaddexp.reduce(-q[np.isfinite(q)] / ETA)
        for q, u in zip(Q, demonstration.controls, strict=True)
    )
    assume(expected > -15)
    assert evidence.of_scenes(table)[0, 0] == pytest.approx(expected, abs=0.05)

    plan = plan_table(observations.scenes[0].world, table)
    assert plan.start_cost == pytest.approx(solution.cost_to_go[0], rel=1e-4)


@settings(max_examples=15)
@given(slipping_problems(), st.booleans())
def test_words_that_are_drawn_end_well_as_often_as_the_policy_does(problem, is_simple):
    world = explore_world(problem.world)
    automaton = visit_in_order(world.propositions[0]) if is_simple else problem.automaton
    alone, product = build_product(world, IGNORE_LABELS), build_product(world, automaton)
    solution = ProductSolution(product, product.cost_to_go(unit_cost(product)))
    assume(product.chances is not None and np.isfinite(solution.solution.cost_to_go[0]))
    numbers = LabelNumbers()
    arrays = to_arrays(alone, unit_cost, numbers)
    table = canonical_table(to_table(automaton, numbers.labels))
    drawn = plan_table(arrays, table).draw_words(400, 2_000, problem.rng)
    for word in drawn:
        assert automaton.fulfilled_at([numbers.labels[i] for i in word]) == len(word)
    Q, success = np.sort(solution.solution.control_cost_to_go), solution.success[0]
    if (Q[:, :1] < Q[:, 1:2] - 1e-6).all():  # of several best controls any may be drawn
        assert len(drawn) / 400 == pytest.approx(
            success, abs=1e-6 + 6 * np.sqrt(max(success * (1 - success), 0.0) / 400)
        )


@pytest.mark.slow
def test_a_task_is_learned_where_the_world_slips_and_kept_with_caution(tmp_path):
    task = find_task("office-coffee-slip-0.1")
    dataset = collect(task, 8, 2, 0.5, 0)
    assert any(one.effects != one.controls for one in dataset)
    save(dataset, tmp_path / "demos")
    assert load(tmp_path / "demos") == dataset
    model = RationalLearner().learn(dataset, task)
    words = [one.labels for one in dataset if one.is_success]
    assert all(model.finite.fulfilled_at(word) is not None for word in words)
    deadly: Label = frozenset({"n"})
    assert model.finite.fulfilled_at((deadly, *words[0])) is None
    cautious = CautiousPolicy("", model, unit_cost, 0.0, horizon=task.horizon)
    bold = PlannedPolicy("", task.rule, unit_cost, 0.0)
    rates = []
    for policy in (cautious, bold):
        episodes = [roll_out(task, policy, seed, np.random.default_rng(seed)) for seed in range(5000, 5024)]
        rates.append(sum(one.is_success for one in episodes))
    assert rates[0] >= rates[1] - 2


@pytest.mark.slow
def test_what_is_given_up_by_what_was_found_for_the_scenes_left_changes_nothing(monkeypatch):
    task = find_task("office-coffee-slip-0.1")
    dataset = collect(task, 8, 0, 0.5, 3)
    planned, found = [], []
    fill = Evidence.of_scenes_if
    monkeypatch.setattr(Evidence, "of_scenes_if", lambda *given: planned.append(given[0]) or fill(*given))
    for tighten in (Evidence.tighten, lambda _: None):
        monkeypatch.setattr(Evidence, "tighten", tighten)
        found.append(RationalLearner().learn(dataset, task).record.to_document())
    assert len(planned) > 1000
    assert found[0] == found[1]
