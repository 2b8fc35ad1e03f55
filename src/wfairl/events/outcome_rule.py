"""What tells cases that succeed from cases that fail: a few conjunctions of sentences, joined by "or".

A literal is a constraint that a case keeps, or one that it breaks. A rule says when a case succeeds, or when it fails:

    R = (l and l' and ..) or (l'' and ..) or ..

It is the rule with the fewest bits

    bits(R) + flag_bits(of the cases that R covers) + flag_bits(of the others)

A constraint that is to be broken counts twice: most denials say what two sentences say more simply.

Literals and conjunctions are added, dropped and exchanged while the description gets shorter. The cases that keep a
constraint are a row of bits, so that one pass over all candidates is a population count.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wfairl.events.candidates import Bits, Candidates, count, pack
from wfairl.events.constraints import Constraint
from wfairl.events.description_length import flag_bits, integer_bits
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint

LEAST_GAIN = 1e-6
"""A smaller gain in bits is rounding."""

FIRST_OF_TWO = 8
"""When two literals are added at once, this many are tried as the first of them."""

Term = tuple[int, ...]
"""A conjunction: candidate i is kept if it has i, and broken if it has ~i."""


def find_outcome_rule(
    candidates: Candidates, rows: Bits, succeeded: NDArray[np.bool_], most: int
) -> tuple[LearnedRule, float]:
    """The shortest description of outcomes, and its bits: of the rule, and of the outcomes given the rule.

    `rows` are the cases that keep each candidate, shape [candidates, cases / 64]. A rule has at most `most` literals.
    """
    successes, failures = (_Search(candidates, rows, flags, most) for flags in (succeeded, ~succeeded))
    search, found, other = successes, successes.run([()]), failures.run([()])
    if all(len(term) == 1 for term in other[1]):  # "fails if not a, or if not b": a and b
        found = min(found, successes.run([tuple(~one for (one,) in other[1])]), key=lambda one: one[0])
    elif other[0] < found[0]:
        search, found = failures, other
    return search.learned(*found, of_failures=search is failures and found[1] != [()]), found[0]


class _Search:
    """The search for the cases of one outcome, the flagged ones."""

    def __init__(self, candidates: Candidates, rows: Bits, flagged: NDArray[np.bool_], most: int) -> None:
        self.candidates, self.rows, self.most = candidates, rows, most
        self.everything = pack(np.ones((1, len(flagged)), bool))[0]
        self.flagged = pack(flagged[None])[0]
        self.cases, self.total = len(flagged), int(flagged.sum())
        self.literal_bits = np.concatenate([candidates.bits, 2 * candidates.bits]) + 1

    def run(self, terms: list[Term]) -> tuple[float, list[Term]]:
        """Add, drop and exchange while the description gets shorter, the best change first; the bits and the terms."""
        best = self.bits(terms)
        while len(self.candidates):
            bits, changed = min(self.changes(terms), key=lambda one: one[0])
            if not bits < best - LEAST_GAIN:
                bits, changed = min(self.pairs(terms), key=lambda one: one[0], default=(math.inf, terms))
            if not bits < best - LEAST_GAIN:
                break
            best, terms = bits, changed
        return best, sorted(tuple(sorted(term, key=_number)) for term in terms)

    def learned(self, bits: float, terms: list[Term], of_failures: bool) -> LearnedRule:
        """The rule; the evidence for a literal is the bits that the description grows by without it, in nats."""
        supported = tuple(
            tuple(
                self.supported(literal, (self.bits(_without(terms, i, k)) - bits) * math.log(2))
                for k, literal in enumerate(term)
            )
            for i, term in enumerate(terms)
        )
        covered = self.covered(terms)[None]
        right, all_covered = int(count(covered, self.flagged)[0]), int(count(covered, self.everything)[0])
        wrong, successes = (
            (all_covered - right, self.cases - self.total) if of_failures else (self.total - right, self.total)
        )
        return LearnedRule(supported, 0, wrong / successes, of_failures=of_failures)

    def supported(self, literal: int, evidence: float) -> SupportedConstraint:
        constraint, kept = self.candidates.constraint(_number(literal)), literal >= 0
        if not kept and constraint.template.name == "existence":
            constraint, kept = Constraint.of("absence", *constraint.propositions), True
        broken = self.total - int(count(self.satisfying((literal,))[None], self.flagged)[0])
        return SupportedConstraint(constraint, self.total, broken, evidence, kept)

    def changes(self, terms: list[Term]) -> Iterator[tuple[float, list[Term]]]:
        """The rule with one literal more, less or exchanged, with a conjunction more, and with one less."""
        full = sum(map(len, terms)) >= self.most
        for others, term in self.grown(terms):
            if not full:
                yield self.with_best(others, term)
        for i, term in enumerate(terms):
            others = terms[:i] + terms[i + 1 :]
            if others:
                yield self.bits(others), others
            for k in range(len(term)):
                fewer = _without(terms, i, k)
                yield self.bits(fewer), fewer
                yield self.with_best(others, term[:k] + term[k + 1 :])

    def pairs(self, terms: list[Term]) -> Iterator[tuple[float, list[Term]]]:
        """The rule with two literals more in one conjunction, or two for one."""
        if sum(map(len, terms)) >= self.most:
            return
        starts = list(self.grown(terms))
        for i, term in enumerate(terms):
            starts += [(terms[:i] + terms[i + 1 :], term[:k] + term[k + 1 :]) for k in range(len(term))]
        for others, term in starts:
            bits = self.bits_with_each(others, term)[: len(self.candidates)]
            for first in np.argsort(bits, kind="stable")[:FIRST_OF_TWO]:
                if np.isfinite(bits[first]):
                    yield self.with_best(others, (*term, int(first)))

    def grown(self, terms: list[Term]) -> Iterator[tuple[list[Term], Term]]:
        """Every conjunction beside the others, and a new one beside all of them."""
        for i, term in enumerate(terms):
            yield terms[:i] + terms[i + 1 :], term
        if terms != [()]:
            yield terms, ()

    def literal(self, number: int) -> int:
        return number if number < len(self.candidates) else ~(number - len(self.candidates))

    def with_best(self, others: list[Term], term: Term) -> tuple[float, list[Term]]:
        bits = self.bits_with_each(others, term)
        added = int(np.argmax(bits <= bits.min() + LEAST_GAIN))  # the first of equals: its template is preferred
        return float(bits[added]), [*others, (*term, self.literal(added))]

    def covered(self, terms: list[Term]) -> Bits:
        mask = np.zeros_like(self.everything)
        for term in terms:
            mask |= self.satisfying(term)
        return mask

    def satisfying(self, term: Term) -> Bits:
        mask = self.everything.copy()
        for literal in term:
            row = self.rows[_number(literal)]
            mask &= row if literal >= 0 else ~row
        return mask

    def rule_bits(self, terms: list[Term]) -> float:
        bits = integer_bits(len(terms) - 1) - math.lgamma(len(terms) + 1) / math.log(2)
        for term in terms:
            bits += integer_bits(len(term)) - math.lgamma(len(term) + 1) / math.log(2)
            bits += sum(float(self.literal_bits[one if one >= 0 else len(self.candidates) + ~one]) for one in term)
        return bits

    def bits(self, terms: list[Term]) -> float:
        mask = self.covered(terms)
        counts = count(mask[None], self.everything), count(mask[None], self.flagged)
        return self.rule_bits(terms) + float(self.data_bits(*counts)[0])

    def bits_with_each(self, others: list[Term], term: Term) -> NDArray[np.float64]:
        """The description if a literal is added to a conjunction, shape [2 candidates]: kept, then broken."""
        fixed = self.covered(others)
        open_ = self.satisfying(term) & ~fixed
        rest = count(np.array([fixed, open_]), self.everything), count(np.array([fixed, open_]), self.flagged)
        kept, flagged = count(self.rows, open_), count(self.rows, open_ & self.flagged)
        covered = rest[0][0] + np.concatenate([kept, rest[0][1] - kept])
        right = rest[1][0] + np.concatenate([flagged, rest[1][1] - flagged])
        longer = self.rule_bits([*others, (*term, 0)]) - float(self.literal_bits[0])
        return longer + self.literal_bits + self.data_bits(covered, right)

    def data_bits(self, covered: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Infinite if flags are no more frequent among the covered cases."""
        others, wrong = self.cases - covered, self.total - right
        bits = flag_bits(covered, right) + flag_bits(others, wrong)
        return np.where((right > 0) & (wrong * covered <= right * others), bits, np.inf)


def _without(terms: list[Term], i: int, k: int) -> list[Term]:
    """The conjunctions without a literal of one of them, and without that one if nothing is left of it."""
    shorter = terms[i][:k] + terms[i][k + 1 :]
    return [*terms[:i], *([shorter] if shorter or len(terms) == 1 else []), *terms[i + 1 :]]


def _number(literal: int) -> int:
    """The number of the candidate that a literal is about."""
    return literal if literal >= 0 else ~literal
