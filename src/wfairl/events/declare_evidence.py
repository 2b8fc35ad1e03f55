"""Evidence of words about constraints: which words keep each candidate, and the bits that a set leaves unexplained.

`declare` has the formulas and the search.
"""

import math
from collections.abc import Sequence
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


def templates_for(keep_repeats: bool, finite: bool = True) -> list[Template]:
    """The templates to choose from: those that count only if repeated labels mean something.

    With `finite`, only those that a finite automaton can say.
    """
    return [
        template
        for template in TEMPLATES
        if (keep_repeats or not template.counting) and (template.transitions or not finite)
    ]


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
    def over(
        cls, propositions: tuple[str, ...], keep_repeats: bool, paired: NDArray[np.int64], finite: bool = True
    ) -> "Candidates":
        """All constraints over some propositions.

        Args:
            propositions: the names.
            keep_repeats: whether repeated labels mean something; if not, no candidate counts them.
            paired: indices of the propositions that a constraint on two propositions may name.
            finite: whether a finite automaton must be able to say each of them.
        """
        templates = templates_for(keep_repeats, finite)
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


def _count(rows: Bits, mask: Bits) -> NDArray[np.int64]:
    """How many bits of the mask each row has, shape [rows]."""
    step = max(COUNTED_AT_ONCE // max(len(mask), 1), 1)
    parts = [np.bitwise_count(rows[i : i + step] & mask).sum(axis=1, dtype=np.int64) for i in range(0, len(rows), step)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


class FlagEvidence:
    """Words of which some succeeded and others failed, as evidence about sets of candidates.

    A set is a list of their numbers.
    """

    def __init__(
        self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label], succeeded: NDArray[np.bool_]
    ) -> None:
        self.candidates = candidates
        self.rows = candidates.kept_by(corpus, alphabet)
        self.everything = _pack(np.ones((1, len(corpus)), bool))[0]
        self.words = len(corpus)
        self.successes = _pack(succeeded[None])[0]
        self.total = int(succeeded.sum())

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
        return np.bitwise_and.reduce(self.rows[chosen], axis=0, initial=~np.uint64(0)) & self.everything

    def broken_by_successes(self, chosen: int) -> int:
        """How many successes break a candidate."""
        return self.total - int(_count(self.rows[chosen][None], self.successes)[0])

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
