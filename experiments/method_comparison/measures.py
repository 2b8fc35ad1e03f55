"""What is measured beside the return: whether the rule is kept, at what cost, and whether the rule was recovered.

    rule kept   fraction of the test episodes that fulfil the task's true rule
    regret      true cost of an episode that keeps the rule / least true cost of its scene - 1
    agreement   fraction of the probe trajectories that the learned and the true automaton classify alike
    states      of the learned automaton, and of the smallest one of the true rule

An episode that breaks the rule has no regret: it counts in the rate. Probe trajectories are in new scenes: of experts,
from optimal to careless, of an agent that only wants the goal, and random.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from wfairl.core.automata.automaton import Automaton, Label
from wfairl.core.automata.minimisation import canonical_table, to_table
from wfairl.core.planning import PlannedPolicy, Policy, RandomPolicy, expert_policy
from wfairl.core.planning.cost import true_cost
from wfairl.core.planning.rollout import roll_out
from wfairl.core.worlds.task import Task, rule_of
from wfairl.runs.planning_methods import goal_alone
from wfairl.runs.task_registry import find_task

FIRST_PROBE_SEED = 6_000
"""The scenes of probe trajectories: not used for training, validation or test."""

PROBE_SCENES = 16
"""Each has one probe trajectory of every kind."""

PROBE_TEMPERATURES = (0.0, 0.5, 2.0)
"""Of the experts; the last succeeds late if at all."""


def recovery_of(task: Task, automaton: Automaton) -> dict[str, float]:
    """How much of the true rule of a task was recovered: agreement on probe trajectories, states, least states."""
    probes = probe_labels(task.name)
    labels = sorted({label for probe in probes for label in probe}, key=sorted)
    return {
        "agreement": agreement(automaton, rule_of(task), probes),
        "states": automaton.states,
        "least_states": least_states(rule_of(task), labels),
    }


def agreement(one: Automaton, other: Automaton, probes: Sequence[Sequence[Label]]) -> float:
    """The fraction of label sequences that both automata accept for the first time at the same step, or not at all.

    Later steps do not count: the episode is over.
    """
    return float(np.mean([one.fulfilled_at(probe) == other.fulfilled_at(probe) for probe in probes]))


def least_states(rule: Automaton, labels: Sequence[Label]) -> int:
    """The fewest live states of an automaton over an alphabet that accepts for the first time where a rule does."""
    return len(canonical_table(to_table(rule, labels))) + 1  # the one that accepts has no row


@cache
def probe_labels(name: str) -> tuple[tuple[Label, ...], ...]:
    """The labels of the probe trajectories of a task."""
    task = find_task(name)
    policies: list[Policy] = [expert_policy(task, temperature) for temperature in PROBE_TEMPERATURES]
    goal = goal_alone(rule_of(task), task.propositions)
    policies += [PlannedPolicy("goal alone", goal, true_cost(task), 0.0), RandomPolicy()]
    scenes = range(FIRST_PROBE_SEED, FIRST_PROBE_SEED + PROBE_SCENES)
    return tuple(
        roll_out(task, policy, seed, np.random.default_rng([kind, seed])).labels
        for kind, policy in enumerate(policies)
        for seed in scenes
    )


class Measure(NamedTuple):
    """A figure of a line of the summary: title, a sentence about it, and its text in a line, empty if it has none."""

    title: str
    explanation: str
    text: Callable[[Any], str]


def percent(value: float, digits: int = 0) -> str:
    """A fraction in percent; empty for NaN."""
    return "" if np.isnan(value) else f"{100 * value:.{digits}f} %"


MEASURES = {
    "return": Measure(
        "return",
        "Mean return, with its standard error.",
        lambda line: f"{line.mean_return:.3f} ± {line.standard_error:.3f}",
    ),
    "kept": Measure(
        "rule kept", "Part of the test episodes that keep the true rule.", lambda line: percent(line.success_rate)
    ),
    "regret": Measure(
        "regret",
        "Mean true cost of the episodes that keep the rule above the least possible.",
        lambda line: percent(line.regret, 1),
    ),
    "agreement": Measure(
        "agreement",
        "Part of the walks in new scenes that the learned and the true automaton judge alike.",
        lambda line: percent(line.agreement),
    ),
    "states": Measure(
        "states",
        "States of the learned automaton, mean over training seeds, and the fewest that the true rule needs.",
        lambda line: "" if np.isnan(line.states) else f"{line.states:.3g} of {line.least_states:.0f}",
    ),
}
"""What a comparison can show, by name."""
