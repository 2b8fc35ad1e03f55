"""Rules that logs were made by are found again, in words."""

import math

import numpy as np
import pytest
from oracles_constraints import keeps

from wfairl.core.demonstrations.learners import Reading
from wfairl.core.support.errors import BadInputError
from wfairl.events import declare
from wfairl.events.constraints import TEMPLATES, EventConstraint
from wfairl.events.declare import DeclareLearner
from wfairl.events.description_length import flag_bits, table_bits
from wfairl.events.dfa import Dfa
from wfairl.events.learned_rule import learned_rule_of
from wfairl.specifications.explanation import explain_word

EVENTS = tuple("abcdefghij")
REPEATS = Reading(keep_repeats=True)
RULES = [
    [("precedence", "a", "b"), ("existence", "c")],
    [("precedence", "a", "b"), ("precedence", "c", "b")],  # "b never happens" is near, and must give way
    [("responded existence", "a", "b"), ("existence", "d"), ("precedence", "e", "f")],
    [("response", "a", "b"), ("absence", "c")],
    [("not co-existence", "a", "b"), ("choice", "c", "d")],
    [("order", "a", "b"), ("at most once", "c")],
    [("init", "a")],
]


def draw_words(rng, count):
    return [tuple(frozenset({EVENTS[i]}) for i in rng.integers(10, size=rng.poisson(8))) for _ in range(count)]


def kept(rule, words):
    return np.array([all(keeps(name, arguments, word) for name, *arguments in rule) for word in words])


def sentences(rule):
    return {EventConstraint.of(*parts).sentence for parts in rule}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: ", ".join(parts[0] for parts in rule))
def test_the_rule_is_found_although_three_flags_in_a_hundred_are_wrong(rule):
    rng = np.random.default_rng(1)
    words = draw_words(rng, 1_500)
    truth = kept(rule, words)
    model = DeclareLearner().fit(words, truth ^ (rng.random(len(words)) < 0.03), REPEATS).model
    assert set(model.sentences) == sentences(rule)
    new = draw_words(rng, 300)
    assert [model.finite.accepts(word) for word in new] == kept(rule, new).tolist()


@pytest.mark.parametrize("rule", [RULES[0], RULES[2]], ids=lambda rule: ", ".join(parts[0] for parts in rule))
def test_successes_alone_show_the_rule_and_a_few_that_are_none_do_not_hide_it(rule):
    rng = np.random.default_rng(2)
    words = draw_words(rng, 6_000)
    truth = kept(rule, words)
    shown = [word for word, ok in zip(words, truth, strict=True) if ok][:1_500]
    shown += [word for word, ok in zip(words, truth, strict=True) if not ok][:30]
    learned = DeclareLearner().fit(shown, np.ones(len(shown)), REPEATS)
    assert set(learned.model.sentences) == sentences(rule)
    assert learned.bits < 0


def test_words_of_strings_are_words_of_events():
    rng = np.random.default_rng(4)
    letters, rule = draw_words(rng, 400), [("precedence", "a", "b")]
    names = [tuple(f"event {name}" for label in word for name in label) for word in letters]
    words = [tuple(frozenset({name}) for name in word) for word in names]
    one, other = (DeclareLearner().fit(some, kept(rule, letters)).model for some in (words, names))
    assert one.sentences == ("event b only after event a",)
    assert one.sentences == other.sentences
    assert one.judge_all(words) == other.judge_all(names) == one.judge_all(names)
    assert explain_word(one, names[0]).sentences == explain_word(one, words[0]).sentences


@pytest.mark.parametrize("seed", range(5))
def test_flags_by_chance_have_no_rule(seed):
    rng = np.random.default_rng(seed)
    learned = DeclareLearner().fit(draw_words(rng, 500), rng.random(500) < 0.8)
    assert learned.trivial
    assert learned.model.finite.states == 1


def test_words_whose_repeats_mean_nothing_are_not_counted():
    rng = np.random.default_rng(0)
    words = draw_words(rng, 800)
    model = DeclareLearner().fit(words, kept([("at most once", "c")], words)).model
    counting = {template.name for template in TEMPLATES if template.counting}
    assert not counting & {one.constraint.template.name for one in learned_rule_of(model).constraints}


def test_a_rule_too_large_for_its_automaton_keeps_all_its_sentences():
    rng = np.random.default_rng(0)
    rule = [("existence", "a"), ("existence", "b"), ("existence", "c")]
    words = [word * 2 for word in draw_words(rng, 1_500)]
    learned = DeclareLearner(max_states=4).fit(words, kept(rule, words))
    assert learned.model.finite.states == 4
    assert set(learned.model.sentences) == sentences(rule)
    assert "1 of the 3 sentences is not in the automaton" in learned.notes[0]
    assert learned.model.values(words) == kept(rule, words).tolist()


def test_words_without_any_proposition_are_learned_too():
    assert DeclareLearner().fit([(), (frozenset(),)], [1.0, 0.0]).trivial


def test_the_same_words_give_the_same_rule_in_any_order():
    rng = np.random.default_rng(3)
    words = draw_words(rng, 400)
    flags = kept(RULES[0], words)
    order = rng.permutation(len(words))
    one = DeclareLearner().fit(words, flags)
    other = DeclareLearner().fit([words[i] for i in order], flags[order])
    assert one.model.sentences == other.model.sentences


def test_description_lengths_are_those_of_a_code():
    """Over all outcomes, 2 to the minus bits adds up to 1 at most: to 1 for flags and for choices."""
    for n in range(7):
        counts = np.array([flag_bits(n, k) for k in range(n + 1)])
        ways = np.array([math.comb(n, k) for k in range(n + 1)])
        assert (ways * 2.0**-counts).sum() == pytest.approx(1)
    loop = Dfa(np.zeros((1, 3), np.int32), np.array([True]))
    step = Dfa(np.array([[1, 0, 0], [1, 1, 1]], np.int32), np.array([False, True]))
    assert table_bits(loop) < table_bits(step)


def test_of_too_many_propositions_the_most_frequent_are_paired(monkeypatch):
    rng = np.random.default_rng(0)
    words = [
        tuple(frozenset({event}) for event in (*word, f"rare {i}"))
        for i, word in enumerate(rng.choice(EVENTS, size=(300, 8)).tolist())
    ]
    rule = [("precedence", "a", "b")]
    monkeypatch.setattr(declare, "MEMORY", 2**18)
    learned = DeclareLearner().fit(words, kept(rule, words), REPEATS)
    assert set(learned.model.sentences) == sentences(rule)
    assert "rarest, such as 'rare" in learned.notes[0]  # the first one by name; all events are before it


def test_bad_settings_are_named():
    with pytest.raises(BadInputError, match="at least 1"):
        DeclareLearner(max_states=0)
    with pytest.raises(BadInputError, match="seed must be at least 0"):
        DeclareLearner(seed=-1)
