"""What people say of a task, against checkers that read a word as a person would."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import (
    avoids,
    fulfilled_positions,
    fulfils_rule,
    has_before,
    visits_all,
)
from strategies_automata import PROPOSITIONS, words

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Guard
from wfairl.core.automata.guarded import Edge, GuardedAutomaton
from wfairl.core.automata.rules import all_of, avoid, before, then, visit_all, visit_in_order
from wfairl.core.support.errors import BadInputError

names = st.sampled_from(PROPOSITIONS)
distinct_names = st.lists(names, min_size=1, max_size=3, unique=True)


@given(st.lists(names, min_size=1, max_size=4), words)
def test_visiting_in_order_lets_one_label_serve_several_in_a_row(visit, word):
    rule = visit_in_order(*visit)
    assert rule.accepts(word) == fulfils_rule(word, visit, ())
    assert rule.states == len(visit) + 1 + sum(one == other for one, other in pairwise(visit))


def test_a_visit_ends_before_it_is_made_again():
    rule, at, away, home = visit_in_order("s", "s", "h"), frozenset("s"), frozenset(), frozenset("h")
    assert not rule.accepts([at, at, home])
    assert rule.accepts([at, away, at, home])


@given(st.lists(names, min_size=1, max_size=3), names, words)
def test_what_is_avoided_counts_also_in_the_label_that_fulfils_the_rest(visit, avoided, word):
    rule = all_of(visit_in_order(*visit), avoid(avoided))
    assert (rule.fulfilled_at(word) is not None) == fulfils_rule(word, visit, {avoided})


def test_the_fulfilling_label_may_lose_the_task():
    rule = all_of(visit_in_order("a"), avoid("b"))
    assert rule.run([frozenset("ab")]) == [0, DEAD]
    assert rule.fulfilled_at([frozenset("ab"), frozenset("a")]) is None


@given(distinct_names, words)
def test_visiting_all_in_any_order_needs_each_of_them_once(visit, word):
    assert visit_all(*visit).accepts(word) == visits_all(word, visit)
    assert visit_all(*visit).states == 2 ** len(visit)


@given(distinct_names, words)
def test_avoiding_is_never_seeing(avoided, word):
    assert avoid(*avoided).accepts(word) == avoids(word, avoided)


@given(words)
def test_before_forbids_the_second_until_the_first(word):
    assert before("a", "b").accepts(word) == has_before(word, "a", "b")


simple_rules = st.one_of(
    distinct_names.map(lambda some: visit_all(*some)),
    st.lists(names, min_size=1, max_size=3).map(lambda some: visit_in_order(*some)),
    names.map(avoid),
    st.permutations(PROPOSITIONS).map(lambda some: before(*some[:2])),
)


@given(st.lists(simple_rules, min_size=1, max_size=3), st.lists(words, min_size=1, max_size=8))
def test_all_of_is_the_intersection(rules, tried):
    whole = all_of(*rules)
    for word in tried:
        assert whole.accepts(word) == all(rule.accepts(word) for rule in rules)


@given(simple_rules.filter(lambda rule: not rule.accepting[0]), simple_rules, st.lists(words, min_size=1, max_size=8))
def test_then_reads_the_second_rule_from_where_the_first_was_fulfilled(first, second, tried):
    chain = then(first, second)
    for word in tried:
        split = next(iter(fulfilled_positions(first, word)), None)
        assert chain.accepts(word) == (split is not None and second.accepts(word[split:]))


def test_then_refuses_what_is_fulfilled_before_anything_happens():
    with pytest.raises(BadInputError, match="state it with all_of"):
        then(avoid("a"), visit_in_order("b"))


@st.composite
def guarded_automata(draw):
    states = draw(st.integers(1, 4))
    guards = st.tuples(st.frozensets(names, max_size=2), st.frozensets(names, max_size=2)).map(
        lambda sides: Guard(sides[0], sides[1] - sides[0])
    )
    edges = st.builds(Edge, guards, st.integers(DEAD, states - 1))
    rows = tuple(tuple(draw(st.lists(edges, max_size=3))) for _ in range(states))
    return GuardedAutomaton(rows, np.array(draw(st.lists(st.booleans(), min_size=states, max_size=states))))


@given(guarded_automata(), words)
def test_the_first_guard_that_holds_decides(automaton, word):
    state = 0
    for label, after in zip(word, automaton.run(word)[1:], strict=True):
        if state != DEAD:
            holding = [e for e in automaton.edges[state] if e.guard.true <= label and not e.guard.false & label]
            state = holding[0].target if holding else state
        assert after == state
        if state != DEAD:
            shown = automaton.column_with_acceptance(label)
            assert shown.shape == (automaton.states,)
    accepted = state != DEAD and automaton.accepting[state]
    assert automaton.accepts(word) == accepted


@given(guarded_automata(), guarded_automata(), st.lists(words, min_size=1, max_size=6))
@settings(max_examples=60)
def test_the_conjunction_of_any_two_is_their_intersection(one, other, tried):
    both = all_of(one, other)
    for word in tried:
        assert both.accepts(word) == (one.accepts(word) and other.accepts(word))


@given(guarded_automata(), st.frozensets(names))
def test_a_column_with_acceptance_says_where_the_task_is_fulfilled(automaton, label):
    for after, row in zip(automaton.column(label), automaton.column_with_acceptance(label), strict=True):
        assert row == (ACCEPTED if after != DEAD and automaton.accepting[after] else after)


def test_a_rule_of_many_propositions_stays_small():
    many = [f"p{i}" for i in range(100)]
    rule = all_of(visit_in_order("p0", "p50", "p99"), avoid(*many[1:50]))
    assert rule.states == 4
    word = [frozenset({"p0"}), frozenset({"p50", "p70"}), frozenset({"p99"})]
    assert rule.fulfilled_at(word) == 3
    assert rule.fulfilled_at([word[0], frozenset({"p7"}), *word[1:]]) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: visit_in_order(), "visit_in_order takes names"),
        (lambda: visit_in_order(["a", "b"]), "visit_in_order takes names"),
        (lambda: visit_all("a", "a"), "visit_all names a proposition twice"),
        (lambda: visit_all(*map(str, range(11))), "at most 10 propositions, not 11"),
        (lambda: avoid(), "avoid takes names"),
        (lambda: before("a", "a"), "before names a proposition twice"),
        (lambda: all_of(), "at least one rule"),
        (lambda: Guard(frozenset("a"), frozenset("a")), "a to hold and not to hold at once"),
        (lambda: GuardedAutomaton((), np.array([], bool)), "0 states with edges"),
        (lambda: GuardedAutomaton(((Edge(Guard(), 3),),), np.array([True])), "leads to 3, which is none of the 1"),
    ],
)
def test_what_makes_no_rule_is_refused_in_one_line(make, message):
    with pytest.raises(BadInputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
