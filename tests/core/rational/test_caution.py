from dataclasses import replace

import numpy as np
import pytest
from posteriors import model_with, posterior_over

from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.words import compress
from wfairl.core.demonstrations import find_learner
from wfairl.core.planning import UnsatisfiableTaskError, build_product, expert_policy, find_plan, unit_cost
from wfairl.core.planning.rollout import act
from wfairl.core.rational import CautiousPolicy, caution
from wfairl.core.rational.caution import DoubtfulPlanError
from wfairl.core.rational.constraints import Constraint, Doubt
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.worlds.simulator import ModelSimulator
from wfairl.runs import evaluate
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

TASK = find_task("random-office-coffee")
COFFEE_THEN_OFFICE, OFFICE = visit_in_order("f", "g"), visit_in_order("g")
DEMONSTRATED = [("", "f", "", "e", "", "g")]
NEVER_N, NEEDED_F, NO_E_AFTER_F = Constraint("never", "n"), Constraint("needed", "f"), Constraint("never", "e", "f")


def model_of(alternatives, doubts=(), demonstrated=()):
    """A task model whose learner has kept automata and their weights, doubts with their probability, and words."""
    words = tuple(tuple(map(frozenset, word)) for word in demonstrated)
    kept = tuple(Doubt(constraint, probability) for constraint, probability in doubts)
    return model_with(posterior_over(*alternatives, doubts=kept, demonstrated_words=words))


def word_of(policy, seed):
    """The labels of the cautious plan in a scene."""
    world = TASK.make_world(seed)
    product = build_product(world, policy.choose(world).automaton)
    return find_plan(product, policy.cost(product)).path.labels


def coffees(model, price, scenes=20):
    """In how many scenes the plan fetches coffee."""
    words = [word_of(CautiousPolicy("", model, unit_cost, 0.0, price, largest_doubt=1.0), i) for i in range(scenes)]
    return sum(frozenset("f") in word for word in words)


def can_be_done(world, automaton):
    try:
        find_plan(product := build_product(world, automaton), unit_cost(product))
    except UnsatisfiableTaskError:
        return False
    return True


def without(world, name):
    return replace(world, marks={cell: label for cell, label in world.marks.items() if name not in label})


def test_what_nobody_foresees_is_stated_and_changes_no_plan():
    model = model_of([(COFFEE_THEN_OFFICE, 0.9), (OFFICE, 0.1)], [(NEVER_N, 0.02)], DEMONSTRATED)
    unforeseen = replace(model, record=replace(posterior_of(model), unforeseen=0.05))
    for seed in range(5):
        world = TASK.make_world(seed)
        plain, stated = (CautiousPolicy("", one, unit_cost, 0.0).choose(world) for one in (model, unforeseen))
        assert np.array_equal(plain.words[0], stated.words[0])
        assert stated.doubt == pytest.approx(1 - 0.95 * (1 - plain.doubt))


def test_a_cautious_agent_does_what_all_probable_automata_want():
    assert coffees(model_of([(OFFICE, 0.6), (COFFEE_THEN_OFFICE, 0.4)]), 1000.0) == 20


def test_what_is_hardly_probable_is_left_out_where_it_costs_more_than_it_is_worth():
    assert coffees(model_of([(OFFICE, 0.99), (COFFEE_THEN_OFFICE, 0.01)]), 30.0) < 10


def test_what_may_be_needed_is_done_where_that_is_worth_its_price():
    model = model_of([(OFFICE, 1.0)], [(NEEDED_F, 0.1)])
    assert coffees(model, 1000.0) == 20 > coffees(model, 30.0)


def test_what_may_be_deadly_is_crossed_only_where_the_way_round_is_longer_than_the_price():
    model = model_of([(OFFICE, 1.0)], [(NEVER_N, 0.3)])
    crossed = {
        price: sum(
            frozenset("n") in word_of(CautiousPolicy("", model, unit_cost, 0.0, price, largest_doubt=1.0), seed)
            for seed in range(30)
        )
        for price in (0.0, 100.0)
    }
    assert crossed[100.0] < crossed[0.0] / 4


