"""A constraint means its sentence: as an automaton, as a table beside another, and broken on purpose."""

from itertools import groupby, permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies_logic import random_table

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.rational.compact_automaton import CompactAutomaton, CompactEdge, Guard
from wfairl.core.rational.constraints import Constraint, Doubt, conjoin
from wfairl.core.rational.tables import ending_together, intersection, preferring_word, read_word
from wfairl.questions.hypotheses import difference

LABELS = tuple(map(frozenset, ("", "a", "b", "c", "ab", "bc")))
CONSTRAINTS = (
    *(Constraint(kind, "a") for kind in ("never", "needed", "unseen")),
    *(Constraint("never", p, after=q) for p, q in permutations("abc", 2)),
    *(Constraint("never", p, until=q) for p, q in permutations("abc", 2)),
    *(Constraint("needed", p, after=q) for p, q in permutations("abc", 2)),
    *(Constraint("never", *names) for names in permutations("abc", 3)),
    *(Constraint("never", "a", after="a", times=times) for times in (1, 2, 3)),
    *(Constraint("never", p, after=p, until=q) for p, q in permutations("abc", 2)),
    *(Constraint("never", p, after=p, until=q, for_good=True) for p, q in permutations("abc", 2)),
    *(Constraint(f"never {how}", "a", beside="b") for how in ("with", "without")),
    Constraint("needed", "a", beside="b"),
    Constraint("needed", "a", instead=("b",)),
    Constraint("needed", "a", instead=("b", "c")),
    *(Constraint("needed", p, a, instead=(q,)) for p, a, q in permutations("abc", 3)),
    *(Constraint("needed in turn", p, after=q) for p, q in permutations("abc", 2)),
)
words = st.lists(st.integers(0, len(LABELS) - 1), max_size=9)


def keeps(constraint, word):
    """Whether a word, given as numbers of labels, keeps a constraint, by its sentence."""
    kind, p, after, until, instead, beside, times, *_ = constraint
    held = [LABELS[i] for i in word]
    if constraint.for_good:  # in the part before `until`, the name begins to hold once at most
        before = held[: next((i for i, one in enumerate(held) if until in one), len(held))]
        return sum(p in one and (i == 0 or p not in before[i - 1]) for i, one in enumerate(before)) <= 1
    if times > 1:
        return sum(p in one and (i == 0 or p not in held[i - 1]) for i, one in enumerate(held)) <= times
    if kind == "needed in turn":
        return any(after in one and any(p in later for later in held[i:]) for i, one in enumerate(held))
    if kind == "needed" and beside:
        return any({p, beside} <= one for one in held)
    if kind == "needed":
        asked = [i for i, one in enumerate(held) if after in one and not one & {p, *instead}] if after else [-1]
        return all(any(one & {p, *instead} for one in held[i + 1 :]) for i in asked)
    for i in (i for i, one in enumerate(held) if p in one):
        if kind == "never with":
            is_broken = beside in held[i]
        elif kind == "never without":
            is_broken = beside not in held[i]
        elif after is None:
            is_broken = not any(until in one for one in held[: i + 1])
        else:
            begun = [k for k in range(i) if after in held[k] and until not in held[k]]
            begun = [k for k in begun if any(p not in one for one in held[k:i])]  # if it held, it has ended meanwhile
            is_broken = any(not any(until in one for one in held[k + 1 : i + 1]) for k in begun)
        if is_broken:
            return False
    return True


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@given(word=words)
def test_the_automaton_of_a_constraint_accepts_the_words_that_keep_its_sentence(constraint, word):
    assert constraint.automaton().accepts([LABELS[i] for i in word]) == keeps(constraint, word)


def test_the_odds_of_a_doubt_are_finite_and_those_of_its_probability():
    assert Doubt(CONSTRAINTS[0], 0.2).odds == pytest.approx(0.25)
    assert 1e9 < Doubt(CONSTRAINTS[0], 1.0).odds < np.inf


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_a_repeated_label_changes_nothing(constraint):
    rng = np.random.default_rng(0)
    for _ in range(50):
        word = [LABELS[i] for i in rng.integers(len(LABELS), size=6)]
        twice = [label for label in word for _ in range(2)]
        assert constraint.automaton().accepts(word) == constraint.automaton().accepts(twice)


