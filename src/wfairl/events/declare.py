"""DeclareLearner: a rule made of small constraints, chosen by description length.

If some words failed, `outcome_rule` finds what tells successes from failures. If all words succeeded, `process_rule`
finds what they have in common.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.finite import FiniteAutomaton, TooManyStatesError
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.word_corpus import Corpus
from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, Fraction, Seed, check_bounds
from wfairl.events.candidates import Candidates, templates_for
from wfairl.events.constraints import Constraint
from wfairl.events.dfa import Dfa, complement, intersection, minimal, product, to_finite
from wfairl.events.flagged_corpus import FlaggedCorpus, random_part
from wfairl.events.learned_rule import LearnedRule
from wfairl.events.outcome_rule import find_outcome_rule, number_of
from wfairl.events.process_rule import SupportedConstraint, find_rule
from wfairl.events.relations import MOST_PROPOSITIONS, Relations

FEWEST_WORDS = 20_000
"""Of more words than this, some may be left out to try more pairs of propositions."""

MEMORY = 2**32
"""Most bits of all candidates' rows: half a gigabyte.

If the words need more, a random part of them is used. If too few words would be left, only the most frequent
propositions are paired.
"""


@dataclass(frozen=True, eq=False)
class LearnedConstraints:
    """A rule.

    Attributes:
        rule: what a word must keep. A rule without constraints accepts every word.
        finite: the minimal automaton of the words that keep what fits into it.
        bits: of the rule, and of the flags given the rule; if all words succeeded, less the evidence.
        unpaired: propositions that no constraint pairs, because there are too many pairs and these are rare.
        words_used: how many words were used.
    """

    rule: LearnedRule
    finite: FiniteAutomaton
    bits: float
    unpaired: tuple[str, ...]
    words_used: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule, for people."""
        return self.rule.sentences


