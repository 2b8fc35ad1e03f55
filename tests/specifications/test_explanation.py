"""What is said of a word agrees with the automaton, and names what no demonstration showed."""

import pytest
from hypothesis import given, settings
from strategies_automata import guarded_automata, words

from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.rules import all_of, avoid, visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.learners import Reading, find_learner
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task
from wfairl.specifications.explanation import explain_word

NOTHING, KEY, DOOR = frozenset(), frozenset({"key"}), frozenset({"door"})
RULE = TaskModel.of_automaton(all_of(visit_in_order("key", "door"), avoid("lava")), "rule")


@given(guarded_automata(propositions="abcd"), words)
@settings(max_examples=100)
def test_an_explanation_follows_the_automaton(automaton, word):
    explanation = explain_word(TaskModel.of_automaton(automaton, "rule"), word)
    path = automaton.run(word)
    read = path.index(DEAD) if DEAD in path else len(word)
    assert explanation.accepted == automaton.accepts(word)
    assert [one.after for one in explanation.labels] == path[1 : read + 1]
    assert ("is accepted" in explanation.conclusion) == explanation.accepted
    if DEAD in path:
        assert f"lost at label {read}" in explanation.conclusion


def test_sentences_say_what_is_wanted_what_was_lost_and_why():
    said = " ".join(explain_word(RULE, (NOTHING, KEY, frozenset({"lava"}))).sentences)
    assert "Label 1, '-', changes nothing: at the beginning the task waits for 'door & key' or 'key'" in said
    assert "Label 2, 'key', leads on: now the task waits for 'door'" in said
    assert "loses the task after key: 'lava' is forbidden there" in said
    assert explain_word(RULE, (KEY,)).conclusion.endswith("after key it lacks 'door'.")


def test_a_learned_table_says_how_many_words_went_this_way_and_which_labels_it_never_saw():
    model = SpectralTaskLearner().fit([(NOTHING, KEY, DOOR)] * 3 + [(NOTHING, DOOR)], [1.0] * 3 + [0.0]).model
    said = [one.sentence for one in explain_word(model, (NOTHING, KEY, frozenset({"zebra"}))).labels]
    assert "3 of 3 successful words did so" in said[1]
    assert "no word that it was learned from has this label" in said[2]
    assert "no accepted word goes on like this; 'key' was expected" in explain_word(model, (NOTHING, DOOR)).sentences[1]


def test_propositions_that_a_model_does_not_know_are_named_first():
    word = (NOTHING, KEY, frozenset({"door", "foo"}))
    explanation = explain_word(RULE, word)
    assert explanation.accepted
    assert explanation.sentences[0] == (
        "The task model does not know 'foo' (it knows 'door', 'key', 'lava'), and ignores it."
    )
    table = explain_word(SpectralTaskLearner().fit([(NOTHING, KEY, DOOR)], [1.0]).model, word)
    assert not table.accepted
    assert table.sentences[0].endswith("does not know 'foo' (it knows 'door', 'key'), and rejects a word with it.")
    assert explain_word(RULE, (KEY, DOOR)).unknown.names == ()


def test_a_rule_in_sentences_is_explained_as_it_judges():
    cases = [["order", *middle, "ship"] for middle in (["pack", "bill"], ["bill", "pack"])] * 100
    model = find_learner("declare").fit(cases, [1.0] * len(cases), Reading(keep_repeats=True)).model
    for word in (["order", "pack", "bill", "moon", "ship"], ["order", "bill", "ship"], ["moon", *cases[0]], []):
        explanation, verdict = explain_word(model, word), model.judge(word)
        rejected = f"The word is rejected, as it breaks: {'; '.join(verdict.broken)}."
        assert explanation.conclusion == ("The word is accepted." if verdict.accepted else rejected)
        lost = [one for one in explanation.labels if one.after == DEAD]
        assert not (lost and verdict.accepted)
    assert "judges a word with it by its sentences alone" in explain_word(model, ["moon"]).sentences[0]


@pytest.fixture(scope="module")
def learned():
    task = find_task("random-office-coffee")
    return find_learner("rational").learn(collect(task, successes=4, failures=0, temperature=0.0, seed=0), task)


def test_what_was_never_tested_by_a_demonstration_is_said(learned):
    state, labels = next(iter(posterior_of(learned).untested_labels().items()))
    assert state == 0
    for label in labels:
        first = explain_word(learned, (label,)).labels[0]
        assert first.is_untested
        assert "never tested by a demonstration" in first.sentence
    assert not explain_word(learned, (NOTHING,)).labels[0].is_untested


def test_a_model_knows_the_propositions_of_the_scenes_that_its_rule_does_not_mention(learned):
    in_scenes = {proposition for label in learned.labels_seen for proposition in label}
    assert set(learned.finite.propositions) < in_scenes
    assert explain_word(learned, tuple(frozenset({one}) for one in in_scenes)).unknown.names == ()
