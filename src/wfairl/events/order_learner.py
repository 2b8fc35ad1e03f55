"""OrderLearner: what must happen, what must not, and in which order, from a few words of people who make mistakes.

A proposition happens always, never or sometimes. Each is a prior of the probability that a word has it, and the
likeliest of the three counts:

    always     Beta(9, 1)
    never      Beta(1, 9)
    sometimes  Beta(1, 1)

The order of what always happens is that of `partial_orders`. Words in which nothing happens teach nothing. A word that
breaks the rule is named.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import numpy as np
from annotated_types import Ge

from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.word_corpus import encode_all
from wfairl.core.automata.words import BadWordsError, Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, Seed, check_bounds
from wfairl.events.constraints import NOWHERE_LAST, EventConstraint, Occurrences, kept_by
from wfairl.events.dfa import intersect_dfas, to_finite
from wfairl.events.flagged_corpus import FlaggedCorpus, random_part
from wfairl.events.partial_orders import ERRANDS, JOINED, MOST_STEPS, agreed_order, draw_orders
from wfairl.events.step_names import WEIGHTS, log_affinity

ALWAYS, NEVER, SOMETIMES = range(3)


@dataclass(frozen=True)
class LearnedOrder:
    """A rule."""

    always: tuple[str, ...]  # what must happen
    never: tuple[str, ...]  # what must not
    edges: tuple[tuple[str, str], ...]  # (a, b): b only after a; pairs that follow from others are left out

    @property
    def constraints(self) -> tuple[EventConstraint, ...]:
        return (
            *(EventConstraint.of("existence", one) for one in self.always),
            *(EventConstraint.of("absence", one) for one in self.never),
            *(EventConstraint.of("precedence", *edge) for edge in self.edges),
        )

    def broken(self, words: Sequence[Word]) -> list[tuple[EventConstraint, ...]]:
        held = kept_by(self.constraints, words)
        return [tuple(one for one, kept in zip(self.constraints, row, strict=True) if not kept) for row in held.T]


@dataclass(frozen=True)
class OrderLearner(WordLearner):
    """What always and never happens, and a partial order, from a few successes that may contain mistakes.

    Attributes:
        joined: whether the steps make one result, as those of a recipe do: most steps then have one successor.
        names: whether to read the names of steps: steps whose names share words follow on each other more often.
        draws: orders that the search visits.
        max_states: most states of the automaton.
        seed: moves the search.
    """

    joined: bool = False
    names: bool = True
    draws: Annotated[int, Ge(1_000)] = 100_000
    max_states: AtLeastOne = 4_096
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        data = FlaggedCorpus.of(words, scores, reading)
        learned = self.find_order([data.words[i] for i in np.flatnonzero(data.succeeded)])
        tables = [constraint.table(data.alphabet) for constraint in learned.constraints]
        finite = to_finite(intersect_dfas(tables, len(data.alphabet), self.max_states), data.alphabet)
        sentences = tuple(constraint.sentence for constraint in learned.constraints)
        # No constraint counts: a repeated label changes nothing.
        model = TaskModel.of_automaton(finite, "order", data.words, data.flags, stated=sentences)
        broken = learned.broken(data.words)
        wrong = [(i + 1, broken[i][0]) for i in np.flatnonzero(data.succeeded).tolist() if broken[i]]
        notes = _notes(wrong, int(data.succeeded.sum())) if wrong else ()
        return LearnedTask(model, trivial=not learned.constraints, notes=notes)

    def find_order(
        self, words: Sequence[Word], propositions: Sequence[str] = (), weights: Sequence[float] = WEIGHTS
    ) -> LearnedOrder:
        """The rule of successful words.

        Args:
            words: what people did.
            propositions: those that may happen; what no word has never happens. Those of the words if empty.
            weights: of the features of names.
        """
        from scipy.special import betaln  # here, because it is slow to import

        told = [word for word in words if any(word)]
        if not told:
            raise BadWordsError("nothing happens in any successful word: there is no order to learn")
        known = sorted({*propositions, *(one for word in told for label in word for one in label)})
        places = Occurrences.of(*encode_all(told), known)
        happens = places.last != NOWHERE_LAST
        a, b = np.array([(9, 1), (1, 9), (1, 1)]).T[:, :, None]  # of the beta distribution of each kind
        counts = happens.sum(axis=1)
        kinds = np.argmax(betaln(a + counts, b + len(told) - counts) - betaln(a, b), axis=0)  # log evidence of each
        always = np.flatnonzero(kinds == ALWAYS)
        if len(always) > MOST_STEPS:
            raise BadWordsError(
                f"{len(always)} propositions always happen, and an order is learned of at most {MOST_STEPS};"
                " leave some out, or use the learner declare"
            )
        steps = [known[i] for i in always]
        number = {step: i for i, step in enumerate(steps)}
        orders = [
            [step for step, _ in groupby(number[one] for label in told[i] for one in sorted(label) if one in number)]
            for i in np.flatnonzero(happens[always].all(axis=0))
        ]
        rng = np.random.default_rng(self.seed)
        edges = np.zeros((0, 2), np.int64)
        if len(steps) > 1 and orders:
            used = [orders[i] for i in random_part(len(orders), 500, rng)]  # more take time, and change little
            affinity = log_affinity(steps, weights) if self.names else np.zeros((len(steps), len(steps)))
            prior = JOINED if self.joined else ERRANDS
            edges = np.argwhere(agreed_order(draw_orders(used, prior, affinity, self.draws, rng)))
        return LearnedOrder(
            tuple(steps),
            tuple(name for name, kind in zip(known, kinds, strict=True) if kind == NEVER),
            tuple((steps[a], steps[b]) for a, b in edges),
        )


def _notes(wrong: Sequence[tuple[int, EventConstraint]], successes: int) -> tuple[str, ...]:
    told = [f"word {number}: {constraint.sentence}" for number, constraint in wrong[:10]]
    told += [f"and {len(wrong) - 10} more"] if len(wrong) > 10 else []
    many = f"{len(wrong)} of {successes} successful words break the rule, probably by mistake"
    return (f"{many}: {'; '.join(told)}",)
