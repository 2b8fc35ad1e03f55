"""Support: in which states of the learned automaton the demonstrations tell where a label leads.

A pair of a state and a label is untested if no demonstration reads the label in the state, and if another target would
explain the observations about as well:

    log P(observations | another target) > log P(observations | as it is) - `LEAST_MARGIN`
"""

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import ACCEPTED, DEAD
from wfairl.core.rational.compact_automaton import CompactAutomaton
from wfairl.core.rational.evidence import Evidence
from wfairl.core.rational.likelihood import log_mean
from wfairl.core.rational.task_posterior import Support

LEAST_MARGIN = 1.0
"""Nats of evidence below which the demonstrations hardly determine where a label leads."""


def measure_support(evidence: Evidence, automaton: CompactAutomaton) -> Support:
    """The support of an automaton, by the equation above."""
    table = automaton.to_table(evidence.labels)
    least = evidence.log_probability(table) - LEAST_MARGIN
    is_untested = np.asarray(~evidence.reads(table).any(axis=0))
    for state, label in np.argwhere(is_untested).tolist():
        others = {*range(len(table)), ACCEPTED, DEAD} - {int(table[state, label])}
        is_untested[state, label] = any(_explains(evidence, table, state, label, one, least) for one in sorted(others))
    return Support(evidence.labels, is_untested)


def _explains(evidence: Evidence, table: NDArray[np.int32], state: int, label: int, target: int, least: float) -> bool:
    """Whether the log evidence is above `least` if a label leads to another target."""
    changed = table.copy()
    changed[state, label] = target
    verdicts = evidence.of_verdicts(changed)
    scenes = evidence.of_scenes_if(changed, least - verdicts)
    return scenes is not None and log_mean(scenes.sum(axis=0)) + verdicts > least
