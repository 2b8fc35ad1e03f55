"""What `wfairl learn-task` says of a posterior."""

from types import SimpleNamespace

import numpy as np
from posteriors import posterior_over

from wfairl.cli.learned_task import _misfits
from wfairl.core.automata.rules import visit_in_order


def test_a_demonstration_that_the_rule_does_not_explain_may_be_a_mistake_or_a_sign_of_another_rule():
    dataset = SimpleNamespace(demonstrations=[SimpleNamespace(seed=seed) for seed in (10, 11, 12)])
    rule = visit_in_order("goal")
    posterior = posterior_over(rule, outlier_probabilities=np.array([0.0, 1.0, 0.7]))
    assert list(_misfits(posterior, dataset)) == [
        "demonstration 1 (scene 11) does not fit this rule, with 100%",
        "demonstration 2 (scene 12) does not fit this rule, with 70%",
        "a mistake, or a sign that the task is another: `wfairl evidence` weighs a rule of yours",
    ]
    assert list(_misfits(posterior_over(rule, outlier_probabilities=np.zeros(3)), dataset)) == []
