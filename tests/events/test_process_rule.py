"""What good cases have in common: found, stable, kept by cases that were not seen, and never said twice."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_constraints import keeps

from wfairl.core.automata.words import as_word
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.support.errors import BadInputError
from wfairl.events.constraints import TEMPLATES, EventConstraint
from wfairl.events.declare import DeclareLearner
from wfairl.events.implications import without_implied
from wfairl.events.learned_rule import learned_rule_of

NAMES = "abc"
WORDS = [word for length in range(6) for word in product(map(frozenset, NAMES), repeat=length)]


def draw_case(rng):
    """An order: checked and priced in any order, paid once or more, then shipped, or refused."""
    first = ["check", "price"]
    rng.shuffle(first)
    middle = ["pay", "remind"] * int(rng.integers(3)) + ["pay", "pack", "ship"]
    return as_word(["order", *first, *(middle if rng.random() < 0.7 else ["refuse"]), "close"])


def learn(words, **settings):
    return DeclareLearner(**settings).fit(words, [1.0] * len(words), Reading(keep_repeats=True)).model


@st.composite
def constraints(draw):
    template = draw(st.sampled_from([one for one in TEMPLATES if one.name != "absence"]))
    return EventConstraint(template, tuple(draw(st.permutations(NAMES))[: template.arguments]))


@given(st.lists(constraints(), max_size=7, unique=True))
@settings(max_examples=150, deadline=None)
def test_what_is_left_out_follows_from_what_is_kept(chosen):
    kept = without_implied(chosen)
    assert set(kept) <= set(chosen)
    for word in WORDS:
        if all(keeps(one.template.name, one.propositions, word) for one in kept):
            assert all(keeps(one.template.name, one.propositions, word) for one in chosen)


@given(st.permutations("abcdef"))
@settings(max_examples=20, deadline=None)
def test_of_events_in_a_row_each_is_said_to_come_after_the_one_before_it_alone(row):
    ordered = [EventConstraint.of("precedence", a, b) for a, b in combinations(row, 2)]
    assert set(without_implied(ordered)) == {EventConstraint.of("precedence", a, b) for a, b in pairwise(row)}
    each = [EventConstraint.of("existence", name) for name in row]
    assert sum(one.template.name == "existence" for one in without_implied([*ordered, *each])) == 1


def test_cases_that_begin_and_end_at_will_are_no_mistakes():
    rng = np.random.default_rng(0)
    starts = rng.integers(90, size=600)
    cases = [as_word([f"step {i}" for i in range(start, start + 8)]) for start in starts]
    assert np.mean(learn(cases[:300]).predict(cases[300:])) >= 0.95


def test_cases_that_were_not_seen_keep_the_rule_and_changed_ones_do_not():
    rng = np.random.default_rng(0)
    model = learn([draw_case(rng) for _ in range(500)])
    unseen = [draw_case(rng) for _ in range(500)]
    assert np.mean(model.predict(unseen)) >= 0.98
    assert len(set(model.sentences)) == len(model.sentences)
    assert not any(model.predict([word[1:] for word in unseen]))
    assert np.mean(model.predict([(*word[:-2], word[-1], word[-2]) for word in unseen])) == 0


def test_samples_of_one_log_share_their_sentences():
    rng = np.random.default_rng(1)
    words = [draw_case(rng) for _ in range(400)]
    samples = [set(learn([words[i] for i in rng.permutation(400)[:360]]).sentences) for _ in range(3)]
    assert len(set.intersection(*samples)) >= 0.7 * max(map(len, samples))


def test_mistakes_are_told_from_the_rule_and_their_share_is_an_option():
    rng = np.random.default_rng(2)
    words = [draw_case(rng) for _ in range(500)]
    words[:20] = [word[::-1] for word in words[:20]]
    model = learn(words)
    rule = learned_rule_of(model)
    assert rule.outliers == pytest.approx(0.04, abs=0.02)
    assert not any(model.predict(words[:20]))
    assert learned_rule_of(learn(words, outliers=0.0)).outliers == 0
    with pytest.raises(BadInputError, match="outliers"):
        DeclareLearner(outliers=1.0)


def with_one_mistake(word, rng):
    place, other = rng.integers(len(word), size=2)
    rest = word[:place] + word[place + 1 :]
    return [
        rest,
        word[:place] + word[place : place + 1] + word[place:],
        rest[:other] + word[place : place + 1] + rest[other:],
    ][rng.integers(3)]


@pytest.mark.parametrize("seed", [5, 6])
def test_a_rare_way_is_told_from_mistakes(seed):
    rng = np.random.default_rng(seed)
    rare = as_word(["order", "check", "price", "pay", "pack", "refuse", "close"])
    clean, unseen = ([rare if rng.random() < 0.02 else draw_case(rng) for _ in range(800)] for _ in range(2))
    model = learn([with_one_mistake(word, rng) if i % 5 == 0 else word for i, word in enumerate(clean)])
    assert np.mean(model.predict(unseen)) >= 0.99
    assert not any(model.predict([word[:-1] for word in unseen]))


def test_a_rule_is_read_back_from_its_file(tmp_path):
    rng = np.random.default_rng(3)
    words = [draw_case(rng) for _ in range(100)]
    model = learn(words, max_states=8)
    model.save(tmp_path / "task.json")
    again = type(model).load(tmp_path / "task.json")
    changed = [word[1:] for word in words] + words
    assert again.judge_all(changed) == model.judge_all(changed)
    assert learned_rule_of(again).in_automaton < len(model.sentences)
    assert again.judge(words[0][1:]).broken


def test_an_unknown_event_alone_breaks_nothing():
    rng = np.random.default_rng(4)
    model = learn([draw_case(rng) for _ in range(100)])
    word = draw_case(rng)
    assert model.judge((*word[:2], frozenset({"call"}), *word[2:])).accepted
