"""Support: how much evidence stands behind every pair of a state and a label of a learned automaton."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.automata.task_model import TaskModel
from wfairl.logic.compact_automaton import CompactAutomaton
from wfairl.logic.kernels import log_mean
from wfairl.logic.search import Posterior
from wfairl.logic.tables import is_forced, requiring
from wfairl.planning.path import Path

TOLD = 1.0
"""Nats of evidence below which the demonstrations hardly say where a label leads."""

LARGEST_LOG_ODDS = 50.0

DEADLY_HERE = 0.02
"""Odds of a label that ends the task in one state alone, as a part of those of one that does so wherever it is read."""


@dataclass(frozen=True, eq=False)
class Support:
    """How much stands behind every pair of a state and a label of an automaton.

    Attributes:
        labels: those that occur in the scenes.
        visits: how many demonstrations read the label in the state, [states, labels].
        margin: nats of log evidence that are lost if the label led elsewhere, to where least is lost. Below 1 the
            demonstrations hardly say where this label leads; [states, labels].
        risk: probability that the label ends the task in failure, though the automaton does not say so;
            [states, labels].
        unknown_risk: the same for a label that occurs in no scene.
        need: probability that the task asks for the label, though the automaton does not say so; 0 for labels that no
            demonstration shows and for those that the automaton asks for; [labels].
    """

    labels: tuple[Label, ...]
    visits: NDArray[np.int64]
    margin: NDArray[np.float64]
    risk: NDArray[np.float64]
    unknown_risk: float
    need: NDArray[np.float64]

    def to_document(self) -> dict[str, Any]:
        """As plain JSON; a margin that is not finite is null."""
        margin = [[float(one) if np.isfinite(one) else None for one in row] for row in self.margin]
        return {
            "labels": [sorted(label) for label in self.labels],
            "visits": self.visits.tolist(),
            "margin": margin,
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
        margin = [[np.inf if one is None else float(one) for one in row] for row in document["margin"]]
        return cls(
            labels=tuple(frozenset(map(str, label)) for label in document["labels"]),
            visits=np.array(document["visits"], np.int64),
            margin=np.array(margin, np.float64),
            risk=np.array(document["risk"], np.float64),
            unknown_risk=float(document["unknown_risk"]),
            need=np.array(document.get("need", [0.0] * len(document["labels"])), np.float64),
        )

    @property
    def is_untested(self) -> NDArray[np.bool_]:
        """Pairs that no demonstration reads or tells anything about, [states, labels]."""
        return (self.visits == 0) & (self.margin < TOLD)


def measure_support(
    posterior: Posterior, automaton: CompactAutomaton, deadly_odds: float, needed_odds: float
) -> Support:
    """Change every pair of state and label in turn, and see what the demonstrations say to it.

    The risk of a pair compares the evidence E for the automaton with that for one in which the label is deadly, in
    every state or in this one alone. What is deadly is mostly so wherever it is read, so that a label which some
    demonstration shows elsewhere is hardly a risk:

        risk = odds / (1 + odds)
        odds = deadly_odds * (E(deadly everywhere) + DEADLY_HERE * E(deadly here)) / E(as it is)

    A label that demonstrations show may have been passed by chance, or because the task asks for it. From a few
    demonstrations an automaton that leaves it out has the higher posterior, being shorter; so here its length does not
    count:

        need = odds / (1 + odds),    odds = needed_odds * E(also asks for the label) / E(as it is)
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
    """The evidence behind a model's automaton, None if its learner keeps none."""
    document = model.facts.get("support")
    return None if document is None else Support.from_document(document)


def untested_labels(model: TaskModel) -> dict[int, list[Label]]:
    """The labels of which no demonstration tells where they lead, by state; states without any are left out.

    What the automaton forbids is not among them: nobody who plans with it will try.
    """
    support = support_of(model)
    if support is None:
        return {}
    found = {
        state: [
            label
            for label, untested in zip(support.labels, row, strict=True)
            if untested and model.finite.read(state, label) != DEAD
        ]
        for state, row in enumerate(support.is_untested)
    }
    return {state: labels for state, labels in found.items() if labels}


def untested_steps(model: TaskModel, path: Path) -> list[int]:
    """The steps of a path, from 1, at which it reads what no demonstration tells about in that state."""
    support = support_of(model)
    if support is None:
        return []
    known = {label: i for i, label in enumerate(support.labels)}
    steps, state = [], 0
    for step, label in enumerate(path.labels, start=1):
        if 0 <= state < len(support.visits) and (label not in known or support.is_untested[state, known[label]]):
            steps.append(step)
        state = model.finite.read(state, label)
    return steps
