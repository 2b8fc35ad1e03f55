"""Laws of task models and their files."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles_automata import fulfils_rule, without_repeats
from strategies_automata import words

from wfairl.core.automata.finite import TooManyStatesError
from wfairl.core.automata.rules import all_of, visit_all, visit_in_order
from wfairl.core.automata.rules import avoid as avoid_all
from wfairl.core.automata.task_model import TASK_MODEL_FORM, BrokenTaskModelError, TaskModel
from wfairl.core.demonstrations.learners import Reading
from wfairl.core.spectral.task_learner import SpectralTaskLearner
from wfairl.core.support.documents import canonical
from wfairl.core.support.errors import BadInputError

NOTHING, KEY = frozenset(), frozenset({"key"})
KEY_DOOR, ALL = frozenset({"key", "door"}), frozenset({"key", "door", "goal"})
DOORKEY = (NOTHING, KEY, KEY_DOOR, ALL)


@pytest.fixture(scope="module")
def doorkey():
    failures = [(NOTHING,), (NOTHING, KEY), (NOTHING, KEY, NOTHING)]
    return SpectralTaskLearner().fit([DOORKEY] * 32 + failures * 40, [1.0] * 32 + [0.0] * 120).model


def test_the_dominant_word_of_doorkey_becomes_a_chain_of_five_states(doorkey):
    assert (doorkey.summary.rank, doorkey.summary.rows, doorkey.summary.cols) == (5, 4, 4)
    assert doorkey.summary.loss < 1e-12
    assert doorkey.summary.states == doorkey.finite.states == 5
    assert doorkey.summary.closed
    assert (doorkey.summary.words, doorkey.summary.successes) == (152, 32)


def test_edges_count_the_successes_that_took_them(doorkey):
    assert doorkey.edge_counts == dict.fromkeys(enumerate(DOORKEY), 32)


@given(st.lists(st.tuples(words, st.sampled_from([0.0, 1.0])), min_size=1, max_size=8))
@settings(max_examples=40)
def test_the_loss_is_that_of_the_best_function_of_compressed_words(scored):
    by_word = {}
    for word, score in scored:
        by_word.setdefault(without_repeats(word), []).append(score)
    if not any(score for _, score in scored) or max(np.mean(s) for s in by_word.values()) < 0.5:
        return
    model = SpectralTaskLearner().fit([word for word, _ in scored], [score for _, score in scored]).model
    best = sum(np.var(scores) * len(scores) for scores in by_word.values()) / len(scored)
    assert model.summary.loss == pytest.approx(best, abs=1e-12)


rules = st.tuples(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True), st.sets(st.just("d"), max_size=1)
)


@given(rules, st.lists(words, max_size=8))
@settings(max_examples=40)
def test_the_task_of_an_automaton_accepts_what_that_accepts(rule, seen):
    visit, avoided = rule
    automaton = all_of(visit_in_order(*visit), *map(avoid_all, avoided))
    truth = [fulfils_rule(word, visit, ()) and not any(label & avoided for label in word) for word in seen]
    model = TaskModel.of_automaton(automaton, "by hand", seen, [float(right) for right in truth])
    assert [verdict.accepted for verdict in model.judge_all(seen)] == truth
    assert model.values(seen) == [float(right) for right in truth]
    assert model.finite is automaton
    assert model.weighted is None
    assert (model.summary.loss, model.summary.closed, model.summary.successes) == (0, True, sum(truth))
    assert (model.summary.states, model.summary.rank) == (automaton.states, None)


def test_the_loss_of_an_automaton_is_the_mean_squared_error_on_the_words_shown():
    model = TaskModel.of_automaton(visit_in_order("key"), "by hand", [(KEY,), (NOTHING,), (KEY,)], [1.0, 0.5, 0.0])
    assert model.summary.loss == pytest.approx((0 + 0.25 + 1) / 3)
    assert model.edge_counts == {(0, KEY): 1}


def test_a_guarded_model_says_where_a_word_was_lost_and_what_it_waited_for():
    model = TaskModel.of_automaton(all_of(visit_in_order("key", "goal"), avoid_all("lava")), "by hand")
    assert model.alphabet == tuple(frozenset({name}) for name in ("goal", "key", "lava"))
    lava = frozenset({"lava"})
    early, lost = model.judge((KEY, NOTHING)), model.judge((NOTHING, KEY, lava, ALL))
    assert (early.accepted, early.lost_at) == (False, 2)
    assert (lost.accepted, lost.lost_at) == (False, 2)
    assert any("goal" in text for text in early.expected)


@given(rules, st.lists(words, max_size=6))
@settings(max_examples=20)
def test_a_saved_model_of_guards_is_the_same_model(tmp_path_factory, rule, seen):
    automaton = all_of(visit_all(*rule[0]), *map(avoid_all, rule[1]))
    model = TaskModel.of_automaton(automaton, "by hand", seen, [1.0] * len(seen))
    path = tmp_path_factory.mktemp("guards") / "task.json"
    model.save(path)
    again = TaskModel.load(path)
    assert (again.summary, again.edge_counts, again.record) == (model.summary, model.edge_counts, None)
    assert (again.learner, again.threshold, again.weighted) == ("by hand", 0.5, None)
    assert again.finite.edges == automaton.edges
    assert again.values(seen) == model.values(seen)


def test_a_model_of_another_version_is_refused_with_advice(doorkey, tmp_path):
    path = tmp_path / "task.json"
    doorkey.save(path)
    document = json.loads(path.read_text())
    for version in (document["version"] - 1, document["version"] + 1):
        path.write_text(json.dumps({**document, "version": version}))
        with pytest.raises(BrokenTaskModelError, match=f"version {version} of a task model.*learn-task"):
            TaskModel.load(path)


def test_a_saved_model_is_the_same_model(doorkey, tmp_path):
    doorkey.save(tmp_path / "task.json")
    again = TaskModel.load(tmp_path / "task.json")
    assert again.summary == doorkey.summary
    assert again.edge_counts == doorkey.edge_counts
    assert (again.finite.transitions == doorkey.finite.transitions).all()
    assert again.values([DOORKEY, DOORKEY[:2]]) == doorkey.values([DOORKEY, DOORKEY[:2]])


@pytest.mark.parametrize(
    ("word", "lost_at", "expected"),
    [
        (DOORKEY, None, ()),
        ((), 0, ("-",)),
        ((NOTHING, NOTHING, KEY), 3, ("door & key",)),
        ((NOTHING, NOTHING, KEY, KEY, NOTHING, KEY), 4, ("door & key",)),
        ((KEY,), 0, ("-",)),
        ((NOTHING, frozenset({"never seen"})), 1, ("key",)),
        ((*DOORKEY, NOTHING), 4, ()),
    ],
)
def test_a_rejected_word_is_lost_at_a_position_where_something_else_was_expected(doorkey, word, lost_at, expected):
    verdict = doorkey.judge(word)
    assert verdict.accepted == (lost_at is None)
    assert (verdict.lost_at, verdict.expected) == (lost_at, expected)


def test_a_word_that_failed_as_often_as_not_reaches_the_threshold_of_one_half():
    words = [DOORKEY, DOORKEY, (KEY, *DOORKEY), (KEY_DOOR, KEY), (KEY_DOOR, KEY)]
    model = SpectralTaskLearner().fit(words, [1.0, 0.0, 1.0, 0.0, 1.0]).model
    assert [verdict.accepted for verdict in model.judge_all(words)] == [True] * 5
    assert all(map(model.finite.accepts, words))


def test_repeats_can_mean_something():
    twice = (KEY, KEY)
    model = SpectralTaskLearner().fit([twice, (KEY,)], [1.0, 0.0], Reading(keep_repeats=True)).model
    assert [verdict.accepted for verdict in model.judge_all([twice, (KEY,), (KEY, KEY, KEY)])] == [True, False, False]


def test_a_model_that_does_not_close_still_scores(tmp_path):
    rng = np.random.default_rng(0)
    labels = [frozenset({f"s{i}"}) for i in range(5)]
    words = [tuple(labels[i] for i in rng.integers(5, size=rng.integers(1, 6))) for _ in range(60)]
    model = (
        SpectralTaskLearner(rank=6, rows=2, cols=2, max_states=50)
        .fit(words, [1.0] * 60, Reading(threshold=0.05, keep_repeats=True))
        .model
    )
    assert not model.summary.closed
    model.save(tmp_path / "task.json")
    model = TaskModel.load(tmp_path / "task.json")
    with pytest.raises(TooManyStatesError):
        _ = model.finite
    verdicts = model.judge_all(words)
    assert [verdict.accepted for verdict in verdicts] == [value >= 0.05 for value in model.values(words)]


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        (lambda text: text[: len(text) // 2], "line"),
        (lambda text: "[]", "not a task model"),
        (lambda text: '{"word": ["a"], "score": 1}', "not a task model"),
        (lambda text: text.replace('"version": 5', '"version": 99'), "version 99"),
        (lambda text: text.replace('"threshold"', '"treshold"'), "threshold"),
        (
            lambda text: text.replace('"threshold": 0.5', '"threshold": "high"'),
            "threshold: Input should be a valid number",
        ),
        (lambda text: text.replace('"keep_repeats": false', '"keep_repeats": 0'), "keep_repeats"),
        (lambda text: json.dumps(json.loads(text) | {"weighted": 3}), "weighted: Input should be an object"),
        (lambda text: json.dumps(json.loads(text) | {"automaton": 3}), "automaton: Input should be an object"),
        (lambda text: json.dumps(json.loads(text) | {"automaton": {"kind": "pushdown"}}), "no 'pushdown'"),
        (lambda text: json.dumps(json.loads(text) | {"automaton": None, "weighted": None}), "no automaton"),
        (lambda text: text.replace('"kind": "finite"', '"kind": "guarded"'), "edges: Field required"),
        (lambda text: json.dumps(json.loads(text) | {"summary": []}), "summary: Input should be an object"),
    ],
)
def test_a_cut_or_foreign_file_is_a_named_error(doorkey, tmp_path, break_it, reason):
    path = tmp_path / "task.json"
    doorkey.save(path)
    broken = break_it(path.read_text())
    with suppress(ValueError, AttributeError):  # with the right digest, so that the schema has to notice
        document = json.loads(broken)
        fields = {name: value for name, value in document.items() if name not in ("format", "version", "digest")}
        broken = json.dumps({**document, "digest": TASK_MODEL_FORM._digest(canonical(fields))})
    path.write_text(broken)
    with pytest.raises(BrokenTaskModelError, match=reason):
        TaskModel.load(path)


def test_a_changed_figure_is_noticed_and_a_changed_layout_is_not(doorkey, tmp_path):
    path = tmp_path / "task.json"
    doorkey.save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document, sort_keys=True))
    assert TaskModel.load(path).summary == doorkey.summary
    path.write_text(json.dumps({**document, "threshold": document["threshold"] + 0.125}))
    with pytest.raises(BrokenTaskModelError, match=r"task\.json: its contents do not match its digest"):
        TaskModel.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match="no such file"):
        TaskModel.load(tmp_path / "absent.json")
