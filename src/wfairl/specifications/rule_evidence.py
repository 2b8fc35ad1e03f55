"""How likely demonstrations are if a rule of one's own were the task, and what in them contradicts it."""

from collections.abc import Mapping
from typing import NamedTuple

from wfairl.core.automata.automaton import Automaton
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.demonstrations.demonstration import Dataset
from wfairl.core.planning.cost import nominal_cost
from wfairl.core.rational.observations import observe
from wfairl.core.rational.rational_learner import DEFAULT_SETTINGS, evidence_of
from wfairl.core.rational.tables import read_word
from wfairl.core.worlds.task import Task


class RuleEvidence(NamedTuple):
    """What demonstrations say about a rule."""

    log_evidence: float  # log P(demonstrations, failures and answers | rule)
    # the successes that do not fulfil the rule exactly at their last step, by their number in the data set
    unlike: tuple[int, ...]
    accepted_failures: tuple[int, ...]  # the failures that fulfil the rule, likewise
    chance: float  # log probability of the successes if controls were drawn uniformly


def weigh_rules(
    rules: Mapping[str, Automaton], dataset: Dataset, task: Task, n_jobs: int = 2
) -> dict[str, RuleEvidence]:
    """How rational the demonstrators look if a rule were the task, under its nominal cost.

    Rules are compared in nats: a rule that is 5 nats ahead makes the demonstrations e^5 times as likely.
    """
    observations = observe(dataset.demonstrations, task.make_world, nominal_cost(task), n_jobs, dataset.answers)
    evidence = evidence_of(observations, DEFAULT_SETTINGS)
    successes = [i for i, one in enumerate(dataset) if one.is_success]
    failures = [i for i, one in enumerate(dataset) if not one.is_success]
    weighed = {}
    for name, rule in rules.items():
        table = canonical_table(to_table(rule, evidence.labels))
        ends = [read_word(table, scene.word) == len(scene.word) for scene in evidence.observations.scenes]
        weighed[name] = RuleEvidence(
            evidence.log_probability(table),
            tuple(i for i, is_end in zip(successes, ends, strict=True) if not is_end),
            tuple(i for i in failures if rule.fulfilled_at(dataset.demonstrations[i].labels) is not None),
            float(evidence.log_uniform.sum()),
        )
    return weighed
