from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posteriors import posterior_over

from wfairl.core.automata.words import compress
from wfairl.core.demonstrations.demonstration import merge
from wfairl.core.rational.constraints import Constraint, Doubt
from wfairl.core.rational.rational_learner import RationalLearner
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.task_posterior import posterior_of
from wfairl.core.support.errors import BadInputError
from wfairl.questions.hypotheses import (
    explore_scenes,
    hypotheses_of,
)
from wfairl.questions.question import (
    LEAST_INFORMATION,
    TIE_NATS,
    NothingToAskError,
    add_answer,
    expected_information,
    find_question,
)
from wfairl.questions.scene_proposal import propose_scene, scene_log_likelihood
from wfairl.runs.collection import collect
from wfairl.runs.data_sets import load, save
from wfairl.runs.task_registry import find_task

TASK = find_task("random-office-mail")
SCENES = range(11_900_000, 11_900_012)
TRUTH = "any -n-> dead, 0 -e-> 1, 1 -g-> done"


@pytest.fixture(scope="module")
def dataset():
    """Four demonstrations that do not tell whether decorations matter."""
    return collect(TASK, 4, 0, 0.5, seed=10, n_jobs=1)


def learn(dataset):
    return RationalLearner().learn(dataset, TASK, n_jobs=1)


def ask(model, dataset, seeds=SCENES):
    return find_question(model, dataset, TASK, seeds, np.random.default_rng(0), n_jobs=1)


def is_right(question):
    return TASK.rule.fulfilled_at(question.labels) is not None


@pytest.fixture(scope="module")
def model(dataset):
    return learn(dataset)


@pytest.fixture(scope="module")
def question(model, dataset):
    return ask(model, dataset)


@pytest.fixture(scope="module")
def answered(dataset, question):
    told = add_answer(dataset, question, is_right(question))
    return told, learn(told)


def weight_of_truth(model):
    return sum(one.weight for one in posterior_of(model).alternatives if one.text == TRUTH)


def brute_information(weights, accepts, error):
    """Mutual information of hypothesis and answer, summed over their joint distribution."""
    joint = np.array(
        [
            [w * (1 - error if yes == a else error) for a in (True, False)]
            for w, yes in zip(weights, accepts, strict=True)
        ]
    )
    marginal = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return sum(p * np.log(p / q) for p, q in zip(joint.ravel(), marginal.ravel(), strict=True) if p > 0)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.booleans()), min_size=1, max_size=8), st.floats(0.001, 0.4))
def test_expected_information_is_the_mutual_information(opinions, error):
    weights = np.array([weight for weight, _ in opinions])
    weights, accepts = weights / weights.sum(), [yes for _, yes in opinions]
    p = float(weights @ accepts)
    assert expected_information(p, error) == pytest.approx(brute_information(weights, accepts, error), abs=1e-9)


def test_a_question_says_what_its_opinions_say(question):
    weights, accepts = zip(*((one.weight, one.accepts) for one in question.opinions), strict=True)
    assert sum(weights) == pytest.approx(1)
    assert question.information == pytest.approx(brute_information(weights, accepts, 0.02))


def test_a_question_is_a_path_in_its_scene_that_divides_the_probable_automata(question):
    world = TASK.make_world(question.seed)
    state = world.initial_state
    for control, label in zip(question.controls, question.labels, strict=True):
        after = world.step(state, control)
        assert world.label(state, control, after) == label
        state = after
    assert 0.1 < question.probability < 0.9


def test_more_scenes_never_make_the_question_worse(model, dataset, question):
    assert question.information >= ask(model, dataset, SCENES[:3]).information - TIE_NATS


def test_a_true_answer_never_lowers_the_weight_of_the_truth(model, answered):
    told, after = answered
    assert weight_of_truth(after) >= weight_of_truth(model) > 0
    again = ask(after, told)
    assert weight_of_truth(learn(add_answer(told, again, is_right(again)))) >= weight_of_truth(after)


def test_what_demonstrations_show_by_chance_or_not_is_among_the_hypotheses():
    """Somebody passes coffee and mail on the way to the office: either may be needed."""
    task = find_task("random-office-coffee-mail")
    model = RationalLearner().learn(collect(task, 1, 0, 0.5, seed=10, n_jobs=1), task, n_jobs=1)
    labels = tuple(frozenset(name) for name in ("", *task.propositions))
    hypotheses = hypotheses_of(posterior_of(model), labels)
    (chosen,) = (one for one in hypotheses if one.text == posterior_of(model).chosen.text)
    needed_too = [one for one in posterior_of(model).doubts if str(one.constraint).endswith("needed")]
    assert any(one.probability > 0.1 for one in needed_too)
    for doubt in needed_too:
        label = doubt.constraint.proposition
        found = [one for one in hypotheses if one.text.endswith(f"and {doubt.constraint}")]
        if not found:  # it is among the alternatives
            continue
        (needed,) = found
        assert needed.weight / chosen.weight == pytest.approx(doubt.odds)
        for word in (list("efg"), list("fg"), list("eg"), list("aefg")):
            indices = np.array([labels.index(frozenset(name)) for name in word], np.int32)
            accepted = model.finite.fulfilled_at([frozenset(name) for name in word]) is not None
            assert needed.accepts(indices) == (accepted and label <= frozenset(word))


