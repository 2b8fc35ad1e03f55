"""What words say of constraints: which words keep each candidate, and how many bits a set of them leaves to be said.

Words with flags (`FlagEvidence`) and words that all succeeded (`SuccessEvidence`) are two kinds of evidence; `declare`
states what is counted, and searches.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.automata.automaton import Label
from wfairl.automata.constraints import TEMPLATES, Constraint, Occurrences, Template
from wfairl.automata.corpus import Corpus
from wfairl.automata.description_length import flag_bits, integer_bits

Bits = NDArray[np.uint64]

ROWS_AT_ONCE = 64
"""Candidates whose bits are counted in one piece."""

TESTS_AT_ONCE = 2**24
"""Candidates times words that are tested in one piece."""

CHANCE_WORDS = 20_000
"""Words by chance that a rule learned from successes alone is compared with."""

FEW_CHANCE_WORDS = 200
"""Fewer words by chance say too little."""

LARGEST_OUTLIER_SHARE = 0.1
"""A rule learned from successes alone is broken by at most this share of them."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """All constraints over the propositions.

    Attributes:
        propositions: their names.
        blocks: each template with the first of its candidates and its choices of propositions.
        bits: description length of each, shape [candidates].
    """

    propositions: tuple[str, ...]
    blocks: tuple[tuple[Template, int, NDArray[np.int64]], ...]
    bits: NDArray[np.float64]

    @classmethod
    def over(cls, propositions: tuple[str, ...], keep_repeats: bool) -> "Candidates":
        """Those that there are over some propositions; with repeats compressed, none that counts."""
        templates = [template for template in TEMPLATES if keep_repeats or not template.counting]
        blocks, first, bits = [], 0, [np.zeros(0)]
        for template in templates:
            choices = template.choices(len(propositions))
            if len(choices):
                blocks.append((template, first, choices))
                bits.append(np.full(len(choices), math.log2(len(templates)) + math.log2(len(choices))))
                first += len(choices)
        return cls(propositions, tuple(blocks), np.concatenate(bits))

    def __len__(self) -> int:
        return len(self.bits)

    def rule_bits(self, count: int, bits: Sequence[float]) -> float:
        """Bits of a set of constraints: how many, then each, in whichever order."""
        return integer_bits(count) + float(sum(bits)) - math.lgamma(count + 1) / math.log(2)

    def constraint(self, index: int) -> Constraint:
        """The candidate of an index."""
        template, choice = self._find(index)
        return Constraint(template, tuple(self.propositions[i] for i in choice))

    def _find(self, index: int) -> tuple[Template, NDArray[np.int64]]:
        for template, first, choices in self.blocks:
            if index < first + len(choices):
                return template, choices[index - first]
        raise IndexError(index)

    def mentions(self) -> NDArray[np.bool_]:
        """Which propositions each speaks of, shape [candidates, propositions]."""
        mentioned = np.zeros((len(self), len(self.propositions)), bool)
        for _, first, choices in self.blocks:
            mentioned[np.arange(first, first + len(choices))[:, None], choices] = True
        return mentioned

    def kept_by(self, corpus: Corpus, alphabet: Sequence[Label]) -> Bits:
        """Which words keep each candidate, a bit a word, shape [candidates, words / 64]."""
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
    """How many bits each row shares with the mask, shape [rows]."""
    parts = [
        np.bitwise_count(rows[i : i + ROWS_AT_ONCE] & mask).sum(axis=1, dtype=np.int64)
        for i in range(0, len(rows), ROWS_AT_ONCE)
    ]
    return np.concatenate([np.zeros(0, np.int64), *parts])


class WordEvidence(ABC):
    """What words say of sets of candidates; a set is a list of their indices."""

    def __init__(self, candidates: Candidates, corpus: Corpus, alphabet: Sequence[Label]) -> None:
        self.candidates = candidates
        self.rows = candidates.kept_by(corpus, alphabet)
        self.everything = _pack(np.ones((1, len(corpus)), bool))[0]
        self.words = len(corpus)

    def bits(self, chosen: list[int]) -> float:
        """The whole description."""
        own = self.candidates.rule_bits(len(chosen), [self.candidates.bits[i] for i in chosen])
        return own + self.data_bits(chosen)

    def bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        """The whole description if a candidate is added, for each of them; shape [candidates]."""
        own = self.candidates.rule_bits(len(chosen) + 1, [self.candidates.bits[i] for i in chosen])
        return own + self.candidates.bits + self.data_bits_with_each(chosen)

    def kept(self, chosen: list[int]) -> Bits:
        """The words that keep all of a set."""
        return np.bitwise_and.reduce(self.rows[chosen], axis=0, initial=~np.uint64(0)) & self.everything

    @abstractmethod
    def data_bits(self, chosen: list[int]) -> float:
        """What a set leaves unexplained."""

    @abstractmethod
    def data_bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        """The same if a candidate is added, for each of them; shape [candidates]."""


class FlagEvidence(WordEvidence):
    """Words of which some succeeded and others failed."""

    def __init__(
        self,
        candidates: Candidates,
        corpus: Corpus,
        alphabet: Sequence[Label],
        succeeded: NDArray[np.bool_],
    ) -> None:
        super().__init__(candidates, corpus, alphabet)
        self.successes = _pack(succeeded[None])[0]
        self.total = int(succeeded.sum())

    def data_bits(self, chosen: list[int]) -> float:
        """See `WordEvidence`."""
        kept = self.kept(chosen)
        accepted = _count(kept[None], self.everything)
        return float(self._bits(accepted, _count(kept[None], self.successes))[0])

    def data_bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        """See `WordEvidence`."""
        kept = self.kept(chosen)
        return self._bits(_count(self.rows, kept), _count(self.rows, kept & self.successes))

    def _bits(self, accepted: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """A rule is one only if most of what it rejects failed, and more often than what it accepts."""
        rejected, wrong = self.words - accepted, self.total - right
        bits = flag_bits(accepted, right) + flag_bits(rejected, wrong)
        sensible = (2 * wrong <= rejected) & (wrong * accepted <= right * rejected)
        return np.where(sensible & (right > 0), bits, np.inf)


class SuccessEvidence(WordEvidence):
    """Words that all succeeded.

    q(C) is the product over the constraints of C, in their order, of the share of words by chance that keep one of
    those that keep the earlier ones. Where too few words by chance are left, only the earlier ones are looked at that
    are tied to it by propositions, through others or directly: the rest is nearly independent.
    """

    def __init__(
        self,
        candidates: Candidates,
        corpus: Corpus,
        alphabet: Sequence[Label],
        rng: np.random.Generator,
    ) -> None:
        super().__init__(candidates, corpus, alphabet)
        self.by_chance = candidates.kept_by(_words_by_chance(corpus, rng), alphabet)
        self.all_by_chance = _pack(np.ones((1, CHANCE_WORDS), bool))[0]
        self.mentions = candidates.mentions()

    def data_bits(self, chosen: list[int]) -> float:
        """See `WordEvidence`."""
        saved = sum(self._log_share(chosen[:i], chosen[i : i + 1])[0] for i in range(len(chosen)))
        kept = _count(self.kept(chosen)[None], self.everything)
        return float(self._bits(kept, np.array([saved]))[0])

    def data_bits_with_each(self, chosen: list[int]) -> NDArray[np.float64]:
        """See `WordEvidence`."""
        before = sum(self._log_share(chosen[:i], chosen[i : i + 1])[0] for i in range(len(chosen)))
        everyone = list(range(len(self.candidates)))
        return self._bits(_count(self.rows, self.kept(chosen)), before + self._log_share(chosen, everyone))

    def _log_share(self, earlier: list[int], asked: list[int]) -> NDArray[np.float64]:
        """log2 of the share of the words by chance that keep each of `asked`, among those that keep `earlier`."""
        shares = np.zeros(len(asked))
        tied = self._ties(earlier)
        direct = (self.mentions[earlier].astype(np.int64) @ self.mentions[asked].T.astype(np.int64)) > 0
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(direct.T):
            groups.setdefault(row.tobytes(), []).append(i)
        for key, members in groups.items():
            near = np.frombuffer(key, bool)
            for conditions in (np.ones_like(near), tied[near].any(axis=0), near):
                kept = self._chance_words_that_keep(earlier, conditions)
                total = int(np.bitwise_count(kept).sum())
                if total >= FEW_CHANCE_WORDS:
                    break
            rows = self.by_chance[[asked[i] for i in members]]
            shares[members] = np.log2((_count(rows, kept) + 0.5) / (total + 1))
        return shares

    def _ties(self, chosen: list[int]) -> NDArray[np.bool_]:
        """Which constraints share a proposition, perhaps through others; shape [chosen, chosen]."""
        mentioned = self.mentions[chosen].astype(np.int64)
        tied = (mentioned @ mentioned.T) > 0
        for _ in range(len(chosen).bit_length()):  # each squaring doubles the length of the chains
            tied = (tied.astype(np.int64) @ tied.astype(np.int64)) > 0
        return tied

    def _chance_words_that_keep(self, chosen: list[int], some: NDArray[np.bool_]) -> Bits:
        conditions = [constraint for constraint, wanted in zip(chosen, some, strict=True) if wanted]
        return np.bitwise_and.reduce(self.by_chance[conditions], axis=0, initial=~np.uint64(0)) & self.all_by_chance

    def _bits(self, kept: NDArray[np.int64], log_share: NDArray[np.float64]) -> NDArray[np.float64]:
        outliers = self.words - kept
        bits = flag_bits(self.words, outliers) + kept * log_share
        return np.where(outliers <= LARGEST_OUTLIER_SHARE * self.words, bits, np.inf)


def _words_by_chance(corpus: Corpus, rng: np.random.Generator) -> Corpus:
    """Words with the lengths of the given ones and labels drawn from all of them."""
    lengths = rng.choice(corpus.lengths, CHANCE_WORDS)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    symbols = rng.choice(corpus.symbols, int(offsets[-1])) if len(corpus.symbols) else corpus.symbols
    return Corpus(symbols, offsets, np.ones(CHANCE_WORDS))
