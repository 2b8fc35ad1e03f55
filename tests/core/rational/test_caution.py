from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from posteriors import model_with, posterior_over

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.demonstrations import collect, find_learner
from wfairl.core.planning import UnsatisfiableTaskError, build_product, expert_policy, find_plan, planner, unit_cost
from wfairl.core.planning.product import ProductTooLargeError
from wfairl.core.rational import CautiousPolicy, Support, caution
from wfairl.core.rational.caution import DoubtfulPlanError, goals_of
from wfairl.core.rational.risks import LabelRisks
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.runs import evaluate
from wfairl.core.worlds import find_task

TASK = find_task("random-office-coffee")
COFFEE_THEN_OFFICE, OFFICE = visit_in_order("f", "g"), visit_in_order("g")
DEMONSTRATED = [("", "f", "", "e", "", "g")]
LABELS = (frozenset(), *(frozenset({name}) for name in TASK.propositions))


def model_of(alternatives, risk=None, demonstrated=(), need=None):
    """A task model whose learner has kept automata and their weights, the risk and the need of labels, and words."""
    states = alternatives[0][0].states - 1
    risks = np.zeros((states, len(LABELS)))
    for label, value in (risk or {}).items():
        risks[:, LABELS.index(frozenset({label}))] = value
    needs = np.array([(need or {}).get("".join(label), 0.0) for label in LABELS])
    support = Support(LABELS, np.ones(risks.shape, int), np.full(risks.shape, np.inf), risks, 0.05, needs)
    words = tuple(tuple(map(frozenset, word)) for word in demonstrated)
    return model_with(posterior_over(*alternatives, support=support, demonstrated_words=words))


def word_of(policy, seed):
    """The labels of the cautious plan in a scene."""
    world = TASK.make_world(seed)
    choice = policy.choose(world)
    product = build_product(world, choice.automaton)
    plan = find_plan(product, choice.cost(product))
    assert choice.solution.plan() == plan  # what is handed on is what planning again would give
    return plan.path.labels


def test_a_cautious_agent_does_what_all_probable_automata_want():
    model = model_of([(OFFICE, 0.6), (COFFEE_THEN_OFFICE, 0.4)])
    for seed in range(20):
        assert COFFEE_THEN_OFFICE.fulfilled_at(word_of(CautiousPolicy("", model, unit_cost, 0.0), seed)) is not None


def test_what_is_hardly_probable_is_left_out_where_it_costs_more_than_it_is_worth():
    model = model_of([(OFFICE, 0.99), (COFFEE_THEN_OFFICE, 0.01)])
    words = [word_of(CautiousPolicy("", model, unit_cost, 0.0, price=30.0), seed) for seed in range(20)]
    assert sum(COFFEE_THEN_OFFICE.fulfilled_at(word) is None for word in words) > 10


def test_a_risky_label_is_read_only_where_the_way_round_is_longer_than_the_price():
    n = frozenset({"n"})
    model = model_of([(OFFICE, 1.0)], {"n": 0.3})
    crossed = {
        price: sum(
            n in word_of(CautiousPolicy("", model, unit_cost, 0.0, price, largest_doubt=1.0), seed)
            for seed in range(30)
        )
        for price in (0.0, 100.0)
    }
    assert crossed[100.0] < crossed[0.0] / 4


def test_the_joint_automata_are_conjunctions_and_leave_less_and_less_out():
    forbidding = all_of(OFFICE, avoid("n"))
    found = goals_of(posterior_of(model_of([(OFFICE, 0.5), (COFFEE_THEN_OFFICE, 0.3), (forbidding, 0.2)])))[::-1]
    assert [one.missing for one in found] == pytest.approx([0.5, 0.2, 0.0])
    for word in ((LABELS[6], LABELS[7]), (LABELS[7],), (LABELS[6], LABELS[8], LABELS[7])):
        accepted = [one.joint.automaton.accepts(word) for one in found]
        each = [automaton.accepts(word) for automaton in (OFFICE, COFFEE_THEN_OFFICE, forbidding)]
        assert accepted == [all(each[: i + 1]) for i in range(3)]
    assert all(one.joint.chosen_states[0] == 0 for one in found)


