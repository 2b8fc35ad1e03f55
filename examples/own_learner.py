"""Your own task learner: from demonstrations and their worlds to a task model.

    wfairl --tasks examples/own_learner.py run corridor --learner common-order

This one is simple: the task is to make true all propositions that all successes share, in the order in which they
first hold. (`rational`, the default, keeps only those for which the demonstrators made a detour.)
"""

import numpy as np
from own_world import TASK

from wfairl import TaskModel, collect, find_learner, visit_in_order
from wfairl.core.demonstrations import register_learner


class CommonOrder:
    """Visits what all successes share; a `TaskLearner` has one method."""

    def learn(self, dataset, task, cost=None, n_jobs=2):
        successes = [first_times(one.labels) for one in dataset if one.is_success]
        common = set.intersection(*(set(times) for times in successes))
        order = sorted(common, key=lambda name: np.mean([times[name] for times in successes]))
        automaton = visit_in_order(*order)
        return TaskModel.of_automaton(automaton, "common-order", dataset.words, dataset.scores)


def first_times(labels):
    """When each proposition first holds."""
    times = {}
    for time, label in enumerate(labels):
        for name in label:
            times.setdefault(name, time)
    return times


register_learner("common-order", CommonOrder())

if __name__ == "__main__":
    dataset = collect(TASK, successes=8, failures=8, temperature=0.5, seed=0)
    model = find_learner("common-order").learn(dataset, TASK)
    print(model.sentence)
    verdicts = model.judge_all(dataset.words)
    print(sum(verdict.accepted for verdict in verdicts), "of", len(dataset), "demonstrations accepted")
