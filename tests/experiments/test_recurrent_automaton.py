"""Laws of the automaton that is read off a recurrent network."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from oracles_automata import without_repeats

from experiments.baselines.recurrent import RecurrentLearner
from experiments.baselines.recurrent_automaton import approximate_automaton, fit_recurrent_task, likely_words
from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.finite import NoAcceptedWordError, TooManyStatesError
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations.learners import Reading

A, B, C = (frozenset({name}) for name in "abc")
NOTHING, KEY = frozenset(), frozenset({"key"})
KEY_DOOR, ALL = frozenset({"key", "door"}), frozenset({"key", "door", "goal"})
DOORKEY = (NOTHING, KEY, KEY_DOOR, ALL)


def words_up_to(length, labels):
    return [word for k in range(length + 1) for word in product(labels, repeat=k)]


def barely_trained(seed, **reading):
    """A network that answers by no rule that we know of."""
    words = words_up_to(3, (A, B, C))
    scores = np.random.default_rng(seed).integers(2, size=len(words)).astype(float)
    network = RecurrentLearner(hidden=8, embedding=4, max_epochs=60, held_out=0, seed=seed).fit(words, scores)
    return replace(network, **reading)


@pytest.mark.parametrize("keep_repeats", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_network_and_automaton_agree_on_all_words_that_are_compared(seed, keep_repeats):
    network = barely_trained(seed, keep_repeats=keep_repeats)
    words = words_up_to(5, (A, B, C))
    finite, exact = approximate_automaton(network, words)
    assert exact
    read = words if keep_repeats else [without_repeats(word) for word in words]
    assert [finite.accepts(word) for word in words] == (network.values(read) >= 0.5).tolist()


def test_the_automaton_of_a_learned_language_is_the_smallest_one():
    """Words that end in b after some a: no a yet, an a and no b since, a b since."""
    words = words_up_to(6, (A, B))
    scores = [float(A in word and word[-1] == B) for word in words]
    network = RecurrentLearner(hidden=16, embedding=8, held_out=0).fit(words, scores)
    finite, exact = approximate_automaton(replace(network, keep_repeats=True), words)
    assert (finite.states, exact) == (3, True)
    assert [finite.accepts(word) for word in words] == np.array(scores, bool).tolist()


def test_every_state_reaches_acceptance_and_labels_never_seen_are_dead():
    finite, _ = approximate_automaton(barely_trained(0), words_up_to(3, (A, B, C)))
    live = set(np.flatnonzero(finite.accepting).tolist())
    for _ in range(finite.states):
        live |= {source for source, _, target in finite.edges() if target in live}
    assert live == set(range(finite.states))
    assert finite.run((frozenset({"never seen"}),))[-1] == DEAD


def test_reading_the_last_label_again_changes_nothing():
    finite, _ = approximate_automaton(barely_trained(1), words_up_to(4, (A, B, C)))
    for word in words_up_to(4, (A, B, C)):
        assert finite.accepts(tuple(label for label in word for _ in range(2))) == finite.accepts(word)


def test_too_many_states_and_no_accepted_word_are_named():
    with pytest.raises(TooManyStatesError, match="more than 1 states"):
        approximate_automaton(barely_trained(0), words_up_to(4, (A, B, C)), max_states=1)
    with pytest.raises(NoAcceptedWordError):
        approximate_automaton(barely_trained(0, threshold=2.0), words_up_to(2, (A, B, C)))


def test_a_task_of_the_empty_word_alone_can_be_learned():
    learned = fit_recurrent_task([(), ()], [1.0, 1.0])
    assert learned.model.judge(()).accepted
    assert not learned.model.judge((A,)).accepted


def test_likely_words_hold_only_successions_that_were_seen():
    given = [(0, 1, 2), (0, 2)]
    likely = likely_words(given, np.random.default_rng(0))
    assert set(likely) == {(), (0,), (0, 1), (0, 2), (0, 1, 2)}
    assert likely_words([], np.random.default_rng(0))[0] == ()


@pytest.fixture(scope="module")
def doorkey():
    failures = [(NOTHING,), (NOTHING, KEY), (NOTHING, KEY, NOTHING)]
    words = [tuple(label for label in DOORKEY for _ in range(2))] * 8 + failures * 4
    return words, fit_recurrent_task(words, [1.0] * 8 + [0.0] * 12, Reading(optional_start=True))


def test_the_task_model_judges_as_the_network_does(doorkey):
    _, learned = doorkey
    assert (learned.agreement, learned.model.summary.loss) == (1, 0)
    assert (learned.model.summary.words, learned.model.summary.successes) == (20, 8)
    assert learned.model.judge(DOORKEY).accepted
    assert learned.model.judge(DOORKEY[1:]).accepted  # the empty label at the beginning is optional
    assert not any(learned.model.judge(DOORKEY[:k]).accepted for k in range(4))
    assert not learned.model.judge((*DOORKEY[:3], frozenset({"never seen"}), ALL)).accepted


def test_a_saved_model_is_the_same_model(doorkey, tmp_path):
    words, learned = doorkey
    learned.model.save(tmp_path / "task.json")
    again = TaskModel.load(tmp_path / "task.json")
    assert again.summary == learned.model.summary
    assert again.edge_counts == learned.model.edge_counts
    assert (again.finite.transitions == learned.model.finite.transitions).all()
    assert again.values(words) == learned.model.values(words)


def test_the_same_seed_gives_the_same_automaton(doorkey):
    words, learned = doorkey
    again = fit_recurrent_task(words, [1.0] * 8 + [0.0] * 12, Reading(optional_start=True))
    assert (again.model.finite.transitions == learned.model.finite.transitions).all()