def test_one_answer_teaches_what_four_demonstrations_did_not(model, answered):
    assert model.sentence != answered[1].sentence == "e, then g; never n"


def test_what_was_answered_is_not_asked_again(answered, question):
    assert compress(ask(answered[1], answered[0]).labels) != compress(question.labels)


def test_an_answer_is_soft_evidence(model, dataset, question):
    doubtful = RationalSettings(answer_error=0.49)
    wrong = add_answer(dataset, question, not is_right(question))
    assert RationalLearner(doubtful).learn(wrong, TASK, n_jobs=1).sentences == model.sentences
    with pytest.raises(BadInputError, match="answer_error"):
        RationalSettings(answer_error=0.0)


def sure(model):
    """The model as if nothing else were probable."""
    return replace(model, record=posterior_over(model.automaton))


def test_a_constraint_that_the_rule_keeps_already_makes_it_no_more_probable(answered):
    """The odds that nobody has shown what n entails are large where demonstrations avoid it; the rule forbids it."""
    posterior = posterior_of(answered[1])
    kept = Doubt(Constraint("unseen", "n"), 0.99998)
    again = hypotheses_of(replace(posterior, doubts=(kept, *posterior.doubts)), posterior.labels)
    weights = {one.text: one.weight for one in hypotheses_of(posterior, posterior.labels)}
    assert {one.text: one.weight for one in again} == pytest.approx(weights)


@pytest.mark.parametrize("find", [find_question, propose_scene])
def test_who_is_sure_has_nothing_to_ask(model, dataset, find):
    with pytest.raises(NothingToAskError, match="scenes that were tried"):
        find(sure(model), dataset, TASK, SCENES[:2], np.random.default_rng(0), n_jobs=1)


@pytest.mark.parametrize("find", [find_question, propose_scene])
def test_without_scenes_or_alternatives_the_error_says_so(model, dataset, find):
    with pytest.raises(BadInputError, match="no scenes"):
        find(model, dataset, TASK, [], np.random.default_rng(0))
    with pytest.raises(BadInputError, match="learner rational"):
        find(replace(model, record=None), dataset, TASK, SCENES[:1], np.random.default_rng(0))


def test_the_same_seed_gives_the_same_question(model, dataset, question):
    assert ask(model, dataset) == question


def test_weights_of_hypotheses_add_up_to_one_and_no_two_read_alike(model):
    found = hypotheses_of(posterior_of(model), tuple(frozenset(name) for name in ("", *TASK.propositions)))
    assert sum(one.weight for one in found) == pytest.approx(1)
    assert len({one.table.tobytes() for one in found}) == len(found)
    assert {TRUTH, posterior_of(model).chosen.text} <= {one.text for one in found}


def test_the_proposed_scene_is_the_best_of_them_and_has_different_plans(model, dataset):
    best = propose_scene(model, dataset, TASK, SCENES[:4], np.random.default_rng(0), n_jobs=1)
    assert best.seed in SCENES
    assert best.information > LEAST_INFORMATION
    assert len(best.plans) > 1
    assert best.plans[0].labels != best.plans[1].labels
    assert best.to_document()["seed"] == best.seed


def test_likelihoods_of_a_demonstration_agree_with_the_evidence(model, dataset):
    from wfairl.core.rational.evidence import Evidence
    from wfairl.core.rational.observations import DemonstratedScene, Observations
    from wfairl.core.rational.table_plans import plan_table

    explored = explore_scenes([dataset.demonstrations[0].seed], dataset, TASK, n_jobs=1)
    scene = DemonstratedScene.along(explored.worlds[0], dataset.demonstrations[0].controls)
    evidence = Evidence(Observations(explored.labels, (scene,)), np.array([0.5]), RationalSettings())
    hypotheses = hypotheses_of(posterior_of(model), explored.labels)
    for plan in (plan_table(scene.world, one.table) for one in hypotheses[:8]):
        found = scene_log_likelihood(plan, scene, 0.5)
        assert found == pytest.approx(evidence.of_scenes(plan.table)[0, 0], abs=1e-6)


def test_answers_come_back_with_their_demonstrations(tmp_path, answered):
    save(answered[0], tmp_path / "demos.safetensors")
    assert load(tmp_path / "demos.safetensors") == answered[0]
    assert merge([answered[0], answered[0]]).answers == 2 * answered[0].answers
