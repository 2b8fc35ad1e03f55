"""The shortest description of outcomes by the two sides of a rule: conjunctions of sentences, joined by "or".

It is the rule R with the fewest bits

    bits(R) + flag_bits(of the cases that R covers) + flag_bits(of the others)

A constraint that is to be broken counts twice: most denials say what two sentences say more simply.

Literals and conjunctions are added, dropped and exchanged while the description gets shorter. The cases that keep a
constraint are a row of bits, so that one pass over all candidates is a population count.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfairl.events.candidates import Bits, Candidates, count, pack_flags
from wfairl.events.description_length import flag_bits, integer_bits

LEAST_GAIN = 1e-6
"""A smaller gain in bits is rounding."""

FIRST_OF_TWO = 8
"""When two literals are added at once, this many are tried as the first of them."""

MOST_LITERALS = 32

Term = tuple[int, ...]
"""A conjunction: candidate i is kept if it has i, and broken if it has ~i."""


@dataclass(frozen=True)
class Description:
    """A rule: a case succeeds, or fails, if it satisfies one of the conjunctions; and its bits."""

    bits: float
    terms: tuple[Term, ...]
    of_failures: bool = False


NO_TERMS = Description(0.0, ((),))
"""Every case keeps it."""


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases with outcomes, as masks of one bit per case, shape [cases / 64] each."""

    rows: Bits  # the cases that keep each candidate, shape [candidates, cases / 64]
    all: Bits
    flags: Bits  # those with the outcome that is described
    literal_bits: NDArray[np.float64]  # of each candidate kept, then of each broken

    @classmethod
    def of(cls, candidates: Candidates, rows: Bits, succeeded: NDArray[np.bool_]) -> "Cases":
        """All cases; those that succeeded are described."""
        bits = np.concatenate([candidates.bits, 2 * candidates.bits]) + 1
        return cls(rows, pack_flags(np.ones((1, len(succeeded)), bool))[0], pack_flags(succeeded[None])[0], bits)

    def take(self, mask: Bits) -> "Cases":
        return replace(self, all=self.all & mask, flags=self.flags & mask)

    def complement(self) -> "Cases":
        """The same cases; those with the other outcome are described."""
        return replace(self, flags=self.all & ~self.flags)

    @cached_property
    def number(self) -> int:
        return self.among(self.all)

    @cached_property
    def total(self) -> int:
        """How many have the outcome."""
        return self.among(self.flags)

    def among(self, mask: Bits) -> int:
        return int(np.bitwise_count(mask).sum())

    def satisfying(self, term: Term, among: Bits | None = None) -> Bits:
        mask = (self.all if among is None else among).copy()
        for literal in term:
            mask &= self.rows[literal] if literal >= 0 else ~self.rows[~literal]
        return mask

    def covered(self, terms: Iterable[Term], among: Bits | None = None) -> Bits:
        return np.bitwise_or.reduce([np.zeros_like(self.all), *(self.satisfying(term, among) for term in terms)])

    def predicted(self, rule: Description, among: Bits) -> Bits:
        """The cases of a mask that have the outcome, by the majority of these cases on their side of a rule."""
        inside, covered = self.covered(rule.terms), self.covered(rule.terms, among)
        sides = (inside, covered), (self.all & ~inside, among & ~covered)
        most = [there for here, there in sides if 2 * self.among(here & self.flags) > self.among(here)]
        return np.bitwise_or.reduce([np.zeros_like(among), *most])

    def bits_of(self, terms: Sequence[Term]) -> float:
        half = len(self.rows)
        return sum(float(self.literal_bits[one if one >= 0 else half + ~one]) for term in terms for one in term)

    def literal(self, place: int) -> int:
        """The literal whose bits stand at a place of `literal_bits`."""
        return place if place < len(self.rows) else ~(place - len(self.rows))


def shortest_terms(cases: Cases) -> Description:
    """The rule with the fewest bits."""
    successes, failures = _Search(cases), _Search(cases.complement())
    found, other = successes.run([()]), failures.run([()])
    if all(len(term) == 1 for term in other[1]):  # "fails if not a, or if not b": a and b
        found = min(found, successes.run([tuple(~one for (one,) in other[1])]), key=lambda one: one[0])
    of_failures = other[0] < found[0] and any(len(term) > 1 for term in other[1])
    search, (_, terms) = (failures, other) if of_failures else (successes, found)
    return Description(search.rule_bits(terms), tuple(terms), of_failures)


