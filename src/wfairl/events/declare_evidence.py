"""Evidence of words about constraints: which words keep each candidate, and the bits that a set leaves unexplained.

There are two kinds of evidence: words of which some failed (`FlagEvidence`), and words that all succeeded
(`SuccessEvidence`). `declare` has the formulas and the search.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus
from wfairl.events.constraints import TEMPLATES, Constraint, Occurrences, Template
from wfairl.events.description_length import flag_bits, integer_bits

Bits = NDArray[np.uint64]

COUNTED_AT_ONCE = 2**16
"""Integers of 64 bits that are counted at once: as many as the cache holds."""

TESTS_AT_ONCE = 2**24
"""Pairs of a candidate and a word that are tested at once."""

LABELS_AT_ONCE = 2**22
"""Labels of random words that are drawn at once."""

RANDOM_WORDS = 20_000
"""Random words that a rule learned from successes alone is compared with."""

FEWEST_RANDOM_WORDS = 200
"""A share is estimated from at least this many random words."""

LARGEST_OUTLIER_SHARE = 0.1
"""Successes that may break a rule which is learned from successes alone, as a share of them."""


def templates_for(keep_repeats: bool) -> list[Template]:
    """The templates to choose from: those that count only if repeated labels mean something."""
    return [template for template in TEMPLATES if keep_repeats or not template.counting]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The constraints that may become part of a rule.

    Attributes:
        propositions: the names that constraints are about.
        blocks: for each template, the number of its first candidate and the propositions of its candidates.
        bits: description length of each candidate, shape [candidates].
    """

    propositions: tuple[str, ...]
    blocks: tuple[tuple[Template, int, NDArray[np.int64]], ...]
    bits: NDArray[np.float64]

    @classmethod
    def over(cls, propositions: tuple[str, ...], keep_repeats: bool, paired: NDArray[np.int64]) -> "Candidates":
        """All constraints over some propositions.

        Args:
            propositions: the names.
            keep_repeats: whether repeated labels mean something; if not, no candidate counts them.
            paired: indices of the propositions that a constraint on two propositions may name.
        """
        templates = templates_for(keep_repeats)
        blocks, first, bits = [], 0, [np.zeros(0)]
        for template in templates:
            of = paired if template.arguments == 2 else np.arange(len(propositions))
            choices = of[template.choices(len(of))]
            if len(choices):
                blocks.append((template, first, choices))
                bits.append(np.full(len(choices), math.log2(len(templates)) + math.log2(len(choices))))
                first += len(choices)
        return cls(propositions, tuple(blocks), np.concatenate(bits))

    def __len__(self) -> int:
        return len(self.bits)

    def rule_bits(self, chosen: list[int], more: int = 0) -> float:
        """Bits of a set of constraints in any order: their number, then each of them.

        With `more`, the number counts further constraints, whose own bits are left out.
        """
        count = len(chosen) + more
        return integer_bits(count) + float(sum(self.bits[i] for i in chosen)) - math.lgamma(count + 1) / math.log(2)

    def constraint(self, index: int) -> Constraint:
        """The candidate with a number."""
        for template, first, choices in self.blocks:
            if index < first + len(choices):
                return Constraint(template, tuple(self.propositions[i] for i in choices[index - first]))
        raise IndexError(index)

    def arguments(self) -> NDArray[np.int64]:
        """The propositions of each candidate, shape [candidates, 2]; a single proposition stands there twice."""
        return np.concatenate([np.zeros((0, 2), np.int64), *(choices[:, [0, -1]] for _, _, choices in self.blocks)])

    def kept_by(self, corpus: Corpus, alphabet: Sequence[Label]) -> Bits:
        """Which words keep each candidate, one bit per word, shape [candidates, words / 64]."""
        occurrences = Occurrences.of(corpus, alphabet, self.propositions)
        rows = np.zeros((len(self), -(-len(corpus) // 64)), np.uint64)
        for template, first, choices in self.blocks:
            step = max(TESTS_AT_ONCE // max(len(corpus), 1), 1)
            for i in range(0, len(choices), step):
                part = choices[i : i + step]
                rows[first + i : first + i + len(part)] = _pack(template.holds(occurrences, part[:, 0], part[:, -1]))
        return rows


def _pack(flags: NDArray[np.bool_]) -> Bits:
    """Flags of shape [n, words] as bits, shape [n, words / 64]; the bits past the end are 0."""
    packed = np.packbits(flags, axis=1)
    padded = np.zeros((len(flags), -(-flags.shape[1] // 64) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _count(rows: Bits, mask: Bits, which: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """How many bits of the mask each row has, or each of the rows `which`; shape [rows]."""
    number, step = len(rows) if which is None else len(which), max(COUNTED_AT_ONCE // max(len(mask), 1), 1)
    parts = [
        np.bitwise_count(rows[slice(i, i + step) if which is None else which[i : i + step]] & mask).sum(
            axis=1, dtype=np.int64
        )
        for i in range(0, number, step)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])


def _words_keeping(rows: Bits, chosen: list[int], everything: Bits) -> Bits:
    """The words that keep all chosen candidates; `rows` come from `Candidates.kept_by`, `everything` has all words."""
    return np.bitwise_and.reduce(rows[chosen], axis=0, initial=~np.uint64(0)) & everything


class WordEvidence(ABC):
    """Evidence of words about sets of candidates; a set is a list of their numbers."""

    def __init__(self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label]) -> None:
        self.candidates = candidates
        self.rows = candidates.kept_by(corpus, alphabet)
        self.everything = _pack(np.ones((1, len(corpus)), bool))[0]
        self.words = len(corpus)

    def bits(self, chosen: list[int]) -> float:
        """The whole description."""
        return self.candidates.rule_bits(chosen) + self.data_bits(chosen)

    def bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        """The whole description if a candidate is added, for each candidate; shape [candidates].

        Infinite for those of the set: none is added twice.
        """
        bits = self.candidates.rule_bits(chosen, 1) + self.candidates.bits + self.data_bits_with_each(chosen)
        bits[chosen] = np.inf
        return bits

    def words_keeping(self, chosen: list[int]) -> Bits:
        """The words that keep all of a set."""
        return _words_keeping(self.rows, chosen, self.everything)

    @abstractmethod
    def data_bits(self, chosen: list[int]) -> float:
        """The bits that a set leaves unexplained."""

    @abstractmethod
    def data_bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        """The bits that the set leaves unexplained if a candidate is added, for each candidate; shape [candidates]."""


class FlagEvidence(WordEvidence):
    """Words of which some succeeded and others failed."""

    def __init__(
        self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label], succeeded: NDArray[np.bool_]
    ) -> None:
        super().__init__(candidates, corpus, alphabet)
        self.successes = _pack(succeeded[None])[0]
        self.total = int(succeeded.sum())

    def data_bits(self, chosen: list[int]) -> float:
        keeping = self.words_keeping(chosen)
        accepted = _count(keeping[None], self.everything)
        return float(self._bits(accepted, _count(keeping[None], self.successes))[0])

    def data_bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        keeping = self.words_keeping(chosen)
        return self._bits(_count(self.rows, keeping), _count(self.rows, keeping & self.successes))

    def _bits(self, accepted: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Infinite unless most rejected words failed, and rejected words failed more often than accepted ones."""
        rejected, wrong = self.words - accepted, self.total - right
        bits = flag_bits(accepted, right) + flag_bits(rejected, wrong)
        sensible = (2 * wrong <= rejected) & (wrong * accepted <= right * rejected)
        return np.where(sensible & (right > 0), bits, np.inf)


class SuccessEvidence(WordEvidence):
    """Words that all succeeded.

    q(C) is a product with one factor for each constraint of C: the share of random words that keep it, among those that
    keep the constraints before it. If too few random words keep all of these, only constraints that share propositions
    with it are conditions, directly or through others: the rest is nearly independent.
    """

    def __init__(
        self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label], rng: np.random.Generator
    ) -> None:
        super().__init__(candidates, corpus, alphabet)
        self.all_random = _pack(np.ones((1, RANDOM_WORDS), bool))[0]
        self.random_rows = np.zeros((len(candidates), len(self.all_random)), np.uint64)
        for first, drawn in _random_words(corpus, rng):
            keeping = candidates.kept_by(drawn, alphabet)
            self.random_rows[:, first // 64 : first // 64 + keeping.shape[1]] = keeping
        self.arguments = candidates.arguments()

    def data_bits(self, chosen: list[int]) -> float:
        keeping = _count(self.words_keeping(chosen)[None], self.everything)
        return float(self._bits(keeping, np.array([self._log_q(chosen)]))[0])

    def data_bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        log_q = self._log_q(chosen) + self._log_share(chosen, list(range(len(self.candidates))))
        return self._bits(_count(self.rows, self.words_keeping(chosen)), log_q)

    def _log_q(self, chosen: list[int]) -> float:
        """log2 q(C)."""
        return sum(self._log_share(chosen[:i], chosen[i : i + 1])[0] for i in range(len(chosen)))

    def _log_share(self, earlier: list[int], asked: list[int]) -> NDArray[np.float64]:
        """log2 of the share of random words that keep each of `asked`, among those that keep `earlier`."""
        shares = np.zeros(len(asked))
        tied = self._ties(earlier)
        kinds, members = np.unique(self._share_propositions(asked, earlier), axis=0, return_inverse=True)
        for kind, near in enumerate(kinds):
            for conditions in (np.ones_like(near), tied[near].any(axis=0), near):
                wanted = [one for one, is_condition in zip(earlier, conditions, strict=True) if is_condition]
                keeping = _words_keeping(self.random_rows, wanted, self.all_random)
                total = int(np.bitwise_count(keeping).sum())
                if total >= FEWEST_RANDOM_WORDS:
                    break
            those = np.flatnonzero(members.ravel() == kind)
            counts = _count(self.random_rows, keeping, np.asarray(asked)[those])
            if total:  # otherwise nothing is known, and nothing is saved
                shares[those] = np.log2((counts + 0.5) / (total + 1))
        return shares

    def _ties(self, chosen: list[int]) -> NDArray[np.bool_]:
        """Which constraints share a proposition, directly or through others; shape [chosen, chosen]."""
        tied = self._share_propositions(chosen, chosen)
        for _ in range(len(chosen).bit_length()):  # each squaring doubles the length of the chains
            tied = (tied.astype(np.int64) @ tied.astype(np.int64)) > 0
        return tied

    def _share_propositions(self, some: list[int], others: list[int]) -> NDArray[np.bool_]:
        """Whether two constraints name a common proposition; shape [some, others]."""
        theirs = self.arguments[others]
        pairs = [self.arguments[some][:, [i]] == theirs[:, j] for i in range(2) for j in range(2)]
        return np.logical_or.reduce(pairs)

    def _bits(self, keeping: NDArray[np.int64], log_q: NDArray[np.float64]) -> NDArray[np.float64]:
        outliers = self.words - keeping
        bits = flag_bits(self.words, outliers) + keeping * log_q
        return np.where(outliers <= LARGEST_OUTLIER_SHARE * self.words, bits, np.inf)


def _random_words(corpus: Corpus, rng: np.random.Generator) -> Iterator[tuple[int, Corpus]]:
    """Words with the lengths of given words and labels drawn from all of them, in parts.

    Each part comes with the number of its first word.
    """
    lengths = rng.choice(corpus.lengths, RANDOM_WORDS)
    step = 64 * max(LABELS_AT_ONCE // (64 * max(int(corpus.lengths.max()), 1)), 1)
    for first in range(0, RANDOM_WORDS, step):
        offsets = np.cumsum([0, *lengths[first : first + step]])
        symbols = rng.choice(corpus.symbols, int(offsets[-1])) if len(corpus.symbols) else corpus.symbols
        yield first, Corpus(symbols, offsets, np.ones(len(offsets) - 1))
