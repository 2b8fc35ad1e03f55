"""Candidates: the constraints that may become part of a rule, and which words keep each of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wfairl.core.automata.automaton import Label
from wfairl.core.automata.word_corpus import Corpus
from wfairl.events.constraints import TEMPLATES, EventConstraint, Occurrences, Template

Bits = NDArray[np.uint64]


def templates_for(keep_repeats: bool, finite: bool = True) -> list[Template]:
    """Templates that count only if repeats mean something; with `finite`, only those that an automaton can say."""
    return [one for one in TEMPLATES if (keep_repeats or not one.counting) and (one.transitions or not finite)]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The constraints that may become part of a rule."""

    propositions: tuple[str, ...]
    blocks: tuple[tuple[Template, NDArray[np.int64]], ...]  # of each template, the propositions of its candidates
    bits: NDArray[np.float64]  # description length of each candidate, shape [candidates]

    @classmethod
    def over(
        cls, propositions: tuple[str, ...], keep_repeats: bool, paired: NDArray[np.int64], finite: bool = True
    ) -> "Candidates":
        """All constraints of `templates_for(keep_repeats, finite)` over some propositions.

        Constraints on two propositions name only those whose indices are `paired`.
        """
        templates = templates_for(keep_repeats, finite)
        blocks, bits = [], [np.zeros(0)]
        for template in templates:
            of = paired if template.arguments == 2 else np.arange(len(propositions))
            choices = of[template.choices(len(of))]
            if len(choices):
                blocks.append((template, choices))
                bits.append(np.full(len(choices), math.log2(len(templates)) + math.log2(len(choices))))
        return cls(propositions, tuple(blocks), np.concatenate(bits))

    def __len__(self) -> int:
        return len(self.bits)

    def constraint(self, index: int) -> EventConstraint:
        for template, choices in self.blocks:
            if index < len(choices):
                return EventConstraint(template, tuple(self.propositions[i] for i in choices[index]))
            index -= len(choices)
        raise IndexError(index)

    def kept_by(self, corpus: Corpus, alphabet: Sequence[Label]) -> Bits:
        """Which words keep each candidate, one bit per word, shape [candidates, words / 64]."""
        occurrences = Occurrences.of(corpus, alphabet, self.propositions)
        rows, first = np.zeros((len(self), -(-len(corpus) // 64)), np.uint64), 0
        for template, a, b in self.batches(len(corpus)):
            rows[first : first + len(a)] = pack_flags(template.holds(occurrences, a, b))
            first += len(a)
        return rows

    def batches(self, words: int) -> Iterator[tuple[Template, NDArray[np.int64], NDArray[np.int64]]]:
        """All candidates in order, a template and its first and last propositions: so many as are tested at once."""
        step = max(2**24 // max(words, 1), 1)
        for template, choices in self.blocks:
            for i in range(0, len(choices), step):
                yield template, choices[i : i + step, 0], choices[i : i + step, -1]


def pack_flags(flags: NDArray[np.bool_]) -> Bits:
    """Flags of shape [n, words] as bits, shape [n, words / 64]; the bits past the end are 0."""
    packed = np.packbits(flags, axis=1)
    padded = np.zeros((len(flags), -(-flags.shape[1] // 64) * 8), np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def count(rows: Bits, mask: Bits) -> NDArray[np.int64]:
    """How many bits of the mask each row has, shape [rows]."""
    step = max(2**16 // max(len(mask), 1), 1)  # rows that the cache holds
    parts = [np.bitwise_count(rows[i : i + step] & mask).sum(axis=1, dtype=np.int64) for i in range(0, len(rows), step)]
    return np.concatenate([np.zeros(0, np.int64), *parts])