def acceptance_under(constraint, table, word):
    """The step at which a table accepts while the constraint is kept; before it, what would end the task is ignored."""
    state = 0
    for step, label in enumerate(word, start=1):
        after, kept = int(table[state, label]), keeps(constraint, word[:step])
        if after == DEAD or (not kept and not constraint.kind.startswith("needed")):
            return 0
        if after == ACCEPTED and kept:
            return step
        state = state if after == ACCEPTED else after
    return 0


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@given(word=words, seed=st.integers(0, 10**6))
def test_a_table_under_a_constraint_accepts_when_nothing_is_needed_any_more(constraint, word, seed):
    table = random_table(np.random.default_rng(seed), len(LABELS))
    found = read_word(conjoin(table, constraint, LABELS), np.array(word, np.int32))
    assert found == acceptance_under(constraint, table, word)


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
@given(word=words, seed=st.integers(0, 10**6))
def test_a_table_that_breaks_a_constraint_accepts_what_the_table_alone_accepts(constraint, word, seed):
    table = random_table(np.random.default_rng(seed), len(LABELS))
    word = np.array(word, np.int32)
    end = read_word(table, word)
    is_broken = end > 0 and not keeps(constraint, word[:end])
    assert read_word(difference(table, conjoin(table, constraint, LABELS)), word) == (end if is_broken else 0)


@given(word=words, seed=st.integers(0, 10**6))
def test_a_constraint_of_a_state_forbids_a_proposition_there_and_nowhere_else(word, seed):
    rng = np.random.default_rng(seed)
    table, most_probable = random_table(rng, len(LABELS)), random_table(rng, len(LABELS))
    constraint = Constraint("never", "a", state=int(rng.integers(len(most_probable))), phase="there")
    state, broken_at = 0, len(word) + 1
    for step, label in enumerate(word, start=1):
        if state == constraint.state and "a" in LABELS[label]:
            broken_at = step
            break
        state = int(most_probable[state, label]) if state >= 0 else state
    end = read_word(table, np.array(word, np.int32))
    found = read_word(conjoin(table, constraint, LABELS, most_probable), np.array(word, np.int32))
    assert found == (end if end < broken_at else 0)


@pytest.mark.parametrize("kind", ["fatal", "idle"])
@given(word=words, seed=st.integers(0, 10**6))
def test_changes_that_nobody_has_shown_are_fatal_or_do_not_count(kind, word, seed):
    rng = np.random.default_rng(seed)
    table, most_probable = random_table(rng, len(LABELS)), random_table(rng, len(LABELS))
    states = range(len(most_probable))
    shown = tuple((s, t) for s in states for t in (*states, ACCEPTED) if s != t and rng.random() < 0.5)
    found = read_word(conjoin(table, Constraint(kind, changes=shown), LABELS, most_probable), np.array(word, np.int32))
    own, followed, expected = 0, 0, 0  # states of the table and of the most probable automaton
    for step, label in enumerate(word, start=1):
        if followed >= 0:
            after = int(most_probable[followed, label])
            if after in (followed, DEAD) or (followed, after) in shown:
                followed = after
            elif kind == "fatal":
                break
        is_free, after = kind == "fatal" or followed < 0, int(table[own, label])
        if after == DEAD:
            break
        if after == ACCEPTED and is_free:
            expected = step
            break
        own = own if after == ACCEPTED else after
    assert found == expected


@given(word=words, seed=st.integers(0, 10**6))
def test_sequences_of_events_that_nobody_has_shown_are_fatal(word, seed):
    rng = np.random.default_rng(seed)
    table, most_probable = random_table(rng, len(LABELS)), random_table(rng, len(LABELS))

    def states_of(labels):
        """The states of the most probable automaton after its first, one after the other, until it ends."""
        state, states = 0, []
        for label in labels:
            if state >= 0 and (after := int(most_probable[state, label])) != state:
                state = after
                states.append(state)
        return states

    walks = [states_of(rng.integers(len(LABELS), size=8)) for _ in range(3)]
    shown = tuple({tuple(walk) for walk in walks if walk and walk[-1] != DEAD})
    assume(shown)
    constraint = Constraint("sequence", changes=shown)
    found = read_word(conjoin(table, constraint, LABELS, most_probable), np.array(word, np.int32))
    end = read_word(table, np.array(word, np.int32))
    begun = {walk[:k] for walk in shown for k in range(len(walk) + 1)}
    walked = [states_of(word[:step]) for step in range(1, (end or len(word)) + 1)]
    is_kept = all(walk[-1:] == [DEAD] or tuple(walk) in begun for walk in walked)
    assert found == (end if is_kept else 0)