class _Search:
    """The search for the cases of one outcome, the flagged ones."""

    def __init__(self, cases: Cases) -> None:
        self.cases, self.candidates = cases, len(cases.rows)

    def run(self, terms: list[Term]) -> tuple[float, list[Term]]:
        """Add, drop and exchange while the description gets shorter, the best change first; the bits and the terms."""
        best = self.bits(terms)
        while self.candidates:
            bits, changed = min(self.changes(terms), key=lambda one: one[0])
            if not bits < best - LEAST_GAIN:
                bits, changed = min(self.pairs(terms), key=lambda one: one[0], default=(math.inf, terms))
            if not bits < best - LEAST_GAIN:
                break
            best, terms = bits, changed
        return best, sorted(tuple(sorted(term, key=number_of)) for term in terms)

    def changes(self, terms: list[Term]) -> Iterator[tuple[float, list[Term]]]:
        """The rule with one literal more, less or exchanged, with a conjunction more, and with one less."""
        full = sum(map(len, terms)) >= MOST_LITERALS
        for others, term in self.grown(terms):
            if not full:
                yield self.with_best(others, term)
        for i, term in enumerate(terms):
            others = terms[:i] + terms[i + 1 :]
            if others:
                yield self.bits(others), others
            for k in range(len(term)):
                fewer = without_literal(terms, i, k)
                yield self.bits(fewer), fewer
                yield self.with_best(others, term[:k] + term[k + 1 :])

    def pairs(self, terms: list[Term]) -> Iterator[tuple[float, list[Term]]]:
        """The rule with two literals more in one conjunction, or two for one."""
        if sum(map(len, terms)) >= MOST_LITERALS:
            return
        starts = list(self.grown(terms))
        for i, term in enumerate(terms):
            starts += [(terms[:i] + terms[i + 1 :], term[:k] + term[k + 1 :]) for k in range(len(term))]
        for others, term in starts:
            bits = self.bits_with_each(others, term)[: self.candidates]
            for first in np.argsort(bits, kind="stable")[:FIRST_OF_TWO]:
                if np.isfinite(bits[first]):
                    yield self.with_best(others, (*term, int(first)))

    def grown(self, terms: list[Term]) -> Iterator[tuple[list[Term], Term]]:
        """Every conjunction beside the others, and a new one beside all of them."""
        for i, term in enumerate(terms):
            yield terms[:i] + terms[i + 1 :], term
        if terms != [()]:
            yield terms, ()

    def with_best(self, others: list[Term], term: Term) -> tuple[float, list[Term]]:
        bits = self.bits_with_each(others, term)
        added = int(np.argmax(bits <= bits.min() + LEAST_GAIN))  # the first of equals: its template is preferred
        return float(bits[added]), [*others, (*term, self.cases.literal(added))]

    def rule_bits(self, terms: list[Term]) -> float:
        bits = integer_bits(len(terms) - 1) - math.lgamma(len(terms) + 1) / math.log(2)
        for term in terms:
            bits += integer_bits(len(term)) - math.lgamma(len(term) + 1) / math.log(2)
        return bits + self.cases.bits_of(terms)

    def bits(self, terms: list[Term]) -> float:
        mask = self.cases.covered(terms)
        covered = np.array(self.cases.among(mask)), np.array(self.cases.among(mask & self.cases.flags))
        return self.rule_bits(terms) + float(self.data_bits(*covered))

    def bits_with_each(self, others: list[Term], term: Term) -> NDArray[np.float64]:
        """The description if a literal is added to a conjunction, shape [2 candidates]: kept, then broken."""
        fixed = self.cases.covered(others)
        open_ = self.cases.satisfying(term) & ~fixed

        def counts(among: Bits) -> NDArray[np.int64]:
            kept = count(self.cases.rows, open_ & among)
            return self.cases.among(fixed & among) + np.append(kept, self.cases.among(open_ & among) - kept)

        longer = self.rule_bits([*others, (*term, 0)]) - float(self.cases.literal_bits[0])
        return longer + self.cases.literal_bits + self.data_bits(counts(self.cases.all), counts(self.cases.flags))

    def data_bits(self, covered: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Infinite if flags are no more frequent among the covered cases."""
        others, wrong = self.cases.number - covered, self.cases.total - right
        bits = flag_bits(covered, right) + flag_bits(others, wrong)
        return np.where((right > 0) & (wrong * covered <= right * others), bits, np.inf)


def without_literal(terms: list[Term], i: int, k: int) -> list[Term]:
    """The conjunctions without a literal of one of them, and without that one if nothing is left of it."""
    shorter = terms[i][:k] + terms[i][k + 1 :]
    return [*terms[:i], *([shorter] if shorter or len(terms) == 1 else []), *terms[i + 1 :]]


def number_of(literal: int) -> int:
    """The number of the candidate that a literal is about."""
    return literal if literal >= 0 else ~literal
