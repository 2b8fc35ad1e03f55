"""DeclareLearner: a conjunction of small constraints, chosen by description length.

If some words failed, the rule C is the set of constraints with the fewest bits

    bits(C) + flag_bits(of the words that keep C) + flag_bits(of the words that break it)

If all words succeeded, `process_rule` finds what they have in common.

Constraints are added, dropped and exchanged while the description gets shorter. The words that keep a constraint are a
row of bits (`declare_evidence`), so that one pass over all candidates is a population count.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.finite import FiniteAutomaton, NoAcceptedWordError, TooManyStatesError
from wfairl.core.automata.task_model import TaskModel
from wfairl.core.automata.word_corpus import Corpus
from wfairl.core.automata.words import Word
from wfairl.core.demonstrations.learners import PLAIN_READING, LearnedTask, Reading, WordLearner
from wfairl.core.support.bounds import AtLeastOne, Fraction, Seed, check_bounds
from wfairl.events.constraints import Constraint, compile_constraints
from wfairl.events.declare_evidence import Candidates, FlagEvidence, templates_for
from wfairl.events.dfa import Dfa, minimal, product, same_language, to_finite
from wfairl.events.flagged_corpus import FlaggedCorpus, random_part
from wfairl.events.learned_rule import LearnedRule
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
        rule: the constraints; a word must keep all of them. No constraints accept every word.
        finite: the minimal automaton of the words that keep those which fit into it.
        bits: of the constraints, and of the flags given the rule; if all words succeeded, less the evidence.
        left_out: constraints with evidence that contradict the others.
        unpaired: propositions that no constraint pairs, because there are too many pairs and these are rare.
        words_used: how many words were used.
    """

    rule: LearnedRule
    finite: FiniteAutomaton
    bits: float
    left_out: tuple[Constraint, ...]
    unpaired: tuple[str, ...]
    words_used: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """The rule, for people."""
        return tuple(one.sentence for one in self.rule.constraints)


