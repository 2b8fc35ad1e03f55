"""Support: how much evidence stands behind every pair of a state and a label of a learned automaton."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import DEAD, Label
from wfairl.logic.evidence import log_mean
from wfairl.logic.kernels import ACCEPTED
from wfairl.logic.search import Posterior
from wfairl.logic.sketch import Sketch, to_table

TOLD = 1.0
"""Nats of evidence below which the demonstrations hardly say where a label leads."""

LARGEST_LOG_ODDS = 50.0


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
    """

    labels: tuple[Label, ...]
    visits: NDArray[np.int64]
    margin: NDArray[np.float64]
    risk: NDArray[np.float64]
    unknown_risk: float

    def to_document(self) -> dict[str, Any]:
        """As plain JSON; a margin that is not finite is null."""
        margin = [[float(one) if np.isfinite(one) else None for one in row] for row in self.margin]
        return {
            "labels": [sorted(label) for label in self.labels],
            "visits": self.visits.tolist(),
            "margin": margin,
            "risk": self.risk.tolist(),
            "unknown_risk": self.unknown_risk,
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
        )

    @property
    def is_untested(self) -> NDArray[np.bool_]:
        """Pairs that no demonstration reads or tells anything about, [states, labels]."""
        return (self.visits == 0) & (self.margin < TOLD)


def measure_support(posterior: Posterior, sketch: Sketch, deadly_odds: float) -> Support:
    """Change every pair of state and label in turn, and see what the demonstrations say to it.

    The risk of a pair compares the evidence E for the automaton with that for one in which the label is deadly, in
    this state or in every state, whichever is more likely:

        risk = odds / (1 + odds),    odds = deadly_odds * max(E(deadly here), E(deadly everywhere)) / E(as it is)
    """
    evidence = posterior.evidence
    table = to_table(sketch, evidence.labels)

    def log_evidence(changed: NDArray[np.int32]) -> float:
        return log_mean(evidence.evaluate_all(changed).sum(axis=0)) + posterior.verdict_evidence(changed)

    chosen = log_evidence(table)
    margin, deadly = np.full(table.shape, np.inf), np.full(table.shape, -np.inf)
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
                    deadly[state, label] = max(deadly[state, label], chosen - loss)
    odds = deadly_odds * np.exp(np.minimum(deadly - chosen, LARGEST_LOG_ODDS))
    risk = np.where(table == DEAD, 1.0, odds / (1 + odds))
    return Support(evidence.labels, evidence.visits(table), margin, risk, deadly_odds / (1 + deadly_odds))
