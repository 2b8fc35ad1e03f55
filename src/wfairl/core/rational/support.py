"""Support: the evidence for every pair of a state and a label of a learned automaton."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.planning.path import Path
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.kernels import log_mean
from wfairl.core.rational.search import Posterior
from wfairl.core.rational.tables import is_forced, requiring

LEAST_MARGIN = 1.0
"""Nats of evidence below which the demonstrations hardly determine where a label leads."""

LARGEST_LOG_ODDS = 50.0

DEADLY_HERE = 0.02
"""Odds that a label is deadly in one state alone, as a fraction of the odds that it is deadly in every state."""


@dataclass(frozen=True, eq=False)
class Support:
    """The evidence for every pair of a state and a label of an automaton.

    Attributes:
        labels: those that occur in the scenes.
        visits: how many demonstrations read the label in the state, [states, labels].
        margin: nats of log evidence by which the target of the label beats the next best target; [states, labels].
        risk: probability that the label ends the task in failure, though the automaton allows it; [states, labels].
        unknown_risk: the same for a label that occurs in no scene.
        need: probability that the task requires the label, though the automaton does not; 0 for labels that no
            demonstration has and for those that the automaton requires; [labels].
    """

    labels: tuple[Label, ...]
    visits: NDArray[np.int64]
    margin: NDArray[np.float64]
    risk: NDArray[np.float64]
    unknown_risk: float
    need: NDArray[np.float64]

    def to_document(self) -> dict[str, Any]:
        """As plain JSON; a margin that is not finite is null."""
        return {
            "labels": [sorted(label) for label in self.labels],
            "visits": self.visits.tolist(),
            "margin": [[one if np.isfinite(one) else None for one in row] for row in self.margin.tolist()],
            "risk": self.risk.tolist(),
            "unknown_risk": self.unknown_risk,
            "need": self.need.tolist(),
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Support":
        """Read what `to_document` gave.

        Raises:
            KeyError, TypeError, ValueError: the document is not such.
        """
        margin = np.array(document["margin"], np.float64)  # null becomes NaN
        return cls(
            labels=tuple(frozenset(map(str, label)) for label in document["labels"]),
            visits=np.array(document["visits"], np.int64),
            margin=np.where(np.isnan(margin), np.inf, margin),
            risk=np.array(document["risk"], np.float64),
            unknown_risk=float(document["unknown_risk"]),
            need=np.array(document.get("need", [0.0] * len(document["labels"])), np.float64),
        )

    @cached_property
    def number(self) -> dict[Label, int]:
        """The index of each label."""
        return {label: i for i, label in enumerate(self.labels)}

    def is_untested_in(self, state: int, label: Label) -> bool:
        """Whether the demonstrations are no evidence of where a label leads in a state; true if no scene has it."""
        return label not in self.number or bool(self.is_untested[state, self.number[label]])

    @property
    def is_untested(self) -> NDArray[np.bool_]:
        """Pairs that no demonstration reads or is evidence about, [states, labels]."""
        return (self.visits == 0) & (self.margin < LEAST_MARGIN)


def measure_support(
    posterior: Posterior, automaton: CompactAutomaton, deadly_odds: float, needed_odds: float
) -> Support:
    """Change every pair of state and label in turn, and compare the evidence.

    The risk of a pair compares the evidence E for the automaton with that for one in which the label is deadly, in
    every state or in this one alone. A deadly label is mostly so in every state, so that a label which a demonstration
    reads in another state is hardly a risk:

        risk = odds / (1 + odds)
        odds = deadly_odds * (E(deadly everywhere) + DEADLY_HERE * E(deadly here)) / E(as it is)

    A demonstrated label may have been passed by chance, or because the task requires it. From a few demonstrations an
    automaton without it has the higher posterior, being shorter; so here the length does not count:

        need = odds / (1 + odds),    odds = needed_odds * E(also requires the label) / E(as it is)
    """
    evidence = posterior.evidence
    table = automaton.to_table(evidence.labels)

    def log_evidence(changed: NDArray[np.int32]) -> float:
        return log_mean(evidence.evaluate_all(changed).sum(axis=0)) + posterior.verdict_evidence(changed)

    chosen = log_evidence(table)
    margin, deadly = np.full(table.shape, np.inf), np.full(table.shape, -np.inf)  # deadly: log evidence
    for label in range(table.shape[1]):
        everywhere = table.copy()
        everywhere[:, label] = DEAD
        deadly[:, label] = log_evidence(everywhere)
        for state in range(len(table)):
            for target in (*range(len(table)), ACCEPTED, DEAD):
                if target == table[state, label]:
                    continue
                changed = table.copy()
                changed[state, label] = target
                loss = chosen - log_evidence(changed)
                margin[state, label] = min(margin[state, label], loss)
                if target == DEAD:
                    deadly[state, label] = np.logaddexp(deadly[state, label], np.log(DEADLY_HERE) + chosen - loss)
    odds = deadly_odds * np.exp(np.minimum(deadly - chosen, LARGEST_LOG_ODDS))
    risk = np.where(table == DEAD, 1.0, odds / (1 + odds))
    visits = evidence.visits(table)
    need = np.zeros(table.shape[1])
    for label in np.flatnonzero(visits.any(axis=0)).tolist():
        if evidence.labels[label] and not is_forced(table, label):
            odds = needed_odds * np.exp(min(log_evidence(requiring(table, label)) - chosen, LARGEST_LOG_ODDS))
            need[label] = odds / (1 + odds)
    return Support(evidence.labels, visits, margin, risk, deadly_odds / (1 + deadly_odds), need)


def support_of(model: TaskModel) -> Support | None:
    """The support of a model's automaton, None if its learner keeps none."""
    document = model.facts.get("support")
    return None if document is None else Support.from_document(document)


def needed_labels(model: TaskModel) -> dict[Label, float]:
    """The labels that may be needed though the most probable automaton does not require them; their probability."""
    support = support_of(model)
    if support is None:
        return {}
    return {label: float(need) for label, need in zip(support.labels, support.need, strict=True) if need > 0}


def untested_labels(model: TaskModel) -> dict[int, list[Label]]:
    """The untested labels that the automaton allows, by state; states without any are left out."""
    support = support_of(model)
    if support is None:
        return {}
    untested: dict[int, list[Label]] = {}
    for state, i in np.argwhere(support.is_untested).tolist():
        if model.finite.read(state, support.labels[i]) != DEAD:
            untested.setdefault(state, []).append(support.labels[i])
    return untested


def untested_steps(model: TaskModel, path: Path) -> list[int]:
    """The steps of a path, from 1, at which it reads an untested label."""
    support = support_of(model)
    if support is None:
        return []
    steps, state = [], 0
    for step, label in enumerate(path.labels, start=1):
        if 0 <= state < len(support.visits) and support.is_untested_in(state, label):
            steps.append(step)
        state = model.finite.read(state, label)
    return steps
