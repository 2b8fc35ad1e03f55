"""Outcomes that depend on one thing or another are described, and every form of the rule says the same."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_constraints import keeps

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.support.errors import BadInputError
from wfairl.events.candidates import pack_flags
from wfairl.events.conformance import conform
from wfairl.events.constraints import EventConstraint
from wfairl.events.declare import DeclareLearner
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint, learned_rule_of
from wfairl.events.outcome_terms import Cases
from wfairl.events.outcome_tree import simplified
from wfairl.specifications.formats.ltlf import from_ltlf
from wfairl.specifications.formats.rule_sentences import rule_to_ltlf, to_declare

EVENTS = tuple("abcdefgh")
TRUTHS = {
    "either": lambda w: (holds("a", w) and holds("b", w)) or (holds("c", w) and holds("d", w)),
    "exclusive": lambda w: holds("a", w) != holds("b", w),
    "it fails if": lambda w: not (holds("a", w) and not keeps("precedence", ("b", "c"), w)),
    "twice": lambda w: not keeps("at most once", ("a",), w),
}


def holds(name, word):
    return any(name in label for label in word)


def draw_words(rng, count):
    return [tuple(frozenset({EVENTS[i]}) for i in rng.integers(8, size=1 + rng.poisson(5))) for _ in range(count)]


@pytest.fixture(params=TRUTHS, scope="module")
def learned(request):
    rng = np.random.default_rng(3)
    words, truth = draw_words(rng, 1_500), TRUTHS[request.param]
    flags = np.array([truth(word) for word in words]) ^ (rng.random(1_500) < 0.03)
    model = DeclareLearner().fit(words, flags.astype(float).tolist(), Reading(keep_repeats=True)).model
    return truth, model


def test_other_cases_are_predicted(learned):
    truth, model = learned
    words = draw_words(np.random.default_rng(4), 500)
    assert np.mean([one == truth(word) for one, word in zip(model.predict(words), words, strict=True)]) > 0.97


def test_sentences_automaton_and_formula_say_the_same(learned, tmp_path):
    _, model = learned
    words = draw_words(np.random.default_rng(5), 300)
    kept = learned_rule_of(model).keeps_all(words).tolist()
    assert [model.finite.accepts(word) for word in words] == kept
    formula = from_ltlf(rule_to_ltlf(learned_rule_of(model)))
    assert [formula.accepts(word) for word in words] == kept
    model.save(tmp_path / "task.json")
    again = TaskModel.load(tmp_path / "task.json")
    assert again.sentences == model.sentences
    assert learned_rule_of(again).keeps_all(words).tolist() == kept


def test_a_case_breaks_sentences_if_it_does_not_keep_the_rule(learned):
    _, model = learned
    found = conform(model, draw_words(np.random.default_rng(6), 300))
    assert [not some for some in found.violated] == found.conforming.tolist()
    assert ((found.cost == 0) == found.conforming).all()


def test_graded_outcomes_are_predicted_where_no_rule_is_certain():
    def chance(word):  # never without a; with a, b decides what most cases do
        return (0.65 if holds("b", word) else 0.25) if holds("a", word) else 0.0

    rng = np.random.default_rng(7)
    shown, others = draw_words(rng, 1_500), draw_words(rng, 1_500)
    flags, truth = (np.array([rng.random() < chance(word) for word in words]) for words in (shown, others))
    model = DeclareLearner().fit(shown, flags.astype(float).tolist(), Reading(keep_repeats=True)).model
    best = np.array([chance(word) > 0.5 for word in others])
    right = np.mean(np.array(model.predict(others)) == truth)
    assert right > max(truth.mean(), 1 - truth.mean()) + 0.03
    assert right >= np.mean(best == truth) - 0.01


@pytest.mark.parametrize("seed", range(6))
def test_chance_is_not_predicted(seed):
    rng = np.random.default_rng(seed)
    words = draw_words(rng, 300)
    flags = rng.random(300) < rng.choice([0.15, 0.5, 0.8])
    model = DeclareLearner().fit(words, flags.astype(float).tolist(), Reading(keep_repeats=True)).model
    assert len(set(model.predict(draw_words(rng, 200)))) == 1


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_simplified_conjunctions_cover_the_same_cases(seed):
    rng = np.random.default_rng(seed)
    held, bits = rng.random((6, 70)) < 0.5, rng.random(12)
    cases = Cases(
        pack_flags(held), pack_flags(np.ones((1, 70), bool))[0], pack_flags(rng.random((1, 70)) < 0.5)[0], bits
    )
    chosen = [rng.choice(6, size=rng.integers(1, 4), replace=False) for _ in range(3)]
    terms = [tuple(int(i if rng.random() < 0.5 else ~i) for i in some) for some in chosen]

    def covered(case, some):
        return any(all(held[one, case] if one >= 0 else not held[~one, case] for one in term) for term in some)

    fewer = simplified(terms, cases)
    assert all(covered(case, terms) == covered(case, fewer) for case in range(70))
    assert len(fewer) <= len(terms)
    assert cases.bits_of(fewer) <= cases.bits_of(terms) + 1e-9


@pytest.mark.parametrize("of_failures", [False, True])
def test_a_rule_is_the_or_of_its_conjunctions(of_failures):
    parts = [
        EventConstraint.of("existence", "a"),
        EventConstraint.of("precedence", "a", "b"),
        EventConstraint.of("end", "b"),
    ]
    first, second, third = (SupportedConstraint.of(one, 1, 0, 1.0, kept=i != 1) for i, one in enumerate(parts))
    rule = LearnedRule(((first, second), (third,)), 0, 0.0, of_failures=of_failures)
    words = [word for n in range(1, 4) for word in product([frozenset(), frozenset("a"), frozenset("b")], repeat=n)]
    for word, kept in zip(words, rule.keeps_all(words), strict=True):
        satisfied = [keeps(one.constraint.template.name, one.constraint.propositions, word) for one in rule.constraints]
        assert kept == (((satisfied[0] and not satisfied[1]) or satisfied[2]) != of_failures)
    with pytest.raises(BadInputError, match="'or'"):
        to_declare(rule)
