"""The probable automata of a posterior, as tables with their weights.

The alternatives of a rational learner differ in what demonstrations are evidence about. Further ones are the chosen
automaton under a constraint that the task may have (`doubts`), with the weight of the chosen one times the odds of the
constraint. So a constraint is asked about before an agent breaks it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.rational.constraints import conjoin
from wfairl.core.rational.tables import canonical_table, live_table, read_word
from wfairl.core.rational.task_posterior import TaskPosterior, posterior_of
from wfairl.core.support.errors import BadInputError

MAX_HYPOTHESES = 60
"""Number of most probable automata that are compared."""


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
    for doubt in posterior.doubts:
        table = canonical_table(conjoin(chosen, doubt.constraint, labels))
        yield Hypothesis(f"{best.text}, and {doubt.constraint}", table, best.weight * doubt.odds)
