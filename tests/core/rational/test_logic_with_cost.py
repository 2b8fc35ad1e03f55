import numpy as np
import pytest
from posteriors import certain_support, posterior_over

from experiments.rule_families.families import make_problem
from wfairl.core.automata.automaton import DEAD
from wfairl.core.automata.rules import visit_in_order
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.demonstrations import Dataset, find_learner
from wfairl.core.rational.logic_with_cost import learn_logic_and_cost
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task


def test_logic_and_cost_are_learned_together():
    task = find_task("crowded-office-coffee")
    dataset = collect(task, 24, 0, 0.5, 61, n_jobs=1)
    unknown = Dataset(dataset.task, dataset.demonstrations)  # nobody says at which temperature they were made
    explained = learn_logic_and_cost(unknown, task, n_jobs=1)
    assert explained.cost is not None
    words = [one.labels for one in collect(task, 8, 8, 0.5, 62, n_jobs=1)]
    learned, rule = explained.model.finite, task.rule
    assert [learned.fulfilled_at(word) for word in words] == [rule.fulfilled_at(word) for word in words]
    assert learned.read(0, frozenset({"f"})) not in (0, DEAD)


@pytest.mark.slow
def test_what_is_only_expensive_is_not_forbidden():
    problem = make_problem("building", 10)  # stairs cost five steps, and nobody takes them
    dataset = Dataset(problem.name, collect(problem.task, 4, 0, 0.5, 7, n_jobs=1).demonstrations)
    explained = learn_logic_and_cost(dataset, problem.task, n_jobs=1)
    assert explained.cost is not None
    assert explained.model.finite.read(0, frozenset({"stairs"})) != DEAD


class LearnerThatNeedsACost:
    """Explains nothing under the nominal cost, as if the demonstrators' detours were noise, and then the true rule."""

    def learn(self, dataset, task, cost=None, n_jobs=2):
        if cost is None:
            return find_learner("spectral").learn(dataset, task)
        return TaskModel.of_automaton(
            task.rule,
            "told",
            dataset.words,
            dataset.scores,
            stated=("rule",),
            record=posterior_over(visit_in_order("g")),
        )


def test_a_rule_that_explains_the_demonstrations_is_preferred_to_memorised_words():
    task = find_task("crowded-office-coffee")
    dataset = collect(task, 6, 0, 0.5, 61, n_jobs=1)
    explained = learn_logic_and_cost(dataset, task, learner=LearnerThatNeedsACost(), n_jobs=1)
    assert explained.model.learner == "told"
    assert explained.cost is not None


class LearnerWithTwoExplanations:
    """Explains by one rule under the nominal cost, and by another one, which is half as likely, under any other."""

    def learn(self, dataset, task, cost=None, n_jobs=2):
        name, log_posterior = ("g", -10.0) if cost is None else ("f", -10.0 - np.log(2))
        rule = visit_in_order(name)
        support = certain_support(rule, [frozenset({one}) for one in "fgo"])
        alternatives = (rule, 0.5, name), (visit_in_order("o"), 0.25, "o")
        record = posterior_over(*alternatives, support=support, log_posterior=log_posterior)
        return TaskModel.of_automaton(task.rule, "told", dataset.words, dataset.scores, record=record)


def test_the_automata_of_all_explanations_are_alternatives():
    task = find_task("crowded-office-coffee")
    dataset = collect(task, 6, 0, 0.5, 61, n_jobs=1)
    explained = learn_logic_and_cost(dataset, task, learner=LearnerWithTwoExplanations(), n_jobs=1)
    found = explained.model.record.alternatives
    assert found[0].text == "g"
    assert {one.text: one.weight for one in found} == pytest.approx({"g": 0.5, "f": 0.25, "o": 0.25})