@dataclass(frozen=True)
class DeclareLearner(WordLearner):
    """The rule that describes the successes best.

    Attributes:
        max_constraints: most constraints of a rule that tells successes from failures.
        max_states: most states of the automaton; constraints that need more are kept as sentences alone.
        outliers: share of the cases that may break a rule learned from successes alone; estimated if None.
        seed: draws folds, and a part of the words if there are too many.
    """

    max_constraints: AtLeastOne = 32
    max_states: AtLeastOne = 256
    outliers: Fraction | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_bounds(self)

    def fit(self, words: Sequence[Word], scores: Sequence[float], reading: Reading = PLAIN_READING) -> LearnedTask:
        data = FlaggedCorpus.of(words, scores, reading)
        learned = self.find_constraints(data.corpus, data.succeeded, data.alphabet, reading.keep_repeats)
        # Without counting constraints a repeated label changes nothing: the table is right for any word.
        model = TaskModel.of_automaton(
            learned.finite,
            "declare",
            data.words,
            data.flags,
            keep_repeats=True,
            stated=learned.sentences or (NO_RULE,),
            record=learned.rule,
        )
        return LearnedTask(
            model,
            learned.bits,
            trivial=not learned.sentences,
            notes=tuple(_notes(learned, len(words))),
        )

    def find_constraints(
        self, corpus: Corpus, succeeded: NDArray[np.bool_], alphabet: Sequence[Label], keep_repeats: bool = False
    ) -> LearnedConstraints:
        """The constraints of words whose symbols are the labels of an alphabet.

        Args:
            corpus: the words.
            succeeded: whether each word is a success, shape [words]; at least one is.
            alphabet: the labels.
            keep_repeats: whether repeated labels mean something; if not, no constraint counts.
        """
        rng = np.random.default_rng(self.seed)
        words, only_successes = len(corpus), bool(succeeded.all())
        propositions = tuple(sorted(frozenset().union(*alphabet)))
        most = _most_paired(min(words, FEWEST_WORDS), keep_repeats)
        paired = _most_frequent(corpus, alphabet, propositions, min(most, MOST_PROPOSITIONS))
        candidates = Candidates.over(propositions, keep_repeats, paired, finite=not only_successes)
        part = random_part(words, max(MEMORY // max(len(candidates), 1), 1), rng)
        corpus, succeeded = corpus.take(part), succeeded[part]
        rule, bits = (
            self._of_successes(candidates, corpus, alphabet, rng)
            if only_successes
            else self._of_outcomes(candidates, corpus, alphabet, succeeded, words)
        )
        fitting, finite = to_automaton(rule, alphabet, self.max_states)
        return LearnedConstraints(
            replace(rule, in_automaton=fitting),
            finite,
            bits,
            unpaired=tuple(np.delete(propositions, paired).tolist()),
            words_used=len(corpus),
        )

    def _of_successes(
        self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label], rng: np.random.Generator
    ) -> tuple[LearnedRule, float]:
        relations = Relations.of(corpus, alphabet)
        rule = find_rule(corpus, alphabet, relations, candidates, self.outliers, rng)
        bits = -sum(one.evidence for one in rule.constraints) / math.log(2)
        return LearnedRule((rule.constraints,), 0, rule.outliers, rule.false_alarms, relations), bits

    def _of_outcomes(
        self,
        candidates: Candidates,
        corpus: Corpus,
        alphabet: Sequence[Label],
        succeeded: NDArray[np.bool_],
        words: int,
    ) -> tuple[LearnedRule, float]:
        rows = candidates.kept_by(corpus, alphabet)
        found = find_outcome_rule(candidates, rows, succeeded, self.max_constraints)
        described = ~succeeded if found.of_failures else succeeded

        def holds(literal: int) -> NDArray[np.bool_]:
            """Whether each word satisfies a literal, shape [words]."""
            kept = np.unpackbits(rows[number_of(literal)].view(np.uint8), count=len(corpus))
            return (kept > 0) == (literal >= 0)

        def support(literal: int, gain: float) -> SupportedConstraint:
            constraint, is_kept = candidates.constraint(number_of(literal)), literal >= 0
            if not is_kept and constraint.template.name == "existence":
                constraint, is_kept = Constraint.of("absence", *constraint.propositions), True
            broken = int((described & ~holds(literal)).sum())
            return SupportedConstraint(constraint, int(described.sum()), broken, gain * math.log(2), is_kept)

        terms = tuple(
            tuple(support(*one) for one in zip(term, gains, strict=True))
            for term, gains in zip(found.terms, found.gains, strict=True)
        )
        everything = np.ones((1, len(corpus)), bool)
        covered = np.logical_or.reduce(
            [np.logical_and.reduce([*everything, *map(holds, term)]) for term in found.terms]
        )
        outliers = float((covered == found.of_failures)[succeeded].mean())
        return LearnedRule(terms, 0, outliers, of_failures=found.of_failures), found.bits * words / len(corpus)


NO_RULE = "anything may happen: no rule was found"


def _notes(learned: LearnedConstraints, words: int) -> Iterator[str]:
    if learned.unpaired:
        yield (
            f"there are too many propositions to try all pairs: the {len(learned.unpaired)} rarest, such as"
            f" '{learned.unpaired[0]}', were left out, and a rule about one of them and another would not be found"
        )
    if learned.words_used < words:
        yield f"of {words:,} words {learned.words_used:,} were used, drawn at random"
    alone = len(learned.rule.constraints) - learned.rule.in_automaton
    if alone:
        yield (
            f"{alone} of the {len(learned.rule.constraints)} sentences are not in the automaton, which would be too"
            " large; verdicts keep to all of them"
        )


def _most_paired(words: int, keep_repeats: bool) -> int:
    """How many propositions may be paired so that the rows of that many words fit into memory."""
    ordered = sum(
        0.5 if template.symmetric else 1.0 for template in templates_for(keep_repeats) if template.arguments == 2
    )
    return math.isqrt(int(MEMORY / ordered / max(words, 1)))


def _most_frequent(
    corpus: Corpus, alphabet: Sequence[Label], propositions: Sequence[str], limit: int
) -> NDArray[np.int64]:
    """Indices of the propositions that hold most often, rising; of all propositions if the limit allows it."""
    if len(propositions) <= limit:
        return np.arange(len(propositions))
    number = {proposition: i for i, proposition in enumerate(propositions)}
    often = np.zeros(len(propositions), np.int64)
    for label, times in zip(alphabet, np.bincount(corpus.symbols, minlength=len(alphabet)), strict=True):
        often[[number[proposition] for proposition in label]] += times
    return np.sort(np.argsort(-often, kind="stable")[:limit])


def to_automaton(rule: LearnedRule, alphabet: Sequence[Label], max_states: int) -> tuple[int, FiniteAutomaton]:
    """How many constraints of a rule an automaton of so many states holds, and the automaton.

    A conjunction is cut to what fits. Any other rule fits whole or not at all.
    """
    if rule.is_conjunction:
        return _fit_into(rule.terms[0], alphabet, max_states)
    try:
        tables = [
            intersection([_table(one, alphabet) for one in term], len(alphabet), max_states) for term in rule.terms
        ]
        none = intersection([*map(complement, tables)], len(alphabet), max_states)
    except TooManyStatesError:
        return 0, to_finite(Dfa(np.zeros((1, len(alphabet)), np.int32), np.array([True])), tuple(alphabet))
    whole = none if rule.of_failures else complement(none)
    return len(rule.constraints), to_finite(whole, tuple(alphabet))


def _table(one: SupportedConstraint, alphabet: Sequence[Label]) -> Dfa:
    table = one.constraint.table(alphabet)
    return table if one.kept else complement(table)


def _fit_into(
    constraints: Sequence[SupportedConstraint], alphabet: Sequence[Label], max_states: int
) -> tuple[int, FiniteAutomaton]:
    """How many of the constraints an automaton of so many states holds, and the automaton.

    Constraints are added in their order. One that makes the automaton too large, or empty, is passed over.
    """
    table, fitting, refused = Dfa(np.zeros((1, len(alphabet)), np.int32), np.array([True])), 0, 0
    for one in constraints:
        if not one.constraint.template.transitions or refused == MOST_REFUSED:
            continue
        larger = minimal(product(table, _table(one, alphabet)))
        if larger.states > max_states or not larger.accepting.any():
            refused += 1
        else:
            table, fitting = larger, fitting + 1
    return fitting, to_finite(table, tuple(alphabet))


MOST_REFUSED = 40
"""After so many constraints that did not fit into the automaton, no more are tried."""
