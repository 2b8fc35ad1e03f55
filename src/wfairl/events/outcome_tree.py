"""A tree of sentences over cases with outcomes, said as conjunctions joined by "or".

A node asks whether a case keeps a constraint. Each leaf has its own share of successes. The tree is grown, the best
question first, while

    PRICE bits(tree) + sum over its leaves flag_bits(cases, successes)

falls. A leaf is the conjunction of the literals on its path. The leaves in which most cases succeed make the rule; the
others, where that is shorter, say when a case fails. A literal that changes the answer of no case is dropped, and one
with the same answers and fewer bits takes its place.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfairl.events.candidates import Bits, count
from wfairl.events.description_length import flag_bits
from wfairl.events.outcome_terms import FIRST_OF_TWO, NO_TERMS, Cases, Description, Term, number_of

PRICE = 0.5
"""Of a bit of the tree, in bits of outcomes: chosen on generated logs and public ones."""


def tree_terms(cases: Cases) -> Description:
    """The rule of the tree; the bits are those of the tree."""
    tree = _Grower(cases).grow(cases.all)
    terms = [leaf.term for leaf in tree.leaves if 2 * leaf.flagged > leaf.total]
    others = [leaf.term for leaf in tree.leaves if 2 * leaf.flagged <= leaf.total]
    if not (terms and others):
        return NO_TERMS
    terms, others = simplified(terms, cases), simplified(others, cases)
    of_failures = cases.bits_of(others) < cases.bits_of(terms)
    return Description(tree.questions, tuple(others if of_failures else terms), of_failures)


class _Leaf(NamedTuple):
    """The cases that one path leads to."""

    term: Term
    cases: Bits
    total: int
    flagged: int


@dataclass(frozen=True)
class _Tree:
    """Leaves, and the bits of the questions and of the outcomes in the leaves."""

    questions: float
    outcomes: float
    leaves: tuple[_Leaf, ...]

    @property
    def cost(self) -> float:
        return PRICE * self.questions + self.outcomes


class _Grower:
    def __init__(self, cases: Cases) -> None:
        self.cases, self.bits = cases, cases.literal_bits[: len(cases.rows)]

    def grow(self, mask: Bits, term: Term = (), ahead: bool = True) -> _Tree:
        """The tree of the cases that a path leads to; `ahead`: whether two questions may be needed to gain anything."""
        leaf = _Leaf(term, mask, self.cases.among(mask), self.cases.among(mask & self.cases.flags))
        best = _Tree(1.0, float(flag_bits(leaf.total, leaf.flagged)), (leaf,))
        if leaf.flagged in (0, leaf.total) or len(term) == 8 or not len(self.bits):
            return best
        costs = self.costs(leaf)
        first = int(np.argmin(costs))
        if costs[first] < best.cost:
            tried = [self.split(first, leaf)]
        else:
            numbers = np.argsort(costs, kind="stable")[: FIRST_OF_TWO if ahead else 0]
            tried = [self.split(int(i), leaf, ahead=False) for i in numbers if np.isfinite(costs[i])]
        return min([best, *tried], key=lambda tree: tree.cost)

    def costs(self, leaf: _Leaf) -> NDArray[np.float64]:
        """The cost of each question with two leaves, shape [candidates]; infinite if all cases answer alike."""
        kept, right = count(self.cases.rows, leaf.cases), count(self.cases.rows, leaf.cases & self.cases.flags)
        outcomes = flag_bits(kept, right) + flag_bits(leaf.total - kept, leaf.flagged - right)
        return np.where((kept > 0) & (kept < leaf.total), PRICE * (self.bits + 2) + outcomes, np.inf)

    def split(self, number: int, leaf: _Leaf, ahead: bool = True) -> _Tree:
        row = self.cases.rows[number]
        kept = self.grow(leaf.cases & row, (*leaf.term, number), ahead)
        broken = self.grow(leaf.cases & ~row, (*leaf.term, ~number), ahead)
        questions = float(self.bits[number]) + kept.questions + broken.questions
        return _Tree(questions, kept.outcomes + broken.outcomes, kept.leaves + broken.leaves)


def simplified(terms: list[Term], cases: Cases) -> list[Term]:
    """Fewer and shorter conjunctions that cover the same cases; denials go first."""
    whole = cases.covered(terms)
    for term in sorted(terms, key=lambda one: (-len(one), one)):
        others = [one for one in terms if one != term]
        shorter = term
        for literal in sorted(term):
            fewer = tuple(one for one in shorter if one != literal)
            if not (cases.satisfying(fewer) & ~whole).any():
                shorter = fewer
        is_needed = not np.array_equal(cases.covered(others), whole)
        terms = [*others, shorter] if is_needed else others
    return sorted({tuple(sorted(_in_fewer_bits(term, cases), key=number_of)) for term in terms})


def _in_fewer_bits(term: Term, cases: Cases) -> Term:
    """The conjunction with each literal exchanged for the shortest one that covers the same cases."""
    covered = cases.satisfying(term)
    total, inside = cases.among(covered), count(cases.rows, covered)
    for literal in sorted(term, key=lambda one: -cases.bits_of([(one,)])):
        rest = tuple(one for one in term if one != literal)
        around = cases.satisfying(rest)
        beside = count(cases.rows, around)
        same = [(beside == total) & (inside == total), (cases.among(around) - beside == total) & (inside == 0)]
        bits = np.where(np.concatenate(same), cases.literal_bits, np.inf)
        best = int(np.argmin(bits))
        if bits[best] < cases.bits_of([(literal,)]):
            term = (*rest, cases.literal(best))
    return term
