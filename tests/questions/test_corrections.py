"""Corrections: what obeys accepts what the automaton accepts and the law allows; counterexamples break it."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posteriors import certain_support, model_with, posterior_over

from wfairl.core.automata.automaton import ACCEPTED, Guard
from wfairl.core.automata.guarded import GuardedAutomaton
from wfairl.core.automata.minimisation import to_table
from wfairl.core.automata.rules import visit_all, visit_in_order
from wfairl.core.demonstrations import Dataset
from wfairl.core.demonstrations.learners import find_learner
from wfairl.core.planning.path import follow
from wfairl.core.rational.constraints import Constraint, Doubt, conjoin
from wfairl.core.rational.tables import read_word
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.questions.corrections import (
    BadCorrectionError,
    HoldsBefore,
    NeverHolds,
    NoEdge,
    correction_of_document,
    counterexamples,
    enforce_laws,
    obeys,
    under_laws,
    weigh_correction,
    without_edge,
)
from wfairl.questions.hypotheses import (
    difference,
    explore_scenes,
    hypotheses_of,
)
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task

NAMES = ("a", "b", "c")
LABELS = [frozenset(some) for size in range(len(NAMES) + 1) for some in combinations(NAMES, size)]
WORDS = [word for length in range(1, 4) for word in product(LABELS, repeat=length)]
NOTHING = Dataset("errand", ())

laws = st.one_of(
    st.sampled_from(NAMES).map(NeverHolds),
    st.permutations(NAMES).map(lambda names: HoldsBefore(names[0], names[1])),
)


def learned(automaton):
    """A model as a rational learner gives it."""
    return model_with(posterior_over(automaton))


def keeps(word, law):
    if isinstance(law, NeverHolds):
        return all(law.proposition not in label for label in word)
    held = False
    for label in word:
        held = held or law.first in label
        if law.second in label and not held:
            return False
    return True


def fulfils(automaton, word):
    """The part of a word after which the task is done; what follows does not count."""
    end = automaton.fulfilled_at(word)
    return None if end is None else word[:end]


@given(
    st.sampled_from([visit_in_order("a", "b"), visit_all("a", "b"), visit_in_order("c")]), st.lists(laws, max_size=2)
)
def test_what_obeys_accepts_what_was_accepted_and_the_laws_allow(automaton, some):
    try:
        model = enforce_laws(learned(automaton), some, NOTHING)
    except BadCorrectionError:
        assert not any((done := fulfils(automaton, word)) and all(keeps(done, law) for law in some) for word in WORDS)
        return
    for word in WORDS:
        done = fulfils(automaton, word)
        wanted = done is not None and all(keeps(done, law) for law in some)
        assert (fulfils(model.finite, word) is not None) == wanted, (word, model.sentences)
    if some:
        assert [correction_of_document(one) for one in posterior_of(model).laws] == list(some)
        assert model.finite.accepting.tolist() == [False] * (model.finite.states - 1) + [True]


def test_an_edge_that_is_taken_out_changes_nothing_any_more():
    automaton = visit_all("a", "b")
    law = NoEdge((frozenset({"a"}),), Guard(frozenset({"b"})))
    model = enforce_laws(learned(automaton), [NoEdge((), Guard(frozenset({"a"})))], NOTHING)
    assert not model.finite.accepts([frozenset({"a"}), frozenset({"b"})])
    assert model.finite.accepts([frozenset({"b"}), frozenset({"a"})])
    assert enforce_laws(learned(automaton), [law], NOTHING).finite.accepts([frozenset({"b"}), frozenset({"a"})])
    with pytest.raises(BadCorrectionError, match="nothing could fulfil"):
        enforce_laws(learned(visit_in_order("a")), [NoEdge((), Guard(frozenset({"a"})))], NOTHING)


@given(laws)
def test_corrections_are_read_back_from_their_documents(law):
    assert correction_of_document(law.to_document()) == law
    edge = NoEdge((frozenset({"a"}), frozenset()), Guard(frozenset({"b"}), frozenset({"c"})))
    assert correction_of_document(edge.to_document()) == edge


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"kind": "never"}, {"kind": "never", "proposition": 3}, {"kind": "exec", "proposition": "a"},
     {"kind": "before", "first": "a", "second": "a"},
     {"kind": "no edge", "word": 3, "guard": {"true": [], "false": []}}],
)  # fmt: skip
def test_what_is_no_correction_is_refused(document):
    with pytest.raises(BadCorrectionError):
        correction_of_document(document)


@pytest.fixture(scope="module")
def errand():
    task = find_task("errand")
    dataset = collect(task, 3, 0, 0.0, 0, n_jobs=1)
    return task, dataset, find_learner("rational").learn(dataset, task, n_jobs=1)


def test_counterexamples_are_accepted_by_the_model_and_break_the_correction(errand):
    task, dataset, model = errand
    scenes = explore_scenes(range(100, 106), dataset, task, n_jobs=1)
    for correction in (NeverHolds("corner"), HoldsBefore("goal", "corner")):
        found = counterexamples(correction, model, scenes, np.random.default_rng(0))
        assert len({one.seed for one in found}) == len(found) == 3
        for one in found:
            assert not one.is_right
            assert model.finite.accepts(one.labels)
            assert not keeps(one.labels, correction)
            assert follow(task.make_world(one.seed), one.controls).labels == one.labels
    assert counterexamples(HoldsBefore("corner", "goal"), model, scenes, np.random.default_rng(0)) == ()


def test_evidence_lowers_the_share_of_automata_that_contradict_it(errand):
    task, dataset, _ = errand
    dataset = replace(dataset, demonstrations=dataset.demonstrations[:1])
    model = find_learner("rational").learn(dataset, task, n_jobs=1)
    scenes = explore_scenes(range(100, 106), dataset, task, n_jobs=1)
    answers = counterexamples(NeverHolds("corner"), model, scenes, np.random.default_rng(0))
    again = find_learner("rational").learn(replace(dataset, answers=answers), task, n_jobs=1)

    def share(of):
        labels = scenes.labels
        words = [np.array([labels.index(one) for one in answer.labels], np.int32) for answer in answers]
        hypotheses = hypotheses_of(posterior_of(of), labels)
        return sum(one.weight for one in hypotheses if any(map(one.accepts, words)))

    assert 0 < share(again) <= share(model) + 1e-9
    assert posterior_of(again).log_posterior < posterior_of(model).log_posterior


@given(st.permutations(NAMES), st.sampled_from([visit_in_order, visit_all]))
def test_the_difference_accepts_what_one_accepts_and_the_other_does_not(names, rule):
    one, other = (under_laws(rule(*names[:2]), laws).to_guarded() for laws in ([], [NeverHolds(names[2])]))
    for left, right in ((one, other), (other, one)):
        table = difference(to_table(left, LABELS), to_table(right, LABELS))
        for word in WORDS:
            done = fulfils(left, word)
            wanted = done is not None and fulfils(right, done) is None
            indices = np.array([LABELS.index(label) for label in word], np.int32)
            assert (read_word(table, indices) > 0) == wanted, word


def test_a_step_that_the_task_cannot_do_without_is_left_out():
    law = NoEdge((), Guard(frozenset({"a"})))
    assert enforce_laws(learned(visit_in_order("a", "b")), [law], NOTHING).sentences == ("b",)
    later = NoEdge((frozenset({"a"}),), Guard(frozenset({"b"})))
    model = enforce_laws(learned(visit_in_order("a", "b", "c")), [later], NOTHING)
    single = [frozenset({name}) for name in NAMES]  # where propositions come one at a time
    for word in (word for length in range(1, 4) for word in product(single, repeat=length)):
        assert (fulfils(model.finite, word) is None) == (fulfils(visit_in_order("a", "c"), word) is None)


def test_a_correction_counts_for_all_that_was_shown_before_it_and_yields_to_what_is_shown_later(errand):
    task, dataset, model = errand
    scenes, rng = range(100, 106), np.random.default_rng(0)
    answers = weigh_correction(without_edge(model, 0, "corner"), model, dataset, task, scenes, rng)
    assert {one.is_right for one in answers} == {True}  # going to the goal at once would have been right
    assert not any("corner" in label for one in answers for label in one.labels)
    more = collect(task, 9, 0, 0.0, 0, n_jobs=1).demonstrations[3:]

    def again(later):
        shown = replace(dataset, demonstrations=(*dataset.demonstrations, *more[:later]), answers=answers)
        return find_learner("rational").learn(shown, task, n_jobs=1).sentence

    assert again(0) == "goal"
    assert again(6) == "corner, then goal"
    light = tuple(replace(one, weight=1.0) for one in answers)
    unweighted = find_learner("rational").learn(replace(dataset, answers=light), task, n_jobs=1)
    assert unweighted.sentences == model.sentences  # that is why they are weighed


def test_a_correction_that_every_demonstration_breaks_is_refused_as_evidence(errand):
    task, dataset, model = errand
    with pytest.raises(BadCorrectionError, match="explains the demonstrations"):
        weigh_correction(NeverHolds("corner"), model, dataset, task, range(100, 106), np.random.default_rng(0))
    with pytest.raises(BadCorrectionError, match="obeys already"):
        weigh_correction(HoldsBefore("corner", "goal"), model, dataset, task, range(100, 106), np.random.default_rng(0))


def test_an_edge_that_is_not_there_cannot_be_taken_out(errand):
    _, dataset, model = errand
    edge = without_edge(model, 1, "goal")
    assert model.finite.run(edge.word)[-1] == 1
    with pytest.raises(BadCorrectionError, match="nothing could fulfil"):
        enforce_laws(model, [edge], dataset)
    for source, text in ((0, "goal"), (7, "corner"), (-1, "corner")):
        with pytest.raises(BadCorrectionError, match="no such edge"):
            without_edge(model, source, text)


def test_doubts_about_states_are_carried_over_to_what_obeys():
    doubts = tuple(Doubt(Constraint("never", "c", state=i, phase=f"phase {i}"), 0.1) for i in range(2))
    rule = visit_in_order("a", "b")
    model = model_with(posterior_over((rule, 1.0), support=certain_support(rule, tuple(LABELS)), doubts=doubts))
    for law in (NeverHolds("c"), HoldsBefore("c", "b"), HoldsBefore("a", "b"), NeverHolds("d")):
        under = enforce_laws(model, [law], NOTHING)
        chosen = posterior_of(under).chosen.automaton
        phases = {state: set() for state in range(chosen.states - 1)}
        for one in posterior_of(under).doubts:
            phases[one.constraint.state].add(one.constraint.phase)
        for word in WORDS:
            before, after = rule.run(word)[-1], chosen.run(word)[-1]
            if min(before, after) >= 0 and not (rule.accepting[before] or chosen.accepting[after]):
                assert phases[after] == {f"phase {before}"}


def test_no_edge_says_what_another_one_says():
    both = (NeverHolds("c"), HoldsBefore("a", "b"))
    under = posterior_of(enforce_laws(learned(visit_in_order("a", "b")), both, NOTHING)).chosen.automaton
    for state, row in enumerate(under.edges):
        for edge in row:
            shorter = tuple(one for one in row if one is not edge)
            without = GuardedAutomaton((*under.edges[:state], shorter, *under.edges[state + 1 :]), under.accepting)
            assert not np.array_equal(to_table(without, LABELS), to_table(under, LABELS)), (state, edge)


def test_whether_a_law_is_obeyed():
    rule = visit_in_order("a", "b")
    free = model_with(posterior_over((rule, 1.0), support=certain_support(rule, tuple(LABELS))))
    model = enforce_laws(free, [NeverHolds("c")], NOTHING)
    assert [obeys(one, NeverHolds("c")) for one in (model, free)] == [True, False]
    assert not obeys(enforce_laws(model, [without_edge(model, 0, "c")], NOTHING), NeverHolds("c"))


def test_orders_that_were_shown_are_the_same_under_a_law():
    rule = visit_all("a", "b")  # and only "a, then b" was shown
    after_a = rule.read(0, frozenset({"a"}))
    doubt = Doubt(Constraint("fatal", changes=((0, after_a), (after_a, ACCEPTED))), 0.1)
    model = model_with(posterior_over((rule, 1.0), support=certain_support(rule, tuple(LABELS)), doubts=(doubt,)))
    for law in (NeverHolds("c"), HoldsBefore("c", "b"), NeverHolds("d")):
        under = posterior_of(enforce_laws(model, [law], NOTHING))
        table = to_table(under.chosen.automaton, LABELS)
        restricted = conjoin(table, under.doubts[0].constraint, tuple(LABELS), table)
        for word in WORDS:
            numbers = np.array([LABELS.index(label) for label in word], np.int32)
            end, first = read_word(table, numbers), next((label for label in word if label & {"a", "b"}), None)
            expected = end if first is not None and "b" not in first else 0
            assert read_word(restricted, numbers) == expected, (law, word)


def test_support_is_carried_over_to_what_obeys(errand):
    _, dataset, model = errand
    under = enforce_laws(model, [HoldsBefore("corner", "goal")], dataset)
    support = posterior_of(under).support
    goal = support.labels.index(frozenset({"goal"}))
    assert len(support.is_untested) == under.finite.states - 1
    assert not support.is_untested[:, goal].any()  # it is forbidden first, and then read by all
    assert isinstance(under.finite, GuardedAutomaton)
    assert all(under.finite.accepts(one.labels) for one in dataset)
