"""What is measured beside the return: whether the rule is kept, at what cost, and whether the rule was found.

    rule kept   part of the test episodes that fulfil the task's true rule
    no plan     part of the test scenes in which the learned automaton leaves no way to succeed
    regret      true cost of an episode that keeps the rule / least true cost of its scene - 1
    agreement   part of the walks in new scenes that the learned and the true automaton judge alike
    states      of the learned automaton, and of the smallest one of the true rule

An episode that breaks the rule has no regret: it counts in the rate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from wfairl.automata.automaton import DEAD, Automaton, Label
from wfairl.automata.minimise import TransitionTable, minimal, to_finite
from wfairl.automata.rules import goal_alone
from wfairl.documents import Count, Part
from wfairl.evaluation import PlannedPolicy, Policy, RandomPolicy, expert_policy
from wfairl.evaluation.rollout import roll_out
from wfairl.planning.cost import true_cost
from wfairl.worlds.registry import find_task
from wfairl.worlds.task import Task

if TYPE_CHECKING:
    from wfairl.suites.results import Row

FIRST_WALK_SEED = 6_000
"""The scenes of the walks: neither trained nor tested on, nor looked at in validation."""

WALK_SCENES = 16
"""Each has one walk of every kind."""

WALK_TEMPERATURES = (0.0, 0.5, 2.0)
"""Of experts whose walks are judged; the last succeeds late if at all."""

Walk = tuple[Label, ...]


@dataclass(frozen=True)
class Recovery:
    """How much of the rule was found.

    Attributes:
        agreement: part of the walks that the learned and the true automaton judge alike.
        states: of the learned automaton, its accepting one among them.
        least_states: of the smallest automaton of the true rule.
    """

    agreement: Part
    states: Count
    least_states: Count


def recovery_of(task: Task, automaton: Automaton) -> Recovery:
    """Compare a learned automaton with the true rule of a task, on walks in scenes not used for training."""
    walks = walks_of(task.name)
    labels = sorted({label for walk in walks for label in walk}, key=sorted)
    return Recovery(agreement(automaton, task.rule, walks), automaton.states, least_states(task.rule, labels))


def agreement(one: Automaton, other: Automaton, walks: Sequence[Walk]) -> float:
    """The part of the walks that both automata accept for the first time at the same step, or not at all.

    What happens after the first acceptance does not matter: the episode is over.
    """
    return float(np.mean([one.fulfilled_at(walk) == other.fulfilled_at(walk) for walk in walks]))


def least_states(rule: Automaton, labels: Sequence[Label]) -> int:
    """The fewest live states of an automaton that accepts for the first time where a rule does.

    Args:
        rule: when a word counts as success.
        labels: what words are made of.
    """
    lost, done = rule.states, rule.states + 1
    after = np.array([rule.column(label) for label in labels], np.int32).reshape(len(labels), rule.states).T
    after = np.where(after == DEAD, lost, np.where(rule.accepting[after], done, after))
    ends = np.array([[lost], [done]], np.int32).repeat(len(labels), axis=1)
    table = TransitionTable(np.vstack([after, ends]).astype(np.int32), np.arange(rule.states + 2) == done)
    return to_finite(minimal(table), tuple(labels)).states


@cache
def walks_of(task: str) -> tuple[Walk, ...]:
    """Walks in new scenes: of experts, from optimal to careless, of one who only wants the goal, and at random."""
    found = find_task(task)
    policies: list[Policy] = [expert_policy(found, temperature) for temperature in WALK_TEMPERATURES]
    goal = goal_alone(found.rule, found.propositions)
    policies += [PlannedPolicy("goal alone", goal, true_cost(found), 0.0), RandomPolicy()]
    scenes = range(FIRST_WALK_SEED, FIRST_WALK_SEED + WALK_SCENES)
    return tuple(
        roll_out(found, policy, seed, np.random.default_rng([kind, seed])).labels
        for kind, policy in enumerate(policies)
        for seed in scenes
    )


def regrets(costs: Sequence[float], kept: Sequence[bool], least: Sequence[float]) -> list[float]:
    """The regret of each episode that keeps the rule.

    Args:
        costs: true cost of the episodes, [scenes].
        kept: whether each keeps the rule, [scenes].
        least: the least true cost in each scene, inf where it cannot be told; [scenes].
    """
    triples = zip(costs, kept, least, strict=True)
    return [cost / best - 1 for cost, is_kept, best in triples if is_kept and np.isfinite(best)]


@dataclass(frozen=True)
class Metric:
    """A figure of a row.

    Attributes:
        title: of its table.
        explanation: what it is, as a sentence.
        text: of a row, for people; nothing if the row has no such figure.
    """

    title: str
    explanation: str
    text: "Callable[[Row], str]"


def percent(value: float | None, digits: int = 0) -> str:
    """A part as people read it; nothing for None."""
    return "" if value is None else f"{100 * value:.{digits}f} %"


def _states(row: "Row") -> str:
    return "" if row.states is None else f"{row.states:.3g} of {row.least_states}"


METRICS: Mapping[str, Metric] = {
    "kept": Metric(
        "rule kept",
        "Part of the test episodes that keep the true rule.",
        lambda row: percent(row.success_rate),
    ),
    "no_plan": Metric(
        "no plan",
        "Part of the test scenes in which the learned automaton leaves no way to succeed.",
        lambda row: percent(row.no_plan_rate),
    ),
    "regret": Metric(
        "regret",
        "Mean true cost of the episodes that keep the rule above the least possible.",
        lambda row: percent(row.regret, 1),
    ),
    "agreement": Metric(
        "agreement",
        "Part of the walks in new scenes that the learned and the true automaton judge alike.",
        lambda row: percent(row.agreement),
    ),
    "states": Metric(
        "states",
        "States of the learned automaton, mean over training seeds, and the fewest that the true rule needs.",
        _states,
    ),
}
"""What a suite can show beside the return, by name."""
