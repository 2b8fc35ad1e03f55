"""What tells cases that succeed from cases that fail: a few conjunctions of sentences, joined by "or".

A literal is a constraint that a case keeps, or one that it breaks. A rule says when a case succeeds, or when it fails:

    R = (l and l' and ..) or (l'' and ..) or ..

Two searches propose rules. `shortest_terms` finds the shortest description of the outcomes by the two sides of a rule:
the best where a rule is behind the outcomes. `tree_terms` grows a tree of sentences whose leaves each have their own
share of successes: the best where many things make success more or less likely. Folds decide. The tree must be right
more often than the other rule, by half a standard error. A rule whose two sides have different majorities must be right
more often than a constant answer, by a standard error; else there is none.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wfairl.events.candidates import Bits, Candidates, pack_flags
from wfairl.events.constraints import EventConstraint
from wfairl.events.description_length import flag_bits
from wfairl.events.held_out import is_better
from wfairl.events.learned_rule import LearnedRule, SupportedConstraint
from wfairl.events.outcome_terms import NO_TERMS, Cases, Description, number_of, shortest_terms, without_literal
from wfairl.events.outcome_tree import tree_terms

FOLDS = 5


def find_outcome_rule(
    candidates: Candidates, rows: Bits, succeeded: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[LearnedRule, float]:
    """The rule, and its bits with those of the outcomes given the rule.

    `rows` are the cases that keep each candidate, shape [candidates, cases / 64]; `rng` draws the folds.
    """
    cases = Cases.of(candidates, rows, succeeded)
    found = shortest_terms(cases)
    searches = shortest_terms, tree_terms, lambda _: NO_TERMS
    right, by_tree, constant = _right_in_folds(cases, len(succeeded), rng, searches)
    if is_better(by_tree, right, 0.5):
        found, right = tree_terms(cases), by_tree
    is_constant = cases.among(cases.predicted(found, cases.all)) in (0, cases.number)
    if not is_constant and not is_better(right, constant, 1.0):
        found = NO_TERMS
    return _learned(found, candidates, cases), found.bits + _side_bits(found.terms, cases)


def _right_in_folds(
    cases: Cases, number: int, rng: np.random.Generator, searches: Sequence[Callable[[Cases], Description]]
) -> list[NDArray[np.bool_]]:
    """Of the unseen cases of all folds, which ones each search predicts, shape [unseen cases] each."""
    fold_of = rng.permutation(number) % FOLDS
    right: list[list[NDArray[np.bool_]]] = [[] for _ in searches]
    for fold in range(1 if number > 5_000 else FOLDS):  # of many cases, one fold tells enough
        unseen = fold_of == fold
        shown = cases.take(pack_flags(~unseen[None])[0])
        for search, found in zip(searches, right, strict=True):
            wrong = shown.predicted(search(shown), cases.all) ^ cases.flags
            found.append(np.unpackbits(wrong.view(np.uint8))[:number][unseen] == 0)
    return [np.concatenate(some) for some in right]


def _learned(found: Description, candidates: Candidates, cases: Cases) -> LearnedRule:
    """The rule; the evidence for a literal is the bits that the outcomes grow by without it, in nats."""
    target, terms = cases.complement() if found.of_failures else cases, found.terms
    bits = _side_bits(terms, target)

    def supported(i: int, k: int) -> SupportedConstraint:
        literal = terms[i][k]
        evidence = max(_side_bits(without_literal([*terms], i, k), target) - bits, 0.0) * math.log(2)
        constraint, kept = candidates.constraint(number_of(literal)), literal >= 0
        if not kept and constraint.template.name == "existence":
            constraint, kept = EventConstraint.of("absence", *constraint.propositions), True
        broken = target.total - target.among(target.satisfying((literal,)) & target.flags)
        return SupportedConstraint.of(constraint, target.total, broken, evidence, kept)

    kept = cases.among(cases.flags & cases.covered(terms))
    broken = kept if found.of_failures else cases.total - kept
    of_terms = tuple(tuple(supported(i, k) for k in range(len(term))) for i, term in enumerate(terms))
    return LearnedRule(of_terms, 0, broken / cases.total, of_failures=found.of_failures)


def _side_bits(terms: Sequence[tuple[int, ...]], cases: Cases) -> float:
    """Bits of the outcomes of the cases that a rule covers, and of the others."""
    inside = cases.covered(terms)
    sides = inside, cases.all & ~inside
    return sum(float(flag_bits(cases.among(side), cases.among(side & cases.flags))) for side in sides)
