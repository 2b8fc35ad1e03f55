"""All learners of words keep one contract."""

import subprocess
import sys

import numpy as np
import pytest
from oracles_automata import without_repeats
from oracles_constraints import keeps

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import BadWordsError
from wfairl.core.demonstrations.learners import LEARNERS, Reading, WordLearner, find_learner
from wfairl.core.support.errors import BadInputError
from wfairl.events.held_out import hold_out
from wfairl.events.merging import MergingLearner

OF_WORDS = [name for name, learner in LEARNERS.items() if isinstance(learner, WordLearner)]
EVENTS = ("order", "pay", "ship", "note", "call")


def draw_log(count, seed=0):
    """Logs of which the good ones ship, and only after pay."""
    rng = np.random.default_rng(seed)
    words = [tuple(frozenset({EVENTS[i]}) for i in rng.integers(5, size=rng.integers(1, 7))) for _ in range(count)]
    scores = [float(keeps("precedence", ("pay", "ship"), w) and keeps("existence", ("ship",), w)) for w in words]
    return words, scores


@pytest.mark.parametrize("name", OF_WORDS)
def test_every_learner_gives_a_model_that_is_saved_and_read_again(name, tmp_path):
    words, scores = draw_log(120)
    task = find_learner(name).fit(words, scores)
    task.model.save(tmp_path / "task.json")
    again = TaskModel.load(tmp_path / "task.json")
    assert again.values(words) == pytest.approx(task.model.values(words))
    assert (again.learner, again.sentences) == (task.model.learner, task.model.sentences)
    right = [(value >= 0.5) == (score >= 0.5) for value, score in zip(again.values(words), scores, strict=True)]
    assert np.mean(right) > 0.9
    assert again.summary.words == 120


def test_the_shortest_description_is_the_rule_in_words():
    words, scores = draw_log(300)
    task = find_learner("shortest").fit(words, scores)
    assert set(task.model.sentences) == {"ship happens", "ship only after pay"}
    assert task.model.finite.states == 3
    assert not task.memorised
    found = hold_out(find_learner("declare"), words, scores, np.random.default_rng(0))
    assert (found.accuracy, found.words) == (1, 60)
    assert 0.5 <= found.base_rate < 1


def test_where_there_is_no_rule_what_was_shown_is_kept():
    words, _ = draw_log(8)
    scores = [1.0, 0, 1, 0, 1, 0, 0, 0]
    task = find_learner("shortest").fit(words, scores)
    assert task.memorised
    assert task.model.learner == "spectral"
    assert hold_out(find_learner("shortest"), words, scores, np.random.default_rng(0)) is None


def test_many_words_without_a_rule_are_not_memorised():
    """Words that come again, whose outcomes are chance: the constant answer is best."""
    rng = np.random.default_rng(0)
    words = [tuple(frozenset({EVENTS[i]}) for i in rng.integers(3, size=3)) for _ in range(400)]
    task = find_learner("shortest").fit(
        words, (rng.random(400) < 0.7).astype(float).tolist(), Reading(keep_repeats=True)
    )
    assert task.trivial
    assert not task.memorised
    assert all(task.model.predict(words))


def test_a_log_of_successes_alone_has_a_rule_too():
    words, scores = draw_log(1_000)
    good = [word for word, score in zip(words, scores, strict=True) if score]
    task = find_learner("shortest").fit(good, [1.0] * len(good), Reading(keep_repeats=True))
    assert {"ship happens", "ship only after pay"} <= set(task.model.sentences)


@pytest.mark.parametrize("keep_repeats", [True, False])
def test_repeats_are_read_as_they_were_learned(keep_repeats):
    """Words with an even number of notes: where repeats count once, so they do in the model."""
    rng = np.random.default_rng(0)
    words = [tuple(frozenset({"ab"[i]}) for i in rng.integers(2, size=rng.integers(0, 9))) for _ in range(400)]

    def even(word):
        return sum("a" in label for label in (word if keep_repeats else without_repeats(word))) % 2 == 0

    task = MergingLearner().fit(words, [float(even(word)) for word in words], Reading(keep_repeats=keep_repeats))
    new = [tuple(frozenset({"ab"[i]}) for i in rng.integers(2, size=8)) for _ in range(50)]
    assert [verdict.accepted for verdict in task.model.judge_all(new)] == [even(word) for word in new]
    assert [task.model.finite.accepts(word) for word in new] == [even(word) for word in new]


@pytest.mark.parametrize("name", OF_WORDS)
def test_words_that_cannot_be_learned_are_named(name):
    with pytest.raises(BadWordsError):
        find_learner(name).fit([], [])
    with pytest.raises(BadWordsError):
        find_learner(name).fit([(frozenset("a"),)], [0.0])
    with pytest.raises(BadWordsError):
        find_learner(name).fit([(frozenset("a"),)], [1.0, 1.0])


def test_an_unknown_learner_is_named():
    with pytest.raises(BadInputError, match="unknown learner 'best'; known are rational, spectral, shortest, declare"):
        find_learner("best")


def test_learning_from_words_on_the_command_line_loads_nothing_of_costs_training_and_searches_in_worlds(tmp_path):
    (tmp_path / "log.csv").write_text("case,event\n" + "".join(f"{i},order\n{i},pay\n" for i in range(20)))
    code = (
        "import sys; from wfairl.cli import main; sys.argv = ['wfairl', 'learn-task', 'log.csv']\n"
        "try: main()\nfinally: print(*sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    loaded = ended.stdout.split()
    assert "wfairl.events.declare" in loaded, ended.stderr
    rooms = ("wfairl.core.costs.", "wfairl.runs.", "wfairl.core.rational.search", "wfairl.core.rational.evidence")
    of_tasks = {f"wfairl.runs.{one}" for one in ("data_sets", "task_registry", "task_laws")}
    assert not [name for name in loaded if name.startswith(rooms) and name not in of_tasks]
