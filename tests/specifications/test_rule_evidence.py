import pytest

from wfairl.core.automata.rules import visit_in_order
from wfairl.core.rational import RationalLearner, posterior_of
from wfairl.runs.collection import collect
from wfairl.runs.task_registry import find_task
from wfairl.specifications.rule_evidence import weigh_rules

TASK = find_task("random-office-coffee")


@pytest.fixture(scope="module")
def dataset():
    return collect(TASK, successes=6, failures=6, temperature=0.5, seed=1, n_jobs=1)


def test_a_learned_rule_has_the_evidence_that_its_posterior_states(dataset):
    learned = RationalLearner().learn(dataset, TASK, n_jobs=1)
    found, posterior = (
        weigh_rules({"learned": learned.finite}, dataset, TASK, n_jobs=1)["learned"],
        posterior_of(learned),
    )
    assert found.log_evidence == pytest.approx(posterior.log_posterior - posterior.log_prior)


def test_the_true_rule_is_likelier_than_wrong_ones_and_than_chance(dataset):
    rules = {"true": TASK.rule, "office": visit_in_order("g"), "backwards": visit_in_order("g", "f")}
    found = weigh_rules(rules, dataset, TASK, n_jobs=1)
    assert max(found, key=lambda name: found[name].log_evidence) == "true"
    assert found["true"].log_evidence > found["true"].chance > found["backwards"].log_evidence


def test_what_contradicts_a_rule_is_named(dataset):
    rules = {"true": TASK.rule, "office": visit_in_order("g"), "backwards": visit_in_order("g", "f")}
    found = weigh_rules(rules, dataset, TASK, n_jobs=1)
    for name, rule in rules.items():
        ends = {i: rule.fulfilled_at(one.labels) for i, one in enumerate(dataset)}
        unlike = {i for i, one in enumerate(dataset) if one.is_success and ends[i] != len(one.labels)}
        accepted = {i for i, one in enumerate(dataset) if not one.is_success and ends[i] is not None}
        assert (set(found[name].unlike), set(found[name].accepted_failures)) == (unlike, accepted)