def test_a_plan_ends_at_one_step_for_all_that_may_be_asked_wherever_it_can():
    early, at_once = (
        visit_in_order("f", "g"),
        all_of(visit_in_order("f", "g"), Constraint("never", "g", until="f").automaton()),
    )
    models = model_of([(OFFICE, 0.9), (early, 0.1)]), model_of([(OFFICE, 1.0)], [(NEEDED_F, 0.1)])
    avoided = 0
    for seed in range(30):
        world = TASK.make_world(seed)
        product = build_product(world, early)
        shortest = find_plan(product, unit_cost(product)).path.labels
        for model in models:
            word = word_of(CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=1.0), seed)
            assert list(word).index(frozenset("g")) == len(word) - 1 or not can_be_done(world, at_once)
        avoided += frozenset("g") in shortest[:-1]
    assert avoided


def test_the_doubt_of_a_plan_is_the_probability_that_a_reason_rejects_it():
    doubts = {NEVER_N: 0.2, NEEDED_F: 0.1, NO_E_AFTER_F: 0.3}
    model = model_of([(OFFICE, 0.9), (visit_in_order("e", "g"), 0.05)], doubts.items())
    seen = set()
    for seed in range(40):
        for price in (0.0, 5.0, 1000.0):
            world = TASK.make_world(seed)
            choice = CautiousPolicy("", model, unit_cost, 0.0, price, largest_doubt=1.0).choose(world)
            word = [choice.automaton.alphabet[i] for i in choice.words[0]]
            names = ["".join(label) for label in word]
            until_done = names[: names.index("g")]
            failing = {
                NEVER_N: "n" in until_done,
                NEEDED_F: "f" not in until_done,
                NO_E_AFTER_F: "f" in until_done and "e" in until_done[until_done.index("f") :],
            }
            rules = {one: all_of(OFFICE, one.automaton()) for one in doubts}
            probabilities = [doubts[one] * failing[one] for one in doubts if can_be_done(world, rules[one])]
            if can_be_done(world, visit_in_order("e", "g")):
                probabilities.append(0.05 * ("e" not in until_done))
            assert choice.doubt == pytest.approx(1 - np.prod([1 - p for p in probabilities]))
            seen.add(round(choice.doubt, 3))
    assert len(seen) > 2


def test_the_plan_that_an_agent_carries_out_has_the_word_that_was_weighed_whichever_of_equal_plans_it_takes():
    model = model_of([(OFFICE, 1.0)], [(NEVER_N, 0.2), (Constraint("never", "a", until="f"), 0.2)])
    policy, ways = CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=1.0), 0
    for seed in range(20):
        world = TASK.make_world(seed)
        choice = policy.choose(world)
        weighed = compress([choice.automaton.alphabet[i] for i in choice.words[0]])
        taken = set()
        for luck in range(6):
            agent = policy.actor(world, np.random.default_rng(luck))
            episode = act(agent, ModelSimulator(world), choice.automaton, 200, seed)
            assert compress(episode.labels) == weighed
            taken.add(tuple(episode.controls))
        ways += len(taken) > 1
    assert ways


def test_what_was_demonstrated_is_done_again_unless_that_costs_more_than_the_doubt_is_worth():
    doubts = [(NEVER_N, 0.05), (Constraint("needed", "f"), 0.05)]
    model = model_of([(OFFICE, 0.95)], doubts, demonstrated=[("", "f", "", "g")])
    assert coffees(model, 1000.0) == 20
    assert coffees(model, 0.0) < 10


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
    nowhere = TASK.make_world(0).scene(marks={})
    with pytest.raises(UnsatisfiableTaskError, match="g"):
        CautiousPolicy("", model_of([(OFFICE, 0.9), (COFFEE_THEN_OFFICE, 0.1)]), unit_cost, 0.0).choose(nowhere)


def test_a_rule_that_cannot_be_satisfied_is_doubt_about_the_next_one():
    world = without(TASK.make_world(0), "f")
    for weight in (0.6, 0.9):
        model = model_of([(COFFEE_THEN_OFFICE, weight), (OFFICE, 1 - weight)])
        choice = CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=1.0).choose(world)
        impossible = weight * caution.IMPOSSIBLE
        assert choice.doubt == pytest.approx(impossible / (impossible + 1 - weight))
    with pytest.raises(DoubtfulPlanError, match="47%: the most probable rule cannot be satisfied here"):
        CautiousPolicy("", model, unit_cost, 0.0).choose(world)


