"""What the task may be: the probable automata of a task model, as tables with their weights.

The automata that a rational learner keeps differ in what demonstrations made it think about. Beside them stand those
in which a label that no demonstration tests is deadly, and those in which one that demonstrations show is needed, with
the odds that `Support` gives them,

    weight(l is deadly everywhere)      =  weight(chosen) * min_q odds(q, l)
    weight(l is deadly in the state q)  =  weight(chosen) * (odds(q, l) - min_q' odds(q', l))
    weight(l is needed too)             =  weight(chosen) * odds(l)

so that what is dangerous is asked about before an agent tries it, and what was perhaps no accident before an agent
leaves it out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import ACCEPTED, DEAD, Label
from wfairl.automata.guarded import GuardedAutomaton
from wfairl.automata.task_model import TaskModel
from wfairl.automata.words import format_label
from wfairl.errors import BadInputError
from wfairl.logic import kernels
from wfairl.logic.sketch import canonical
from wfairl.logic.support import Support, support_of
from wfairl.logic.tables import requiring, to_table

MAX_HYPOTHESES = 60
"""The most probable automata that are told apart."""

LARGEST_RISK = 0.98
"""A pair of state and label that is deadly with more than this probability is no longer in question."""

SMALLEST_RISK = 0.002


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """What the task may be.

    Attributes:
        text: for people.
        table: state after each label, `DEAD` or `ACCEPTED`; [states, labels].
        weight: its probability; those of all hypotheses add up to 1.
    """

    text: str
    table: NDArray[np.int32]
    weight: float

    def accepts(self, word: NDArray[np.int32]) -> bool:
        """Whether the task is fulfilled by the end of a word of label indices, shape [steps]."""
        return kernels.read_word(self.table, word) > 0


def hypotheses_of(model: TaskModel, labels: Sequence[Label]) -> tuple[Hypothesis, ...]:
    """The probable automata of a model over some labels, the most probable first; those that read alike are one.

    Raises:
        BadInputError: the model's learner keeps no alternatives.
    """
    found: dict[bytes, Hypothesis] = {}
    for one in _all(model, tuple(labels)):
        known = found.setdefault(one.table.tobytes(), one)
        if one.weight > known.weight:  # a variant that is an alternative already, and more probable to caution
            found[one.table.tobytes()] = replace(known, weight=one.weight)
    kept = sorted(found.values(), key=lambda one: -one.weight)[:MAX_HYPOTHESES]
    total = sum(one.weight for one in kept)
    return tuple(replace(one, weight=one.weight / total) for one in kept)


def _all(model: TaskModel, labels: tuple[Label, ...]) -> Iterator[Hypothesis]:
    chosen = chosen_table(model, labels)
    for one in model.facts["alternatives"]:
        table = live_table(GuardedAutomaton.from_document(one["automaton"]), labels)
        yield Hypothesis(one["text"], canonical(table), float(one["weight"]))
    weight = float(model.facts["alternatives"][0]["weight"])
    odds = deadly_odds(model, labels)
    everywhere = odds.min(axis=0)
    for label, text in enumerate(map(format_label, labels)):
        if everywhere[label] > 0:
            table = chosen.copy()
            table[:, label] = DEAD
            yield Hypothesis(
                f"{model.sentences[0]}, but any -{text}-> dead", canonical(table), weight * everywhere[label]
            )
        for state in range(len(chosen)):
            here = odds[state, label] - everywhere[label]
            if here > 0:
                table = chosen.copy()
                table[state, label] = DEAD
                yield Hypothesis(f"{model.sentences[0]}, but {state} -{text}-> dead", canonical(table), weight * here)
    for label, odds_of_need in enumerate(needed_odds(model, labels)):
        if odds_of_need > 0:
            text = f"{model.sentences[0]}, but {format_label(labels[label])} is needed too"
            yield Hypothesis(text, canonical(requiring(chosen, label)), weight * odds_of_need)


def chosen_table(model: TaskModel, labels: Sequence[Label]) -> NDArray[np.int32]:
    """The automaton of a model that a rational learner learned, with its states as they are; [states, labels].

    Raises:
        BadInputError: another learner did.
    """
    if "alternatives" not in model.facts or not isinstance(model.automaton, GuardedAutomaton):
        raise BadInputError(
            f"a task model by {model.learner} knows no alternatives to ask about; "
            "learn it with `wfairl learn-task --learner rational`"
        )
    return live_table(model.automaton, labels)


def deadly_odds(model: TaskModel, labels: Sequence[Label]) -> NDArray[np.float64]:
    """Odds that a label ends the task in failure where the automaton does not say so, 0 where it does.

    Shape [states, labels]. The label without any proposition is never in question: everything would be.
    """
    support = support_of(model)
    chosen = chosen_table(model, labels)
    if support is None:
        return np.zeros(chosen.shape)
    risk = np.array([_risk(support, label) for label in labels]).T
    in_question = (chosen != DEAD) & (risk < LARGEST_RISK) & (risk > SMALLEST_RISK)
    in_question &= np.array([bool(label) for label in labels])
    return np.where(in_question, _odds(risk), 0.0)


def needed_odds(model: TaskModel, labels: Sequence[Label]) -> NDArray[np.float64]:
    """Odds that the task asks for a label though the automaton does not say so, 0 where it does; shape [labels]."""
    support = support_of(model)
    known = {} if support is None else dict(zip(support.labels, support.need.tolist(), strict=True))
    need = np.array([known.get(label, 0.0) for label in labels])
    return np.where(need > SMALLEST_RISK, _odds(need), 0.0)


def _odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    return probability / np.maximum(1 - probability, 1 - LARGEST_RISK)


def _risk(support: Support, label: Label) -> NDArray[np.float64]:
    if label in support.labels:
        return support.risk[:, support.labels.index(label)]
    return np.full(len(support.risk), support.unknown_risk)


def live_table(automaton: GuardedAutomaton, labels: Sequence[Label]) -> NDArray[np.int32]:
    """The table without its last row, that of the accepting state, which no label leads to by its number."""
    return np.ascontiguousarray(to_table(automaton, labels)[:-1])


def through(table: NDArray[np.int32], pairs: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
    """The automaton that also asks for pairs of a state and a label to be read, in any order, before the end.

    Returns:
        A table of states q + states * (the set of pairs read so far, as bits), [states * 2 ** pairs, labels].
    """
    states, sets = len(table), 2 ** len(pairs)
    wide = np.empty((states * sets, table.shape[1]), np.int32)
    for read in range(sets):
        after = np.full(table.shape, read)
        for bit, (state, label) in enumerate(pairs):
            after[state, label] |= 1 << bit
        ends = np.where(after == sets - 1, ACCEPTED, DEAD)
        wide[states * read : states * (read + 1)] = np.where(
            table >= 0, table + states * after, np.where(table == ACCEPTED, ends, DEAD)
        )
    return wide
