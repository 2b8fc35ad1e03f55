"""Outcomes that depend on one thing or another are described, and every form of the rule says the same."""

from itertools import product

import numpy as np
import pytest
from oracles_constraints import keeps

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.support.errors import BadInputError
from wfairl.events.conformance import conform
from wfairl.events.constraints import Constraint
from wfairl.events.declare import DeclareLearner
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint, rule_of
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
    kept = rule_of(model).keeps_all(words).tolist()
    assert [model.finite.accepts(word) for word in words] == kept
    formula = from_ltlf(rule_to_ltlf(rule_of(model)))
    assert [formula.accepts(word) for word in words] == kept
    model.save(tmp_path / "task.json")
    again = TaskModel.load(tmp_path / "task.json")
    assert again.sentences == model.sentences
    assert rule_of(again).keeps_all(words).tolist() == kept


def test_a_case_breaks_sentences_if_it_does_not_keep_the_rule(learned):
    _, model = learned
    found = conform(model, draw_words(np.random.default_rng(6), 300))
    assert [not some for some in found.violated] == found.conforming.tolist()
    assert ((found.cost == 0) == found.conforming).all()


@pytest.mark.parametrize("of_failures", [False, True])
def test_a_rule_is_the_or_of_its_conjunctions(of_failures):
    parts = [Constraint.of("existence", "a"), Constraint.of("precedence", "a", "b"), Constraint.of("end", "b")]
    first, second, third = (SupportedConstraint(one, 1, 0, 1.0, kept=i != 1) for i, one in enumerate(parts))
    rule = LearnedRule(((first, second), (third,)), 0, 0.0, of_failures=of_failures)
    words = [word for n in range(1, 4) for word in product([frozenset(), frozenset("a"), frozenset("b")], repeat=n)]
    for word, kept in zip(words, rule.keeps_all(words), strict=True):
        satisfied = [keeps(one.constraint.template.name, one.constraint.propositions, word) for one in rule.constraints]
        assert kept == (((satisfied[0] and not satisfied[1]) or satisfied[2]) != of_failures)
    with pytest.raises(BadInputError, match="'or'"):
        to_declare(rule)