def test_a_label_that_may_be_needed_is_missing_from_goals_that_do_not_ask_for_it():
    model = model_of([(OFFICE, 0.9), (COFFEE_THEN_OFFICE, 0.1)], need={"f": 0.5, "e": 0.2}, demonstrated=DEMONSTRATED)
    goals = goals_of(posterior_of(model))
    assert [goal.missing for goal in goals if goal.joint.follows is None] == pytest.approx([0.2, 1 - 0.9 * 0.5 * 0.8])
    following = [goal for goal in goals if goal.joint.follows is not None]
    for goal, asked in zip(following, ("feg", "fg", "eg", "g"), strict=True):
        assert goal.missing == pytest.approx(1 - 0.5 ** ("f" not in asked) * 0.8 ** ("e" not in asked))
        for names in ("feg", "efg", "fg", "eg", "g"):
            word = [label for name in names for label in (frozenset({name}), frozenset())][:-1]
            rest = iter(names)
            assert goal.joint.automaton.accepts(word) == all(name in rest for name in asked)  # in this order


def test_what_is_less_needed_is_left_out_first_where_a_demonstrated_word_cannot_be_followed():
    model = model_of([(OFFICE, 0.5)], need={"f": 0.5, "e": 0.2}, demonstrated=DEMONSTRATED)
    world = TASK.make_world(3)
    without_mail = replace(world, marks={cell: label for cell, label in world.marks.items() if "e" not in label})
    plan = CautiousPolicy("", model, unit_cost, 0.0).choose(without_mail).solution.plan()
    assert COFFEE_THEN_OFFICE.fulfilled_at(plan.path.labels) is not None


def test_what_was_demonstrated_is_done_again_unless_that_costs_more_than_the_doubt_is_worth():
    model = model_of([(OFFICE, 0.9)], demonstrated=[("", "f", "", "g")])
    kept = {
        price: sum(
            COFFEE_THEN_OFFICE.fulfilled_at(word_of(CautiousPolicy("", model, unit_cost, 0.0, price), seed)) is not None
            for seed in range(20)
        )
        for price in (0.0, 1000.0)
    }
    assert kept[1000.0] == 20
    assert kept[0.0] < 10


def test_every_goal_accepts_only_what_the_most_probable_automaton_accepts():
    model = model_of([(OFFICE, 0.6), (COFFEE_THEN_OFFICE, 0.4)], demonstrated=[("f", "", "g"), ("a", "g")])
    goals = [goal.joint for goal in goals_of(posterior_of(model))]
    (following,) = (goal for goal in goals if goal.follows is not None)
    words = [LABELS[6:8], LABELS[7:8], (LABELS[6], LABELS[0], LABELS[7]), (LABELS[1], LABELS[7]), LABELS]
    for word in words:
        for goal in goals:
            states = goal.automaton.run(word)
            assert goal.chosen_states[states].tolist() == OFFICE.run(word)
            assert not goal.automaton.accepts(word) or OFFICE.accepts(word)
    assert [following.automaton.accepts(word) for word in words] == [False, False, True, True, True]


def test_a_plan_keeps_the_horizon_where_a_less_careful_one_does():
    model = model_of([(OFFICE, 0.9), (COFFEE_THEN_OFFICE, 0.1)])
    careless = [len(word_of(CautiousPolicy("", model, unit_cost, 0.0, 0.0), seed)) for seed in range(20)]
    careful = [len(word_of(CautiousPolicy("", model, unit_cost, 0.0), seed)) for seed in range(20)]
    horizon = int(np.median(careful))
    timely = [len(word_of(CautiousPolicy("", model, unit_cost, 0.0, horizon=horizon), seed)) for seed in range(20)]
    assert any(steps > horizon for steps in careful)
    for kept, least, most in zip(timely, careless, careful, strict=True):
        assert kept <= most
        assert kept <= horizon or least > horizon


def test_a_task_that_cannot_be_done_is_refused_with_its_reason():
    world = TASK.make_world(0)
    nowhere = world.scene(marks={})
    with pytest.raises(UnsatisfiableTaskError, match="g"):
        CautiousPolicy("", model_of([(OFFICE, 0.9), (COFFEE_THEN_OFFICE, 0.1)]), unit_cost, 0.0).choose(nowhere)