def test_what_makes_a_scene_impossible_is_no_doubt_but_what_nobody_has_shown_is():
    world = without(TASK.make_world(3), "f")
    needed, unseen = model_of([(OFFICE, 1.0)], [(NEEDED_F, 0.3)]), Constraint("unseen", "g")
    assert CautiousPolicy("", needed, unit_cost, 0.0).choose(world).doubt == 0
    choice = CautiousPolicy("", model_of([(OFFICE, 1.0)], [(unseen, 0.1)]), unit_cost, 0.0).choose(world)
    assert choice.doubt == pytest.approx(0.1)


def test_a_plan_that_fails_too_probably_is_refused_with_its_reasons():
    model = model_of([(OFFICE, 1.0)], [(Constraint("unseen", "g"), 0.3)])
    policy = CautiousPolicy("", model, unit_cost, 0.0, largest_doubt=0.31)
    assert policy.choose(TASK.make_world(3)).doubt == pytest.approx(0.3)
    with pytest.raises(DoubtfulPlanError, match="probability of 30%: nobody has shown what 'g' entails"):
        replace(policy, largest_doubt=0.29).choose(TASK.make_world(3))


def test_what_a_rule_always_forbids_need_not_be_doubted():
    doubts = [(Constraint("unseen", "n"), 0.99), (Constraint("unseen", "f"), 0.1), (Constraint("never", "f"), 0.05)]
    posterior = posterior_of(model_of([(all_of(OFFICE, avoid("n")), 1.0)], doubts))
    assert list(map(str, posterior.open_doubts)) == ["nobody has shown what 'f' entails", "never f"]


def test_reasons_are_given_in_words():
    only_office, only_coffee = all_of(OFFICE, avoid("f")), all_of(visit_in_order("f"), avoid("g"))
    policy = CautiousPolicy("", model_of([(only_office, 0.6), (only_coffee, 0.4)]), unit_cost, 0.0)
    with pytest.raises(DoubtfulPlanError, match="the task may be 'f; never g'"):
        policy.choose(TASK.make_world(3))


def test_a_world_too_large_to_weigh_doubts_is_planned_for_as_it_is(monkeypatch):
    monkeypatch.setattr(caution, "MOST_STATES", 10)
    model = model_of([(OFFICE, 0.6), (COFFEE_THEN_OFFICE, 0.4)])
    assert CautiousPolicy("", model, unit_cost, 0.0).choose(TASK.make_world(0)).automaton is model.finite


def test_a_plan_tells_the_steps_that_no_demonstration_tells_about():
    world = TASK.make_world(3)
    product = build_product(world, OFFICE)
    path = find_plan(product, unit_cost(product)).path
    labels = tuple(dict.fromkeys(path.labels))
    posterior = posterior_of(model_of([(OFFICE, 1.0)]))
    shape = (1, len(labels))
    read = replace(posterior.support, labels=labels, is_untested=np.zeros(shape, bool))
    assert replace(posterior, support=read).untested_steps(path.labels) == []
    unread = replace(read, is_untested=np.ones(shape, bool))
    assert replace(posterior, support=unread).untested_steps(path.labels) == list(range(1, len(path.controls) + 1))


def test_from_eight_demonstrations_the_learned_agent_keeps_the_rule_in_new_offices():
    dataset = collect(TASK, 8, 0, 0.5, 60, n_jobs=1)
    model = find_learner("rational").learn(dataset, TASK, n_jobs=1)
    scenes = range(9000, 9016)
    tested = evaluate(TASK, CautiousPolicy("cautious", model, unit_cost, 0.0), scenes, n_jobs=1)
    optimal = evaluate(TASK, expert_policy(TASK, 0.0), scenes, n_jobs=1)
    assert tested.success_rate >= 0.9
    assert tested.mean_cost < 1.2 * optimal.mean_cost
