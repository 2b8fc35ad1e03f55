"""Support: what the demonstrations say about each pair of a state and a label of the learned automaton.

The automaton of highest posterior is short, and so it is silent about much: it allows labels that no demonstration
tests, and it requires no label that may have been read by chance. Caution needs to know both: which labels may be
deadly, so that reading one ends the task in failure, and which may be needed. Every pair is changed in turn, and
E = P(observations | changed automaton) is compared with E(as it is), that of the automaton itself:

    margin = log E(as it is) - log E(the best other target of the label)            how surely it leads where it leads

    risk   = odds / (1 + odds),  odds = deadly_odds * (E(deadly everywhere) + d * E(deadly in this state)) / E(as it is)

    need   = odds / (1 + odds),  odds = needed_odds * E(also requires the label) / E(as it is)

A deadly label is mostly deadly in every state, so that d is small (`DEADLY_IN_ONE_STATE`): a label that a demonstration
reads in another state is hardly a risk. The length of the changed automaton does not count, since from a few
demonstrations the shorter automaton would always win.
"""

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.tables import is_forced, requiring
from wfairl.core.rational.task_posterior import Support

LARGEST_LOG_ODDS = 50.0

DEADLY_IN_ONE_STATE = 0.02
"""Odds that a label is deadly in one state alone, as a fraction of the odds that it is deadly in every state."""


def measure_support(evidence: Evidence, automaton: CompactAutomaton) -> Support:
    """The support of an automaton, by the equations above."""
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
                    in_one_state = np.log(DEADLY_IN_ONE_STATE) + chosen - loss
                    deadly[state, label] = np.logaddexp(deadly[state, label], in_one_state)
    odds = deadly_odds * np.exp(np.minimum(deadly - chosen, LARGEST_LOG_ODDS))
    risk = np.where(table == DEAD, 1.0, odds / (1 + odds))
    visits = evidence.visits(table)
    need = np.zeros(table.shape[1])
    for label in np.flatnonzero(visits.any(axis=0)).tolist():
        if evidence.labels[label] and not is_forced(table, label):
            odds = needed_odds * np.exp(min(log_evidence(requiring(table, label)) - chosen, LARGEST_LOG_ODDS))
            need[label] = odds / (1 + odds)
    return Support(evidence.labels, visits, margin, risk, deadly_odds / (1 + deadly_odds), need)
