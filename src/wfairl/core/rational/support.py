"""Support: the evidence for every pair of a state and a label of a learned automaton."""

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.tables import is_forced, requiring
from wfairl.core.rational.task_posterior import Support

LARGEST_LOG_ODDS = 50.0

DEADLY_HERE = 0.02
"""Odds that a label is deadly in one state alone, as a fraction of the odds that it is deadly in every state."""


def measure_support(evidence: Evidence, automaton: CompactAutomaton) -> Support:
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
    table, log_evidence = automaton.to_table(evidence.labels), evidence.log_probability
    deadly_odds, needed_odds = evidence.settings.deadly_odds, evidence.settings.needed_odds
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