@given(word=words, seed=st.integers(0, 10**6), instead=st.sampled_from([(), ("b",), ("b", "c")]))
def test_what_is_needed_in_a_state_holds_before_the_state_is_left(word, seed, instead):
    rng = np.random.default_rng(seed)
    table, most_probable = random_table(rng, len(LABELS)), random_table(rng, len(LABELS))
    state, doing = int(rng.integers(len(most_probable))), {"a", *instead}
    constraint = Constraint("needed", "a", state=state, phase="there", instead=instead)
    found = read_word(conjoin(table, constraint, LABELS, most_probable), np.array(word, np.int32))
    own, followed, has_held, expected = 0, 0, False, 0
    for step, label in enumerate(word, start=1):
        if followed >= 0:
            has_held = followed == constraint.state and (has_held or bool(doing & LABELS[label]))
            if followed != constraint.state or has_held:
                followed = int(most_probable[followed, label])
                has_held = has_held and followed == constraint.state
        after = int(table[own, label])
        if after == DEAD:
            break
        if after == ACCEPTED and followed < 0:
            expected = step
            break
        own = own if after == ACCEPTED else after
    assert found == expected


@given(word=words, seed=st.integers(0, 10**6))
def test_tables_that_end_together_accept_where_both_do_at_one_label(word, seed):
    rng = np.random.default_rng(seed)
    one, other, word = random_table(rng, len(LABELS)), random_table(rng, len(LABELS)), np.array(word, np.int32)
    ends = {read_word(one, word), read_word(other, word)}
    assert read_word(ending_together(one, other), word) == (ends.pop() if len(ends) == 1 else 0)


@given(word=words, seed=st.integers(0, 10**6))
def test_an_intersection_accepts_when_both_have_accepted(word, seed):
    rng = np.random.default_rng(seed)
    one, other, word = random_table(rng, len(LABELS)), random_table(rng, len(LABELS)), np.array(word, np.int32)
    ends = [read_word(one, word), read_word(other, word)]
    # Neither may be lost before the other accepts.
    lost = [is_lost(table, word[: max(ends)]) for table in (one, other)]
    assert read_word(intersection(one, other), word) == (max(ends) if all(ends) and not any(lost) else 0)


@given(word=words, other=words, seed=st.integers(0, 10**6))
def test_a_table_that_prefers_a_word_accepts_all_others_one_label_later(word, other, seed):
    table = random_table(np.random.default_rng(seed), len(LABELS))
    end = read_word(table, np.array(word, np.int32))
    if end:
        preferring = preferring_word(table, np.array(word[:end], np.int32))
        for one in (word, [label for label in word for _ in range(2)], other):
            first = read_word(table, np.array(one, np.int32))
            is_word = [key for key, _ in groupby(one[:first])] == [key for key, _ in groupby(word[:end])]
            ended = np.array([*one[:first], 0] if first else one, np.int32)
            assert read_word(preferring, ended) == (first if is_word else first + 1 if first else 0)


def is_lost(table, word):
    state = 0
    for label in word:
        state = int(table[state, label])
        if state in (ACCEPTED, DEAD):
            return state == DEAD
    return False


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_a_compact_automaton_under_a_constraint_has_one_meaning_as_table_and_with_guards(constraint):
    automaton = CompactAutomaton(
        2,
        (CompactEdge(0, Guard(frozenset("a")), 1), CompactEdge(1, Guard(frozenset("b")), ACCEPTED)),
        (constraint,),
    )
    table, guarded, rng = automaton.to_table(LABELS), automaton.to_guarded(), np.random.default_rng(1)
    for _ in range(200):
        word = rng.integers(len(LABELS), size=8).astype(np.int32)
        assert read_word(table, word) == (guarded.fulfilled_at([LABELS[i] for i in word]) or 0)
