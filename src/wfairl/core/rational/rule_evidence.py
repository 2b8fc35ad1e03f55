"""The evidence of given rules: how rational the demonstrators look if a rule of one's own were the task.

    log P(demonstrations | rule)      averaged over temperatures, by the equation of `evidence`

Rules are compared in nats: a rule that is 5 nats ahead makes the demonstrations e^5 times as likely.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from wfairl.core.automata.automaton import Automaton
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import Cost, nominal_cost
from wfairl.core.rational.exploration import observe
from wfairl.core.rational.rational_learner import DEFAULT_SETTINGS, evidence_of
from wfairl.core.rational.settings import RationalSettings
from wfairl.core.rational.tables import canonical_table, read_word, to_table
from wfairl.core.worlds.task import Task


class RuleEvidence(NamedTuple):
    """What demonstrations say about a rule.

    Attributes:
        log_evidence: log P(demonstrations, failures and answers | rule).
        unlike: the successes that do not fulfil the rule exactly at their last step, by their number in the data set.
        accepted_failures: the failures that fulfil the rule, likewise.
        chance: log probability of the successes if controls were drawn uniformly.
    """

    log_evidence: float
    unlike: tuple[int, ...]
    accepted_failures: tuple[int, ...]
    chance: float


def weigh_rules(
    rules: Mapping[str, Automaton],
    dataset: Dataset,
    task: Task,
    cost: Cost | None = None,
    settings: RationalSettings = DEFAULT_SETTINGS,
    n_jobs: int = 2,
) -> dict[str, RuleEvidence]:
    """The evidence of each rule, under one cost; the nominal cost of the task unless given."""
    assumed = nominal_cost(task) if cost is None else cost
    observations = observe(dataset.demonstrations, task.make_world, assumed, n_jobs, dataset.answers)
    evidence = evidence_of(observations, settings)
    successes = [i for i, one in enumerate(dataset) if one.is_success]
    failures = [i for i, one in enumerate(dataset) if not one.is_success]
    weighed = {}
    for name, rule in rules.items():
        table = canonical_table(np.ascontiguousarray(to_table(rule, evidence.labels)))
        ends = [read_word(table, scene.word) == len(scene.word) for scene in evidence.observations.scenes]
        weighed[name] = RuleEvidence(
            evidence.log_probability(table),
            tuple(i for i, is_end in zip(successes, ends, strict=True) if not is_end),
            tuple(i for i in failures if rule.fulfilled_at(dataset.demonstrations[i].labels) is not None),
            float(evidence.log_uniform.sum()),
        )
    return weighed
