"""Support: how well the demonstrations determine where each label leads in each state of the learned automaton.

Every pair of a state and a label is changed in turn, and E = P(observations | changed automaton) is compared with that
of the automaton itself:

    margin = log E(as it is) - log E(the best other target of the label)            how surely it leads where it leads
"""

import numpy as np

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.task_posterior import Support


def measure_support(evidence: Evidence, automaton: CompactAutomaton) -> Support:
    """The support of an automaton, by the equation above."""
    table, log_evidence = automaton.to_table(evidence.labels), evidence.log_probability
    chosen, margin = log_evidence(table), np.full(table.shape, np.inf)
    for state, label in np.ndindex(table.shape):
        for target in (*range(len(table)), ACCEPTED, DEAD):
            if target != table[state, label]:
                changed = table.copy()
                changed[state, label] = target
                margin[state, label] = min(margin[state, label], chosen - log_evidence(changed))
    return Support(evidence.labels, evidence.reads(table).sum(axis=0), margin)