@dataclass(frozen=True)
class DeclareLearner(WordLearner):
    """The constraints that describe the successes best, as a conjunction.

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
        if only_successes:
            supported, left_out, relations = self._of_successes(candidates, corpus, alphabet, rng)
        else:
            supported, left_out, relations = self._of_flags(candidates, corpus, alphabet, succeeded, words)
        fitting, finite = _fit_into(supported.constraints, alphabet, self.max_states)
        return LearnedConstraints(
            LearnedRule(supported.constraints, fitting, supported.outliers, supported.false_alarms, relations),
            finite,
            supported.bits,
            left_out=left_out,
            unpaired=tuple(np.delete(propositions, paired).tolist()),
            words_used=len(corpus),
        )

    def _of_successes(
        self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label], rng: np.random.Generator
    ) -> tuple["_Supported", tuple[Constraint, ...], Relations | None]:
        relations = Relations.of(corpus, alphabet)
        rule = find_rule(corpus, alphabet, relations, candidates, self.outliers, rng)
        bits = -sum(one.evidence for one in rule.constraints) / math.log(2)
        return _Supported(rule.constraints, bits, rule.outliers, rule.false_alarms), (), relations

    def _of_flags(
        self,
        candidates: Candidates,
        corpus: Corpus,
        alphabet: Sequence[Label],
        succeeded: NDArray[np.bool_],
        words: int,
    ) -> tuple["_Supported", tuple[Constraint, ...], Relations | None]:
        evidence = FlagEvidence(candidates, corpus, alphabet, succeeded)
        needed, left_out = _without_implied(
            evidence, _search(evidence, self.max_constraints), alphabet, self.max_states
        )
        supported = []
        for i in sorted(needed):
            gain = evidence.bits([one for one in needed if one != i]) - evidence.bits(needed)
            broken = evidence.broken_by_successes(i)
            supported.append(SupportedConstraint(candidates.constraint(i), evidence.total, broken, gain * math.log(2)))
        bits = candidates.rule_bits(needed) + evidence.data_bits(needed) * words / len(corpus)
        wrong = sum(~LearnedRule(tuple(supported), 0, 0.0).keeps_all(_words(corpus, alphabet))[succeeded])
        found = _Supported(tuple(supported), bits, float(wrong / max(evidence.total, 1)), None)
        return found, tuple(candidates.constraint(i) for i in left_out), None


NO_RULE = "anything may happen: no rule was found"


@dataclass(frozen=True, eq=False)
class _Supported:
    """The constraints of a rule, its bits, and the shares of cases that break it."""

    constraints: tuple[SupportedConstraint, ...]
    bits: float
    outliers: float
    false_alarms: float | None


def _words(corpus: Corpus, alphabet: Sequence[Label]) -> list[Word]:
    """The words of a corpus."""
    labels = [alphabet[symbol] for symbol in corpus.symbols]
    return [tuple(labels[start:end]) for start, end in pairwise(corpus.offsets)]


def _notes(learned: LearnedConstraints, words: int) -> Iterator[str]:
    if learned.unpaired:
        yield (
            f"there are too many propositions to try all pairs: the {len(learned.unpaired)} rarest, such as"
            f" '{learned.unpaired[0]}', were left out, and a rule about one of them and another would not be found"
        )
    if learned.words_used < words:
        yield f"of {words:,} words {learned.words_used:,} were used, drawn at random"
    for constraint in learned.left_out:
        yield f"left out, as it contradicts the others: {constraint.sentence}"
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


def _search(evidence: FlagEvidence, limit: int) -> list[int]:
    """Add, drop and exchange constraints while the description gets shorter, the best change first."""
    chosen: list[int] = []
    best = evidence.bits(chosen)
    while len(evidence.candidates):
        bits, changed = min(_changes(evidence, chosen, limit), key=lambda option: option[0])
        if not bits < best - LEAST_GAIN_IN_BITS:
            bits, changed = min(_exchanges_for_two(evidence, chosen, limit), default=(math.inf, chosen))
        if not bits < best - LEAST_GAIN_IN_BITS:
            break
        best, chosen = bits, changed
    return chosen


LEAST_GAIN_IN_BITS = 1e-6
"""A smaller gain is rounding."""

FIRST_OF_TWO = 8
"""When one constraint is exchanged for two, this many are tried as the first of them."""


def _changes(evidence: FlagEvidence, chosen: list[int], limit: int) -> list[tuple[float, list[int]]]:
    """The rule with one constraint more, with one less, and with one exchanged."""
    options = [_with_best(evidence, chosen)] if len(chosen) < limit else []
    for i in range(len(chosen)):
        without = chosen[:i] + chosen[i + 1 :]
        options += [(evidence.bits(without), without), _with_best(evidence, without)]
    return options


def _exchanges_for_two(evidence: FlagEvidence, chosen: list[int], limit: int) -> list[tuple[float, list[int]]]:
    """The rule with two constraints for one: "ship only after pay", "ship only after pack" for "ship never happens"."""
    options = []
    for i in range(len(chosen) if len(chosen) < limit else 0):
        without = chosen[:i] + chosen[i + 1 :]
        bits = evidence.bits_with_each(without)
        firsts = [int(first) for first in np.argsort(bits, kind="stable")[: FIRST_OF_TWO + 1] if first != chosen[i]]
        options += [_with_best(evidence, [*without, first]) for first in firsts if np.isfinite(bits[first])]
    return options


def _with_best(evidence: FlagEvidence, chosen: list[int]) -> tuple[float, list[int]]:
    bits = evidence.bits_with_each(chosen)
    added = int(np.argmax(bits <= bits.min() + LEAST_GAIN_IN_BITS))  # the first of equals: its template is preferred
    return float(bits[added]), [*chosen, added]


def _without_implied(
    evidence: FlagEvidence, chosen: list[int], alphabet: Sequence[Label], max_states: int
) -> tuple[list[int], list[int]]:
    """The constraints that do not follow from the others, and those that contradict them."""
    needed, left_out = list(chosen), list[int]()
    while True:
        try:
            table = compile_constraints(map(evidence.candidates.constraint, needed), alphabet, max_states)
            to_finite(table, tuple(alphabet))
            break
        except TooManyStatesError:
            return needed, left_out
        except NoAcceptedWordError:
            losses = [evidence.bits(needed[:i] + needed[i + 1 :]) for i in range(len(needed))]
            left_out.append(needed.pop(int(np.argmin(losses))))
    for constraint in sorted(needed, reverse=True):  # drop what the others imply, the longest first
        others = [other for other in needed if other != constraint]
        try:
            simpler = compile_constraints(map(evidence.candidates.constraint, others), alphabet, max_states)
            needed = others if same_language(simpler, table) else needed
        except TooManyStatesError:
            continue
    return needed, left_out


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
        larger = minimal(product(table, one.constraint.table(alphabet)))
        if larger.states > max_states or not larger.accepting.any():
            refused += 1
        else:
            table, fitting = larger, fitting + 1
    return fitting, to_finite(table, tuple(alphabet))


MOST_REFUSED = 40
"""After so many constraints that did not fit into the automaton, no more are tried."""
