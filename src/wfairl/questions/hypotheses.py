"""The probable automata of a posterior, as tables with their weights.

The alternatives of a rational learner differ in what demonstrations are evidence about. Further ones are variants of
the chosen automaton in which a label that no demonstration tests is deadly, or a demonstrated one is needed, with the
odds that `Support` gives them,

    weight(l is deadly everywhere)      =  weight(chosen) * min_q odds(q, l)
    weight(l is deadly in the state q)  =  weight(chosen) * (odds(q, l) - min_q' odds(q', l))
    weight(l is needed too)             =  weight(chosen) * odds(l)

so that a label is asked about before an agent reads it though it may be deadly, or omits it though it may be needed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import DEAD, Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.words import format_label
from wfairl.core.rational.tables import canonical_table, live_table, read_word, requiring
from wfairl.core.rational.task_posterior import Support, TaskPosterior, posterior_of
from wfairl.core.support.errors import BadInputError

MAX_HYPOTHESES = 60
"""Number of most probable automata that are compared."""

LARGEST_RISK = 0.98
"""A pair of state and label that is deadly with more than this probability is no longer in question."""

SMALLEST_RISK = 0.002


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """An automaton that may be the task.

    Attributes:
        text: the automaton, for people.
        table: state after each label, `DEAD` or `ACCEPTED`; [states, labels].
        weight: its probability; those of all hypotheses add up to 1.
    """

    text: str
    table: NDArray[np.int32]
    weight: float

    def accepts(self, word: NDArray[np.int32]) -> bool:
        """Whether the task is fulfilled by the end of a word of label indices, shape [steps]."""
        return read_word(self.table, word) > 0


def required_posterior(model: TaskModel) -> TaskPosterior:
    """The posterior of a model.

    Raises:
        BadInputError: the model is of a learner that has none.
    """
    posterior = posterior_of(model)
    if posterior is None:
        raise BadInputError(
            f"a task model by {model.learner} has no alternatives to ask about; "
            "learn it with `wfairl learn-task --learner rational`"
        )
    return posterior


def hypotheses_of(posterior: TaskPosterior, labels: Sequence[Label]) -> tuple[Hypothesis, ...]:
    """The probable automata over some labels, the most probable first; those that read alike are one."""
    by_table: dict[bytes, Hypothesis] = {}
    for one in _all(posterior, tuple(labels)):
        first = by_table.setdefault(one.table.tobytes(), one)
        if one.weight > first.weight:  # a variant that is an alternative already, and more probable by its odds
            by_table[one.table.tobytes()] = replace(first, weight=one.weight)
    hypotheses = sorted(by_table.values(), key=lambda one: -one.weight)[:MAX_HYPOTHESES]
    total = sum(one.weight for one in hypotheses)
    return tuple(replace(one, weight=one.weight / total) for one in hypotheses)


def _all(posterior: TaskPosterior, labels: tuple[Label, ...]) -> Iterator[Hypothesis]:
    for one in posterior.alternatives:
        yield Hypothesis(one.text, canonical_table(live_table(one.automaton, labels)), one.weight)
    best = posterior.chosen
    chosen = live_table(best.automaton, labels)

    def variant(change: str, table: NDArray[np.int32], odds: float) -> Hypothesis:
        return Hypothesis(f"{best.text}, but {change}", canonical_table(table), best.weight * odds)

    odds = deadly_odds(posterior, labels)
    everywhere = odds.min(axis=0)
    for label, text in enumerate(map(format_label, labels)):
        if everywhere[label] > 0:
            yield variant(f"any -{text}-> dead", _with_dead(chosen, slice(None), label), everywhere[label])
        for state in range(len(chosen)):
            here = odds[state, label] - everywhere[label]
            if here > 0:
                yield variant(f"{state} -{text}-> dead", _with_dead(chosen, state, label), here)
    for label, odds_of_need in enumerate(needed_odds(posterior.support, labels)):
        if odds_of_need > 0:
            yield variant(f"{format_label(labels[label])} is needed too", requiring(chosen, label), odds_of_need)


def _with_dead(table: NDArray[np.int32], states: int | slice, label: int) -> NDArray[np.int32]:
    """The table in which a label is deadly in some states."""
    changed = table.copy()
    changed[states, label] = DEAD
    return changed


def deadly_odds(posterior: TaskPosterior, labels: Sequence[Label]) -> NDArray[np.float64]:
    """Odds that a label is deadly where the chosen automaton allows it, 0 where it does not; shape [states, labels].

    The empty label is never in question, since no plan could do without it.
    """
    support, chosen = posterior.support, live_table(posterior.chosen.automaton, labels)
    unknown = np.full(len(support.risk), support.unknown_risk)
    columns = dict(zip(support.labels, support.risk.T, strict=True))
    risk = np.array([columns.get(label, unknown) for label in labels]).T
    in_question = (chosen != DEAD) & (risk < LARGEST_RISK) & (risk > SMALLEST_RISK)
    in_question &= np.array([bool(label) for label in labels])
    return np.where(in_question, _odds(risk), 0.0)


def needed_odds(support: Support, labels: Sequence[Label]) -> NDArray[np.float64]:
    """Odds that the task requires a label that the automaton does not require, 0 for the others; shape [labels]."""
    need_of = support.needed_labels
    need = np.array([need_of.get(label, 0.0) for label in labels])
    return np.where(need > SMALLEST_RISK, _odds(need), 0.0)


def _odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    return probability / np.maximum(1 - probability, 1 - LARGEST_RISK)