def test_a_label_is_deadly_only_as_far_as_the_scene_can_be_done_without_it():
    weights = {OFFICE: 0.7, visit_in_order("d", "g"): 0.3}
    risk_of = dict(zip("abcden", (0.1, 0.2, 0.3, 0.4, 0.05, 0.15), strict=True))
    model = model_of(list(weights.items()), risk=risk_of)
    parts = set()
    for seed in range(25):
        world = TASK.make_world(seed)
        risks = LabelRisks.in_scene(posterior_of(model), partial(build_product, world))
        for name, risk in risk_of.items():
            part = sum(weight for rule, weight in weights.items() if can_be_done(world, all_of(rule, avoid(name))))
            odds = part * risk / (1 - risk)
            np.testing.assert_allclose(risks.by_label((frozenset({name}),)), odds / (1 + odds))
            parts.add(round(part, 3))
    assert parts == {0.0, 0.7, 1.0}


def can_be_done(world, automaton):
    try:
        find_plan(product := build_product(world, automaton), unit_cost(product))
    except UnsatisfiableTaskError:
        return False
    return True


def test_a_plan_that_fails_too_probably_is_refused_with_its_reasons():
    model = model_of([(OFFICE, 1.0)], need={"f": 0.3}, demonstrated=DEMONSTRATED)
    world = TASK.make_world(3)
    without_coffee = replace(world, marks={cell: label for cell, label in world.marks.items() if "f" not in label})
    policy = CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=0.31)
    assert policy.choose(without_coffee).automaton.accepts((frozenset({"g"}),))
    with pytest.raises(DoubtfulPlanError, match="probability of 30%: it leaves out 'f', which may be needed"):
        replace(policy, largest_doubt=0.29).choose(without_coffee)


def test_where_the_safest_goals_are_too_large_a_plan_is_judged_by_what_it_does(monkeypatch):
    def build_small(world, automaton, most):
        if automaton.states > OFFICE.states:
            raise ProductTooLargeError("too large")
        return build_product(world, automaton, most)

    monkeypatch.setattr(caution, "build_product", build_small)
    model = model_of([(OFFICE, 0.6), (COFFEE_THEN_OFFICE, 0.4)])
    words = [word_of(CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=1.0), seed) for seed in range(60)]
    refused = []
    for seed in range(60):
        try:
            word_of(CautiousPolicy("", model, unit_cost, 0.0), seed)
            refused.append(False)
        except DoubtfulPlanError:
            refused.append(True)
    assert refused == [COFFEE_THEN_OFFICE.fulfilled_at(word) is None for word in words]
    assert 0 < sum(refused) < 60


def test_an_episode_builds_no_product_twice(monkeypatch):
    built = []

    def build(world, automaton, *limits):
        built.append(automaton)
        return build_product(world, automaton, *limits)

    monkeypatch.setattr(caution, "build_product", build)
    monkeypatch.setattr(planner, "build_product", build)
    model = model_of([(OFFICE, 0.6), (COFFEE_THEN_OFFICE, 0.4)], {"n": 0.3, "a": 0.1}, DEMONSTRATED, {"e": 0.2})
    for seed in range(5):
        built.clear()
        CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=1.0).actor(TASK.make_world(seed), None)
        assert len(built) == len(set(map(id, built))) > 2


def test_a_plan_tells_the_steps_that_no_demonstration_tells_about():
    model = model_of([(OFFICE, 1.0)])
    world = TASK.make_world(3)
    path = find_plan(build_product(world, OFFICE), np.ones((108, 4))[: len(build_product(world, OFFICE))]).path
    posterior = posterior_of(model)
    assert posterior.untested_steps(path.labels) == []
    nothing = np.zeros_like(posterior.support.visits)
    unread = replace(posterior, support=replace(posterior.support, visits=nothing, margin=nothing.astype(float)))
    assert unread.untested_steps(path.labels) == list(range(1, len(path.controls) + 1))


def test_from_eight_demonstrations_the_learned_agent_keeps_the_rule_in_new_offices():
    dataset = collect(TASK, 8, 0, 0.5, 60, n_jobs=1)
    model = find_learner("rational").learn(dataset, TASK, n_jobs=1)
    scenes = range(9000, 9016)
    tested = evaluate(TASK, CautiousPolicy("cautious", model, unit_cost, 0.0), scenes, n_jobs=1)
    optimal = evaluate(TASK, expert_policy(TASK, 0.0), scenes, n_jobs=1)
    assert tested.success_rate >= 0.9
    assert tested.mean_cost < 1.2 * optimal.mean_cost
