import pytest
from posteriors import posterior_over

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
@pytest.mark.xfail(strict=True, reason="with bans 'after the first', stairs are forbidden: 18 of 24 scenes are refused")
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
